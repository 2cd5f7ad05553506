"""Street furniture that is mapped."""

from collections.abc import Iterator, Mapping
from math import atan2, degrees

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.geo import normalize_heading
from virl.platform.providers.offline.plan import Furniture, FurnitureKind, Panoramas
from virl.platform.providers.osm.extract import OsmExtract, Tags
from virl.platform.providers.osm.houses import Houses
from virl.platform.providers.osm.measures import number

KINDS: Mapping[tuple[str, str], FurnitureKind] = {
    ("amenity", "waste_basket"): "trash bin",
    ("amenity", "bench"): "bench",
    ("amenity", "post_box"): "mailbox",
    ("emergency", "fire_hydrant"): "fire hydrant",
    ("highway", "street_lamp"): "street lamp",
    ("highway", "traffic_signals"): "traffic light",
    ("natural", "tree"): "tree",
    ("barrier", "bollard"): "bollard",
    ("man_made", "planter"): "planter",
}


def furniture_of(extract: OsmExtract, houses: Houses, panoramas: Panoramas) -> tuple[Furniture, ...]:
    """What is mapped, except in houses; it faces the street, unless its direction is mapped."""
    kinds, xy, tags = [], [], []
    for own, point in zip(extract.points.tags, extract.points.shapes, strict=True):
        kind = _kind(own)
        if kind:
            kinds.append(kind)
            xy.append((point.x, point.y))
            tags.append(own)
    if not xy:
        return ()
    places = np.array(xy)
    inside = np.zeros(len(places), bool)
    inside[shapely.STRtree(houses.footprints).query(shapely.points(places), predicate="intersects")[0]] = True
    inside |= ~shapely.intersects_xy(extract.outline, places[:, 0], places[:, 1])
    _, near = cKDTree(panoramas.xy).query(places)
    return tuple(_set_up(kinds, places, tags, panoramas.xy[near], np.flatnonzero(~inside).tolist()))


def _set_up(
    kinds: list[FurnitureKind],
    places: np.ndarray,
    tags: list[Tags],
    toward: np.ndarray,
    kept: list[int],
) -> Iterator[Furniture]:
    counts: dict[str, int] = {}
    for item in kept:
        kind = kinds[item]
        counts[kind] = counts.get(kind, 0) + 1
        x, y = (float(value) for value in places[item])
        mapped = number(tags[item].get("direction"))
        heading = mapped if mapped is not None else degrees(atan2(toward[item, 0] - x, toward[item, 1] - y))
        name = f"{kind.replace(' ', '-')}-{counts[kind]:04d}"
        yield Furniture(name, kind, round(x, 3), round(y, 3), normalize_heading(heading), item % 997)


def _kind(tags: Tags) -> FurnitureKind | None:
    return next((KINDS[pair] for pair in tags.items() if pair in KINDS), None)
