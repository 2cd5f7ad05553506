"""Lengths, levels and colours as OpenStreetMap's tags give them."""

import re

_METRES = {
    "": 1.0,
    "m": 1.0,
    "metre": 1.0,
    "metres": 1.0,
    "meter": 1.0,
    "ft": 0.3048,
    "'": 0.3048,
    "km": 1000.0,
}
_LENGTH = re.compile(r"(\d{1,6}(?:[.,]\d{1,6})?) ?(m|metres?|meter|ft|km|')?")


def metres(text: str | None) -> float | None:
    """A length such as `12`, `12.5 m` or `40 ft` in metres; `None` for anything else."""
    match = _LENGTH.fullmatch(text.strip()) if text else None
    return float(match[1].replace(",", ".")) * _METRES[match[2] or ""] if match else None


def number(text: str | None) -> float | None:
    """A plain number such as `3` or `2.5`; `None` for anything else."""
    match = re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text.strip()) if text else None
    return float(match[0]) if match else None
