"""Whether the rules understand where a visitor wants to go, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.routines.directions.rules import DestinationQuestion, find_query
from virl.routines.directions.settings import DIRECTIONS

FIELD = "intention"
"""What a fault of the check lies in."""


def check(character: Character, mind: Mind) -> None:
    """See whether the question names a kind of place, if rules decide; `to` may be the name of a place.

    Raises:
        MindFailed: it names none in English.
    """
    if isinstance(mind, RuleMind) and not DIRECTIONS.of(character).to.strip():
        lexicon = load_lexicon()
        find_query(DestinationQuestion(question=character.intention, place_types=lexicon.kinds), lexicon)
