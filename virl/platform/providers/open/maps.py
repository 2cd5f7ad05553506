"""Maps put together: addresses from one source, ways from another, and ways along panoramas."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np

from virl.errors import BadInput, NoRoute
from virl.geo.globe import Floats, LatLng, distance
from virl.platform.city.graph import GraphMaps
from virl.platform.city.maps import OFF_MAP_M, SPEED_M_S, Address, Route, TravelMode, in_blocks, speed_of


class Addresses(Protocol):
    """A source of the positions of addresses, and of addresses near positions."""

    def find(self, address: str) -> LatLng:
        """Return the position of an address.

        Raises:
            NotFound: nothing matches.
        """
        ...

    def nearest(self, position: LatLng, radius: float) -> Address | None:
        """Return the address nearest to a position within `radius` metres; `None` if there is none."""
        ...


class OpenMaps:
    """Maps made of addresses from one source, ways from another, and ways along panoramas."""

    def __init__(self, addresses: Addresses, ways: "ServerWays", panoramas: GraphMaps) -> None:
        """Make maps of a source of addresses, one of routes, and the maps of ways along panoramas."""
        self.geocode = addresses.find
        self.address_at = addresses.nearest
        self.route = ways.route
        self.travel_times = ways.travel_times
        self.panorama_route = panoramas.route


def _table_of_reached(
    origins: Sequence[LatLng],
    destinations: Sequence[LatLng],
    ask: Callable[[Sequence[LatLng], Sequence[LatLng]], Floats],
) -> Floats:
    """Return seconds, shape (origins, destinations), `inf` from and to stops for which `ask` finds no way.

    Such stops, for which `ask` raises `NoRoute`, are found by asking for fewer.
    """

    def find_reached(stops: Sequence[LatLng]) -> set[LatLng]:
        """Return the stops that the service can reach, found by asking for ever smaller halves of them."""
        try:
            ask(stops, stops)
        except NoRoute:
            middle = len(stops) // 2
            return find_reached(stops[:middle]) | find_reached(stops[middle:]) if middle else set()
        return set(stops)

    found = np.full((len(origins), len(destinations)), np.inf)
    try:
        found[:] = ask(origins, destinations)
    except NoRoute:
        near = find_reached(list(dict.fromkeys([*origins, *destinations])))
        rows, columns = (
            [n for n, stop in enumerate(some) if stop in near] for some in (origins, destinations)
        )
        for row in rows if columns else ():
            with suppress(NoRoute):
                found[row, columns] = ask([origins[row]], [destinations[column] for column in columns])[0]
    return found


@dataclass(frozen=True, slots=True)
class Leg:
    """The way between two stops as a service gives it, from road to road."""

    path: Sequence[LatLng]
    """Positions of the corners of the way."""
    streets: Sequence[str]
    """Street name of each piece between two corners."""
    metres: float
    """Length of the way in metres."""
    seconds: float
    """Duration of the way in seconds."""


def _join_legs(stops: Sequence[LatLng], legs: Sequence[Leg], mode: TravelMode) -> Route:
    """Return the route through stops: straight to each leg, along it, and straight to the next stop.

    The straight pieces are walked or driven at the mean speed of the mode. `NoRoute` is raised for a stop
    that is too far from the ways.
    """
    path, streets, metres, seconds = [stops[0]], list[str](), 0.0, 0.0
    for (here, there), leg in zip(pairwise(stops), legs, strict=True):
        corners = list(leg.path) or [here]
        to, off = distance(here, corners[0]), distance(corners[-1], there)
        for stop, away in ((here, to), (there, off)):
            if away > OFF_MAP_M[mode]:
                raise NoRoute(f"{stop} is off the map: the nearest way for {mode} is {away:.0f} m away")
        straight = distance(here, there)
        if straight <= to + off:  # nearer to each other than to the way
            path.append(there)
            streets.append("")
            metres += straight
            seconds += straight / SPEED_M_S[mode]
            continue
        path += [*corners, there]
        streets += ["", *leg.streets, ""]
        metres += to + leg.metres + off
        seconds += leg.seconds + (to + off) / SPEED_M_S[mode]
    return Route(tuple(path), metres, seconds, tuple(streets))


class ServerWays(ABC):
    """A source of routes and travel times by a server that takes a limited number of stops at once."""

    name: ClassVar[str]
    """Name of the server's software, for errors."""
    most_stops: ClassVar[int]
    """Largest number of stops of a route."""
    side: ClassVar[int]
    """Largest number of origins, and of destinations, of one table."""

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the best way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops, more than `most_stops`, or a mode that the server does not know.
            NoRoute: two stops are not connected, or one is off the map.
            ProviderError: the server does not answer.
        """
        self._check_mode(mode)
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        _check_finite(stops)
        if len(stops) > self.most_stops:
            raise BadInput(f"a route of {self.name} has at most {self.most_stops} stops, not {len(stops)}")
        return _join_legs(stops, self._legs(mode, stops), mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations).

        Returns:
            `inf` where no way leads, also from or to a stop that is off the map.

        Raises:
            BadInput: a stop that is not finite, or a mode that the server does not know.
            ProviderError: the server does not answer.
        """
        self._check_mode(mode)
        _check_finite([*origins, *destinations])
        ask = partial(_table_of_reached, ask=partial(self._table, mode))
        return in_blocks(origins, destinations, (self.side, self.side), ask)

    def _check_mode(self, mode: TravelMode) -> None:
        """Raise `BadInput` for a mode of travel that the server does not know."""
        speed_of(mode)

    @abstractmethod
    def _legs(self, mode: TravelMode, stops: Sequence[LatLng]) -> list[Leg]:
        """Return the way between each two consecutive stops, at most `most_stops`, in their order.

        `NoRoute` is raised where two stops are not connected, or one is far from any way.
        """

    @abstractmethod
    def _table(self, mode: TravelMode, origins: Sequence[LatLng], destinations: Sequence[LatLng]) -> Floats:
        """Return the seconds of one table, shape (origins, destinations), `inf` where no way leads.

        `NoRoute` is raised where the server refuses the whole table for one stop that it cannot reach.
        """


def _check_finite(stops: Sequence[LatLng]) -> None:
    """Raise `BadInput` for a stop whose latitude or longitude is not finite."""
    for stop in stops:
        if not np.isfinite(stop).all():
            raise BadInput(f"{stop} is not a position: latitude and longitude must be finite")
