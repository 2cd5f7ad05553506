"""Whether the rules understand what a client wants, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.rules import RuleMind
from virl.routines.clients.settings import served
from virl.routines.recommend.rules import SearchQuestion, plan_search


def check(character: Character, mind: Mind) -> None:
    """See whether the client's intention names a kind of place, if rules decide.

    Raises:
        MindFailed: it names none in English.
    """
    if isinstance(mind, RuleMind):
        client, lexicon = served(character), load_lexicon()
        asked = SearchQuestion(
            name=client.name,
            background=client.background,
            intention=client.intention,
            place_types=lexicon.kinds,
        )
        plan_search(asked, lexicon)
