"""From the steps of a reply to a journey."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from virl.geo import LatLng
from virl.platform.providers.google.departures import minute_of
from virl.platform.transit import Journey, JourneyLeg


@dataclass(frozen=True, slots=True)
class Ride:
    """What a step by public transport says."""

    line: str
    board: str
    alight: str
    departs: datetime | None
    arrives: datetime | None
    headsign: str


@dataclass(frozen=True, slots=True)
class JourneyStep:
    """A step of a reply; one without a ride is on foot."""

    path: tuple[LatLng, ...]
    metres: float
    seconds: float
    ride: Ride | None


def line_of(vehicle: str, short: str, name: str) -> str:
    """What a line is called: its vehicle, and its short name, or else its name."""
    called = short or name
    if not vehicle or vehicle.casefold() in called.casefold():
        return called or "public transport"
    return f"{vehicle.lower()} {called}".strip()


def journey_of(steps: Sequence[JourneyStep], leaves: datetime, seconds: float, zone: str | None) -> Journey:
    """The journey of some steps; ways on foot that follow one another are one leg.

    Args:
        steps: in their order.
        leaves: when it begins, with its time zone.
        seconds: what the reply says that it takes: without the wait for the first ride.
        zone: IANA time zone of the city, for the clocks of rides.
    """
    legs: list[JourneyLeg] = []
    for on_foot, group in groupby(steps, key=lambda step: step.ride is None):
        run = list(group)
        legs += [_walk(run)] if on_foot else [_ridden(step, zone) for step in run]
    return Journey(tuple(legs), _duration(steps, leaves, seconds))


def _duration(steps: Sequence[JourneyStep], leaves: datetime, seconds: float) -> float:
    """Seconds until the arrival: by the clock of the last ride, where it has one."""
    after = 0.0
    for step in reversed(steps):
        if step.ride and step.ride.arrives:
            arrives = step.ride.arrives + timedelta(seconds=after)
            return max((arrives - leaves).total_seconds(), seconds)
        after += step.seconds
    return seconds or after


def _walk(steps: Sequence[JourneyStep]) -> JourneyLeg:
    return JourneyLeg(
        tuple(position for step in steps for position in step.path),
        sum(step.metres for step in steps),
        sum(step.seconds for step in steps),
    )


def _ridden(step: JourneyStep, zone: str | None) -> JourneyLeg:
    ride = step.ride
    if ride is None:
        return _walk([step])
    departs, arrives = (minute_of(when, zone) if when else None for when in (ride.departs, ride.arrives))
    return JourneyLeg(
        step.path,
        step.metres,
        step.seconds,
        ride.line,
        ride.board,
        ride.alight,
        departs,
        arrives,
        ride.headsign,
    )
