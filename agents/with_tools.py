"""The routine of characters that have `tools` and no routine: a language model decides what to do."""

from virl.agent import Agent
from virl.toolagent.acting import act


def live(agent: Agent) -> None:
    """Use the character's tools until the intention is fulfilled or a limit is reached."""
    act(agent)
