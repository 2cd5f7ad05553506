"""How much of everything a twin holds, and what of its extract was left out."""

from collections import Counter
from dataclasses import replace

from virl.platform.inventory import CityStatistics
from virl.platform.providers.offline.inventory import counted, plan_statistics
from virl.platform.providers.osm.hours import weekly
from virl.platform.providers.osm.parts import unread_heights
from virl.platform.providers.osm.plan import Twin


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
