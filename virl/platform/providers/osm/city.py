"""Puts a twin together: its plan, and a provider of each kind over it."""

from tzfpy import get_tz

from virl.platform.city import City
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.offline.inventory import PlanInventory
from virl.platform.providers.offline.listings import OfflineListings
from virl.platform.providers.offline.maker import picture_key
from virl.platform.providers.offline.places import OfflinePlaces
from virl.platform.providers.offline.plan import CityPlan
from virl.platform.providers.offline.render.ahead import compile_ahead
from virl.platform.providers.offline.render.renderer import CityRenderer
from virl.platform.providers.offline.streetview import OfflineStreetMap, OfflineStreetView, panorama_graph
from virl.platform.providers.offline.truth import OfflineTruth
from virl.platform.providers.osm.city_file import OsmCity
from virl.platform.providers.osm.credit import credit
from virl.platform.providers.osm.invented import INVENTED, with_invented_life
from virl.platform.providers.osm.mapped import key_of_twin, names_of, read_twin
from virl.platform.providers.osm.maps import TwinMaps
from virl.platform.providers.osm.network import only_ways
from virl.platform.providers.osm.plan import Twin
from virl.platform.providers.osm.statistics import twin_statistics
from virl.platform.providers.osm.type_names import types_called


def open_twin(name: str, file: OsmCity) -> City:
    """The twin of an extract, or of a region of it, with all its providers and its ground truth.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    compile_ahead()
    twin = read_twin(file)
    plan, invented = twin.plan, file.life == "invented"
    if invented:
        plan = with_invented_life(plan, twin.extract, twin.pois.tags, seed=file.seed, town=file.title)
    layout, shops = plan.layout, plan.shops
    renderer = CityRenderer(plan)
    also, addresses = names_of(twin, shops)
    return City(
        name=name,
        title=file.title,
        attribution=credit(twin.extract.date),
        reviewed=invented,
        directory=True,
        invented=INVENTED if invented else "",
        center=layout.frame.origin,
        time_zone=get_tz(layout.frame.origin.lng, layout.frame.origin.lat) or None,
        streetview=OfflineStreetView(layout, renderer, picture_key(key_of_twin(file))),
        places=OfflinePlaces(shops, renderer.photo, also, types_called),
        maps=TwinMaps(only_ways(twin.extract), addresses, GraphMaps(panorama_graph(layout))),
        listings=OfflineListings(plan.listings) if invented else None,
        truth=OfflineTruth(plan, renderer),
        street_map=OfflineStreetMap(layout),
        inventory=_inventory(twin, plan),
    )


def _inventory(twin: Twin, plan: CityPlan) -> PlanInventory:
    """Without the extract, which is larger than all that was made of it."""
    statistics = twin_statistics(twin)
    lines = twin.extract.lines
    ways = [(lines.ids[way], lines.tags[way].get("highway", "")) for way in twin.streets.way.tolist()]
    known = twin.houses.known.tolist() + [True] * len(twin.houses.above.ids)
    houses = list(zip(twin.houses.all_ids, known, strict=True))
    return PlanInventory(plan, lambda _: statistics, ways, houses)
