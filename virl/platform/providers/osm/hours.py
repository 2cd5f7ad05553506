"""Opening hours as OpenStreetMap writes them, as a week."""

from datetime import datetime, timedelta

from opening_hours import OpeningHours as OsmHours
from opening_hours import State, validate

from virl.platform.places import OpeningHours

_MONDAY = datetime(2026, 5, 4)  # noqa: DTZ001 - local time; a week without holidays in most countries
_DAY = timedelta(days=1)


def weekly(text: str) -> tuple[OpeningHours, ...] | None:
    """The stretches of opening in a usual week; `None` where the text cannot be read.

    Rules for public holidays and seasons are read for the first week of May; times by the sun are those of
    the equinox.
    """
    if not validate(text):
        return None
    hours = OsmHours(text)
    spans = [
        (start, end)
        for start, end, state, _ in hours.intervals(_MONDAY - _DAY, _MONDAY + 8 * _DAY)
        if state == State.OPEN and end is not None
    ]
    if str(hours.normalize()) == "24/7":
        return tuple(OpeningHours(day, 0, 1440) for day in range(7))
    found = set()
    for first, end in spans:
        start = first
        while start < end:  # a stretch of more than a day is one of each day
            stop = min(end, start + _DAY)
            days, opens = divmod(int((start - _MONDAY).total_seconds()) // 60, 1440)
            closes = opens + int((stop - start).total_seconds()) // 60
            if 0 <= days < 7 and closes > opens:
                found.add((days, opens, closes))
            start = stop
    return tuple(OpeningHours(*stretch) for stretch in sorted(found))
