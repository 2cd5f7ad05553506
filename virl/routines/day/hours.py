"""Opening hours, as a stretch of one day."""

from virl.clock import DAY_MINUTES
from virl.platform.city.places import Place


def stretches(place: Place, day: int) -> list[tuple[int, int]]:
    """Return the opening hours of a place on a day, as minutes after that day's midnight, in order.

    Args:
        place: with its details.
        day: 0 is Monday.

    Returns:
        Openings and closings; one that began the day before opens below 0, one that lasts into the next day
        closes beyond 1440. All day where nobody has listed hours: unknown is not closed.
    """
    if not place.is_open:
        return []
    if not place.hours:
        return [(0, DAY_MINUTES)]
    found = [(one.opens, one.closes) for one in place.hours if one.day == day]
    found += [
        (one.opens - DAY_MINUTES, one.closes - DAY_MINUTES)
        for one in place.hours
        if one.day == (day - 1) % 7 and one.closes > DAY_MINUTES
    ]
    return sorted(found)


def fit(
    place: Place, day: int, starts: int, ends: int, *, wait: int, shortest: int, until: int
) -> tuple[int, int] | None:
    """Return another time for a visit, so that the place is open all through it.

    Args:
        place: with its details.
        day: 0 is Monday.
        starts: when it was to begin, minutes after midnight.
        ends: when it was to end.
        wait: minutes it may begin later.
        shortest: minutes it must last, where it was to last as long.
        until: when the day ends.

    Returns:
        Beginning and end, or `None` if it does not fit.
    """
    least = min(shortest, ends - starts)
    for opens, closes in stretches(place, day):
        begin = max(starts, opens)
        end = min(begin + ends - starts, closes, until)
        if begin - starts <= wait and end - begin >= least:
            return begin, end
    return None
