"""Whether the rules understand what is looked for, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.platform.movement.sight.rules import GoalQuestion, understand
from virl.routines.search.settings import SEARCH

FIELD = "intention"
"""What a fault of the check lies in."""


def check(character: Character, mind: Mind) -> None:
    """See whether the goal has a name in quotation marks or a kind of place, if rules decide.

    Raises:
        MindFailed: it has neither in English.
    """
    if isinstance(mind, RuleMind):
        lexicon = load_lexicon()
        task = SEARCH.of(character).goal.strip() or character.intention
        understand(GoalQuestion(task=task, kinds=tuple(lexicon.kinds)), lexicon)
