"""A day as a calendar file (iCalendar, RFC 5545)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5
from zoneinfo import ZoneInfo

import icalendar

from virl.plain_text import plain_line
from virl.routines.day.activity import Activity


def date_of(weekday: int, today: date) -> date:
    """The next day that is this weekday, today included; 0 is Monday."""
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def calendar(
    activities: Sequence[Activity],
    *,
    title: str,
    on: date,
    zone: str | None,
    made: datetime,
    run_id: str,
) -> str:
    """The text of a calendar file, lines ended by CR LF as the standard wants.

    Args:
        activities: of the day.
        title: of the calendar.
        on: the date of the day.
        zone: IANA name of the city's time zone; without one, times are those of wherever one is.
        made: when the plan was made, with its time zone.
        run_id: tells the events of this run from all others.
    """
    file = icalendar.Calendar.new(
        name=_text(title), prodid="-//virl//diego//EN", uid=_uid(run_id, "calendar")
    )
    for number, one in enumerate(activities):
        event = icalendar.Event.new(
            uid=_uid(run_id, str(number)),
            stamp=made.astimezone(UTC),
            summary=_text(one.what if one.mode or not one.spot.name else f"{one.what}: {one.spot.name}"),
            description=_text(one.reason),
            location=_text(", ".join(filter(None, (one.spot.name, one.spot.address)))) or None,
            start=moment(on, one.starts, zone),
            end=moment(on, one.ends, zone),
        )
        event.add("geo", (one.spot.lat, one.spot.lng))
        file.add_component(event)
    if zone:
        file.add_missing_timezones(on - timedelta(days=366), on + timedelta(days=366))
    return bytes(file.to_ical()).decode()


def moment(on: date, minute: int, zone: str | None) -> datetime:
    """A minute of a day on the clocks of a time zone; `None` gives a time without one."""
    day = on + timedelta(days=minute // 1440)
    clock = datetime(day.year, day.month, day.day, minute // 60 % 24, minute % 60)  # noqa: DTZ001
    return clock.replace(tzinfo=ZoneInfo(zone)) if zone else clock


def _text(text: str) -> str:
    """One line without control characters, which the standard forbids."""
    return " ".join(plain_line(text).split())


def _uid(run_id: str, part: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"virl:{run_id}:{part}"))
