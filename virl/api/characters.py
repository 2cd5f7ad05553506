"""Characters made in Python."""

from virl.agent.character import Character as AnyCharacter
from virl.agent.character import character_model
from virl.agent.routine import our_fields

__all__ = ["Character"]

Character: type[AnyCharacter] = character_model(our_fields())
"""A character with the fields of all of virl's own routines, as `docs/reference/characters.md` lists them."""
