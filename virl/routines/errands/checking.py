"""Whether the rules can read somebody's errands, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.routines.errands.rules import ErrandQuestion, list_errands
from virl.routines.errands.settings import ERRANDS

FIELD = "errands"
"""What a fault of the check lies in."""


def check(character: Character, mind: Mind) -> None:
    """See whether errands that are given in words name where to go, if rules decide.

    Raises:
        MindFailed: they name no address, name or kind of place in English.
    """
    errands = ERRANDS.of(character)
    if isinstance(mind, RuleMind) and errands and errands.text.strip() and not errands.stops:
        list_errands(ErrandQuestion(text=errands.text), load_lexicon())
