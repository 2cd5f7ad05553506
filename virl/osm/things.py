"""Street furniture, hedges, walls and fences that are mapped."""

from collections.abc import Iterator, Mapping, Sequence
from math import atan2, degrees

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from shapely import Geometry, LineString

from virl.geo.flat import left_normals, line_strings
from virl.geo.globe import Floats, normalize_heading
from virl.osm.extract import OsmExtract, Tags
from virl.osm.houses import Houses
from virl.osm.signing import variant
from virl.osm.tags import metres, number
from virl.osm.ways import is_hidden
from virl.towns.plan.town_plan import Barrier, BarrierKind, Furniture, FurnitureKind, Panoramas, Street

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
"""Kind of street furniture by its tag (key, value)."""
AREAS = frozenset({"bicycle_parking"})
"""Values of `amenity` for furniture that is also mapped as an area, and stands in the area's middle."""
MAY_STAND_IN_ROADS = frozenset({"bollard"})
"""Kinds of furniture that may stand on a carriageway."""
KERB_M = 0.5
"""Distance in metres from a carriageway to furniture that is mapped on it and moved to its kerb; chosen."""

_BARRIER_KINDS: Mapping[str, tuple[BarrierKind, float]] = {
    "hedge": ("hedge", 1.4), "wall": ("wall", 1.3), "retaining_wall": ("wall", 0.7),
    "city_wall": ("wall", 4.0), "fence": ("fence", 1.2), "railing": ("fence", 1.0),
    "guard_rail": ("fence", 0.7),
}  # fmt: skip
"""The kind and default height in metres of the barrier drawn for each value of `barrier`; chosen."""
_HEIGHTS_M = 0.3, 8.0
"""Least and largest tagged height in metres of a barrier that is believed; chosen."""
_GATES = frozenset(
    {
        *("gate", "lift_gate", "swing_gate", "sliding_gate", "kissing_gate", "entrance", "cattle_grid"),
        *("cycle_barrier", "turnstile", "stile", "bollard", "block", "bump_gate", "hampshire_gate"),
    }
)
"""Values of the tag `barrier` for nodes at which a fence, wall or hedge is open."""
# All chosen.
_GATE_M = 3.0
"""Width of an opening in metres, where not tagged."""
_WIDEST_GATE_M = 20.0
"""Largest width of an opening in metres."""
_BESIDE_ROAD_M = 0.3
"""Least distance in metres from a barrier to a carriageway."""
_WAY_M, _PATH_M = 1.5, 1.0
"""Half the width in metres of a barrier's opening for a mapped way, and for a street without carriageway."""
_BEFORE_FACADE_M = 0.3
"""Distance in metres from a house within which a barrier is left out, as a part of the wall."""
_SHORTEST_M, _SMOOTHED_M = 0.6, 0.05
"""Least length in metres of a piece of barrier, and largest distance that smoothing may move its line."""


def furniture_of(
    extract: OsmExtract, houses: Houses, panoramas: Panoramas, streets: Sequence[Street]
) -> tuple[Furniture, ...]:
    """Return the mapped furniture outside houses, facing the street or its mapped direction.

    What is mapped on a carriageway, as lights and stops often are, stands at its right-hand kerb.

    Args:
        extract: with the mapped points and areas.
        houses: of the town; furniture in them is left out.
        panoramas: the nearest is what a piece faces whose direction is not mapped.
        streets: of the town.
    """
    kinds, xy, tags = [], [], []
    areas = (
        (own, shapely.point_on_surface(shape))
        for own, shape in extract.areas.tagged_shapes()
        if own.get("amenity") in AREAS
    )
    for own, point in (*extract.points.tagged_shapes(), *areas):
        kind = next((KINDS[pair] for pair in own.items() if pair in KINDS), None)
        if kind:
            kinds.append(kind)
            xy.append((point.x, point.y))
            tags.append(own)
    if not xy:
        return ()
    movable = np.array([kind not in MAY_STAND_IN_ROADS for kind in kinds], bool)
    places = _beside_roads(np.array(xy), movable, streets)
    free = shapely.intersects_xy(extract.outline, places[:, 0], places[:, 1])
    free[shapely.STRtree(houses.footprints).query(shapely.points(places), predicate="intersects")[0]] = False
    _, near = cKDTree(panoramas.xy).query(places)
    return tuple(_furniture_at(kinds, places, tags, panoramas.xy[near], np.flatnonzero(free).tolist()))


def _beside_roads(xy: Floats, movable: NDArray[np.bool_], streets: Sequence[Street]) -> Floats:
    """Return points, metres, (n, 2), with those on carriageways moved to the kerb if True in `movable`."""
    roads = [street for street in streets if street.road > 0]
    if not roads:
        return xy
    half = np.array([street.road / 2 for street in roads])
    points = np.asarray(shapely.points(xy))
    tree = shapely.STRtree(line_strings(street.line for street in roads))
    near = tree.query_nearest(points, max_distance=float(half.max()), all_matches=False, return_distance=True)
    (point, road), gap = near
    on_road = movable[point] & (gap < half[road])
    point, road = point[on_road], road[on_road]
    lines = tree.geometries[road]
    along = shapely.line_locate_point(lines, points[point])
    ends = np.minimum(along + 0.5, shapely.length(lines)), along, np.maximum(along - 0.5, 0.0)
    ahead, on, back = (shapely.get_coordinates(shapely.line_interpolate_point(lines, at)) for at in ends)
    right = -left_normals(ahead - back)
    # Near the middle the side is chance, and lights and stops are for those who keep to the right.
    side = np.where(np.sum((xy[point] - on) * right, axis=1) < -0.3, -1.0, 1.0)
    moved = xy.copy()
    moved[point] = on + right * ((half[road] + KERB_M) * side)[:, None]
    return moved


def _furniture_at(
    kinds: list[FurnitureKind], places: Floats, tags: list[Tags], toward: Floats, kept: list[int]
) -> Iterator[Furniture]:
    """Yield the pieces of indices `kept` at `places`, headed as tagged or `toward` points, metres, (n, 2)."""
    counts: dict[str, int] = {}
    for item in kept:
        kind = kinds[item]
        counts[kind] = counts.get(kind, 0) + 1
        x, y = (float(value) for value in places[item])
        mapped = number(tags[item].get("direction"))
        heading = mapped if mapped is not None else degrees(atan2(toward[item, 0] - x, toward[item, 1] - y))
        name = f"{kind.replace(' ', '-')}-{counts[kind]:04d}"
        yield Furniture(name, kind, round(x, 3), round(y, 3), normalize_heading(heading), item % 997)


def barriers_of(extract: OsmExtract, houses: Houses, streets: Sequence[Street]) -> tuple[Barrier, ...]:
    """Return the hedges, walls and fences along mapped lines, cut at houses, ways and gates.

    Args:
        extract: with the mapped lines, gates and ways.
        houses: of the town.
        streets: of the town, on which no barrier stands.
    """
    lines = [
        (name, tags, line)
        for name, tags, line in zip(extract.lines.ids, extract.lines.tags, extract.lines.shapes, strict=True)
        if tags.get("barrier") in _BARRIER_KINDS and not is_hidden(tags)
    ]
    if not lines:
        return ()
    openings = np.array([*openings_of(extract, streets)], object)
    ways, walls = shapely.STRtree(openings), shapely.STRtree(houses.footprints)
    found = []
    for name, tags, line in lines:
        near = houses.footprints[walls.query(line, "dwithin", _BEFORE_FACADE_M)]
        taken = [*openings[ways.query(line, predicate="intersects")], *shapely.buffer(near, _BEFORE_FACADE_M)]
        free = shapely.intersection(shapely.difference(line, shapely.union_all(taken)), extract.outline)
        for part in shapely.get_parts(shapely.line_merge(free)):
            smooth = shapely.simplify(part, _SMOOTHED_M)
            if isinstance(smooth, LineString) and smooth.length >= _SHORTEST_M:
                found.append(_barrier(name, tags, smooth))
    return tuple(found)


def _barrier(name: str, tags: Tags, line: LineString) -> Barrier:
    """Return the barrier along a line in metres with tagged or default height; `name` is the way's id."""
    kind, height = _BARRIER_KINDS[tags["barrier"]]
    tagged = metres(tags.get("height"))
    if tagged is not None and _HEIGHTS_M[0] <= tagged <= _HEIGHTS_M[1]:
        height = tagged
    return Barrier(kind, np.round(shapely.get_coordinates(line), 3), round(height, 2), variant(name))


def openings_of(extract: OsmExtract, streets: Sequence[Street]) -> Iterator[Geometry]:
    """Yield shapes in metres of ground, at gates, on streets and on ways, where no barrier is drawn."""
    for tags, point in extract.points.tagged_shapes():
        if tags.get("barrier") in _GATES:
            width = min(metres(tags.get("maxwidth:physical") or tags.get("width")) or _GATE_M, _WIDEST_GATE_M)
            yield shapely.buffer(point, width / 2)
    for street in streets:
        half = street.road / 2 + _BESIDE_ROAD_M if street.road else _PATH_M
        yield shapely.buffer(LineString(street.line), half, quad_segs=2)
    for tags, line in extract.lines.tagged_shapes():
        if "highway" in tags and not is_hidden(tags):
            yield shapely.buffer(line, _WAY_M, quad_segs=2)
