"""The routine of characters that have `tools` and no routine: a mind decides what to do."""

from virl.agent.assembly import Agent
from virl.routines.by_tools.acting import act


def run(agent: Agent) -> None:
    """Use the character's tools until the intention is fulfilled or a limit is reached."""
    act(agent)
