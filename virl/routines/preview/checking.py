"""Whether it is known where a way leads, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.platform.addresses import address_in
from virl.routines.directions.rules import DestinationQuestion, find_query
from virl.routines.preview.settings import PREVIEW

FIELD = "intention"
"""What a fault of the check lies in."""


def check(character: Character, mind: Mind) -> None:
    """See whether the intention names an address or a kind of place, if rules decide and `to` is empty.

    Raises:
        MindFailed: it names none in English.
    """
    if not isinstance(mind, RuleMind) or PREVIEW.of(character).to.strip() or address_in(character.intention):
        return
    lexicon = load_lexicon()
    find_query(DestinationQuestion(question=character.intention, place_types=lexicon.kinds), lexicon)
