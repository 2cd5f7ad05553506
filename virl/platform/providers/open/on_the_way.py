"""Maps and streets over a graph that is asked for when it is needed, and grows."""

from collections.abc import Callable, Sequence

from virl.geo import Floats, LatLng
from virl.platform.graph import NavigationGraph
from virl.platform.maps import Address, Maps, ReverseMaps, Route, TravelMode, walked_route
from virl.platform.providers.graph.streetview import GraphStreetMap
from virl.platform.providers.open.explored import Explored


class MapsOnTheWay:
    """Maps whose panoramas may grow.

    Args:
        explored: the panoramas.
        make: makes the maps of a graph.
    """

    def __init__(self, explored: Explored, make: Callable[[NavigationGraph], Maps]) -> None:
        self._explored = explored
        self._make = make
        self._made: tuple[NavigationGraph, Maps] | None = None

    def geocode(self, address: str) -> LatLng:
        """As `Maps.geocode`."""
        return self._maps.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """As `Maps.route`."""
        return self._maps.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """As `Maps.travel_times`."""
        return self._maps.travel_times(origins, destinations, mode)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """As `ReverseMaps.address_at`; `None` where the maps know no addresses."""
        maps = self._maps
        return maps.address_at(position, radius) if isinstance(maps, ReverseMaps) else None

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """As `PanoramaMaps.panorama_route`."""
        return walked_route(self._maps, stops)

    @property
    def _maps(self) -> Maps:
        graph = self._explored.made.graph
        if self._made is None or self._made[0] is not graph:
            self._made = graph, self._make(graph)
        return self._made[1]


class StreetsOnTheWay:
    """The streets of a graph that may grow, as far as they are known.

    Args:
        explored: the panoramas.
    """

    def __init__(self, explored: Explored) -> None:
        self._explored = explored

    def lines(self) -> Sequence[Sequence[LatLng]]:
        """As `StreetMap.lines`."""
        return GraphStreetMap(self._explored.made.graph).lines()

    def panorama_ids(self) -> Sequence[str]:
        """As `StreetMap.panorama_ids`."""
        return self._explored.made.graph.ids
