"""Ling, the tourist: asks a local the way, follows it by sight, and asks again when she is lost.

V-IRL, section 3.4 and appendix B.7; what differs from it is in `docs/reference/agents.md`.
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.routines.directions.following.settings import FOLLOW
from virl.routines.directions.following.spotters import open_spotter
from virl.routines.directions.following.tour import ask_and_walk
from virl.routines.directions.rules import read_question


def _read_question(character: Character, lexicon: Lexicon) -> Reading | None:
    """Read what she will ask a local for."""
    return read_question(FOLLOW.of(character).to, character, lexicon, "directions")


WISH = Wish(_read_question, field="intention")


def run(agent: Agent) -> None:
    """Ask and walk until she believes to have arrived, or has asked often enough."""
    follow = FOLLOW.of(agent.character)
    spotter = open_spotter(follow.spotter, follow.reader, agent.city, agent.models, agent.mind, agent.prompts)
    ask_and_walk(agent, spotter)
