"""Puts a twin together: its plan, and a provider of each kind over it."""

from tzfpy import get_tz

from virl.platform.city import City
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.offline.inventory import PlanInventory
from virl.platform.providers.offline.places import OfflinePlaces
from virl.platform.providers.offline.render.renderer import CityRenderer
from virl.platform.providers.offline.streetview import OfflineStreetMap, OfflineStreetView, panorama_graph
from virl.platform.providers.offline.truth import OfflineTruth
from virl.platform.providers.osm.addresses import TwinAddresses
from virl.platform.providers.osm.city_file import OsmCity
from virl.platform.providers.osm.extract import read_extract
from virl.platform.providers.osm.plan import Twin, build_twin
from virl.platform.providers.osm.statistics import twin_statistics


def open_twin(name: str, file: OsmCity) -> City:
    """The twin of an extract, or of a region of it, with all its providers and its ground truth.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    twin = build_twin(read_extract(file.file, file.part))
    dated = f", data of {twin.extract.date}" if twin.extract.date else ""
    layout, shops = twin.plan.layout, twin.plan.shops
    renderer = CityRenderer(twin.plan)
    named = {shop.place.name: shop.place.position for shop in reversed(shops)}
    addresses = TwinAddresses(twin.extract, twin.streets, named)
    return City(
        name=name,
        title=file.title,
        attribution=f"© OpenStreetMap contributors{dated}",
        center=layout.frame.origin,
        time_zone=get_tz(layout.frame.origin.lng, layout.frame.origin.lat) or None,
        streetview=OfflineStreetView(layout, renderer),
        places=OfflinePlaces(shops, renderer.photo),
        maps=GraphMaps(panorama_graph(layout), addresses.find),
        truth=OfflineTruth(twin.plan, renderer),
        street_map=OfflineStreetMap(layout),
        inventory=_inventory(twin),
    )


def _inventory(twin: Twin) -> PlanInventory:
    """Without the extract, which is larger than all that was made of it."""
    statistics = twin_statistics(twin)
    lines = twin.extract.lines
    ways = [(lines.ids[way], lines.tags[way].get("highway", "")) for way in twin.streets.way.tolist()]
    houses = list(zip(twin.houses.ids, twin.houses.known.tolist(), strict=True))
    return PlanInventory(twin.plan, lambda _: statistics, ways, houses)
