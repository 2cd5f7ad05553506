"""Greenery that no map has, from a seed: beds in parks, and the front gardens of detached houses."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import shapely
from shapely import Geometry, LineString, Point, Polygon
from shapely.ops import substring

from virl.geo.flat import line_strings
from virl.geo.globe import Floats
from virl.osm.extract import OsmExtract
from virl.osm.grounds import areas_of
from virl.osm.houses import built_share
from virl.osm.things import openings_of
from virl.osm.unmapped import Spots
from virl.towns.plan.furnish import EYE_M, beds, park_spots
from virl.towns.plan.town_plan import Barrier, BarrierKind, CityPlan, Land, StreetPlan
from virl.towns.render.bays import DOOR, plan_bays
from virl.towns.render.mesh import outward
from virl.towns.render.walls import walls_of

PLANTED = frozenset({"park", "garden", "village_green"})
"""Values of `leisure` and `landuse` for areas with beds."""
PAVED = frozenset({"parking", "fuel", "marketplace", "pedestrian", "square", "school"})
"""Values of `amenity`, `highway` and `place` for ground where nobody has a garden."""
# All chosen.
INSIDE_M, OFF_M = 3.5, 2.2
"""Metres from the edge of a park to its beds, and least ones from their middles to all else."""
DETACHED_M2, ALONE_M = (50.0, 320.0), 1.0
"""Least and greatest area in square metres of a house with a garden, and its least distance to another."""
DEEP_M, FACING = (3.0, 14.0), 0.85
"""Least and greatest metres from a pavement to a garden's door; least cosine of the angle between them."""
BUILT = 0.9
"""Most ground under houses around a garden, as a share of `paved_from`."""
RIM_M, CLEAR_M, OFF_THING_M = 0.55, 0.3, 0.9
"""Metres from a pavement to the middle of a hedge; from a hedge to other things, and to furniture."""
BESIDE_M, SHORTEST_M = 3.5, 1.2
"""Most metres of a garden to either side of its house, and least length of a piece of hedge or fence."""
PATH_M, BED_M = 1.2, (2.7, 1.3, 1.6)
"""Metres: width of a path; from a door to the bed beside it, from the bed to the wall, half of its length."""
KINDS: tuple[tuple[BarrierKind, float], ...] = (
    ("hedge", 1.0), ("fence", 0.95), ("hedge", 0.8), ("fence", 1.05), ("fence", 0.0)
)  # fmt: skip
"""Barriers along gardens with their heights in metres; none where it is 0."""


def with_gardens(plan: CityPlan, extract: OsmExtract, spots: Spots, seed: int) -> CityPlan:
    """Return a twin's plan with beds in its parks, and with gardens before its detached houses.

    Args:
        plan: of the twin.
        extract: that the plan was built from.
        spots: the search for free ground.
        seed: any non-negative integer; equal seeds give equal gardens.
    """
    layout, rng = plan.layout, np.random.default_rng([seed, 0x6A2D])
    parks = shapely.get_parts(areas_of(extract, PLANTED, "leisure", "landuse")).tolist()
    places = park_spots(rng, parks, INSIDE_M)
    xy = places[:, :2]
    free = spots.off_streets(xy, OFF_M) & spots.off_houses(xy, OFF_M) & spots.off_things(xy, OFF_M)
    free &= spots.off_sights(xy, OFF_M, tall=False)
    gardens = _Gardens(layout, extract, spots, seed)
    for house, door, out in _doors(plan):
        gardens.lay_out(house, door, out)
    lands = (*layout.lands, *beds(rng, places[free]), *gardens.beds)
    gravels, barriers = (*layout.gravels, *gardens.paths), (*layout.barriers, *gardens.barriers)
    return replace(plan, layout=replace(layout, lands=lands, gravels=gravels, barriers=barriers))


def _doors(plan: CityPlan) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield (house, middle in metres, way out) of each detached house's door, if it has one and no place."""
    layout, taken = plan.layout, {shop.frontage for shop in plan.shops}
    walls = walls_of(layout.buildings, plan.signs)
    doors = plan_bays(walls, layout.frontages, layout.streets, taken, plan.signs).of_kind(DOOR)
    left, right = walls.left[doors.wall], walls.right[doors.wall]
    at = left + (right - left) * ((doors.place + 0.5) / walls.bays[doors.wall])[:, None]
    owner, first, count = np.unique(walls.building[doors.wall], return_index=True, return_counts=True)
    lone = {*owner[count == 1].tolist()} - {front.building for front in layout.frontages}
    for house, i in zip(owner.tolist(), first.tolist(), strict=True):
        if house in lone and DETACHED_M2[0] < layout.buildings[house].footprint.area < DETACHED_M2[1]:
            yield house, at[i], outward(left[i : i + 1], right[i : i + 1])[0]


class _Gardens:
    """The front gardens of a town, laid out house by house."""

    def __init__(self, layout: StreetPlan, extract: OsmExtract, spots: Spots, seed: int) -> None:
        """Collect the streets, what cuts a hedge, and what no garden may touch."""
        self.beds: list[Land] = []
        self.paths: list[Polygon] = []
        self.barriers: list[Barrier] = []
        self._layout, self._spots, self._seed = layout, spots, seed
        self._streets = [one for one in layout.streets if one.road and one.has_kerb]
        self._lines = shapely.STRtree(line_strings(one.line for one in self._streets))
        lines = line_strings(one.line for one in layout.streets)
        half = [one.road / 2 + one.pavement + CLEAR_M for one in layout.streets]
        self._cuts = shapely.STRtree([*shapely.buffer(lines, half), *openings_of(extract, layout.streets)])
        self._houses = shapely.STRtree([one.footprint for one in layout.buildings])
        barriers = (LineString(one.line) for one in layout.barriers)
        ways = (
            shape for tags, shape in extract.lines.tagged_shapes() if {"highway", "railway"} & tags.keys()
        )
        paved = areas_of(extract, PAVED, "amenity", "highway", "place")
        self._taken = shapely.STRtree([*barriers, *layout.waters, *ways, *paved])

    def lay_out(self, house: int, door: Floats, out: Floats) -> None:
        """Add the garden of a house with a door, in metres, if there is room for one before it."""
        near = self._lines.query_nearest(Point(door), max_distance=2 * DEEP_M[1], all_matches=False)
        variant, footprint = self._layout.buildings[house].variant, self._houses.geometries[house]
        gap = self._houses.query_nearest(footprint, exclusive=True, return_distance=True)[1].min(initial=99.0)
        if (
            not len(near)
            or gap < ALONE_M
            or built_share(self._houses, door) > BUILT * self._layout.paved_from
        ):
            return
        front = self._front(near[0], footprint, min(BESIDE_M, gap / 2))
        toward = np.diff(shapely.get_coordinates(shapely.shortest_line(Point(door), front)), axis=0)[0]
        deep = float(np.hypot(*toward))
        if toward @ out <= FACING * deep or not DEEP_M[0] <= deep + RIM_M <= DEEP_M[1]:
            return
        foot = door + toward * (1 + (RIM_M + CLEAR_M) / deep)
        path = shapely.buffer(LineString([door, foot]), PATH_M / 2, cap_style="flat")
        # Back to the house on both sides, so that no piece along the street stands by itself.
        ends = shapely.get_coordinates(front)
        corners = ends[[0, -1]] - toward
        joins = shapely.get_coordinates(shapely.shortest_line(footprint, shapely.points(corners)))[::2]
        front = LineString([joins[0], corners[0], *ends, corners[1], joins[1]])
        yard = shapely.convex_hull(shapely.union(path, front))
        crossed = np.setdiff1d(self._houses.query(path, predicate="intersects"), [house])
        if len(crossed) or len(self._taken.query(yard, predicate="intersects")):
            return
        self.paths.append(path)
        rng = np.random.default_rng([self._seed, variant])
        along = np.array([-out[1], out[0]]) * rng.choice([-1, 1])
        bed = door + BED_M[0] * along + BED_M[1] * out
        self.beds += beds(rng, np.array([[*bed, np.arctan2(along[1], along[0])]]), BED_M[2])
        kind, height = KINDS[rng.integers(len(KINDS))]
        for line in self._free_parts(front, path) if height else ():
            self.barriers.append(Barrier(kind, line, height, variant))

    def _front(self, number: int, footprint: Polygon, beside: float) -> Geometry:
        """Return the line along a street, by its index, before a house and `beside` metres beside it."""
        street, line = self._streets[number], self._lines.geometries[number]
        along = shapely.line_locate_point(line, shapely.points(shapely.get_coordinates(footprint)))
        piece = substring(line, max(along.min() - beside, 0.0), along.max() + beside)
        off = street.road / 2 + street.pavement + RIM_M
        sides = [shapely.offset_curve(piece, aside, join_style="mitre") for aside in (off, -off)]
        return min(sides, key=footprint.distance)

    def _free_parts(self, front: Geometry, path: Polygon) -> Iterator[Floats]:
        """Yield the pieces of a garden's front off its path and streets; none if a hedge hid something."""
        xy = shapely.get_coordinates(shapely.segmentize(front, 1.0))
        free = self._spots.off_sights(xy, CLEAR_M, tall=False) & self._spots.off_things(xy, OFF_THING_M)
        if not (free.all() and self._spots.near_panoramas(xy).min() > EYE_M):
            return
        cuts = self._cuts.geometries[self._cuts.query(front, predicate="intersects")]
        near = self._houses.geometries[self._houses.query(front, "dwithin", CLEAR_M)]
        taken = shapely.union_all([*cuts, *shapely.buffer([*near, path], CLEAR_M)])
        for part in shapely.get_parts(shapely.line_merge(shapely.difference(front, taken))):
            if part.length >= SHORTEST_M:
                yield np.round(shapely.get_coordinates(part), 3)
