"""Street furniture on the pavements, in the parks, and along the kerbs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.random import Generator
from scipy.spatial import cKDTree
from shapely import Polygon

from virl.geo.flat import left_normals, line_strings, near_lines
from virl.geo.globe import Flags, Floats, Ints, normalize_heading
from virl.towns.plan.streets import Network
from virl.towns.plan.town_plan import Frontage, Furniture, FurnitureKind, Land, StreetPlan

BY_KERB_M = 0.4
"""Least distance in metres from the middle of a thing on a pavement to a carriageway."""
FROM_KERB_M = 0.7
"""Distance in metres from the kerb to the middle of a thing on the pavement."""
APART_M = 1.8
"""Least distance in metres between two things on pavements: the length of a bench."""
TREES_APART_M = 9.0
TREE_FROM_JUNCTION_M = 15.0
LAMPS_APART_M = 30.0
"""Distance in metres between street lamps along a street, on alternating sides."""
STREET_TREES, STREET_BENCHES, PARK_BENCHES = 740, 80, 50  # all counts chosen, about one a city block
BINS, PARK_BINS, HYDRANTS, MAILBOXES = 180, 12, 115, 60
BOLLARDS, PLANTERS = 150, 100
LEAFY = 0.6
"""Chance, [0, 1], that a street with pavements over 3 m wide has trees."""
PARK_TREE_SPACING_M = 12.0
CAR_SLOT_M, CAR_FROM_KERB_M, CAR_FROM_JUNCTION_M, CAR_FROM_ROAD_M = 6.2, 1.1, 12.5, 2.5
CARS = 520
# All chosen.
BED_M = 1.5, 3.4, 0.8, 1.2
"""Least and greatest half of a bed's length, and of its width, metres."""
BEDS_APART_M, BEDS_INSIDE_M = 26.0, (6.5, 25.0)
"""Metres from bed to bed, and from the edge of a park to its rows of beds."""
IN_YARD_M, YARD_BED_M = 2.4, 1.8
"""Metres from a pavement to a bed in a yard, and greatest half of that bed's length."""
FLOWERS = 0.35
"""Share of beds with flowers, [0, 1], and not with shrubs."""
CAR_SIZE_M, EYE_M = (4.8, 1.9), 1.8
"""Length and width in metres of the largest car, and least distance from a panorama to any, and to walls."""


_TANGENT_M = 0.5
"""Half the distance in metres between the two points of a street that give its direction."""


class Kerbs:
    """Middle lines, widths and ends of a network's streets, as arrays; aside is positive to the left."""

    def __init__(self, network: Network | StreetPlan) -> None:
        """Collect lines, widths and ends of the streets."""
        self.lines = line_strings(street.line for street in network.streets)
        self.lengths: Floats = shapely.length(self.lines)
        self.half_road = np.array([street.road / 2 for street in network.streets])
        self.pavement = np.array([street.pavement for street in network.streets])
        self._is_paved = np.array([street.has_kerb or not street.road for street in network.streets], bool)
        self.ends = np.array([[street.start, street.end] for street in network.streets])
        self.junctions = network.junctions

    def at(self, street: Ints, along: Floats, aside: Floats) -> tuple[Floats, Floats]:
        """Return (points (n, 2), street headings in degrees) at some metres along and aside of streets."""
        lines = self.lines[street]
        low = np.clip(along - _TANGENT_M, 0.0, np.maximum(self.lengths[street] - 2 * _TANGENT_M, 0.0))
        before = shapely.get_coordinates(shapely.line_interpolate_point(lines, low))
        after = shapely.get_coordinates(shapely.line_interpolate_point(lines, low + 2 * _TANGENT_M))
        way = (after - before) / np.linalg.norm(after - before, axis=1)[:, None]
        left = np.stack([-way[:, 1], way[:, 0]], axis=1)
        points = shapely.get_coordinates(shapely.line_interpolate_point(lines, along))
        return points + aside[:, None] * left, normalize_heading(np.degrees(np.arctan2(way[:, 0], way[:, 1])))

    def on_road(self, xy: Floats, margin: float, own: Ints | None = None) -> Flags:
        """Return True for each point within `margin` metres of any carriageway but that of its `own` street.

        Args:
            xy: points in metres, shape (n, 2).
            margin: metres beyond the kerb.
            own: index of the street of each point, which does not count for it.
        """
        return near_lines(xy, shapely.STRtree(self.lines), self.half_road, margin, own)

    def on_pavement(self, xy: Floats, street: Ints, margin: float) -> Flags:
        """Return True for each point, (n, 2), within `margin` metres of its street's pavement or path.

        Args:
            xy: points in metres, shape (n, 2).
            street: index of the street of each.
            margin: metres beyond the pavement's outer edge.
        """
        off = shapely.distance(self.lines[street], shapely.points(xy)) - self.half_road[street]
        return np.asarray(self._is_paved[street] & (off <= self.pavement[street] + margin))


@dataclass(frozen=True, slots=True)
class _Items:
    """Street furniture of one kind, the most wanted first."""

    kind: FurnitureKind
    xy: Floats
    """Metres east and north of each thing, shape (n, 2)."""
    heading: Floats
    """Direction of each front, degrees clockwise from north, shape (n,)."""


def furnish(
    rng: Generator, kerbs: Kerbs, parks: Sequence[Polygon], frontages: Sequence[Frontage], eyes: Floats
) -> tuple[Furniture, ...]:
    """Return the furniture of the streets and parks; no two pieces overlap, and only cars are on roads.

    Args:
        rng: source of chance.
        kerbs: streets with their kerbs.
        parks: outlines of the parks, metres.
        frontages: frontages, between which trees stand.
        eyes: metres east and north of the panoramas, from which parked cars keep away, shape (n, 2).
    """
    groups = [
        _traffic_lights(kerbs),
        _lamps(kerbs),
        _on_pavements(rng, kerbs, "fire hydrant", HYDRANTS),
        _on_pavements(rng, kerbs, "mailbox", MAILBOXES),
        _on_pavements(rng, kerbs, "trash bin", BINS),
        _on_pavements(rng, kerbs, "bench", STREET_BENCHES),
        _along_parks(rng, parks, "bench", PARK_BENCHES),
        _along_parks(rng, parks, "trash bin", PARK_BINS),
        _street_trees(rng, kerbs, frontages),
        _park_trees(rng, parks),
    ]
    groups = _off_roads(groups, kerbs)
    cars = _parked_cars(rng, kerbs, eyes)
    (later,) = rng.spawn(1)  # what came to the streets last leaves everything else where it was
    late = [
        _on_pavements(later, kerbs, "bollard", BOLLARDS),
        _on_pavements(later, kerbs, "planter", PLANTERS),
    ]
    standing = [*groups, *_off_roads(late, kerbs)]
    # Without the cars, which stand on roads and keep apart by their slots.
    keep = _spread(np.concatenate([group.xy for group in standing]), APART_M)
    ends = np.cumsum([len(group.xy) for group in standing])
    parts = np.split(keep, ends[:-1])
    standing = [_select(group, part) for group, part in zip(standing, parts, strict=True)]
    earlier, late = standing[: len(groups)], standing[len(groups) :]
    return _number(rng, [*earlier, cars, *late])


def _traffic_lights(kerbs: Kerbs) -> _Items:
    """Return a traffic light right of each way into a junction of four or more streets, two of them wide."""
    avenue = kerbs.half_road > kerbs.half_road.min() + 2.5
    degree = np.bincount(kerbs.ends.ravel())
    lit = (degree >= 4) & (np.bincount(kerbs.ends[avenue].ravel(), minlength=len(degree)) >= 2)
    street, end = np.nonzero(lit[kerbs.ends])
    steps = np.arange(5.0, 24.0, 0.5)
    wide = np.repeat(street, len(steps))
    away = np.tile(steps, len(street))
    side = np.where(np.repeat(end, len(steps)) == 0, 1.0, -1.0)
    along = np.where(side > 0, away, kerbs.lengths[wide] - away)
    xy, heading = kerbs.at(
        wide, np.clip(along, 0, kerbs.lengths[wide]), side * (kerbs.half_road[wide] + FROM_KERB_M)
    )
    free = ~kerbs.on_road(xy, BY_KERB_M) & (away < kerbs.lengths[wide] / 2)
    free = free.reshape(len(street), len(steps))
    # The nearest spot to the junction that is on no carriageway, not even of the street that crosses.
    first = np.arange(len(street)) * len(steps) + free.argmax(axis=1)
    first = first[free.any(axis=1)]
    facing = np.where(side > 0, heading, heading + 180.0)
    return _Items("traffic light", xy[first], normalize_heading(facing[first]))


def _lamps(kerbs: Kerbs) -> _Items:
    """Return lamps at even gaps along each street, left and right by turns, facing the road."""
    count = np.maximum(1, np.round(kerbs.lengths / LAMPS_APART_M)).astype(np.int64)
    street = np.repeat(np.arange(len(count)), count)
    rank = np.arange(len(street)) - np.repeat(np.cumsum(count) - count, count)
    along = (rank + 0.5) * (kerbs.lengths / count)[street]
    side = np.where((rank + street) % 2 == 0, 1.0, -1.0)
    xy, heading = kerbs.at(street, along, side * (kerbs.half_road[street] + FROM_KERB_M))
    return _Items("street lamp", xy, normalize_heading(heading + 90.0 * side))


def _on_pavements(rng: Generator, kerbs: Kerbs, kind: FurnitureKind, count: int) -> _Items:
    """Return a number of things of one kind scattered over all pavements, facing the passers-by."""
    share = kerbs.lengths / kerbs.lengths.sum()
    street = rng.choice(len(share), size=count, p=share)
    along = rng.uniform(0.06, 0.94, count) * kerbs.lengths[street]
    side = rng.choice([-1.0, 1.0], size=count)
    xy, heading = kerbs.at(street, along, side * (kerbs.half_road[street] + FROM_KERB_M))
    return _Items(kind, xy, normalize_heading(heading - 90.0 * side))


def _along_parks(rng: Generator, parks: Sequence[Polygon], kind: FurnitureKind, count: int) -> _Items:
    """Return a number of things of one kind scattered just inside the edges of parks, facing out."""
    edges = [shapely.orient_polygons(park.buffer(-2.0)).exterior for park in parks]
    lengths = np.array([edge.length for edge in edges])
    pick = rng.choice(len(edges), size=count, p=lengths / lengths.sum())
    along = rng.uniform(1.0, lengths[pick] - 1.0)
    lines = np.array(edges)[pick]
    before = shapely.get_coordinates(shapely.line_interpolate_point(lines, along - 0.5))
    after = shapely.get_coordinates(shapely.line_interpolate_point(lines, along + 0.5))
    way = after - before
    heading = np.degrees(np.arctan2(way[:, 0], way[:, 1])) + 90.0
    return _Items(kind, (before + after) / 2, normalize_heading(heading))


def _street_trees(rng: Generator, kerbs: Kerbs, frontages: Sequence[Frontage]) -> _Items:
    """Return trees at the kerbs of leafy streets, before the joints between fronts."""
    street = np.array([front.street for front in frontages])
    left, right = np.array([(front.left, front.right) for front in frontages]).swapaxes(0, 1)
    leafy = (rng.random(len(kerbs.lengths)) < LEAFY) & (kerbs.pavement > 3.0)
    xy = left - left_normals(right - left) * (kerbs.pavement[street] - FROM_KERB_M)[:, None]
    open_sight = cKDTree(kerbs.junctions).query(xy)[0] > TREE_FROM_JUNCTION_M
    order = rng.permutation(np.flatnonzero(leafy[street] & open_sight))
    xy = xy[order]
    xy = xy[_spread(xy, TREES_APART_M)][:STREET_TREES]
    return _Items("tree", xy, np.zeros(len(xy)))


def _park_trees(rng: Generator, parks: Sequence[Polygon]) -> _Items:
    """Return the trees of parks, in loose rows."""
    groups = []
    for park in parks:
        x0, y0, x1, y1 = park.bounds
        x, y = np.meshgrid(np.arange(x0, x1, PARK_TREE_SPACING_M), np.arange(y0, y1, PARK_TREE_SPACING_M))
        xy = np.column_stack([x.ravel(), y.ravel()])
        xy = xy + rng.uniform(-3.0, 3.0, xy.shape)
        inside = shapely.contains_xy(park.buffer(-4.0), xy[:, 0], xy[:, 1])
        groups.append(xy[inside & (rng.random(len(xy)) < 0.85)])
    xy = np.concatenate(groups)
    return _Items("tree", xy, np.zeros(len(xy)))


def _parked_cars(rng: Generator, kerbs: Kerbs, eyes: Floats) -> _Items:
    """Return parked cars in loose rows along the kerbs, off panoramas, headed as in right-hand traffic."""
    count = np.maximum(0, (kerbs.lengths - 2 * CAR_FROM_JUNCTION_M) // CAR_SLOT_M).astype(np.int64)
    slots = np.repeat(np.arange(len(count)), count)
    rank = np.arange(len(slots)) - np.repeat(np.cumsum(count) - count, count)
    street, side = np.repeat(slots, 2), np.tile([-1.0, 1.0], len(slots))
    slack = ((kerbs.lengths - 2 * CAR_FROM_JUNCTION_M) - count * CAR_SLOT_M)[street]
    along = (
        CAR_FROM_JUNCTION_M + (np.repeat(rank, 2) + 0.5) * CAR_SLOT_M + slack * rng.random(len(count))[street]
    )
    density = rng.beta(0.5, 3.5, (len(count), 2))
    density[kerbs.half_road < 3.5, 1] = 0.0
    wanted = rng.random(len(street)) < density[street, (side > 0).astype(np.int64)]
    street, side, along = street[wanted], side[wanted], along[wanted]
    xy, heading = kerbs.at(street, along, side * (kerbs.half_road[street] - CAR_FROM_KERB_M))
    free = ~kerbs.on_road(xy, CAR_FROM_ROAD_M, street)
    free &= cKDTree(kerbs.junctions).query(xy)[0] > CAR_FROM_JUNCTION_M
    heading = normalize_heading(heading + np.where(side > 0, 180.0, 0.0))
    pick = rng.permutation(np.flatnonzero(free))
    pick = pick[metres_to_cars(np.column_stack([xy, heading])[pick], eyes) >= EYE_M][:CARS]
    return _Items("parked car", xy[pick], heading[pick])


def metres_to_cars(cars: Floats, eyes: Floats) -> Floats:
    """Return the metres from each car, (east, north, heading in degrees), to the panorama nearest to it.

    Args:
        cars: middles and headings, shape (n, 3).
        eyes: metres east and north of the panoramas, shape (m, 2).
    """
    near = cKDTree(eyes).query(cars[:, :2], k=min(3, len(eyes)))[1].reshape(len(cars), -1)
    away, turn = eyes[near] - cars[:, None, :2], np.radians(cars[:, 2:])
    along = np.abs(away[..., 0] * np.sin(turn) + away[..., 1] * np.cos(turn)) - CAR_SIZE_M[0] / 2
    across = np.abs(away[..., 0] * np.cos(turn) - away[..., 1] * np.sin(turn)) - CAR_SIZE_M[1] / 2
    return np.asarray(np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0)).min(axis=1))


def _off_roads(groups: list[_Items], kerbs: Kerbs) -> list[_Items]:
    """Return the things without those too near to a carriageway."""
    return [_select(group, ~kerbs.on_road(group.xy, BY_KERB_M)) for group in groups]


def _spread(xy: Floats, apart: float) -> Flags:
    """Return an array with True for each point to keep, so that no two are nearer than `apart` metres."""
    keep = np.ones(len(xy), dtype=bool)
    pairs = cKDTree(xy).query_pairs(apart, output_type="ndarray")
    for first, second in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]:
        if keep[first]:
            keep[second] = False
    return keep


def _select(items: _Items, keep: Flags) -> _Items:
    """Return the things for which `keep` is True."""
    return _Items(items.kind, items.xy[keep], items.heading[keep])


def _number(rng: Generator, groups: list[_Items]) -> tuple[Furniture, ...]:
    """Return the pieces of all groups as furniture, with ids numbered by kind and random variants."""
    counts: dict[str, int] = {}
    furniture = []
    for group in groups:
        variants = rng.integers(0, 2**31, len(group.xy))
        columns = np.round(group.xy, 3).tolist(), np.round(group.heading, 1).tolist(), variants.tolist()
        for (x, y), heading, variant in zip(*columns, strict=True):
            number = counts[group.kind] = counts.get(group.kind, 0) + 1
            name = f"{group.kind.replace(' ', '-')}-{number:04d}"
            furniture.append(Furniture(name, group.kind, x, y, heading % 360.0, variant))
    return tuple(furniture)


def plant_beds(rng: Generator, parks: Sequence[Polygon], frontages: Sequence[Frontage]) -> tuple[Land, ...]:
    """Return the beds of shrubs and flowers of a made town: in its parks, and in yards without a house.

    Args:
        rng: source of chance.
        parks: outlines, metres.
        frontages: those without a house have a yard.
    """
    yards = [(front.left, front.right) for front in frontages if front.building is None]
    left, right = np.array(yards, float).reshape(-1, 2, 2).swapaxes(0, 1)
    way = right - left
    middle = (left + right) / 2 + left_normals(way) * IN_YARD_M
    spots = [park_spots(rng, parks, inside) for inside in BEDS_INSIDE_M]
    in_yards = beds(rng, np.column_stack([middle, np.arctan2(way[:, 1], way[:, 0])]), YARD_BED_M)
    return (*beds(rng, np.concatenate(spots)), *in_yards)


def park_spots(rng: Generator, parks: Sequence[Polygon], inside: float) -> Floats:
    """Return (metres east, north, angle in radians) of places for beds along the edges of parks.

    Args:
        rng: source of chance.
        parks: outlines, metres.
        inside: metres from the edges.
    """
    spots = [np.empty((0, 3))]
    for edge in shapely.get_parts(shapely.boundary(shapely.buffer(parks, -inside))):
        along = np.arange(rng.uniform(2.0, BEDS_APART_M), edge.length - 2.0, BEDS_APART_M)
        xy, ahead = (
            shapely.get_coordinates(shapely.line_interpolate_point(edge, along + step)) for step in (0.0, 0.5)
        )
        spots.append(np.column_stack([xy, np.arctan2(*(ahead - xy).T[::-1])]))
    return np.concatenate(spots)


def beds(rng: Generator, spots: Floats, longest: float = BED_M[1]) -> tuple[Land, ...]:
    """Return an oval bed of shrubs or flowers around each spot: metres east, north, and angle in radians.

    Args:
        rng: source of chance.
        spots: shape (n, 3).
        longest: greatest half of a bed's length, metres.
    """
    found, around = [], np.arange(16) * np.pi / 8
    for x, y, angle in spots.tolist():
        long, wide = min(rng.uniform(*BED_M[:2]), longest), rng.uniform(*BED_M[2:])
        ring = (long * np.cos(around) + 1j * wide * np.sin(around)) * np.exp(1j * angle) + complex(x, y)
        outline = Polygon(np.round(np.column_stack([ring.real, ring.imag]), 3))
        found.append(Land("flowers" if rng.random() < FLOWERS else "shrubs", outline))
    return tuple(found)
