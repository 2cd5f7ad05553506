"""How places of a made town keep a weekly pattern of opening hours."""

from random import Random

from virl.platform.places import OpeningHours
from virl.platform.weekly_hours import parse_hours


def keep_hours(pattern: str, rng: Random) -> tuple[OpeningHours, ...]:
    """A pattern as one place keeps it: some open half an hour sooner or later than others."""
    shift = rng.choice((-30, 0, 0, 0, 30))
    return tuple(
        OpeningHours(hours.day, hours.opens + shift, hours.closes) if hours.opens else hours
        for hours in parse_hours(pattern)
    )
