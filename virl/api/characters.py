"""Characters made in Python."""

from typing import TYPE_CHECKING

from pydantic import ValidationError

from virl.agent.character import Character as AnyCharacter
from virl.agent.character import character_model
from virl.agent.routine import our_fields
from virl.settings.faults import bad_file

__all__ = ["Character"]


class _InPython(AnyCharacter):
    """A character whose invalid fields raise `BadInput`, as those of a character file do."""

    def __init__(self, **fields: object) -> None:
        """Check the fields; raise `BadInput` with one line for each invalid field."""
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise bad_file("Character", error, type(self), fields) from None


if TYPE_CHECKING:  # what pydantic makes is no type for those who annotate with it

    class Character(_InPython):
        """A character made in Python instead of in a file."""

else:
    Character = character_model(our_fields(), _InPython)
"""A character with the fields of all of virl's own routines, as `docs/reference/characters.md` lists them."""
