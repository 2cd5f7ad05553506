"""Maps: addresses to positions, and ways between positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from virl.geo import LatLng

TravelMode = Literal["walking", "cycling", "driving"]

SPEED_M_S: dict[TravelMode, float] = {"walking": 1.35, "cycling": 4.2, "driving": 7.0}
"""Metres a second in town. Chosen: usual planning values, driving with its stops at lights."""


@dataclass(frozen=True, slots=True)
class Route:
    """A way through stops in the order given."""

    path: tuple[LatLng, ...]
    distance: float
    """Metres."""
    duration: float
    """Seconds."""


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
