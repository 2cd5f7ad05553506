"""Ling's routine with the truth for senses."""

from virl.agent.agent import Agent
from virl.bench.resources import truth_of
from virl.platform.navigators.tourist.spotting import TruthSpotter
from virl.routines.directions.following.routine import ask_and_walk


def run(agent: Agent) -> None:
    """Run Ling's routine with a spotter that knows what is truly to be seen.

    Raises:
        BadInput: the city is not a made one.
    """
    ask_and_walk(agent, TruthSpotter(truth_of(agent.city)))
