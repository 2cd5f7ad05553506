"""Greenery that no map has, from a seed: beds in parks, and the front gardens of detached houses."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import shapely
from shapely import Geometry, LineString, Point, Polygon
from shapely.ops import substring

from virl.geo.globe import Floats
from virl.osm.extract import OsmExtract
from virl.osm.grounds import areas_of
from virl.osm.things import BEFORE_PANORAMA_M, openings_of
from virl.osm.unmapped import Spots
from virl.towns.plan.furnish import beds, park_spots
from virl.towns.plan.town_plan import Barrier, BarrierKind, CityPlan, Land, Street, StreetPlan
from virl.towns.render.bays import DOOR, plan_bays
from virl.towns.render.walls import walls_of

PLANTED = frozenset({"park", "garden", "village_green", "grass"})
"""Values of `leisure` and `landuse` for areas with beds."""
PAVED = frozenset({"parking", "fuel", "marketplace", "pedestrian", "square", "school"})
"""Values of `amenity`, `highway` and `place` for ground where nobody has a garden."""
# All chosen.
INSIDE_M = 3.5
"""Distance in metres from the edge of a park to its beds."""
OFF_WAY_M, OFF_HOUSE_M, OFF_THING_M, OFF_SIGHT_M = 2.0, 2.5, 2.0, 2.0
"""Least distance in metres from the middle of a bed to a street, to a house, to furniture and to the line of
sight to a low sign."""
DETACHED_M2, ALONE_M = (50.0, 320.0), 1.0
"""Least and greatest area in square metres of a house with a garden, and its least distance to another."""
DEEP_M = 3.0, 14.0
"""Least and greatest distance in metres from a pavement to the door behind a garden."""
AROUND_M, GREEN = 60.0, 0.9
"""Half the side in metres of the square in which the share of ground under houses is measured, and the largest
as a share of that from which ground is paved: a little below 1, as lawns end in a wave."""
FACING = 0.85
"""Least cosine of the angle between the way out of a door and the way to the street."""
RIM_M, CLEAR_M = 0.55, 0.3
"""Metres from a pavement to the middle of what stands along it, and to what is cut away."""
BESIDE_M, SHORTEST_M = 3.5, 1.2
"""Most metres of a garden to either side of its house, and least length of a piece of hedge or fence."""
PATH_M, GAP_M = 1.2, 0.35
"""Width in metres of a garden path, and room to either side of it in a hedge or fence."""
KINDS: tuple[tuple[BarrierKind | None, float], ...] = (
    ("hedge", 1.0), ("fence", 0.95), ("hedge", 0.8), ("fence", 1.05), (None, 0.0)
)  # fmt: skip
"""What stands along gardens with its height in metres, each as often; `None` for nothing."""


class _Door(NamedTuple):
    """The one door of a house."""

    house: int
    """Index of the building."""
    at: Floats
    """(east, north) in metres."""
    out: Floats
    """Unit vector out of the house."""
    beside: Floats
    """Middle of the wider stretch of wall beside the door, metres."""
    wide: float
    """Length of that stretch in metres."""


def with_gardens(plan: CityPlan, extract: OsmExtract, spots: Spots, seed: int) -> CityPlan:
    """Return a twin's plan with beds in its parks, and with gardens before its detached houses.

    Args:
        plan: of the twin.
        extract: that the plan was built from.
        spots: the search for free ground.
        seed: any non-negative integer; equal seeds give equal gardens.
    """
    layout, rng = plan.layout, np.random.default_rng([seed, 0x6A2D])
    parks = shapely.get_parts(areas_of(extract, PLANTED, "leisure", "landuse"))
    places = park_spots(rng, parks, INSIDE_M)
    xy = places[:, :2]
    free = spots.off_streets(xy, OFF_WAY_M) & spots.off_houses(xy, OFF_HOUSE_M)
    free &= spots.off_things(xy, OFF_THING_M) & spots.off_sights(xy, OFF_SIGHT_M, tall=False)
    gardens = _Gardens(layout, extract, spots, seed)
    for door in _doors(plan):
        gardens.lay_out(door)
    return replace(
        plan,
        layout=replace(
            layout,
            lands=(*layout.lands, *beds(rng, places[free]), *gardens.beds),
            gravels=(*layout.gravels, *gardens.paths),
            barriers=(*layout.barriers, *gardens.barriers),
        ),
    )


def _doors(plan: CityPlan) -> Iterator[_Door]:
    """Yield the doors, as they are drawn, of the detached houses that have one door and no place."""
    houses = plan.layout.buildings
    walls = walls_of(houses, plan.signs)
    doors = plan_bays(plan.layout, walls, {shop.frontage for shop in plan.shops}, plan.signs).of_kind(DOOR)
    footprints = np.array([house.footprint for house in houses], object)
    area = shapely.area(footprints)
    lone = (area > DETACHED_M2[0]) & (area < DETACHED_M2[1])
    one, other = shapely.STRtree(footprints).query(footprints, "dwithin", ALONE_M)
    lone[one[one != other]] = False
    lone[[front.building for front in plan.layout.frontages if front.building is not None]] = False
    owner, first, count = np.unique(walls.building[doors.wall], return_index=True, return_counts=True)
    for i in first[lone[owner] & (count == 1)].tolist():
        wall = doors.wall[i]
        left, right = walls.left[wall], walls.right[wall]
        share = (doors.place[i] + 0.5) / walls.bays[wall]
        run, length = right - left, float(walls.length[wall])
        side = (1 + share) / 2 if share < 0.5 else share / 2
        yield _Door(
            int(walls.building[wall]), left + run * share, np.array([run[1], -run[0]]) / length,
            left + run * side, length * max(share, 1 - share),
        )  # fmt: skip


class _Gardens:
    """The front gardens of a town, laid out door by door."""

    def __init__(self, layout: StreetPlan, extract: OsmExtract, spots: Spots, seed: int) -> None:
        """Collect the streets, what cuts a hedge, and what no garden may touch."""
        self.beds: list[Land] = []
        self.paths: list[Polygon] = []
        self.barriers: list[Barrier] = []
        self._layout, self._spots, self._seed = layout, spots, seed
        self._streets = [one for one in layout.streets if one.road and one.has_kerb]
        self._lines = shapely.STRtree([LineString(one.line) for one in self._streets])
        bands = [
            shapely.buffer(LineString(one.line), one.road / 2 + one.pavement + CLEAR_M)
            for one in layout.streets
        ]
        eyes = shapely.buffer(np.asarray(shapely.points(layout.panoramas.xy)), BEFORE_PANORAMA_M, quad_segs=2)
        things = shapely.buffer([Point(one.x, one.y) for one in layout.furniture], CLEAR_M + 0.5, quad_segs=2)
        self._cuts = shapely.STRtree([*bands, *openings_of(extract, layout.streets), *eyes, *things])
        self._houses = shapely.STRtree([one.footprint for one in layout.buildings])
        tracks = (shapely.buffer(LineString(one.line), 2.0) for one in layout.tracks)
        barriers = (LineString(one.line) for one in layout.barriers)
        ways = (shape for tags, shape in extract.lines.tagged_shapes() if "highway" in tags)
        paved = areas_of(extract, PAVED, "amenity", "highway", "place")
        self._taken = shapely.STRtree([*barriers, *layout.waters, *tracks, *ways, *paved])

    def lay_out(self, door: _Door) -> None:
        """Add the garden before a house, if there is room for one between its door and a street."""
        at = Point(door.at)
        near = self._lines.query_nearest(at, max_distance=30.0, all_matches=False)
        if not len(near) or self._is_paved(at):
            return
        street = self._streets[near[0]]
        front = self._front(street, self._lines.geometries[near[0]], door)
        reach = shapely.shortest_line(at, front)
        toward = np.diff(shapely.get_coordinates(reach), axis=0)[0]
        is_faced = toward @ door.out > FACING * reach.length
        if not (is_faced and DEEP_M[0] <= reach.length + RIM_M <= DEEP_M[1]):
            return
        foot = door.at + toward * (1 + (RIM_M + 0.3) / reach.length)
        path = shapely.buffer(LineString([door.at, foot]), PATH_M / 2, cap_style="flat")
        yard = shapely.convex_hull(shapely.union(path, front))
        over = self._houses.query(path, predicate="intersects")
        if len(self._taken.query(yard, predicate="intersects")) or set(over.tolist()) - {door.house}:
            return
        self.paths.append(path)
        self._plant(door, front, path)

    def _is_paved(self, at: Point) -> bool:
        """Return whether the ground around a point counts as paved, for the houses that stand there."""
        square = shapely.box(
            *(shapely.get_coordinates(at)[0][[0, 1, 0, 1]] + AROUND_M * np.array([-1, -1, 1, 1]))
        )
        near = self._houses.geometries[self._houses.query(square)]
        built = shapely.area(shapely.intersection(near, square)).sum() / square.area
        return bool(built > GREEN * self._layout.paved_from)

    def _front(self, street: Street, line: LineString, door: _Door) -> LineString:
        """Return the line before a house and beside it along which a hedge of its garden may stand."""
        house = self._layout.buildings[door.house].footprint
        gap = self._houses.query_nearest(house, exclusive=True, return_distance=True, all_matches=False)[1]
        beside = min(BESIDE_M, *(gap / 2))
        along = shapely.line_locate_point(line, shapely.points(shapely.get_coordinates(house)))
        piece = substring(line, max(along.min() - beside, 0.0), along.max() + beside)
        off = street.road / 2 + street.pavement + RIM_M
        sides = [shapely.offset_curve(piece, aside, join_style="mitre") for aside in (off, -off)]
        return min(sides, key=lambda side: shapely.distance(side, Point(door.at)))

    def _plant(self, door: _Door, front: LineString, path: Polygon) -> None:
        """Add the hedge or fence along a garden's front, and a bed at the wall of its house."""
        variant = self._layout.buildings[door.house].variant
        rng = np.random.default_rng([self._seed, variant])
        kind, height = KINDS[rng.integers(len(KINDS))]
        x, y = (door.beside + 1.3 * door.out).tolist()
        if door.wide > 3.5:
            angle = np.arctan2(door.out[0], -door.out[1])
            self.beds += beds(rng, np.array([[x, y, angle]]), 0.28 * door.wide)
        points = shapely.get_coordinates(shapely.segmentize(front, 1.0))
        if kind is None or not self._spots.off_sights(points, CLEAR_M, tall=False).all():
            return
        cuts: list[Geometry] = [*self._cuts.geometries[self._cuts.query(front, predicate="intersects")]]
        near = self._houses.geometries[self._houses.query(front, "dwithin", CLEAR_M)]
        taken = shapely.union_all([*cuts, *shapely.buffer(near, CLEAR_M), shapely.buffer(path, GAP_M)])
        for part in shapely.get_parts(shapely.line_merge(shapely.difference(front, taken))).tolist():
            if part.length >= SHORTEST_M:
                self.barriers.append(
                    Barrier(kind, np.round(shapely.get_coordinates(part), 3), height, variant)
                )
