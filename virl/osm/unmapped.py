"""Parked cars and trees from a seed, which no map has, where there is room for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import shapely
from numpy.random import Generator
from scipy.spatial import cKDTree
from shapely import LineString, Polygon

from virl.geo.globe import Flags, Floats, Ints, normalize_heading
from virl.osm.extract import OsmExtract, Tags
from virl.osm.houses import Houses
from virl.osm.ways import is_hidden
from virl.towns.plan.town_plan import Crossing, Furniture, Panoramas, Sign, Street

READERS = 3
"""Number of nearest panoramas from which each sign stays readable; chosen."""
READ_FROM_M = 40.0
"""Metres of the farthest panorama from which a sign is read."""


class Spots:
    """A test of where a town's ground is free of streets, houses, things and lines of sight to signs.

    Args:
        houses: of the town.
        streets: of the town.
        panoramas: of the town.
        signs: of the town.
        furniture: that is mapped.
    """

    def __init__(
        self, houses: Houses, streets: Sequence[Street], panoramas: Panoramas, signs: Sequence[Sign],
        furniture: Sequence[Furniture],
    ) -> None:  # fmt: skip
        self._houses = shapely.STRtree(np.concatenate([houses.footprints, houses.above.footprints]))
        self._streets = shapely.STRtree([shapely.LineString(street.line) for street in streets])
        self._half = np.array([street.road / 2 or street.pavement for street in streets])
        self._lines = self._streets.geometries
        self._middles = cKDTree(shapely.get_coordinates(shapely.centroid(houses.footprints)).reshape(-1, 2))
        self._eyes = cKDTree(panoramas.xy)
        self._things = cKDTree(np.array([(thing.x, thing.y) for thing in furniture], float).reshape(-1, 2))
        # Low things hide boards and directories alone: other signs hang above them.
        low = [sign for sign in signs if sign.kind in {"board", "directory"}]
        self._sights = {
            every: shapely.STRtree(_sights(chosen, panoramas))
            for every, chosen in ((True, signs), (False, low))
        }

    def near_panoramas(self, xy: Floats) -> Floats:
        """Return the metres from each point to the nearest panorama, shape (n,)."""
        return np.asarray(self._eyes.query(xy)[0], float)

    def near_houses(self, xy: Floats) -> Floats:
        """Return the metres from each point to the nearest house's middle, shape (n,); 0 without houses."""
        return np.asarray(self._middles.query(xy)[0], float) if self._middles.n else np.zeros(len(xy))

    def off_streets(self, xy: Floats, margin: float, own: Ints | None = None) -> Flags:
        """Return True for each point over `margin` metres from all streets but its own, shape (n,).

        Args:
            xy: points, (n, 2), metres.
            margin: metres.
            own: street of each point; `None` for none.
        """
        point, street = self._pairs_beside(self._streets, xy, float(self._half.max(initial=0.0)) + margin)
        gap = shapely.distance(np.asarray(shapely.points(xy[point])), self._lines[street])
        hit = gap < self._half[street] + margin
        if own is not None:
            hit &= street != own[point]
        return _free_flags(len(xy), point[hit])

    def off_houses(self, xy: Floats, margin: float) -> Flags:
        """Return True for each point over `margin` metres from all houses and overhangs, shape (n,)."""
        return _free_flags(len(xy), self._pairs_beside(self._houses, xy, margin)[0])

    def off_things(self, xy: Floats, margin: float) -> Flags:
        """Return True for each point at least `margin` metres from all mapped furniture, shape (n,)."""
        return np.asarray(self._things.query(xy, distance_upper_bound=margin)[0] >= margin)

    def off_sights(self, xy: Floats, margin: float, *, tall: bool) -> Flags:
        """Return True for each point over `margin` metres from lines of sight to signs, shape (n,).

        Args:
            xy: points, (n, 2), metres.
            margin: metres.
            tall: whether what stands there is tall.
        """
        return _free_flags(len(xy), self._pairs_beside(self._sights[tall], xy, margin)[0])

    def _pairs_beside(self, tree: shapely.STRtree, xy: Floats, margin: float) -> tuple[Ints, ...]:
        """Return (index of a point, index of a shape within `margin` metres of it) pairs as arrays."""
        found = tree.query(shapely.points(xy), predicate="dwithin", distance=margin).reshape(2, -1)
        return found[0], found[1]


def _free_flags(count: int, hit: Ints) -> Flags:
    """Return True for each of `count` points whose index is not in `hit`."""
    free = np.ones(count, bool)
    free[hit] = False
    return free


def _sights(signs: Sequence[Sign], panoramas: Panoramas) -> list[shapely.LineString]:
    """Return the lines from the middle of each sign to the panoramas around it."""
    if not signs:
        return []
    middle = np.array([(np.array(sign.left) + np.array(sign.right)) / 2 for sign in signs])
    away, near = cKDTree(panoramas.xy).query(middle, READERS, distance_upper_bound=READ_FROM_M)
    sign, rank = np.nonzero(np.isfinite(away))
    ends = np.stack([middle[sign], panoramas.xy[near[sign, rank]]], axis=1)
    return [shapely.LineString(pair) for pair in ends]


Side = Literal["left", "right"]
Manner = Literal["parallel", "diagonal", "perpendicular"]

# All chosen.
MOST_CARS = 3_000
"""Largest number of parked cars in a town."""
TAKEN = {True: 0.6, False: 0.3}
"""Share of kerb spaces with a parked car: True where parking is mapped, False where it is only usual."""
USUAL = frozenset({"residential", "unclassified", "living_street", "tertiary"})
"""Values of `highway` along which cars park unless the map says otherwise."""
USUAL_ROAD_M = 5.5
"""Width of a carriageway in metres below which cars park only where parking is mapped."""
STEP_M: Mapping[Manner, float] = {"parallel": 6.2, "diagonal": 3.4, "perpendicular": 2.7}
"""Metres along the kerb that each parked car takes, by manner of parking."""
TURN_DEG: Mapping[Manner, float] = {"parallel": 0.0, "diagonal": 45.0, "perpendicular": 90.0}
"""Angle in degrees between a parked car and the street, by manner of parking."""
HALF_M: Mapping[Manner, float] = {"parallel": 0.95, "diagonal": 2.2, "perpendicular": 2.4}
"""Half of the width in metres that a parked car takes across the street, by manner of parking."""
FREE_LANE_M = 1.3
"""Width in metres that stays free between the middle of the carriageway and a parked car."""
WALK_M = 1.2
"""Width in metres that stays free on a pavement beside parked cars."""
FROM_END_M, FROM_ZEBRA_M = 9.0, 7.5
CAR_OFF_THING_M, CAR_OFF_STOP_M, CAR_OFF_HOUSE_M, CAR_OFF_SIGHT_M, CAR_OFF_DOOR_M, CAR_OFF_ROAD_M = (
    2.8,
    12.0,
    1.4,
    1.6,
    3.2,
    2.0,
)
CAR_OFF_EYE_M = 3.4
"""Least distance in metres from a panorama to a parked car: nearer, the car fills its view."""

FORBIDDEN = frozenset(
    {"no", "no_parking", "no_stopping", "none", "fire_lane", "separate", "drawn_separately"}
)
MANNERS: Mapping[str, Manner] = {
    "parallel": "parallel", "inline": "parallel", "marked": "parallel", "yes": "parallel", "lane": "parallel",
    "street_side": "parallel", "on_kerb": "parallel", "half_on_kerb": "parallel", "shoulder": "parallel",
    "diagonal": "diagonal", "perpendicular": "perpendicular", "orthogonal": "perpendicular",
}  # fmt: skip
"""Manner of parking for each value of `parking:SIDE`, `parking:SIDE:orientation`, `parking:lane:SIDE`."""


def manner(tags: Tags, side: Side) -> tuple[Manner | None, bool]:
    """Return (manner of parking on a side, `None` for none; True if that is mapped)."""
    for where in (side, "both"):
        for key in (f"parking:{where}:orientation", f"parking:{where}", f"parking:lane:{where}"):
            value = tags.get(key, "")
            if value in FORBIDDEN:
                return None, True
            if value in MANNERS:
                return MANNERS[value], True
    return ("parallel" if tags.get("highway") in USUAL else None), False


def cars_of(
    streets: Sequence[Street],
    tags: Sequence[Tags],
    crossings: Sequence[Crossing],
    doors: Floats,
    stops: Floats,
    spots: Spots,
    seed: int,
) -> tuple[Furniture, ...]:
    """Return random parked cars that leave doors, crossings, junctions and signs free.

    Args:
        streets: of the town.
        tags: of the way of each street.
        crossings: zebras.
        doors: of shops and houses, metres, shape (n, 2).
        stops: of buses, metres, shape (n, 2).
        spots: what is taken.
        seed: any non-negative integer.
    """
    # A stream of their own: the trees stay where they are when cars are drawn otherwise.
    rng = np.random.default_rng([seed, 0xCA25])
    zebras: dict[int, list[float]] = {}
    for one in crossings:
        zebras.setdefault(one.street, []).append(one.along)
    rows = [
        row
        for number, (street, own) in enumerate(zip(streets, tags, strict=True))
        for side in ("right", "left")
        for row in _row(number, street, own, side, zebras.get(street.id, []), rng)
    ]
    if not rows:
        return ()
    found = np.array(rows, float)
    xy, street = found[:, :2], found[:, 3].astype(int)
    free = spots.off_streets(xy, CAR_OFF_ROAD_M, street)
    free &= spots.off_houses(xy, CAR_OFF_HOUSE_M) & spots.off_things(xy, CAR_OFF_THING_M)
    free &= spots.off_sights(xy, CAR_OFF_SIGHT_M, tall=False) & (spots.near_panoramas(xy) >= CAR_OFF_EYE_M)
    for points, margin in ((doors, CAR_OFF_DOOR_M), (stops, CAR_OFF_STOP_M)):
        if len(points):
            tree = shapely.STRtree(np.asarray(shapely.points(points)))
            free[tree.query(shapely.points(xy), predicate="dwithin", distance=margin)[0]] = False
    chosen = np.flatnonzero(free)
    if len(chosen) > MOST_CARS:
        chosen = np.sort(rng.choice(chosen, MOST_CARS, replace=False))
    looks = rng.integers(0, 997, len(chosen))
    return tuple(
        Furniture(
            f"seeded-car-{number + 1:05d}", "parked car", round(float(found[at, 0]), 2),
            round(float(found[at, 1]), 2), normalize_heading(float(found[at, 2])), int(look), is_mapped=False,
        )
        for number, (at, look) in enumerate(zip(chosen.tolist(), looks.tolist(), strict=True))
    )  # fmt: skip


def _row(
    number: int, street: Street, tags: Tags, side: Side, zebras: Sequence[float], rng: Generator
) -> list[tuple[float, float, float, int]]:
    """Return (x, y, heading in degrees, street) of the cars along one side of a street."""
    how, is_mapped = manner(tags, side)
    if how is None or street.road <= 0 or (not is_mapped and street.road < USUAL_ROAD_M):
        return []
    # Where nothing is mapped, a one-way street has cars on one side only.
    if not is_mapped and side == "left" and tags.get("oneway") == "yes":
        return []
    half = HALF_M[how]
    aside = max(street.road / 2 - half, FREE_LANE_M + half)
    if aside + half > street.road / 2 + max(street.pavement - WALK_M, 0.0):
        return []
    line = LineString(street.line)
    step = STEP_M[how]
    along = np.arange(FROM_END_M, line.length - FROM_END_M, step)
    along = along[rng.random(len(along)) < TAKEN[is_mapped]]
    along = along[[all(abs(at - zebra) > FROM_ZEBRA_M for zebra in zebras) for at in along]]
    if not len(along):
        return []
    here = shapely.get_coordinates(shapely.line_interpolate_point(line, along))
    ahead = shapely.get_coordinates(shapely.line_interpolate_point(line, along + 0.5))
    way = (ahead - here) / np.maximum(np.linalg.norm(ahead - here, axis=1, keepdims=True), 1e-9)
    right = np.stack([way[:, 1], -way[:, 0]], axis=1)
    sign = 1.0 if side == "right" else -1.0
    xy = here + sign * aside * right
    # On the left they face the other way: all drive on the right.
    turn = np.degrees(np.arctan2(way[:, 0], way[:, 1])) + (0.0 if side == "right" else 180.0) + TURN_DEG[how]
    return [
        (float(x), float(y), float(heading), number)
        for (x, y), heading in zip(xy, turn.tolist(), strict=True)
    ]


# All chosen.
MOST_TREES = 20_000
"""Largest number of random trees in a town; those nearest to houses are planted."""
SEEN_M = 55.0
"""Largest distance in metres from a tree to the nearest panorama: farther ones are hidden by others."""
FOREST_M, ORCHARD_M, ROW_M = 6.5, 7.0, 9.0  # from tree to tree
JITTER = 0.35
"""Largest random move of a forest's tree, as a share of the distance between trees."""
TREE_OFF_STREET_M, TREE_OFF_HOUSE_M, TREE_OFF_SIGHT_M, TREE_OFF_THING_M, TREE_OFF_EYE_M = (
    1.5,
    3.0,
    2.5,
    3.0,
    3.5,
)
ROW_OFF_STREET_M = 0.3
CROWDED = 60_000
"""Largest number of spots tried for trees; those nearest to houses come first."""


def trees_of(extract: OsmExtract, spots: Spots, seed: int) -> tuple[Furniture, ...]:
    """Return random trees in mapped woods, orchards and rows, near panoramas.

    Args:
        extract: OpenStreetMap data.
        spots: that are free.
        seed: same seed, same trees.
    """
    rng = np.random.default_rng([seed, 0x7EE5])
    woods = {"landuse": "forest", "natural": "wood"}
    forest = [_grow_grid(area, FOREST_M, JITTER, rng) for area in _areas(extract, woods)]
    orchard = [_grow_grid(area, ORCHARD_M, 0.0, rng) for area in _areas(extract, {"landuse": "orchard"})]
    rows = [_points_along(line) for line in _rows(extract)]
    lines = _free(_join(rows), spots, ROW_OFF_STREET_M)
    inside = _free(_join([*forest, *orchard]), spots, TREE_OFF_STREET_M)
    # Rows first: where there are too many, the middle of a wood is what nobody misses.
    xy = np.concatenate([lines, inside])
    xy = xy[:MOST_TREES]
    kinds = rng.integers(0, 997, len(xy))
    return tuple(
        Furniture(
            f"seeded-tree-{number + 1:05d}", "tree", round(x, 2), round(y, 2), float(kind % 360), kind,
            is_mapped=False,
        )
        for number, ((x, y), kind) in enumerate(zip(xy.tolist(), kinds.tolist(), strict=True))
    )  # fmt: skip


def _free(xy: Floats, spots: Spots, off_street: float) -> Floats:
    """Return the points where a tree can stand, metres, shape (n, 2), those nearest to houses first."""
    if not len(xy):
        return xy
    away = spots.near_panoramas(xy)
    xy = xy[(away <= SEEN_M) & (away >= TREE_OFF_EYE_M)]
    # Fewer before the dear checks: a wood has more spots than are ever seen.
    xy = xy[np.argsort(spots.near_houses(xy), kind="stable")[:CROWDED]]
    xy = xy[spots.off_streets(xy, off_street)]
    xy = xy[spots.off_houses(xy, TREE_OFF_HOUSE_M)]
    xy = xy[spots.off_things(xy, TREE_OFF_THING_M)]
    return xy[spots.off_sights(xy, TREE_OFF_SIGHT_M, tall=True)]


def _areas(extract: OsmExtract, kinds: Mapping[str, str]) -> Iterator[Polygon]:
    """Yield each polygon, metres, of the areas with one of these tags."""
    for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True):
        if any(tags.get(key) == value for key, value in kinds.items()):
            for part in shapely.get_parts(shapely.intersection(shape, extract.outline)):
                if isinstance(part, Polygon) and part.area > FOREST_M**2:
                    yield part


def _rows(extract: OsmExtract) -> Iterator[LineString]:
    """Yield the mapped lines of rows of trees, metres."""
    for tags, line in zip(extract.lines.tags, extract.lines.shapes, strict=True):
        if tags.get("natural") == "tree_row" and not is_hidden(tags):
            yield line


def _grow_grid(area: Polygon, apart: float, jitter: float, rng: Generator) -> Floats:
    """Return grid points in an area, moved at random by up to a share of the step, shape (n, 2)."""
    west, south, east, north = area.bounds
    x, y = np.meshgrid(np.arange(west, east, apart), np.arange(south, north, apart))
    xy = np.stack([x.ravel(), y.ravel()], axis=1)
    xy += rng.uniform(-jitter, jitter, xy.shape) * apart
    shapely.prepare(area)
    grown: Floats = xy[shapely.contains_xy(area, xy[:, 0], xy[:, 1])]
    return grown


def _points_along(line: LineString) -> Floats:
    """Return points about `ROW_M` metres apart along a line, shape (n, 2)."""
    count = max(1, round(line.length / ROW_M))
    at = shapely.line_interpolate_point(line, np.arange(count + 1) / count, normalized=True)
    points: Floats = shapely.get_coordinates(at)
    return points


def _join(parts: list[Floats]) -> Floats:
    """Return the points of all parts as one array, shape (n, 2)."""
    return np.concatenate([*parts, np.empty((0, 2))])
