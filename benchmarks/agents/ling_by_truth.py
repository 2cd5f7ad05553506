"""Ling's routine with the truth for senses."""

from virl.agent.agent import Agent
from virl.errors import BadInput
from virl.platform.movement.instruction.tourist.oracle import TruthSpotter
from virl.routines.directions.following.tour import ask_and_walk


def run(agent: Agent) -> None:
    """As Ling, but that she sees what is truly to be seen.

    Raises:
        BadInput: the city is not a made one.
    """
    if agent.city.truth is None:
        raise BadInput(f"{agent.city.title} has no ground truth: choose a made city")
    ask_and_walk(agent, TruthSpotter(agent.city.truth))
