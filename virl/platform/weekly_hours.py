"""Weekly patterns of opening hours, and a moment of a week in words."""

import re
from functools import cache

from virl.clock import parse_clock, show_clock
from virl.platform.places import DAYS, OpeningHours

NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Moment = tuple[int, int]
"""A day, 0 for Monday, and minutes after midnight."""

_MOMENT = re.compile(rf"\bit is ({'|'.join(NAMES)}) at (\d{{1,2}}[:.]\d\d)", re.IGNORECASE)


@cache
def parse_hours(pattern: str) -> tuple[OpeningHours, ...]:
    """Read a pattern such as `"mon-thu 11:30-14:30+17:30-22:00, fri-sat 17:00-26:00"`.

    Days may run over the end of the week (`thu-tue`); hours beyond 24 are of the next morning.

    Raises:
        ValueError: it is no such pattern.
    """
    stretches = []
    for part in pattern.split(","):
        days, times = part.split()
        for day in _days(days):
            for stretch in times.split("+"):
                opens, closes = (_minutes(clock) for clock in stretch.split("-"))
                stretches.append(OpeningHours(day, opens, closes))
    return tuple(sorted(stretches, key=lambda hours: (hours.day, hours.opens)))


def told_moment(day: int, minute: int) -> str:
    """Return a moment of a week as a sentence: `It is Wednesday at 12:30.` is one."""
    return f"It is {NAMES[day]} at {show_clock(minute)}."


def moment_in(text: str) -> Moment | None:
    """Return the moment that a text tells in such a sentence; `None` if it tells none."""
    told = _MOMENT.search(text)
    if told is None:
        return None
    try:
        return [name.lower() for name in NAMES].index(told[1].lower()), parse_clock(told[2])
    except ValueError:  # such as 25:00
        return None


def _days(text: str) -> list[int]:
    first, _, last = text.partition("-")
    start, count = DAYS.index(first), (DAYS.index(last or first) - DAYS.index(first)) % 7 + 1
    return [(start + step) % 7 for step in range(count)]


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
