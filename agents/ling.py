"""Ling, the tourist: asks a local the way, follows it by sight, and asks again when she is lost.

V-IRL, section 3.4 and appendix B.7; what differs from it is in `docs/explanation/agents.md`.
"""

from virl.agent import Agent
from virl.cli import run_module
from virl.directions.spotters import open_spotter
from virl.directions.tour import ask_and_walk


def live(agent: Agent) -> None:
    """Ask and walk until she believes to have arrived, or has asked often enough."""
    ask_and_walk(agent, open_spotter(agent.city.streetview, agent.models, agent.character.follow))


if __name__ == "__main__":
    run_module("ling")
