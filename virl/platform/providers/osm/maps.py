"""Maps of a twin: addresses as mapped, and routes along the mapped ways."""

from collections.abc import Sequence
from threading import Lock

import numpy as np

from virl.errors import BadInput, NoRoute
from virl.geo import Floats, LatLng
from virl.platform.maps import Address, Route, TravelMode, speed_of
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.osm.addresses import TwinAddresses
from virl.platform.providers.osm.extract import OsmExtract
from virl.platform.providers.osm.routing import SnappedStop, WayGraph

OFF_MAP_M: dict[TravelMode, float] = {"walking": 100.0, "cycling": 300.0, "driving": 300.0}
"""A stop farther than this from every way of a mode is off the map. Chosen: where cars may not go, they are
left within five minutes' walk."""


class TwinMaps:
    """Maps over the ways of an extract.

    A route leads straight from a stop to the nearest point of a way that its mode may use, and along such
    ways from there. Of ways that are not connected, only the largest part counts. Routes are the shortest by
    length, and end where the extract does. They take the mean speed of their mode on all ways, and do not
    know turn restrictions.

    Args:
        extract: the mapped ways; see `only_ways`.
        addresses: of the twin.
        panoramas: the ways along them, for walkers through street view.
    """

    def __init__(self, extract: OsmExtract, addresses: TwinAddresses, panoramas: GraphMaps) -> None:
        self._extract = extract
        self._addresses = addresses
        self._panoramas = panoramas
        self._graphs: dict[TravelMode, WayGraph] = {}
        self._building = Lock()

    def geocode(self, address: str) -> LatLng:
        """The position of an address, a street, a crossing, or a place by its name.

        Raises:
            NotFound: nothing matches.
        """
        return self._addresses.find(address)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """The mapped address nearest to a position, of those within so many metres."""
        return self._addresses.nearest(position, radius)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """The shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops, a stop that is not finite, or an unknown mode.
            NoRoute: a stop is too far from the ways of this mode; see `OFF_MAP_M`.
        """
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        speed, graph = speed_of(mode), self._graph(mode)
        spots = self._snap(stops, mode)
        path, streets, metres = [stops[0]], list[str](), 0.0
        for leg, stop in enumerate(stops[1:]):
            found = graph.way(spots[leg], spots[leg + 1])
            if found is None:
                raise NoRoute(f"no way leads {mode} from {stops[leg]} to {stop}")
            lat, lng = self._extract.frame.to_degrees(*found.xy[1:-1].T)
            path += [LatLng(*each) for each in zip(lat.tolist(), lng.tolist(), strict=True)]
            path.append(stop)
            streets += found.streets
            metres += found.metres
        return Route(tuple(path), metres, metres / speed, tuple(streets))

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Seconds from every origin to every destination, shape (origins, destinations); `inf` if no way.

        Raises:
            BadInput: a stop that is not finite, or an unknown mode.
            NoRoute: a stop is too far from the ways of this mode; see `OFF_MAP_M`.
        """
        speed, graph = speed_of(mode), self._graph(mode)
        seconds: Floats = graph.metres(self._snap(origins, mode), self._snap(destinations, mode))
        return seconds / speed

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """The shortest way on foot from panorama to panorama; see `PanoramaMaps`.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is over 100 m from the nearest panorama.
        """
        return self._panoramas.route(stops)

    def _snap(self, stops: Sequence[LatLng], mode: TravelMode) -> list[SnappedStop]:
        graph, spots = self._graph(mode), []
        for stop in stops:
            point = self._extract.frame.point(stop)
            if not np.isfinite(point).all():
                raise BadInput(f"{stop} is not a position: latitude and longitude must be finite")
            spot = graph.snap(point)
            if spot is None:
                raise NoRoute(f"no way for {mode} is mapped here")
            if spot.away > OFF_MAP_M[mode]:
                raise NoRoute(f"{stop} is off the map: the nearest way for {mode} is {spot.away:.0f} m away")
            spots.append(spot)
        return spots

    def _graph(self, mode: TravelMode) -> WayGraph:
        """Built when a mode is first asked for."""
        with self._building:
            if mode not in self._graphs:
                self._graphs[mode] = WayGraph(self._extract, mode)
            return self._graphs[mode]
