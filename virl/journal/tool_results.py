"""The result of a tool's call as a person reads it: places as cards, all else as lines."""

from collections.abc import Sequence

from pydantic import AliasPath, BaseModel, Field, ValidationError

from virl.journal.records import NoteRecord
from virl.mind.prompt import NOT_ORDERS, without_fence


class FoundPlace(BaseModel, frozen=True):
    """A place in a tool's result, with the fields that its card shows, each as the tool says it."""

    name: str
    types: tuple[str, ...]
    rating: float | None = Field(ge=0, le=5)
    review_count: int
    price_level: int | None = Field(ge=0, le=4)
    is_open: bool
    away_m: float = Field(ge=0, allow_inf_nan=False, validation_alias=AliasPath("away", "distance_m"))
    direction: str = Field(validation_alias=AliasPath("away", "direction"))
    address: str


def told_result(note: NoteRecord) -> tuple[str, Sequence[FoundPlace], Sequence[str]]:
    """Return (first line, places, further lines) of what a tool said; all are empty for other notes.

    Ids, JSON and marks for models are left out. Where a journal holds no data of results, places are lines.
    """
    if note.topic != "tool":
        return "", [], []
    content, data = str(note.data.get("content", "")), note.data.get("data")
    found = (data.get("items") or [data.get("place")]) if isinstance(data, dict) else ()
    try:
        places = [FoundPlace.model_validate(one) for one in found]
    except (TypeError, ValidationError):  # items of another kind
        places = []
    lines = []
    for line in map(str.strip, without_fence(content).splitlines()):
        first, *others = line.removeprefix("place: ").split(" | ")
        is_place = bool(others) and first.startswith("id ")
        if line and line[0] not in "{[" and not (is_place and places):
            lines.append(" · ".join(others if is_place else (first, *others)))
    has_head = lines and not (places and content.startswith(NOT_ORDERS))
    return lines.pop(0) if has_head else "", places, lines
