"""For whom an agent works: the section `client:` of a character file, for the routines that declare it."""

from pydantic import Field

from virl.agent.character import MOST_WORDING, Character, CharacterField, Point
from virl.settings.model import Settings


class Client(Settings):
    """The person that an agent works for: their wishes count, not the agent's own."""

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0, le=150)
    background: str
    intention: str = Field(min_length=1, max_length=MOST_WORDING)
    """Their wish, in their own words."""
    where: str | Point | None = None
    """Their whereabouts: an address or a position; by default the agent's start."""


CLIENT: CharacterField[Client | None] = CharacterField(
    "client", Client | None, None, "For whom the character works, if not for themself."
)


def client_of(character: Character) -> Client:
    """Return the client, or the character itself where there is none."""
    return CLIENT.of(character) or Client(
        name=character.name,
        age=character.age,
        background=character.background,
        intention=character.intention,
    )
