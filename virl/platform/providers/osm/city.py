"""Puts a twin together: its plan, and a provider of each kind over it."""

from collections import Counter
from dataclasses import replace

from tzfpy import get_tz

from virl.platform.city import City
from virl.platform.inventory import CityStatistics
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.offline.inventory import PlanInventory, counted, plan_statistics
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
from virl.platform.providers.osm.hours import weekly
from virl.platform.providers.osm.invented import INVENTED, with_invented_life
from virl.platform.providers.osm.mapped import key_of_twin, names_of, read_twin
from virl.platform.providers.osm.maps import TwinMaps
from virl.platform.providers.osm.network import only_ways
from virl.platform.providers.osm.parts import unread_heights
from virl.platform.providers.osm.plan import Twin
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


def twin_statistics(twin: Twin) -> CityStatistics:
    """Count what is in a twin; its area is that of the part of the extract that was read."""
    houses = twin.houses
    unread = sorted(
        (shop.place.name, tags["opening_hours"])
        for tags, shop in zip(twin.pois.tags, twin.plan.shops, strict=True)
        if "opening_hours" in tags and not shop.place.hours and weekly(tags["opening_hours"]) is None
    )
    return replace(
        plan_statistics(twin.plan),
        area_m2=float(twin.extract.outline.area),
        mapped_m=twin.streets.mapped_m,
        dropped_m=dict(twin.streets.dropped_m),
        drawn_m=dict(twin.streets.drawn_m),
        houses=len(set(houses.all_ids)),
        parts=int(houses.parts.sum() + (~houses.above.passages).sum()),
        looks_unread=counted(Counter(dict(twin.looks_unread)).elements()),
        houses_with_height=len({name for name, known in zip(houses.ids, houses.known, strict=True) if known}),
        heights_unread=counted(
            tag
            for tags in dict(zip(houses.all_ids, houses.all_tags, strict=True)).values()
            for tag in unread_heights(tags)
        ),
        hours_unread=len(unread),
        unread=tuple(unread),
        incomplete=twin.extract.incomplete,
        unmapped=counted(twin.pois.unmapped.elements()),
    )
