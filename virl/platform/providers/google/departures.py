"""Times of departure, as Google takes and gives them."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_DATED = re.compile(r"\d{4}-\d\d-\d\dT(\d\d:\d\d)")


def departure(weekday: int, minute: int, zone: str | None, now: datetime | None = None) -> datetime:
    """The next such time on the clocks of a time zone, at most a week ahead.

    Args:
        weekday: 0 is Monday.
        minute: after midnight, [0, 1440].
        zone: IANA name; `None` for UTC.
        now: by default the time it is.
    """
    local = (now or datetime.now(UTC)).astimezone(ZoneInfo(zone) if zone else UTC)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    days = (weekday - local.weekday()) % 7
    found = midnight + timedelta(days=days, minutes=minute)
    return found if found >= local else found + timedelta(days=7)


def minute_of(when: datetime, zone: str | None) -> int:
    """Minutes after midnight of a time, on the clocks of a time zone."""
    local = when.astimezone(ZoneInfo(zone) if zone else UTC)
    return local.hour * 60 + local.minute


def undated(text: str) -> str:
    """A time by its weekday, clock and zone, such as `day 2 09:10`; what is no time stays as it is.

    A recording of a journey is good on another day.
    """
    if _DATED.match(text):
        when = datetime.fromisoformat(text)
    elif text.isdecimal() and len(text) <= 12:
        when = datetime.fromtimestamp(int(text), UTC)
    else:
        return text
    return f"day {when.astimezone(UTC).weekday()} {when.astimezone(UTC):%H:%M}"
