"""Maps of a made city: addresses by its house numbers, ways along its panoramas, and invented buses."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from virl.geo import LatLng
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.offline.addresses import AddressBook
from virl.platform.providers.offline.buses import BusLine, bus_lines
from virl.platform.providers.offline.journeys import journey_of
from virl.platform.providers.offline.plan import StreetPlan
from virl.platform.providers.offline.streetview import panorama_graph
from virl.platform.transit import Journey


class OfflineMaps(GraphMaps):
    """Maps over the plan of a made city.

    Args:
        layout: the plan.
        named: positions of places by name or address, for `geocode`.
    """

    def __init__(self, layout: StreetPlan, named: Mapping[str, LatLng]) -> None:
        super().__init__(panorama_graph(layout), AddressBook(layout, named).find)
        self._layout = layout

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:  # noqa: ARG002
        """As `TransitMaps.journey`; every day has the same buses.

        Raises:
            NoRoute: an end is off the map.
        """
        return journey_of(self._lines, self, here, there, minute)

    @cached_property
    def _lines(self) -> list[BusLine]:
        return bus_lines(self._layout)


def offline_maps(layout: StreetPlan, named: Mapping[str, LatLng] = MappingProxyType({})) -> OfflineMaps:
    """Maps over the plan of a made city.

    Args:
        layout: the plan.
        named: positions of places by name or address, for `geocode`.
    """
    return OfflineMaps(layout, named)
