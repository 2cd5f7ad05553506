"""Maps of a made city: addresses by its house numbers, ways along its panoramas."""

from collections.abc import Mapping
from types import MappingProxyType

from virl.geo import LatLng
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.offline.addresses import AddressBook
from virl.platform.providers.offline.plan import StreetPlan
from virl.platform.providers.offline.streetview import panorama_graph


def offline_maps(layout: StreetPlan, named: Mapping[str, LatLng] = MappingProxyType({})) -> GraphMaps:
    """Maps over the plan of a made city.

    Args:
        layout: the plan.
        named: positions of places by name or address, for `geocode`.
    """
    return GraphMaps(panorama_graph(layout), AddressBook(layout, named).find)
