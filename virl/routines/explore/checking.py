"""Whether the rules understand what an explorer wants, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.routines.explore.rules import TypeQuestion, choose_place_type

FIELD = "intention"
"""What a fault of the check lies in."""


def check(character: Character, mind: Mind) -> None:
    """See whether the intention names a kind of place, if rules decide.

    Raises:
        MindFailed: it names none in English.
    """
    if isinstance(mind, RuleMind):
        lexicon = load_lexicon()
        asked = TypeQuestion(intention=character.intention, place_types=lexicon.kinds)
        choose_place_type(asked, lexicon)
