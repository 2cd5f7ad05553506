"""Weekly patterns of opening hours."""

from functools import cache
from random import Random

from virl.platform.places import DAYS, OpeningHours


@cache
def parse_hours(pattern: str) -> tuple[OpeningHours, ...]:
    """Read a pattern such as `"mon-thu 11:30-14:30+17:30-22:00, fri-sat 17:00-26:00"`.

    Days may run over the end of the week (`thu-tue`); hours beyond 24 are of the next morning.
    """
    stretches = []
    for part in pattern.split(","):
        days, times = part.split()
        for day in _days(days):
            for stretch in times.split("+"):
                opens, closes = (_minutes(clock) for clock in stretch.split("-"))
                stretches.append(OpeningHours(day, opens, closes))
    return tuple(sorted(stretches, key=lambda hours: (hours.day, hours.opens)))


def keep_hours(pattern: str, rng: Random) -> tuple[OpeningHours, ...]:
    """A pattern as one place keeps it: some open half an hour sooner or later than others."""
    shift = rng.choice((-30, 0, 0, 0, 30))
    return tuple(
        OpeningHours(hours.day, hours.opens + shift, hours.closes) if hours.opens else hours
        for hours in parse_hours(pattern)
    )


def _days(text: str) -> list[int]:
    first, _, last = text.partition("-")
    start, count = DAYS.index(first), (DAYS.index(last or first) - DAYS.index(first)) % 7 + 1
    return [(start + step) % 7 for step in range(count)]


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
