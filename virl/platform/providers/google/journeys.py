"""Journeys and street names from Google's steps, and times of departure as it takes and gives them."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from virl.geo.globe import LatLng
from virl.platform.city.maps import Journey, JourneyLeg

_DATED = re.compile(r"\d{4}-\d\d-\d\dT(\d\d:\d\d)")
"""Pattern of a date and time; group 1 is the time of day."""


def departure(weekday: int, minute: int, zone: str | None, now: datetime | None = None) -> datetime:
    """Return the next time at a weekday (0: Monday) and minute of the day, in a time zone (`None`: UTC).

    Args:
        weekday: day of the week, 0 for Monday.
        minute: minutes after midnight, [0, 1440].
        zone: IANA name of the time zone; `None` for UTC.
        now: time after which it is; by default the present.
    """
    local = (now or datetime.now(UTC)).astimezone(ZoneInfo(zone) if zone else UTC)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    days = (weekday - local.weekday()) % 7
    found = midnight + timedelta(days=days, minutes=minute)
    # In autumn an hour comes twice, and clocks of one zone are compared without saying which.
    again = (found, found.replace(fold=1), found + timedelta(days=7))
    return next(one for one in again if one.astimezone(UTC) >= local.astimezone(UTC))


def minute_of(when: datetime, zone: str | None) -> int:
    """Return the minutes after midnight of a time, in a time zone by its IANA name; UTC for `None`."""
    local = when.astimezone(ZoneInfo(zone) if zone else UTC)
    return local.hour * 60 + local.minute


def drop_date(text: str) -> str:
    """Return a date and time as weekday and time of day in UTC, such as `day 2 09:10`; other texts unchanged.

    A recording of a journey is good on another day.
    """
    if _DATED.match(text):
        when = datetime.fromisoformat(text)
    elif text.isdecimal() and len(text) <= 12:
        when = datetime.fromtimestamp(int(text), UTC)
    else:
        return text
    return f"day {when.astimezone(UTC).weekday()} {when.astimezone(UTC):%H:%M}"


@dataclass(frozen=True, slots=True)
class JourneyStep:
    """One step of a journey in a reply: a ride by public transport, or a walk."""

    path: tuple[LatLng, ...]
    """Positions along the step."""
    metres: float
    """Length of the step in metres."""
    seconds: float
    """Duration of the step in seconds."""
    line: str = ""
    """Name of the line, such as `bus 550`; empty on foot."""
    board: str = ""
    """Name of the stop where the ride begins."""
    alight: str = ""
    """Name of the stop where the ride ends."""
    departs: datetime | None = None
    """Time of departure; `None` on foot, and where not told."""
    arrives: datetime | None = None
    """Time of arrival; `None` on foot, and where not told."""
    headsign: str = ""
    """Destination shown on the vehicle; may be empty."""


def line_of(vehicle: str, short: str, name: str) -> str:
    """Return the name of a line such as `bus 550`: the vehicle, and the short or else the full name.

    Args:
        vehicle: kind of vehicle, such as `Bus`; may be empty.
        short: short name of the line, such as `550`; may be empty.
        name: full name of the line; may be empty.
    """
    called = short or name
    if not vehicle or vehicle.casefold() in called.casefold():
        return called or "public transport"
    return f"{vehicle.lower()} {called}".strip()


def journey_of(steps: Sequence[JourneyStep], leaves: datetime, seconds: float, zone: str | None) -> Journey:
    """Return a reply's steps, which take `seconds` without the first wait, as a journey begun at `leaves`.

    Args:
        steps: steps of the reply, in their order.
        leaves: time at which the journey begins, with its time zone.
        seconds: duration by the reply, without the wait for the first ride.
        zone: IANA time zone of the city, for the clocks of rides; `None` for UTC.
    """
    legs: list[JourneyLeg] = []
    for on_foot, group in groupby(steps, key=lambda step: not step.line):
        run = list(group)
        if on_foot:
            path = tuple(position for step in run for position in step.path)
            legs.append(JourneyLeg(path, sum(step.metres for step in run), sum(step.seconds for step in run)))
        else:
            legs += [_ride_leg(step, zone) for step in run]
    return Journey(tuple(legs), _duration(steps, leaves, seconds))


def _duration(steps: Sequence[JourneyStep], leaves: datetime, seconds: float) -> float:
    """Return the seconds from `leaves` to the arrival, by the last ride's clock, but at least `seconds`."""
    after = 0.0
    for step in reversed(steps):
        if step.arrives:
            arrives = step.arrives + timedelta(seconds=after)
            return max((arrives - leaves).total_seconds(), seconds)
        after += step.seconds
    return seconds or after


def _ride_leg(step: JourneyStep, zone: str | None) -> JourneyLeg:
    """Return a step by public transport as a leg of a journey, its times in a time zone."""
    departs, arrives = (minute_of(when, zone) if when else None for when in (step.departs, step.arrives))
    way = step.path, step.metres, step.seconds
    return JourneyLeg(*way, step.line, step.board, step.alight, departs, arrives, step.headsign)


LANGUAGE = "en"
"""Language in which instructions are asked for."""

_ASIDE = re.compile(r"<div.*|\n.*", re.DOTALL)
"""Pattern of remarks after an instruction, such as "Destination will be on the right"."""
_TAG = re.compile(r"<[^<>]*>")
_STREET = re.compile(r"\b(?:onto|on|along) (?!the (?:left|right)\b)(.+?)(?: towards? .*)?$", re.IGNORECASE)
"""Pattern of the street name in an English instruction."""


def street_in(instruction: str) -> str:
    """Return the street name in an English instruction, text or HTML; empty where it has none.

    In `"Turn <b>left</b> onto <b>Camp St</b>"` it is `"Camp St"`.
    """
    text = html.unescape(_TAG.sub("", _ASIDE.sub("", instruction)))
    found = _STREET.search(" ".join(text.split()))
    return found[1] if found else ""
