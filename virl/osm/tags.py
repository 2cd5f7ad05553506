"""Values of OpenStreetMap's tags: lengths, levels and colours, and whether an object is still there."""

import re
from collections.abc import Mapping

_METRES = {
    **dict.fromkeys(("", "m", "metre", "metres", "meter", "meters"), 1.0),
    **dict.fromkeys(("ft", "foot", "feet", "'"), 0.3048),
    **dict.fromkeys(('"', "in"), 0.0254),
    "km": 1000.0,
}
"""Length in metres of each unit of length; a number without unit is metres."""
_NUMBER = r"\d{1,6}(?:[.,]\d{1,6})?"
"""Pattern, as text, of an unsigned number with a comma or point before its decimals."""
_UNITS = "|".join(sorted(_METRES, key=len, reverse=True))
"""Pattern, as text, of a unit of length; the longest come first, so that `metres` is not read as `m`."""
_LENGTH = re.compile(rf"({_NUMBER}) ?({_UNITS})\.?")
"""Pattern of a length with its unit."""
_FEET_AND_INCHES = re.compile(rf"({_NUMBER}) ?(?:'|ft|feet) ?({_NUMBER}) ?(?:\"|in)?")
"""Pattern of a length in feet and inches."""
_PLAIN = re.compile(r"-?\d{1,4}(?:[.,]\d{1,3})?")
"""Pattern of a number without a unit that may have a minus sign and decimals, such as `-2` or `3,5`."""
_FLOORS = re.compile(r"(-?\d{1,3}(?:\.\d+)?)(?: ?- ?(-?\d{1,3}(?:\.\d+)?))?")
"""Pattern of a floor or a range of floors."""
_QUOTES = str.maketrans("\u2032\u2019\u2018\u2033\u201d\u201c\u2013\u2212", "'''\"\"\"--")
"""Plain character for each typographic mark of feet, inches, ranges and negative numbers."""
_ABOUT = "~ "
"""Characters around a value that say "about"."""


def metres(text: str | None) -> float | None:
    """Return the metres of a tag's length such as `12.5 m`, `40 ft` or `12'6"`; `None` for other texts.

    Of a list or a range the largest counts, as in `10-12`.
    """
    # What cannot be read counts as less than all that can.
    return max(map(_metres, _parts(text)), default=None, key=lambda one: -1.0 if one is None else one)


def number(text: str | None) -> float | None:
    """Return the number in a tag's text such as `2.5`, or the largest of a list; `None` for other texts."""
    plain = [part.replace(",", ".") for part in _parts(text) if _PLAIN.fullmatch(part)]
    return max(map(float, plain), default=None)


def is_at_ground(level: str) -> bool:
    """Return whether a value of the tag `level`, such as `0;1`, includes the ground; True if unreadable."""
    floors = [_FLOORS.fullmatch(part.strip()) for part in re.split("[;,]", level.translate(_QUOTES))]
    known = [(float(found[1]), float(found[2] or found[1])) for found in floors if found]
    return not known or any(min(ends) < 1 and max(ends) > -1 for ends in known)


def _metres(text: str) -> float | None:
    """Return the metres of a text that is one length with or without unit; `None` for other texts."""
    text = text.lower()
    if both := _FEET_AND_INCHES.fullmatch(text):
        return _float(both[1]) * _METRES["'"] + _float(both[2]) * _METRES['"']
    match = _LENGTH.fullmatch(text)
    return _float(match[1]) * _METRES[match[2]] if match else None


def _float(text: str) -> float:
    """Return the number that a text is, with a comma or a point before the decimals."""
    return float(text.replace(",", "."))


def _parts(text: str | None) -> list[str]:
    """Return the values in a list such as `5;6`, both ends of a range such as `10-12`, else the one value."""
    plain = (text or "").translate(_QUOTES).replace("''", '"')
    # A minus sign at the beginning of a value makes no range.
    return [part.strip(_ABOUT) for part in re.split(r";|(?<=[^-;\s]) ?- ?(?=\d)", plain)]


_OUT_OF_USE = ("disused", "abandoned", "closed")
"""Tag keys (with value `yes`) and tag values that mark an object as out of use."""
_TORN_DOWN = ("demolished", "razed", "removed", "destroyed", "dismantled")
"""Tag keys (with value `yes`) and tag values that mark an object as torn down."""
_PLANNED = ("construction", "proposed", "planned")
"""Tag keys (with value `yes`) and tag values that mark an object as not built yet."""
NO_USE = frozenset({*_OUT_OF_USE, *_TORN_DOWN, *_PLANNED, "vacant"})
"""Values of a key such as `amenity` that name no use: `amenity=construction` is no place."""
_DATE = re.compile(r"(\d{4})(-(?:0[1-9]|1[0-2]))?(-(?:0[1-9]|[12]\d|3[01]))?")
"""Pattern of a date, whose day or month and day may be missing."""


def is_there(tags: Mapping[str, str], day: str) -> bool:
    """Return whether an object with these tags exists on `day`, such as `2026-11-22`; empty is any day."""
    if any(tags.get(key) == "yes" for key in _TORN_DOWN):
        return False
    ended, opening = _pad_date(tags.get("end_date"), "-12-31"), _pad_date(tags.get("opening_date"), "-01-01")
    return not day or not ((ended and ended < day) or (opening and opening > day))


def is_used(tags: Mapping[str, str]) -> bool:
    """Return whether an object is in use: its tags do not call it out of use, torn down or planned."""
    return not any(tags.get(key) == "yes" for key in (*_OUT_OF_USE, *_TORN_DOWN, *_PLANNED))


def _pad_date(text: str | None, rest: str) -> str:
    """Return a date with missing month and day filled up from `rest`, as `-12-31`; empty for another text."""
    found = _DATE.fullmatch(text.strip()) if text else None
    if not found:
        return ""
    year, month, day = found.groups()
    return year + (month or rest[:3]) + (day or rest[3:])
