"""Objects that stand in OpenStreetMap's data and no longer, or not yet, on the ground."""

import re
from collections.abc import Mapping

_OUT_OF_USE = ("disused", "abandoned", "closed")
"""Keys (with `yes`) and values of tags of objects that are out of use."""
_TORN_DOWN = ("demolished", "razed", "removed", "destroyed", "dismantled")
"""Keys (with `yes`) and values of tags of objects that were torn down."""
_PLANNED = ("construction", "proposed", "planned")
"""Keys (with `yes`) and values of tags of objects that are not built yet."""
NO_USE = frozenset({*_OUT_OF_USE, *_TORN_DOWN, *_PLANNED, "vacant"})
"""Values of a key such as `amenity` that name no use: `amenity=construction` is no place."""
_DATE = re.compile(r"(\d{4})(-(?:0[1-9]|1[0-2]))?(-(?:0[1-9]|[12]\d|3[01]))?")


def is_there(tags: Mapping[str, str], day: str) -> bool:
    """Return whether an object stands on the ground on a day.

    Args:
        tags: of the object.
        day: such as `2026-11-22`; empty where it is not known, so that no date is compared with it.
    """
    if any(tags.get(key) == "yes" for key in _TORN_DOWN):
        return False
    ended, opening = _pad_date(tags.get("end_date"), "-12-31"), _pad_date(tags.get("opening_date"), "-01-01")
    return not day or not ((ended and ended < day) or (opening and opening > day))


def is_used(tags: Mapping[str, str]) -> bool:
    """Return whether the tags do not say that an object is out of use or planned."""
    return not any(tags.get(key) == "yes" for key in (*_OUT_OF_USE, *_TORN_DOWN, *_PLANNED))


def _pad_date(text: str | None, rest: str) -> str:
    """Return a date with month and day filled up by `rest`; empty for an unreadable one."""
    found = _DATE.fullmatch(text.strip()) if text else None
    if not found:
        return ""
    year, month, day = found.groups()
    return year + (month or rest[:3]) + (day or rest[3:])
