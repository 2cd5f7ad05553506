"""How long a place that is open stays open."""

from virl.platform.city.places import DAYS, Place

DAY_MIN, WEEK_MIN = 1440, 7 * 1440


def closes_at(place: Place, minute: int) -> int | None:
    """Return the end of the opening that covers a minute; `None` if the place is closed then.

    Args:
        place: with its hours.
        minute: after midnight of Monday; may lie in a later week.

    Returns:
        Minutes after the same midnight; at most a week on, which is for ever. Stretches that touch are one.
    """
    end = minute
    while end - minute < WEEK_MIN:
        lasts = _lasts(place, end)
        if lasts <= 0:
            break
        end += lasts
    return None if end == minute else min(end, minute + WEEK_MIN)


def hours_in_words(end: int, minute: int) -> str:
    """Say until when a place is open, seen from a minute before: `"until 22:00"`, `"until sat 02:00"`."""
    if end - minute >= WEEK_MIN:
        return "round the clock"
    clock = f"{end // 60 % 24:02d}:{end % 60:02d}"
    same_day = (
        end // DAY_MIN == minute // DAY_MIN or end % WEEK_MIN == (minute // DAY_MIN + 1) * DAY_MIN % WEEK_MIN
    )
    if same_day and end % DAY_MIN == 0:
        return "until 24:00"
    return f"until {clock if same_day else _date_clock(end, clock)}"


def _date_clock(end: int, clock: str) -> str:
    """Return a time of day with the weekday of `end`, minutes since the week began."""
    return f"{DAYS[end // DAY_MIN % 7]} {clock}"


def _lasts(place: Place, minute: int) -> int:
    """Return the minutes for which the longest opening that covers a minute goes on."""
    now = minute % WEEK_MIN
    return max(
        (
            stretch.day * DAY_MIN + stretch.closes - when
            for stretch in place.hours
            for when in (now, now + WEEK_MIN)
            if stretch.day * DAY_MIN + stretch.opens <= when < stretch.day * DAY_MIN + stretch.closes
        ),
        default=0,
    )
