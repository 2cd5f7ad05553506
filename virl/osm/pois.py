"""Places of an extract: what has a name and a purpose."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.measures import is_at_ground
from virl.osm.place_types import place_types
from virl.osm.places import NamedObject, first_of_each
from virl.platform.city.place_types import types_marked

_INSIDE = {"indoor", "underground"}
"""Values of `location` inside buildings."""
_NO_FRONT = (
    ("amenity", "parking_entrance"),  # the ramp to a car park
    ("leisure", "fitness_station"),  # exercise equipment in the open
)
"""Tags of places without a front, of types whose other places have one."""


@dataclass(frozen=True, slots=True)
class Pois:
    """The named places of an extract, as sequences of length n."""

    ids: tuple[str, ...]
    tags: tuple[Tags, ...]
    types: tuple[tuple[str, ...], ...]
    shapes: Shapes
    """Points or areas in metres, shape (n,)."""
    unmapped: Counter[str]
    """Times that each tag of a place has no place type."""
    again: tuple[tuple[str, str], ...] = ()
    """(id of an object, id of the place that it repeats) pairs."""

    def name(self, number: int) -> str:
        """Return the name of a place as on its signs."""
        return self.tags[number]["name"].strip()

    def has_front(self, number: int) -> bool:
        """Return whether a place can have a front; parks, stops and monuments cannot."""
        return has_front(self.types[number], self.tags[number])

    def is_inside(self, number: int) -> bool:
        """Return whether a place is indoors, upstairs or underground, away from the street."""
        tags = self.tags[number]
        on_street = is_at_ground(tags.get("level", ""))
        return not on_street or tags.get("indoor", "no") != "no" or tags.get("location") in _INSIDE


def has_front(types: Sequence[str], tags: Tags) -> bool:
    """Return whether a place of these types and tags has a front on which a sign could hang."""
    return types[0] not in types_marked("no_front") and not any(
        tags.get(key) == value for key, value in _NO_FRONT
    )


def pois_of(extract: OsmExtract) -> Pois:
    """Return all named places of an extract, each once."""
    found: list[tuple[str, Tags, Counter[str], shapely.Geometry]] = []
    spots: list[NamedObject] = []
    for objects in (extract.areas, extract.points):
        for name, own, shape in zip(objects.ids, objects.tags, objects.shapes, strict=True):
            general: Counter[str] = Counter()
            if not own.get("name", "").strip() or not (kinds := place_types(own, general)):
                continue
            middle = shapely.point_on_surface(shape)
            if shapely.intersects_xy(extract.outline, middle.x, middle.y):
                found.append((name, own, general, shape))
                is_area = objects is extract.areas
                spots.append(NamedObject(own["name"].strip(), kinds, middle.x, middle.y, is_area, shape))
    first = first_of_each(spots)
    kept = [index for index, same in enumerate(first) if index == same]
    ids, tags, unmapped, shapes = zip(*(found[one] for one in kept), strict=True) if kept else [()] * 4
    array = np.empty(len(kept), object)
    array[:] = shapes
    again = tuple((found[one][0], found[same][0]) for one, same in enumerate(first) if one != same)
    return Pois(ids, tags, tuple(spots[one].types for one in kept), array, sum(unmapped, Counter()), again)
