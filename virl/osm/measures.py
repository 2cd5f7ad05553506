"""Lengths, levels and colours as OpenStreetMap's tags give them."""

import re

_METRES = {
    "": 1.0,
    "m": 1.0,
    "metre": 1.0,
    "metres": 1.0,
    "meter": 1.0,
    "meters": 1.0,
    "ft": 0.3048,
    "foot": 0.3048,
    "feet": 0.3048,
    "'": 0.3048,
    '"': 0.0254,
    "in": 0.0254,
    "km": 1000.0,
}
"""Metres of each unit of length."""
_NUMBER = r"\d{1,6}(?:[.,]\d{1,6})?"
_UNITS = "|".join(sorted(_METRES, key=len, reverse=True))
_LENGTH = re.compile(rf"({_NUMBER}) ?({_UNITS})\.?")
"""Pattern of a length with its unit."""
_FEET_AND_INCHES = re.compile(rf"({_NUMBER}) ?(?:'|ft|feet) ?({_NUMBER}) ?(?:\"|in)?")
"""Pattern of a length in feet and inches."""
_PLAIN = re.compile(r"-?\d{1,4}(?:[.,]\d{1,3})?")
"""Pattern of a plain number."""
_FLOORS = re.compile(r"(-?\d{1,3}(?:\.\d+)?)(?: ?- ?(-?\d{1,3}(?:\.\d+)?))?")
"""Pattern of a floor or a range of floors."""
_QUOTES = str.maketrans("\u2032\u2019\u2018\u2033\u201d\u201c\u2013\u2212", "'''\"\"\"--")
"""Typographic marks of feet, inches, ranges and negative numbers, as the plain ones."""
_ABOUT = "~ "


def metres(text: str | None) -> float | None:
    """Return the metres of a length such as `12.5 m`, `40 ft` or `12'6"`; `None` for other texts.

    Of a list or a range the largest counts, as in `10-12`.
    """
    return max(map(_metres, _parts(text)), default=None, key=lambda one: -1.0 if one is None else one)


def number(text: str | None) -> float | None:
    """Return the number in a text such as `3` or `2.5`, the largest of a list; `None` for other texts.

    Of a list or a range the largest counts, as in `5;6`.
    """
    plain = [part.replace(",", ".") for part in _parts(text) if _PLAIN.fullmatch(part)]
    return max(map(float, plain), default=None)


def is_at_ground(level: str) -> bool:
    """Return whether a value of `level`, such as `0;1`, includes the ground; unclear ones do.

    What names no floor by its number counts as the ground.
    """
    floors = [_FLOORS.fullmatch(part.strip()) for part in re.split("[;,]", level.translate(_QUOTES))]
    known = [(float(found[1]), float(found[2] or found[1])) for found in floors if found]
    return not known or any(min(ends) < 1 and max(ends) > -1 for ends in known)


def _metres(text: str) -> float | None:
    """Return the metres of one length; `None` for other texts."""
    text = text.lower()
    if both := _FEET_AND_INCHES.fullmatch(text):
        return _float(both[1]) * _METRES["'"] + _float(both[2]) * _METRES['"']
    match = _LENGTH.fullmatch(text)
    return _float(match[1]) * _METRES[match[2]] if match else None


def _float(text: str) -> float:
    return float(text.replace(",", "."))


def _parts(text: str | None) -> list[str]:
    """Return the parts of a list such as `5;6`, or of a range such as `10-12`."""
    plain = (text or "").translate(_QUOTES).replace("''", '"')
    return [part.strip(_ABOUT) for part in re.split(r";|(?<=[^-;\s]) ?- ?(?=\d)", plain)]
