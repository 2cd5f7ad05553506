"""Times of a day as minutes after midnight, and their texts."""

import re
from math import ceil
from typing import Annotated

from pydantic import BeforeValidator

DAY_MINUTES = 24 * 60
"""Number of minutes in a day."""

_CLOCK = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?\s*([ap])?\.?(?:m\.?)?", re.IGNORECASE)


def parse_clock(text: str) -> int:
    """Return the minutes after midnight of a time such as "9:30", "09.30", "21h30", "9:30 pm" or "24:00".

    Raises:
        ValueError: the text is no time of a day.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found and (found[2] or found[3]):
        hour, minute = int(found[1]), int(found[2] or 0)
        if found[3] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
        elif found[3]:
            hour = 99  # such as 13 pm
        if minute < 60 and hour * 60 + minute <= DAY_MINUTES:
            return hour * 60 + minute
    raise ValueError(f"{text!r} is not a time of a day such as '09:30'")


def show_clock(minute: float) -> str:
    """Return minutes after midnight as "HH:MM"; 1,440 as "24:00", and later ones as times of the next day."""
    whole = int(minute)
    return "24:00" if whole == DAY_MINUTES else f"{whole // 60 % 24:02d}:{whole % 60:02d}"


def whole_minutes(seconds: float) -> int:
    """Return seconds as whole minutes, rounded up, so that plans made with them are on time."""
    return ceil(seconds / 60)


def _to_clock(value: object) -> object:
    """Return a YAML value as a time "HH:MM": YAML reads 09:00 as text, and 21:00 as the number 1260."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value // 60}:{value % 60:02d}"
    return show_clock(parse_clock(value)) if isinstance(value, str) else value


Time = Annotated[str, BeforeValidator(_to_clock)]
"""A time of day in settings, "HH:MM"."""
