"""Places of an extract: what has a name and a purpose."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.platform.providers.osm.extract import OsmExtract, Shapes, Tags
from virl.platform.providers.osm.place_types import place_types

OUTDOORS = frozenset(
    {
        *("park", "garden", "playground", "athletic_field", "parking", "cemetery", "golf_course"),
        *("barbecue_area", "campground", "picnic_ground"),
    }
)
"""First types of places that have ground instead of a front."""
NO_FRONT = frozenset(
    {"bus_stop", "light_rail_station", "bicycle_rental", "taxi_stand", "monument", "sculpture", "fountain"}
)


@dataclass(frozen=True, slots=True)
class Pois:
    """n named places."""

    ids: tuple[str, ...]
    tags: tuple[Tags, ...]
    types: tuple[tuple[str, ...], ...]
    shapes: Shapes
    """Points or areas in metres, shape (n,)."""
    unmapped: Counter[str]
    """Values of tags that have no types of their own."""

    def name(self, number: int) -> str:
        """As the signs write it."""
        return self.tags[number]["name"].strip()

    def wants_front(self, number: int) -> bool:
        """Whether a place would have a front on a street: no park, no stop, nothing upstairs or below."""
        return has_front(self.types[number]) and self.on_ground_floor(number)

    def on_ground_floor(self, number: int) -> bool:
        """Whether a place is on the street's level, or does not say."""
        return "0" in self.tags[number].get("level", "0").replace(" ", "").split(";")


def has_front(types: Sequence[str]) -> bool:
    """Whether a place of these types has a front somewhere: no park, stop or monument."""
    return types[0] not in OUTDOORS and types[0] not in NO_FRONT


def pois_of(extract: OsmExtract) -> Pois:
    """All named places of an extract, each once: a building mapped twice under one name is one place."""
    unmapped: Counter[str] = Counter()
    ids, tags, types, shapes = [], [], [], []
    seen: set[tuple[str, int, int]] = set()
    for objects in (extract.areas, extract.points):
        for name, own, shape in zip(objects.ids, objects.tags, objects.shapes, strict=True):
            general: Counter[str] = Counter()
            if not own.get("name", "").strip() or not (kinds := place_types(own, general)):
                continue
            middle = shapely.point_on_surface(shape)
            if not shapely.intersects_xy(extract.outline, middle.x, middle.y):
                continue
            spot = (own["name"].casefold(), round(middle.x / 30), round(middle.y / 30))
            if spot in seen:
                continue
            seen.add(spot)
            unmapped += general
            ids.append(name)
            tags.append(own)
            types.append(kinds)
            shapes.append(shape)
    array = np.empty(len(shapes), object)
    array[:] = shapes
    return Pois(tuple(ids), tuple(tags), tuple(types), array, unmapped)
