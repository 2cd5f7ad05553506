"""The check of a client's wishes before rules read them."""

from virl.agent.character import Character
from virl.mind.lexicon import check_english
from virl.routines.clients.settings import client_of


def check_language(character: Character) -> None:
    """Check that the client's intention is written in the letters of English.

    Raises:
        MindFailed: it is not.
    """
    client = client_of(character)
    check_english(client.intention, f"the intention of {client.name}")
