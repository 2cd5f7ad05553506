"""Parked cars and trees from a seed, which no map has, where there is room for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import shapely
from numpy.random import Generator
from scipy.spatial import cKDTree
from shapely import LineString, Polygon

from virl.geo.flat import line_strings, near_lines, near_shapes
from virl.geo.globe import Flags, Floats, Ints, normalize_heading
from virl.osm.extract import OsmExtract, Tags
from virl.osm.houses import Houses
from virl.osm.ways import is_hidden
from virl.towns.plan.furnish import EYE_M, metres_to_cars
from virl.towns.plan.town_plan import Crossing, Furniture, Panoramas, Sign, Street

READERS = 3
"""Number of nearest panoramas from which each sign stays readable; chosen."""
READ_FROM_M = 40.0
"""Largest distance in metres to a panorama from which a sign stays readable."""


class Spots:
    """A search for ground that is free of streets, houses, furniture and lines of sight to signs."""

    def __init__(
        self, houses: Houses, streets: Sequence[Street], panoramas: Panoramas, signs: Sequence[Sign],
        furniture: Sequence[Furniture],
    ) -> None:  # fmt: skip
        """Build search trees of a town's houses, streets, panoramas, signs and mapped furniture."""
        self._houses = shapely.STRtree(np.concatenate([houses.footprints, houses.above.footprints]))
        self._streets = shapely.STRtree(line_strings(street.line for street in streets))
        self._half = np.array([street.road / 2 or street.pavement for street in streets])
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
        """Return the metres from each point, shape (n, 2), to the nearest panorama, shape (n,)."""
        return np.asarray(self._eyes.query(xy)[0], float)

    def off_panoramas(self, cars: Floats) -> Flags:
        """Return True for each car, (east, north, heading in degrees), (n, 3), that stands off panoramas."""
        far = self.near_panoramas(cars[:, :2]) >= CAR_OFF_EYE_M
        return np.asarray(far & (metres_to_cars(cars, np.asarray(self._eyes.data)) >= EYE_M))

    def near_houses(self, xy: Floats) -> Floats:
        """Return the metres from each point, (n, 2), to the nearest house's middle; 0 without houses."""
        return np.asarray(self._middles.query(xy)[0], float) if self._middles.n else np.zeros(len(xy))

    def off_streets(self, xy: Floats, margin: float, own: Ints | None = None) -> Flags:
        """Return True for each point `margin` metres or more off all streets but its own (index: `own`).

        Args:
            xy: points in metres, shape (n, 2).
            margin: metres to the edge of a carriageway, or of the pavement of a street without one.
            own: index of each point's own street, shape (n,); `None` if points have none.
        """
        return ~near_lines(xy, self._streets, self._half, margin, own)

    def off_houses(self, xy: Floats, margin: float) -> Flags:
        """Return True for each point, (n, 2), over `margin` metres from all houses and overhangs."""
        return ~near_shapes(xy, self._houses, margin)

    def off_things(self, xy: Floats, margin: float) -> Flags:
        """Return True for each point, (n, 2), at least `margin` metres from all mapped furniture."""
        return np.asarray(self._things.query(xy, distance_upper_bound=margin)[0] >= margin)

    def off_sights(self, xy: Floats, margin: float, *, tall: bool) -> Flags:
        """Return True for points over `margin` metres off sight lines to signs: all if `tall`, else low ones.

        Args:
            xy: points in metres, shape (n, 2).
            margin: metres.
            tall: True for an object that hides all signs, False for one that hides only low ones.
        """
        return ~near_shapes(xy, self._sights[tall], margin)


def _sights(signs: Sequence[Sign], panoramas: Panoramas) -> list[shapely.LineString]:
    """Return the lines in metres from the middle of each sign to the panoramas from which it is read."""
    if not signs:
        return []
    middle = np.array([(np.array(sign.left) + np.array(sign.right)) / 2 for sign in signs])
    away, near = cKDTree(panoramas.xy).query(middle, READERS, distance_upper_bound=READ_FROM_M)
    sign, rank = np.nonzero(np.isfinite(away))
    ends = np.stack([middle[sign], panoramas.xy[near[sign, rank]]], axis=1)
    return [shapely.LineString(pair) for pair in ends]


Side = Literal["left", "right"]
"""Side of a street, along the direction of its line."""
Manner = Literal["parallel", "diagonal", "perpendicular"]
"""Angle at which cars park to the kerb."""

# All chosen.
MOST_CARS = 3_000
"""Largest number of parked cars in a town."""
TAKEN = {True: 0.6, False: 0.3}
"""Share of kerb spaces with a parked car, [0, 1], by whether parking is mapped there or only usual."""
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
"""Least distance in metres along a street from a parked car to the street's ends, and to a zebra."""
CAR_OFF_THING_M, CAR_OFF_STOP_M, CAR_OFF_HOUSE_M = 2.8, 12.0, 1.4
"""Least distance in metres from a parked car to mapped furniture, to a bus stop and to a house."""
CAR_OFF_SIGHT_M, CAR_OFF_DOOR_M, CAR_OFF_ROAD_M = 1.6, 3.2, 2.0
"""Least distance in metres from a parked car to a line of sight, to a door and to another street."""
CAR_OFF_EYE_M = 3.4
"""Least distance in metres from a panorama to a parked car's middle: nearer, the car fills its view."""
_NO_CARS = np.empty((0, 4))
"""Empty array of parked cars, as returned by `_cars_along`, shape (0, 4)."""

FORBIDDEN = frozenset(
    {"no", "no_parking", "no_stopping", "none", "fire_lane", "separate", "drawn_separately"}
)
"""Values of the tags in `MANNERS` for a side of a street on which no car parks."""
MANNERS: Mapping[str, Manner] = {
    "parallel": "parallel", "inline": "parallel", "marked": "parallel", "yes": "parallel", "lane": "parallel",
    "street_side": "parallel", "on_kerb": "parallel", "half_on_kerb": "parallel", "shoulder": "parallel",
    "diagonal": "diagonal", "perpendicular": "perpendicular", "orthogonal": "perpendicular",
}  # fmt: skip
"""Manner of parking for each value of `parking:SIDE`, `parking:SIDE:orientation`, `parking:lane:SIDE`."""


def manner(tags: Tags, side: Side) -> tuple[Manner | None, bool]:
    """Return (manner of parking on a street's side by its tags, `None` for none; True if that is mapped)."""
    for sides in (side, "both"):
        for key in (f"parking:{sides}:orientation", f"parking:{sides}", f"parking:lane:{sides}"):
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
    """Return random parked cars as tagged or usual, clear of doors, bus stops, zebras, junctions and signs.

    Args:
        streets: of the town.
        tags: of the way of each street.
        crossings: zebras.
        doors: of shops and houses, (east, north) metres, shape (n, 2).
        stops: of buses, (east, north) metres, shape (n, 2).
        spots: the search for free ground.
        seed: any non-negative integer; equal seeds give equal cars.
    """
    # A stream of their own: the trees stay where they are when cars are drawn otherwise.
    rng = np.random.default_rng([seed, 0xCA25])
    zebras: dict[int, list[float]] = {}
    for one in crossings:
        zebras.setdefault(one.street, []).append(one.along)
    sides: tuple[Side, Side] = ("right", "left")
    rows = [
        _cars_along(number, street, own, side, zebras.get(street.id, []), rng)
        for number, (street, own) in enumerate(zip(streets, tags, strict=True))
        for side in sides
    ]
    found = np.concatenate([*rows, _NO_CARS])
    if not len(found):
        return ()
    xy, street = found[:, :2], found[:, 3].astype(int)
    free = spots.off_streets(xy, CAR_OFF_ROAD_M, street)
    free &= spots.off_houses(xy, CAR_OFF_HOUSE_M) & spots.off_things(xy, CAR_OFF_THING_M)
    free &= spots.off_sights(xy, CAR_OFF_SIGHT_M, tall=False) & spots.off_panoramas(found[:, :3])
    for points, margin in ((doors, CAR_OFF_DOOR_M), (stops, CAR_OFF_STOP_M)):
        if len(points):
            free &= ~near_shapes(xy, shapely.STRtree(np.asarray(shapely.points(points))), margin)
    chosen = np.flatnonzero(free)
    if len(chosen) > MOST_CARS:
        chosen = np.sort(rng.choice(chosen, MOST_CARS, replace=False))
    looks = rng.integers(0, 997, len(chosen))
    return tuple(
        Furniture(
            f"seeded-car-{number:05d}", "parked car", round(x, 2), round(y, 2), normalize_heading(heading),
            look, is_mapped=False,
        )
        for number, ((x, y, heading, _), look) in enumerate(
            zip(found[chosen].tolist(), looks.tolist(), strict=True), start=1
        )
    )  # fmt: skip


def _cars_along(
    number: int, street: Street, tags: Tags, side: Side, zebras: Sequence[float], rng: Generator
) -> Floats:
    """Return (metres east, metres north, heading in degrees, `number`) of cars on a street's side, (n, 4).

    `number` is the street's index; `zebras` has the metres along the street to each.
    """
    how, is_mapped = manner(tags, side)
    if how is None or street.road <= 0 or (not is_mapped and street.road < USUAL_ROAD_M):
        return _NO_CARS
    # Where nothing is mapped, a one-way street has cars on one side only.
    if not is_mapped and side == "left" and tags.get("oneway") == "yes":
        return _NO_CARS
    half = HALF_M[how]
    aside = max(street.road / 2 - half, FREE_LANE_M + half)
    if aside + half > street.road / 2 + max(street.pavement - WALK_M, 0.0):
        return _NO_CARS
    line = LineString(street.line)
    step = STEP_M[how]
    along = np.arange(FROM_END_M, line.length - FROM_END_M, step)
    along = along[rng.random(len(along)) < TAKEN[is_mapped]]
    if street.cycle_lanes[side == "left"] and not is_mapped:
        return _NO_CARS  # only now, so that the cars of other streets stay where they are
    along = along[[all(abs(at - zebra) > FROM_ZEBRA_M for zebra in zebras) for at in along]]
    here = shapely.get_coordinates(shapely.line_interpolate_point(line, along))
    ahead = shapely.get_coordinates(shapely.line_interpolate_point(line, along + 0.5))
    way = (ahead - here) / np.maximum(np.linalg.norm(ahead - here, axis=1, keepdims=True), 1e-9)
    right = np.stack([way[:, 1], -way[:, 0]], axis=1)
    sign = 1.0 if side == "right" else -1.0
    xy = np.round(here + sign * aside * right, 2)
    # On the left they face the other way: all drive on the right.
    turn = np.degrees(np.arctan2(way[:, 0], way[:, 1])) + (0.0 if side == "right" else 180.0) + TURN_DEG[how]
    return np.column_stack([xy, turn, np.full(len(along), number)])


# All chosen.
MOST_TREES = 20_000
"""Largest number of random trees in a town: first those of rows, then those in woods nearest to houses."""
SEEN_M = 55.0
"""Largest distance in metres from a tree to the nearest panorama: farther ones are hidden by others."""
FOREST_M, ORCHARD_M, ROW_M = 6.5, 7.0, 9.0
"""Distance in metres from tree to tree in a forest, in an orchard and in a row."""
JITTER = 0.35
"""Largest random move of a forest's tree, as a share of the distance between trees."""
TREE_OFF_STREET_M, TREE_OFF_HOUSE_M, TREE_OFF_SIGHT_M = 1.5, 3.0, 2.5
"""Least distance in metres from a tree to a street, to a house and to a line of sight."""
TREE_OFF_THING_M, TREE_OFF_EYE_M = 3.0, 3.5
"""Least distance in metres from a tree to mapped furniture and to a panorama."""
ROW_OFF_STREET_M = 0.3
"""Least distance in metres from a tree of a row to a street."""
CROWDED = 60_000
"""Largest number of spots tried for trees; those nearest to houses come first."""


def trees_of(extract: OsmExtract, spots: Spots, seed: int) -> tuple[Furniture, ...]:
    """Return random trees in mapped woods, orchards and rows, near panoramas.

    Args:
        extract: with the mapped areas and lines.
        spots: the search for free ground.
        seed: any non-negative integer; equal seeds give equal trees.
    """
    rng = np.random.default_rng([seed, 0x7EE5])
    woods = {"landuse": "forest", "natural": "wood"}
    forest = [_grow_grid(area, FOREST_M, JITTER, rng) for area in _areas(extract, woods)]
    orchard = [_grow_grid(area, ORCHARD_M, 0.0, rng) for area in _areas(extract, {"landuse": "orchard"})]
    rows = [
        _points_along(line)
        for tags, line in extract.lines.tagged_shapes()
        if tags.get("natural") == "tree_row" and not is_hidden(tags)
    ]
    nothing = np.empty((0, 2))
    lines = _free_points(np.concatenate([*rows, nothing]), spots, ROW_OFF_STREET_M)
    inside = _free_points(np.concatenate([*forest, *orchard, nothing]), spots, TREE_OFF_STREET_M)
    # Rows first: where there are too many, the middle of a wood is what nobody misses.
    xy = np.concatenate([lines, inside])[:MOST_TREES]
    kinds = rng.integers(0, 997, len(xy))
    return tuple(
        Furniture(
            f"seeded-tree-{number + 1:05d}", "tree", round(x, 2), round(y, 2), float(kind % 360), kind,
            is_mapped=False,
        )
        for number, ((x, y), kind) in enumerate(zip(xy.tolist(), kinds.tolist(), strict=True))
    )  # fmt: skip


def _free_points(xy: Floats, spots: Spots, off_street: float) -> Floats:
    """Return those points `xy`, nearest to houses first, where trees fit, `off_street` metres off streets."""
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
    """Yield the polygons in metres, if not tiny, of areas with one of these tags (value by key)."""
    for tags, shape in extract.areas.tagged_shapes():
        if any(tags.get(key) == value for key, value in kinds.items()):
            for part in shapely.get_parts(shapely.intersection(shape, extract.outline)):
                if isinstance(part, Polygon) and part.area > FOREST_M**2:
                    yield part


def _grow_grid(area: Polygon, apart: float, jitter: float, rng: Generator) -> Floats:
    """Return points in an area on a grid of `apart` metres, each moved by up to `jitter` of a step."""
    west, south, east, north = area.bounds
    x, y = np.meshgrid(np.arange(west, east, apart), np.arange(south, north, apart))
    xy = np.stack([x.ravel(), y.ravel()], axis=1)
    xy += rng.uniform(-jitter, jitter, xy.shape) * apart
    shapely.prepare(area)
    return np.asarray(xy[shapely.contains_xy(area, xy[:, 0], xy[:, 1])])


def _points_along(line: LineString) -> Floats:
    """Return points about `ROW_M` metres apart along a line, its ends included, shape (n, 2)."""
    count = max(1, round(line.length / ROW_M))
    at = shapely.line_interpolate_point(line, np.arange(count + 1) / count, normalized=True)
    return np.asarray(shapely.get_coordinates(at))
