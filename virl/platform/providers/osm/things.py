"""Street furniture that is mapped."""

from collections.abc import Iterator, Mapping, Sequence
from math import atan2, degrees

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from virl.geo import Floats, normalize_heading
from virl.platform.providers.offline.plan import Furniture, FurnitureKind, Panoramas, Street
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
    ("amenity", "bicycle_parking"): "bicycle stand",
    ("highway", "bus_stop"): "bus stop",
}
AREAS = frozenset({"bicycle_parking"})
"""Values of `amenity` that are mapped as areas, too: such a thing stands in the middle of its area."""
MAY_STAND_IN_ROADS = frozenset({"bollard"})
KERB_M = 0.5  # from the carriageway to what is mapped on it, such as the lights of a crossing; chosen


def furniture_of(
    extract: OsmExtract, houses: Houses, panoramas: Panoramas, streets: Sequence[Street]
) -> tuple[Furniture, ...]:
    """What is mapped, except in houses; it faces the street, unless its direction is mapped.

    What is mapped on a carriageway, as lights and stops often are, stands at its right-hand kerb.
    """
    kinds, xy, tags = [], [], []
    areas = (
        (own, shapely.point_on_surface(shape))
        for own, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True)
        if own.get("amenity") in AREAS
    )
    points = zip(extract.points.tags, extract.points.shapes, strict=True)
    for own, point in (*points, *areas):
        kind = _kind(own)
        if kind:
            kinds.append(kind)
            xy.append((point.x, point.y))
            tags.append(own)
    if not xy:
        return ()
    movable = np.array([kind not in MAY_STAND_IN_ROADS for kind in kinds], bool)
    places = _beside_roads(np.array(xy), movable, streets)
    inside = np.zeros(len(places), bool)
    inside[shapely.STRtree(houses.footprints).query(shapely.points(places), predicate="intersects")[0]] = True
    inside |= ~shapely.intersects_xy(extract.outline, places[:, 0], places[:, 1])
    _, near = cKDTree(panoramas.xy).query(places)
    return tuple(_set_up(kinds, places, tags, panoramas.xy[near], np.flatnonzero(~inside).tolist()))


def _beside_roads(xy: Floats, movable: NDArray[np.bool_], streets: Sequence[Street]) -> Floats:
    """Points on a carriageway moved to its kerb: to the side they are on, or to the right of its middle."""
    roads = [street for street in streets if street.road > 0]
    if not roads:
        return xy
    lines = np.array([shapely.LineString(street.line) for street in roads], object)
    half = np.array([street.road / 2 for street in roads])
    points = np.asarray(shapely.points(xy))
    moved = xy.copy()
    reach = float(half.max())
    pairs = shapely.STRtree(lines).query_nearest(points, max_distance=reach, all_matches=False)
    for point, road in pairs.T.tolist():
        gap = shapely.distance(points[point], lines[road])
        if not movable[point] or gap >= half[road]:
            continue
        along = shapely.line_locate_point(lines[road], points[point])
        ends = np.array([min(along + 0.5, lines[road].length), max(along - 0.5, 0.0)])
        ahead, back = shapely.get_coordinates(shapely.line_interpolate_point(lines[road], ends))
        way = (ahead - back) / max(float(np.hypot(*(ahead - back))), 1e-9)
        right = np.array([way[1], -way[0]])
        on = shapely.get_coordinates(shapely.line_interpolate_point(lines[road], along))[0]
        side = float((xy[point] - on) @ right)
        moved[point] = on + right * (half[road] + KERB_M) * (-1.0 if side < -0.3 else 1.0)
    return moved


def _set_up(
    kinds: list[FurnitureKind],
    places: Floats,
    tags: list[Tags],
    toward: Floats,
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
