"""What the page of a counting run shows of its character, as the start of a journal holds it."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from virl.json_reading import misfits


class _Loose(BaseModel):
    """Reads what the page shows, and leaves the rest of a journal of any version alone."""

    model_config = ConfigDict(extra="ignore", strict=False)


class _Count(_Loose):
    things: tuple[str, ...]
    background: tuple[str, ...] = ()
    recheck: float | None = None
    active: bool


class _Senses(_Loose):
    detector: str
    matcher: str | None


class _Stop(_Loose):
    lat: float
    lng: float


class CountingCharacter(_Loose):
    """The fields of the character that the page names."""

    count: _Count
    senses: _Senses
    start: str | _Stop
    route: tuple[str | _Stop, ...] | None = None


def character_fault(character: Mapping[str, object]) -> str:
    """Why the page cannot show this character: the field and what is wrong with it; empty if it can."""
    try:
        CountingCharacter.model_validate(character)
    except ValidationError as fault:
        return f"character.{misfits(fault)[0]}"
    return ""
