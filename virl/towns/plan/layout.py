"""The layout of a made city, its streets and the ground between them; a seed gives it byte for byte."""

from dataclasses import replace
from typing import cast

import numpy as np
import shapely
from numpy.random import PCG64, Generator, SeedSequence
from scipy.spatial import cKDTree
from shapely import Polygon

from virl.geo.flat import left_normals
from virl.geo.globe import Floats, Ints, LatLng, LocalFrame
from virl.towns.plan.furnish import Kerbs, furnish, plant_beds
from virl.towns.plan.lots import Lots, cut_lots
from virl.towns.plan.streets import Network, WayKind, draw_streets
from virl.towns.plan.town_plan import Building, Frontage, Panoramas, Street, StreetPlan

ORIGIN = LatLng(41.25, -38.75)
"""Position of a made town: the open Atlantic, so that nobody takes the town for a real one."""

_OUTSKIRTS_M = 32.0
"""Metres of ground beyond the outermost streets; chosen."""
_LARGE_BLOCKS = 4
"""Number of blocks with a few big buildings instead of many small ones; chosen."""
_MIN_BLOCK_M2 = 400.0
"""Least area in square metres of a block; smaller ones are left out."""
_GARDENS = 0.04
"""Share of lots off busy streets that are left without a building; chosen."""
_GROUND_FLOOR_M, _STOREY_M = 4.0, 3.2
_LIFT_STOREYS = 3.0
"""Number of storeys by which houses on the busiest street are higher than on a quiet one."""
# All chosen, so that some 600 of 5,000 fronts are busier than 0.5 and two thirds lie in quiet streets.
_AVENUE, _SHOPPING_STREET, _CORNER, _QUIET = 0.85, 0.8, 0.6, 0.06  # busyness where each is busiest
_SHOPPING_STREETS = 4
"""Number of shopping streets besides the avenues."""
_ONE_SIDED = 2
"""Number of shopping streets with shops on one side alone."""
_WEAK_SIDE = 0.12
"""Busyness of the weak side of a one-sided shopping street, as a share of the strong side's."""
_CORNERS = 14
"""Number of random crossings around which fronts are busy enough for a few shops."""
_SHOPPING_LENGTH_M = 800.0
"""Least length of a shopping street in metres."""
_SPILL = 0.75
"""Busyness of a side street at its corner with a shopping street, as a share of that street's."""
_SPILL_M, _CORNER_M = 30.0, 32.0  # how far busyness reaches into side streets, and around a busy crossing
_RIPPLE_M = 90.0
_CYCLE_LANES: dict[WayKind, float] = {"avenue": 0.4, "street": 0.06}
"""Chance, [0, 1], that a street has cycle lanes, by its kind; the others are too narrow. Chosen."""


def lay_out(seed: int) -> StreetPlan:
    """Return the plan of streets, blocks, buildings and furniture that grows from a seed, 0 or more."""
    streets_rng, ground_rng, furniture_rng, lanes_rng, beds_rng = (
        Generator(PCG64(child)) for child in SeedSequence(seed).spawn(5)
    )
    network = draw_streets(streets_rng)
    kerbs = Kerbs(network)
    blocks, parks, buildings, frontages = _divide_ground(ground_rng, network, kerbs)
    panoramas = Panoramas.of_streets(network.streets, network.junctions)
    return StreetPlan(
        frame=LocalFrame(ORIGIN),
        streets=_mark_lanes(lanes_rng, network),
        junctions=network.junctions,
        panoramas=panoramas,
        blocks=blocks,
        parks=parks,
        buildings=buildings,
        frontages=frontages,
        furniture=furnish(furniture_rng, kerbs, parks, frontages, panoramas.xy),
        lands=plant_beds(beds_rng, parks, frontages),
    )


def _mark_lanes(rng: Generator, network: Network) -> tuple[Street, ...]:
    """Return the streets, of which some have cycle lanes on both sides, alike all along a name."""
    luck = {name: rng.random() for name in dict.fromkeys(one.name for one in network.streets)}
    return tuple(
        replace(one, cycle_lanes=(True, True)) if luck[one.name] < _CYCLE_LANES.get(kind, 0.0) else one
        for one, kind in zip(network.streets, network.kinds, strict=True)
    )


def _divide_ground(
    rng: Generator, network: Network, kerbs: Kerbs
) -> tuple[tuple[Polygon, ...], tuple[Polygon, ...], tuple[Building, ...], tuple[Frontage, ...]]:
    """Return (blocks of ground between the streets, parks among them, buildings on the others, frontages)."""
    blocks, ways = _blocks(kerbs)
    tree = shapely.STRtree(blocks)
    green = tree.query_nearest(shapely.points(network.greens), all_matches=False)[1]
    parks = tuple(blocks[index] for index in green)
    built = [block for index, block in enumerate(blocks) if index not in set(green.tolist())]
    large = set(rng.permutation(len(built))[:_LARGE_BLOCKS].tolist())
    lots = cut_lots(rng, [(block, index in large) for index, block in enumerate(built)], ways)

    street, side, along = _locate_fronts(kerbs, lots)
    along = along + network.offsets[street]
    bustle = Bustle(rng, network, kerbs)
    middles = (lots.left + lots.right) / 2
    busy = np.round(bustle.at(middles, street, side, along), 3)
    buildings, owner = _build(rng, lots, busy)
    numbers = _house_numbers(network, street, side, along)
    columns = (street, lots.left, lots.right, numbers, busy)
    frontages = tuple(
        Frontage(index, None if behind < 0 else behind, on, (x0, y0), (x1, y1), number, commercial)
        for index, (behind, on, (x0, y0), (x1, y1), number, commercial) in enumerate(
            zip(owner.tolist(), *(column.tolist() for column in columns), strict=True)
        )
    )
    return tuple(blocks), parks, buildings, frontages


def _blocks(kerbs: Kerbs) -> tuple[list[Polygon], Polygon]:
    """Return (blocks of ground between and around the streets, ground of roads and pavements)."""
    half = kerbs.half_road + kerbs.pavement
    degree = np.bincount(kerbs.ends.ravel())
    blind = (degree[kerbs.ends] == 1).any(axis=1)
    narrowest = np.full(len(degree), np.inf)
    np.minimum.at(narrowest, kerbs.ends.ravel(), np.repeat(half, 2))
    met = degree > 1
    bands = [
        shapely.buffer(kerbs.lines[~blind], half[~blind], cap_style="flat"),
        shapely.buffer(kerbs.lines[blind], half[blind], cap_style="square"),
        shapely.buffer(shapely.points(kerbs.junctions[met]), narrowest[met], quad_segs=3),
    ]
    ways = cast("Polygon", shapely.union_all(np.concatenate(bands)))  # one piece: streets hang together
    town = Polygon(ways.exterior)
    core = town.buffer(-_OUTSKIRTS_M).buffer(2 * _OUTSKIRTS_M, quad_segs=4)  # without the ways out of town
    outer = shapely.get_parts(core.difference(town))
    faces = [
        *(Polygon(ring) for ring in ways.interiors),
        *(face for face in outer if face.area > _MIN_BLOCK_M2),
    ]
    return list(shapely.set_precision(np.array(faces), 0.001)), ways


def _locate_fronts(kerbs: Kerbs, lots: Lots) -> tuple[Ints, Ints, Floats]:
    """Return (street, side, metres along it) of each lot's front; sides are 1 left and -1 right."""
    middles = (lots.left + lots.right) / 2
    # From a point well before the front: at a corner the middle may be nearer to the other street.
    before = shapely.points(middles - 5.0 * left_normals(lots.right - lots.left))
    street = shapely.STRtree(kerbs.lines).query_nearest(before, all_matches=False)[1]
    along = shapely.line_locate_point(kerbs.lines[street], shapely.points(middles))
    feet, heading = kerbs.at(street, along, np.zeros(len(along)))
    off, angle = middles - feet, np.radians(heading)
    side = np.where(np.sin(angle) * off[:, 1] - np.cos(angle) * off[:, 0] > 0, 1, -1)
    return street, side, along


def _house_numbers(network: Network, street: Ints, side: Ints, along: Floats) -> Ints:
    """Return the house number of each front, counted along the line of a street's name: odd on the left."""
    names = np.unique([one.name for one in network.streets], return_inverse=True)[1]
    group = names[street] * 2 + (side < 0)
    order = np.lexsort((np.arange(len(street)), along, group))
    first = np.searchsorted(group[order], group[order])
    numbers = np.empty(len(street), dtype=np.int64)
    numbers[order] = 2 * (np.arange(len(street)) - first) + 1
    return numbers + (side < 0)


def _build(rng: Generator, lots: Lots, busy: Floats) -> tuple[tuple[Building, ...], Ints]:
    """Return (buildings on the lots, index of the building behind each front or -1 for a garden)."""
    count = len(lots.footprints)
    peak = np.zeros(count)
    np.maximum.at(peak, lots.lot, busy)
    # No gap in a shopping street.
    garden = (rng.random(count) < _GARDENS) & (peak < 0.5)
    storeys = np.clip(np.round(rng.normal(2.8, 0.8, count) + _LIFT_STOREYS * peak), 2, 7)
    heights = np.round(_GROUND_FLOOR_M + _STOREY_M * storeys, 1)
    variants = rng.integers(0, 2**31, count)
    number = np.where(garden, -1, np.cumsum(~garden) - 1)
    buildings = tuple(
        Building(int(number[lot]), lots.footprints[lot], float(heights[lot]), int(variants[lot]))
        for lot in np.flatnonzero(~garden)
    )
    return buildings, number[lots.lot]


class Bustle:
    """The busyness of streets, [0, 1]: high on avenues and shopping streets, fading into side streets."""

    def __init__(self, rng: Generator, network: Network, kerbs: Kerbs) -> None:
        """Choose the shopping streets and busy crossings, and where each is busiest."""
        names = np.array([street.name for street in network.streets])
        far = network.offsets + kerbs.lengths
        self._peak = np.where(np.array(network.kinds) == "avenue", _AVENUE, 0.0)
        self._centre = np.zeros(len(names))
        self._spread = np.full(len(names), 600.0)
        self._weak_side = np.zeros(len(names), dtype=np.int64)
        for name in np.unique(names[self._peak > 0]):
            mine = names == name
            self._centre[mine] = rng.uniform(0.4, 0.6) * far[mine].max()
        quiet = np.unique(names[self._peak == 0])
        long = [name for name in quiet if kerbs.lengths[names == name].sum() > _SHOPPING_LENGTH_M]
        for rank, pick in enumerate(rng.permutation(len(long))[:_SHOPPING_STREETS]):
            mine = names == long[pick]
            self._peak[mine] = _SHOPPING_STREET
            self._centre[mine] = rng.uniform(0.35, 0.65) * far[mine].max()
            self._spread[mine] = rng.uniform(220, 320)
            self._weak_side[mine] = rng.choice([-1, 1]) if rank < _ONE_SIDED else 0
        shopping = np.flatnonzero(self._peak)
        self._shop_ends = cKDTree(network.junctions[kerbs.ends[shopping].ravel()])
        self._shop_busy = np.repeat(self._along_line(shopping, network.offsets[shopping]), 2)
        self._corners = cKDTree(network.junctions[rng.permutation(len(network.junctions))[:_CORNERS]])
        self._wave = rng.normal(0, 1 / _RIPPLE_M, (6, 2))
        self._phase = rng.uniform(0, 2 * np.pi, 6)

    def at(self, xy: Floats, street: Ints, side: Ints, along: Floats) -> Floats:
        """Return the busyness, [0, 1], before fronts; `xy`, `along` in metres, `side`: 1 left, -1 right.

        Args:
            xy: middles of the fronts in metres, shape (n, 2).
            street: index of the street before each.
            side: 1 for fronts on the left of the street, -1 on the right.
            along: metres from the beginning of the line of the street's name.
        """
        own = self._along_line(street, along)
        own = np.where(self._weak_side[street] == side, _WEAK_SIDE * own, own)
        to_shop, shop = self._shop_ends.query(xy)
        spill = _SPILL * self._shop_busy[shop] * _bump(to_shop, _SPILL_M)
        corner = _CORNER * _bump(self._corners.query(xy)[0], _CORNER_M)
        busy = np.maximum.reduce([own, spill, corner, np.full(len(xy), _QUIET)])
        ripple = np.sin(xy @ self._wave.T + self._phase).mean(axis=1)
        return np.asarray(np.clip(busy * (1 + 0.5 * ripple), 0.0, 1.0))

    def _along_line(self, street: Ints, along: Floats) -> Floats:
        """Return the busyness, [0, 1], on streets at some metres from the beginning of their names' lines."""
        value: Floats = self._peak[street] * np.exp(
            -(((along - self._centre[street]) / self._spread[street]) ** 2) / 2
        )
        return value


def _bump(gap: Floats, width: float) -> Floats:
    """Return the height of a bell curve at distances in metres: 1 at 0, 1/e at `width` metres."""
    return np.asarray(np.exp(-((gap / width) ** 2)))
