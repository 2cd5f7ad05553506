"""Public transport: journeys on foot and by bus, tram or train, for maps that know it."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from virl.clock import show_clock, whole_minutes
from virl.geo.globe import LatLng


@dataclass(frozen=True, slots=True)
class JourneyLeg:
    """Part of a journey: a ride, or a way on foot."""

    path: tuple[LatLng, ...]
    """Positions along the leg."""
    distance: float
    """Length in metres."""
    duration: float
    """Seconds that the leg takes."""
    line: str = ""
    """Line that is ridden, such as `bus 4`; empty on foot."""
    board: str = ""
    """Name of the stop where a ride begins."""
    alight: str = ""
    """Name of the stop where it ends."""
    departs: int | None = None
    """Departure of a ride in minutes after midnight; `None` on foot."""
    arrives: int | None = None
    """Arrival of a ride in minutes after midnight; `None` on foot."""
    headsign: str = ""
    """Destination shown on the vehicle; may be empty."""

    @property
    def words(self) -> str:
        """The leg in a few words."""
        if not self.line:
            return f"walk {whole_minutes(self.duration)} min"
        times = (
            f", {show_clock(self.departs)}-{show_clock(self.arrives)}"
            if self.departs is not None and self.arrives is not None
            else ""
        )
        toward = f" towards {self.headsign}" if self.headsign else ""
        return f"{self.line}{toward} from {self.board} to {self.alight}{times}"


@dataclass(frozen=True, slots=True)
class Journey:
    """A way by public transport that sets out at a given time."""

    legs: tuple[JourneyLeg, ...]
    duration: float
    """Seconds from setting out to the arrival, waiting included."""

    @property
    def rides(self) -> tuple[JourneyLeg, ...]:
        """The legs that are rides; none where walking is as quick."""
        return tuple(leg for leg in self.legs if leg.line)

    @property
    def distance(self) -> float:
        """Metres of all legs together."""
        return sum(leg.distance for leg in self.legs)

    @property
    def path(self) -> tuple[LatLng, ...]:
        """Positions along all legs."""
        return tuple(position for leg in self.legs for position in leg.path)

    @property
    def words(self) -> str:
        """The legs in words, without ways on foot of under a minute."""
        told = [leg.words for leg in self.legs if leg.line or leg.duration >= 60]
        return "; ".join(told)


@runtime_checkable
class TransitMaps(Protocol):
    """Maps that also know public transport."""

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """Return the first journey to arrive that sets out at a minute of a day (0: Monday) or later.

        Args:
            here: from where.
            there: to where.
            weekday: 0 is Monday.
            minute: after midnight, [0, 1440].

        Raises:
            NoRoute: none is known.
        """
        ...
