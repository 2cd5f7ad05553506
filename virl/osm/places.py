"""Places as OpenStreetMap's tags tell them: the rules that extracts and servers share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import hypot

import shapely

from virl.geo.globe import LatLng
from virl.osm.extract import Tags
from virl.osm.facts import facts_of
from virl.osm.hours import WeeklyHours, weekly_hours
from virl.platform.city.places import Place

SAME_SPOT_M = 20.0
"""Metres within which places of one name and kind are one; chosen."""


def place_of(
    place_id: str, tags: Tags, types: tuple[str, ...], position: LatLng, day: date | None = None
) -> Place:
    """Return an object of the map as a place.

    Args:
        place_id: such as `n12`.
        tags: of the object.
        types: of the place.
        position: of the place.
        day: for which its hours are read; by default today.
    """
    hours = (weekly_hours(tags["opening_hours"], day) if "opening_hours" in tags else None) or WeeklyHours()
    return Place(
        id=place_id,
        name=tags["name"].strip(),
        types=types,
        position=position,
        address=address(tags),
        is_open=not hours.is_closed,
        hours=hours.stretches,
        facts=facts_of(tags, hours.left_out),
    )


def address(tags: Tags) -> str:
    """Return street, house number and town in one line, as far as they are mapped.

    A number without a street is no address.
    """
    street = tags.get("addr:street") or tags.get("addr:place") or ""
    house = f"{street} {tags.get('addr:housenumber', '')}".strip() if street else ""
    return ", ".join(part for part in (house, tags.get("addr:city")) if part)


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A mapped object that may be the same place as another."""

    name: str
    types: tuple[str, ...]
    x: float
    """Metres east of a common origin."""
    y: float
    """Metres north of a common origin."""
    is_area: bool
    shape: shapely.Geometry | None = None
    """Shape in the same metres; `None` where only its middle is known."""


def first_of_each(spots: Sequence[NamedObject]) -> list[int]:
    """Return for each object the index of the first one that is the same place.

    Two of one name are one place if they lie at one spot, and one is the area of the other or their kinds
    agree.
    """
    kept: dict[str, list[int]] = {}
    first = []
    for index, spot in enumerate(spots):
        others = kept.setdefault(spot.name.casefold(), [])
        same = next((other for other in others if _is_same(spots[other], spot)), index)
        if same == index:
            others.append(index)
        first.append(same)
    return first


def _is_same(one: NamedObject, other: NamedObject) -> bool:
    """Return whether two objects of one name are the same place."""
    is_near = hypot(one.x - other.x, one.y - other.y) <= SAME_SPOT_M
    if one.types[0] in other.types or other.types[0] in one.types:
        return is_near or any(
            area.shape is not None and bool(shapely.intersects_xy(area.shape, point.x, point.y))
            for area, point in ((one, other), (other, one))
            if area.is_area and not point.is_area
        )
    return is_near and one.is_area != other.is_area
