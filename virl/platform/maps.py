"""Maps: addresses to positions, and ways between positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, choices
from virl.geo import LatLng

TravelMode = Literal["walking", "cycling", "driving"]

SPEED_M_S: dict[TravelMode, float] = {"walking": 1.35, "cycling": 4.2, "driving": 7.0}
"""Metres a second in town. Chosen: usual planning values, driving with its stops at lights."""
_TRANSIT = frozenset({"transit", "public transport", "bus", "tram", "train", "subway", "metro", "ferry"})


@dataclass(frozen=True, slots=True)
class Route:
    """A way through stops in the order given."""

    path: tuple[LatLng, ...]
    distance: float
    """Metres."""
    duration: float
    """Seconds."""
    streets: tuple[str, ...] = ()
    """The street of each piece of the path, empty where it has none; no names where none are known."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a door is."""

    text: str
    """As it is written there, such as `Mannerheimintie 5, Helsinki`."""
    position: LatLng


class Maps(Protocol):
    """A provider of addresses and routes."""

    def geocode(self, address: str) -> LatLng:
        """The position of an address or of a place named in it.

        Raises:
            NotFound: nothing matches.
        """
        ...

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """The shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> NDArray[np.float64]:
        """Seconds from every origin to every destination, shape (origins, destinations); `inf` if no way.

        Raises:
            NoRoute: a stop is off the map.
        """
        ...


@runtime_checkable
class ReverseMaps(Protocol):
    """Maps that know the addresses of positions too."""

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """The address nearest to a position, of those within so many metres."""
        ...


@runtime_checkable
class PanoramaMaps(Protocol):
    """Maps whose routes on foot use ways without street view, and that know the way along panoramas too."""

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """The shortest way from panorama to panorama through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...


def walked_route(maps: Maps, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
    """The way through stops for a walker who follows panoramas: along them, where the maps know it.

    Raises:
        BadInput: fewer than two stops.
        NoRoute: two stops are not connected, or one is off the map.
    """
    return maps.panorama_route(stops) if isinstance(maps, PanoramaMaps) else maps.route(stops, mode)


def speed_of(mode: TravelMode) -> float:
    """Metres a second that a mode of travel makes.

    Raises:
        BadInput: there is no such mode, or it is one that no provider knows.
    """
    if mode in SPEED_M_S:
        return SPEED_M_S[mode]
    if str(mode).casefold() in _TRANSIT:
        raise BadInput(f"travel mode {mode!r}: transit is not known here: {choices(SPEED_M_S)}")
    raise BadInput(f"unknown travel mode {mode!r}: {choices(SPEED_M_S)}")
