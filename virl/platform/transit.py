"""Public transport: journeys on foot and by bus, tram or train, for maps that know it."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from virl.clock import show_clock, whole_minutes
from virl.geo import LatLng


@dataclass(frozen=True, slots=True)
class JourneyLeg:
    """Part of a journey: a ride, or a way on foot."""

    path: tuple[LatLng, ...]
    distance: float
    """Metres."""
    duration: float
    """Seconds."""
    line: str = ""
    """The line ridden, such as `bus 4`; empty on foot."""
    board: str = ""
    """Name of the stop where a ride begins."""
    alight: str = ""
    """Name of the stop where it ends."""
    departs: int | None = None
    """Minutes after midnight, of a ride."""
    arrives: int | None = None
    """Minutes after midnight, of a ride."""
    headsign: str = ""
    """Destination of the vehicle; may be empty."""

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
    """A way by public transport at a time."""

    legs: tuple[JourneyLeg, ...]
    duration: float
    """Seconds from setting out to the arrival, waiting included."""

    @property
    def rides(self) -> tuple[JourneyLeg, ...]:
        """The legs that are not on foot; none where walking is as quick."""
        return tuple(leg for leg in self.legs if leg.line)

    @property
    def distance(self) -> float:
        """Metres."""
        return sum(leg.distance for leg in self.legs)

    @property
    def path(self) -> tuple[LatLng, ...]:
        """All of the way."""
        return tuple(position for leg in self.legs for position in leg.path)

    @property
    def words(self) -> str:
        """The legs in words; ways on foot of under a minute are left out."""
        told = [leg.words for leg in self.legs if leg.line or leg.duration >= 60]
        return "; ".join(told)


@runtime_checkable
class TransitMaps(Protocol):
    """Maps that know public transport too."""

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """Return the journey that arrives first of those that set out at a time.

        Args:
            here: from where.
            there: to where.
            weekday: 0 is Monday.
            minute: after midnight, [0, 1440].

        Raises:
            NoRoute: none is known.
        """
        ...
