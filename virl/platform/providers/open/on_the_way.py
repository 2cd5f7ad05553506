"""Maps and streets over a graph that is asked for when it is needed, and grows."""

from collections.abc import Callable, Sequence

from virl.geo.globe import Floats, LatLng
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.maps import Address, Maps, ReverseMaps, Route, TravelMode, walked_route
from virl.platform.providers.open.explored import Explored
from virl.platform.providers.pictures.graph_streetview import GraphStreetMap


class MapsOnTheWay:
    """Maps over a panorama graph that may grow.

    Args:
        explored: the panoramas.
        make: makes the maps of a graph.
    """

    def __init__(self, explored: Explored, make: Callable[[NavigationGraph], Maps]) -> None:
        self._explored = explored
        self._make = make
        self._made: tuple[NavigationGraph, Maps] | None = None

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address or of a place named in it."""
        return self._maps.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest route through two or more stops, in their order."""
        return self._maps.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations)."""
        return self._maps.travel_times(origins, destinations, mode)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """Return the nearest address within `radius` metres; `None` if none is known."""
        maps = self._maps
        return maps.address_at(position, radius) if isinstance(maps, ReverseMaps) else None

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """Return the shortest route from panorama to panorama through two or more stops, in their order."""
        return walked_route(self._maps, stops)

    @property
    def _maps(self) -> Maps:
        """Maps over the graph as it is now, made anew when it has grown."""
        graph = self._explored.graph.graph
        if self._made is None or self._made[0] is not graph:
            self._made = graph, self._make(graph)
        return self._made[1]


class StreetsOnTheWay:
    """The streets of a panorama graph that may grow, as far as they are known.

    Args:
        explored: the panoramas.
    """

    def __init__(self, explored: Explored) -> None:
        self._explored = explored

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """Return the centre lines of the streets."""
        return GraphStreetMap(self._explored.graph.graph).lines()

    def panorama_ids(self) -> Sequence[str]:
        """Return the ids of all panoramas, in a fixed order."""
        return self._explored.graph.graph.ids
