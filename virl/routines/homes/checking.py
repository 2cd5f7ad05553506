"""Whether the rules can read what a client wants, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.lexicon import check_english
from virl.mind.rules import RuleMind
from virl.routines.clients.settings import served


def check(character: Character, mind: Mind) -> None:
    """See whether the client's intention is written in the letters of English, if rules decide.

    Raises:
        MindFailed: it is not.
    """
    if isinstance(mind, RuleMind):
        client = served(character)
        check_english(client.intention, f"the intention of {client.name}")
