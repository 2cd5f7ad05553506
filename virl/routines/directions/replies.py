"""The replies of those who give directions."""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply, number_range
from virl.platform.city.names import spelt

MAX_DIRECTIONS = 2000
"""Characters of written directions. Chosen: about two minutes of talking."""

_NUMBER = (
    r"(?:\d+(?:[.,]\d+)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"(?:a|one|two|three|four|five|six) hundred)(?:[ -]\w+)?)"
)
_UNIT = r"(?:m|meters?|metres?|km|kilomet(?:er|re)s?|ft|feet|foot|yards?|yd|miles?|mi)"
_MEASURES = (
    (re.compile(r"[°º]|\bdegrees?\b", re.IGNORECASE), "degrees"),
    (
        re.compile(
            rf"\b{_NUMBER}[ -]?{_UNIT}\b",
            re.IGNORECASE,
        ),
        "a distance",
    ),
    (
        re.compile(rf"\b{_NUMBER}[ -]?(?:min|minutes?|seconds?|steps?|paces?)\b", re.IGNORECASE),
        "a count of time or steps",
    ),
    (re.compile(r"-?\d{1,3}\.\d{3,}"), "coordinates"),
)


class PlaceQuery(Reply):
    """The search that answers a question."""

    search: str = Field(
        min_length=1,
        max_length=120,
        description="The name of a place as the visitor wrote it, else one of the kinds, else a word or two.",
    )


class PlacePick(Reply):
    """The one of some places that is meant."""

    index: int = Field(ge=0, description="The index of the place chosen, as given with it.")
    reason: str = Field(description="Why this one, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"index": number_range(inputs, "places")}

    @field_validator("index")
    @classmethod
    def _is_offered(cls, index: int, info: ValidationInfo) -> int:
        """Refuse a number that is beyond the places offered."""
        offered = (info.context or {}).get("places")
        if offered is not None and index >= len(offered):
            raise ValueError(f"{index} is not the number of a place: they run to {len(offered) - 1}")
        return index


class WrittenDirections(Reply):
    """Directions in words."""

    directions: str = Field(
        min_length=1,
        max_length=MAX_DIRECTIONS,
        description="Plain sentences that name the destination; no degrees, distances, times or coordinates.",
    )

    @field_validator("directions")
    @classmethod
    def _could_be_said(cls, directions: str, info: ValidationInfo) -> str:
        """Refuse directions that a local would not say, or that do not name the destination."""
        names = _names_in(info.context or {})
        fault = unsayable(directions, names)
        if fault:
            raise ValueError(f"the directions give {fault}: say it by crossings and landmarks instead")
        destination = (info.context or {}).get("destination")
        if isinstance(destination, str) and not _names_it(directions, destination):
            raise ValueError(f"the directions do not name {destination!r}")
        return directions


def _names_it(directions: str, destination: str) -> bool:
    """Return whether directions name a place, however its name is written."""
    said, name = spelt(directions), spelt(destination)
    return destination.casefold() in directions.casefold() or (bool(name) and f" {name} " in f" {said} ")


def unsayable(text: str, names: tuple[str, ...] = ()) -> str | None:
    """Return what a text holds that nobody could follow on foot, such as `"a distance"`; `None` if nothing.

    Args:
        text: directions.
        names: of places, which may hold any number, such as `"7 Miles Diner"`.
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return next((what for pattern, what in _MEASURES if pattern.search(text)), None)


def _names_in(context: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names that the context gives; empty if it gives none."""
    names = context.get("names", ())
    return tuple(map(str, names)) if isinstance(names, list | tuple) else ()
