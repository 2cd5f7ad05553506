"""Weekly patterns of opening hours, and a moment of a week in words."""

import re
from functools import cache

from virl.clock import parse_clock, show_clock
from virl.platform.city.places import DAYS, OpeningHours

NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Moment = tuple[int, int]
"""A moment of a week: the day, 0 for Monday, and minutes after midnight."""

_MOMENT = re.compile(rf"\bit is ({'|'.join(NAMES)}) at (\d{{1,2}}[:.]\d\d)", re.IGNORECASE)


@cache
def parse_hours(pattern: str) -> tuple[OpeningHours, ...]:
    """Return the hours of a pattern such as `"mon-thu 11:30-14:30+17:30-22:00, fri-sat 17:00-26:00"`.

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
    """Return a sentence for a moment of a week, such as "It is Wednesday at 12:30"."""
    return f"It is {NAMES[day]} at {show_clock(minute)}."


def moment_in(text: str) -> Moment | None:
    """Return the moment in a text's first `It is DAY at HH:MM`; `None` if there is none."""
    told = _MOMENT.search(text)
    if told is None:
        return None
    try:
        return [name.lower() for name in NAMES].index(told[1].lower()), parse_clock(told[2])
    except ValueError:  # such as 25:00
        return None


def _days(text: str) -> list[int]:
    """Return the days, 0 for Monday, of a text such as `mon` or `fri-mon`."""
    first, _, last = text.partition("-")
    start, count = DAYS.index(first), (DAYS.index(last or first) - DAYS.index(first)) % 7 + 1
    return [(start + step) % 7 for step in range(count)]


def _minutes(clock: str) -> int:
    """Return the minutes of a clock time such as `17:30`; hours may exceed 24."""
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
