"""How far somebody is ready to walk, from what they say."""

import re

from virl.mind.lexicon import words_of

METRES_A_MINUTE = 80.0  # a usual walk, rounded (chosen)

_UNITS: dict[str, float] = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "a couple of": 2,
    "a few": 4,
}  # fmt: skip
_NUMBER = rf"(?P<number>\d+(?:\.\d+)?|{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_QUANTITIES = (
    (re.compile(rf"\b{_NUMBER} (?:min|mins|minute|minutes|minute's|minutes')\b"), 1.0),
    (re.compile(rf"\b{_NUMBER} ?(?:m|metre|metres|meter|meters)\b"), 1 / METRES_A_MINUTE),
    (re.compile(rf"\b{_NUMBER} ?(?:km|kilometre|kilometres|kilometer|kilometers)\b"), 1000 / METRES_A_MINUTE),
    (re.compile(r"\b(?:a )?quarter of an hour\b"), 15.0),
    (re.compile(r"\bhalf a (?:kilometre|kilometer)\b"), 500 / METRES_A_MINUTE),
    (re.compile(r"\bhalf an hour\b"), 30.0),
)
_WALKING = re.compile(
    r"\b(?:walk\w*|foot|feet|stroll\w*|away|far|farther|further|distance|reach\w*|from here|from me|nearby|"
    r"close by|within|radius)\b"
)
_STAYING = re.compile(
    r"\b(?:lunch break|break|train|bus|meeting|appointment|to spare|free|before|until|back)\b"
)
_SENTENCE = re.compile(r"[.!?;]\s+|[.!?;]$|\n|, (?:and|but|so|though) ")


def walk_minutes(text: str) -> float | None:
    """The shortest of the walks that a text sets as a limit, in minutes; `None` if it sets none.

    A time counts only where its clause speaks of walking or of distance, and not of a train or a break.
    """
    found: list[float] = []
    for part in _SENTENCE.split(text.lower()):
        words = words_of(part)
        if not _WALKING.search(words) or _STAYING.search(words):
            continue
        for pattern, minutes in _QUANTITIES:
            for match in pattern.finditer(words):
                number = match.groupdict().get("number")
                found.append(minutes * (1.0 if number is None else _value(number)))
    return min((minutes for minutes in found if minutes > 0), default=None)


def walk_in_words(minutes: float) -> str:
    """Such as `"1 minute"` or `"12 minutes"`."""
    whole = max(1, round(minutes))
    return f"{whole} minute{'' if whole == 1 else 's'}"


def _value(number: str) -> float:
    return float(_UNITS[number]) if number in _UNITS else float(number)
