"""Real towns rebuilt from OpenStreetMap ("twins"): their plan, and a provider of each kind over it."""

from collections import Counter
from dataclasses import replace
from datetime import date

import numpy as np
from tzfpy import get_tz

from virl.geo.globe import LatLng
from virl.osm.grounds import sea_of, squares
from virl.osm.hours import WeeklyHours, weekly_hours
from virl.osm.invented import INVENTED, with_invented_life
from virl.osm.mapped import choice_of, credit, key_of_twin, life_of, names_of, read_twin
from virl.osm.maps import TwinMaps
from virl.osm.names import types_called
from virl.osm.parts import unread_heights
from virl.osm.plan import Twin
from virl.osm.ways import only_ways
from virl.platform.city.city import Capabilities, City
from virl.platform.city.graph import GraphMaps
from virl.platform.city.inventory import CityStatistics
from virl.platform.city.left_out import LeftOut, Omission
from virl.platform.providers.osm.city_file import OsmCity
from virl.platform.providers.provider import Access
from virl.towns.listings import OfflineListings
from virl.towns.open_towns import OPEN_TOWNS, OpenTown
from virl.towns.places import OfflinePlaces
from virl.towns.plan.town_plan import StreetPlan
from virl.towns.render import LOOKS
from virl.towns.storage import picture_key
from virl.towns.streetview import OfflineStreetMap, OfflineStreetView, renderer_on_demand
from virl.towns.truth import OfflineTruth, PlanInventory, count_names, plan_statistics

FIELDS_M = 400.0
"""Distance in metres to the nearest panorama beyond which a town's middle counts as in fields; chosen."""


def open_twin(name: str, file: OsmCity, access: Access | None = None) -> City:
    """Return the city of a real town rebuilt from a map, with all providers and its ground truth.

    Args:
        name: name by which `open_city` opens the city.
        file: contents of the city's file.
        access: day of the run, and counts of what cannot be used of the extract.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    access = access or Access()
    day = access.day or date.today()  # noqa: DTZ011 - the day of who asks
    key = f"{name} {key_of_twin(file.extract_part, day)} {day} {file!r}"
    return OPEN_TOWNS.get(key, lambda: _open_town(name, file, day)).lend(access.left_out)


def _open_town(name: str, file: OsmCity, day: date) -> OpenTown:
    """Return the town of a city's file as it is on a day, opened with its providers, to be shared by runs."""
    extract = file.extract_part
    twin = read_twin(extract, day)
    omissions = [replace(one, source=f"{extract.file.name}: {one.source}") for one in twin.extract.left_out]
    plan, invented = twin.plan, file.life == "invented"
    if invented:
        plan = with_invented_life(plan, twin.extract, twin.pois.tags, seed=file.seed, town=file.title)
    plan = replace(plan, crowd=file.crowd)
    layout, shops = plan.layout, plan.shops
    renderer = renderer_on_demand(plan)
    also, addresses = names_of(twin, shops)
    lines = twin.extract.lines
    ways = [(lines.ids[way], lines.tags[way].get("highway", "")) for way in twin.streets.way.tolist()]
    known = twin.houses.known.tolist() + [True] * len(twin.houses.above.ids)
    houses = list(zip(twin.houses.all_ids, known, strict=True))
    drawn = key_of_twin(extract, day)
    streetview = OfflineStreetView(layout, renderer, picture_key(drawn and f"{drawn} {file.crowd:g}"))
    city = City(
        name=name,
        title=file.title,
        attribution=credit(twin.extract.date),
        capabilities=Capabilities(has_reviews=invented, has_free_lookup=True, looks=LOOKS),
        invented=INVENTED if invented else "",
        center=_center_of(layout),
        time_zone=get_tz(layout.frame.origin.lng, layout.frame.origin.lat) or None,
        streetview=streetview,
        places=OfflinePlaces(shops, lambda shop: renderer().photo(shop), also, types_called),
        maps=TwinMaps(only_ways(twin.extract), addresses, GraphMaps(streetview.graph)),
        listings=OfflineListings(plan.listings) if invented else None,
        truth=OfflineTruth(plan, renderer),
        street_map=OfflineStreetMap(layout),
        # The inventory lets go of the large extract, which pages read anew to count.
        inventory=PlanInventory(
            plan,
            lambda _: twin_statistics(read_twin(extract, day)),
            ways,
            houses,
            squares(twin.extract),
        ),
        life=life_of(twin),
        choice=choice_of(extract, twin.extract),
    )
    return OpenTown(city, streetview, omissions)


def _center_of(layout: StreetPlan) -> LatLng:
    """Return the position of the middle of a plan; where that is in fields, of the nearest panorama."""
    xy = layout.panoramas.xy
    away = np.hypot(*xy.T)
    if away.min() <= FIELDS_M:
        return layout.frame.origin
    return layout.frame.position(*xy[away.argmin()].tolist())


def twin_statistics(twin: Twin) -> CityStatistics:
    """Return the counts of what a rebuilt town holds, for the area that was read."""
    houses = twin.houses
    unread = sorted(
        (shop.place.name, tags["opening_hours"])
        for tags, shop in zip(twin.pois.tags, twin.plan.shops, strict=True)
        if "opening_hours" in tags and not shop.place.hours and weekly_hours(tags["opening_hours"]) is None
    )
    return replace(
        plan_statistics(twin.plan, twin.extract.outline),
        mapped_m=twin.streets.mapped_m,
        dropped_m=dict(twin.streets.dropped_m),
        drawn_m=dict(twin.streets.drawn_m),
        houses=len(set(houses.all_ids)),
        parts=int(houses.parts.sum() + (~houses.above.passages).sum()),
        looks_unread=count_names(Counter(dict(twin.looks_unread)).elements()),
        houses_with_height=len({name for name, known in zip(houses.ids, houses.known, strict=True) if known}),
        heights_unread=count_names(
            tag
            for tags in dict(zip(houses.all_ids, houses.all_tags, strict=True)).values()
            for tag in unread_heights(tags)
        ),
        hours_unread=len(unread),
        unread=tuple(unread),
        incomplete=sum(one.count for one in twin.extract.left_out),
        left_out=_left_out(twin),
        unmapped=count_names(twin.pois.unmapped.elements()),
    )


def _left_out(twin: Twin) -> tuple[Omission, ...]:
    """Return the counts of objects, coasts, hours and heights that cannot be used, or only in part."""
    found = LeftOut(is_told=False)
    for fault in sea_of(twin.extract, twin.houses).faults:
        found.add("coastlines", fault)
    for osm_id, tags in zip(twin.pois.ids, twin.pois.tags, strict=True):
        text = tags.get("opening_hours", "")
        hours = weekly_hours(text) if text else WeeklyHours()
        if hours is None:
            found.add("opening hours", f"{osm_id}: {text!r} cannot be read", osm_id)
        elif hours.left_out:
            found.add("opening hours", f"{osm_id}: not each week: {'; '.join(hours.left_out)}", osm_id)
    for osm_id, same in twin.pois.again:
        found.add("places mapped twice", f"{osm_id}: the same as {same}", osm_id)
    houses = twin.houses
    for osm_id, tags in dict(zip(houses.all_ids, houses.all_tags, strict=True)).items():
        if unread := unread_heights(tags):
            found.add("heights", f"{osm_id}: {', '.join(unread)} cannot be read", osm_id)
    return (*twin.extract.left_out, *found.omissions())
