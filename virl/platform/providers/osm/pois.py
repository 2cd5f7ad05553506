"""Places of an extract: what has a name and a purpose."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import shapely

from virl.platform.providers.osm.extract import OsmExtract, Shapes, Tags
from virl.platform.providers.osm.place_types import place_types
from virl.resources import data_folder
from virl.settings.model import Settings, load_settings

_INSIDE = {"indoor", "underground"}


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

    def has_front(self, number: int) -> bool:
        """Whether a place would have a front somewhere: no park, stop or monument."""
        return has_front(self.types[number], self.tags[number])

    def is_inside(self, number: int) -> bool:
        """Whether a place is indoors, upstairs or underground, away from the street."""
        tags = self.tags[number]
        on_street = "0" in re.split(r"[;-]", tags.get("level", "0").replace(" ", ""))
        return not on_street or tags.get("indoor", "no") != "no" or tags.get("location") in _INSIDE


class _NoFront(Settings):
    types: frozenset[str]
    tags: Mapping[str, frozenset[str]]


def has_front(types: Sequence[str], tags: Tags) -> bool:
    """Whether a place of these types and tags has a front: not if `platform/osm/no_front.yaml` lists it."""
    without = _no_front()
    return types[0] not in without.types and not any(
        tags.get(key) in values for key, values in without.tags.items()
    )


@cache
def _no_front() -> _NoFront:
    return load_settings(data_folder("platform/osm") / "no_front.yaml", _NoFront)


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
