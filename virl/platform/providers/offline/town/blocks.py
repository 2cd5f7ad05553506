"""The ground between the streets: blocks, parks, buildings, and the fronts along the pavement."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import shapely
from numpy.random import Generator
from shapely import Polygon

from virl.platform.providers.offline.plan import Building, Floats, Frontage, Ints
from virl.platform.providers.offline.town.bustle import Bustle
from virl.platform.providers.offline.town.kerb import Kerbs
from virl.platform.providers.offline.town.lots import Lots, cut_lots
from virl.platform.providers.offline.town.streets import Network

OUTSKIRTS_M = 32.0  # how far the ground reaches beyond the outermost streets; chosen
LARGE_BLOCKS = 4  # blocks of a few big buildings; chosen
MIN_BLOCK_M2 = 400.0  # smaller scraps at the edge of town are left out
GARDENS = 0.04  # share of lots left empty; chosen
GROUND_FLOOR_M, STOREY_M = 4.0, 3.2
LIFT_STOREYS = 3.0  # storeys that the busiest street adds


@dataclass(frozen=True, slots=True)
class Ground:
    """What the streets leave over, and what is built there."""

    blocks: tuple[Polygon, ...]
    parks: tuple[Polygon, ...]
    buildings: tuple[Building, ...]
    frontages: tuple[Frontage, ...]


def divide_ground(rng: Generator, network: Network, kerbs: Kerbs) -> Ground:
    """Cuts the ground into blocks, the blocks into lots, and builds on them."""
    blocks, ways = _blocks(kerbs)
    tree = shapely.STRtree(blocks)
    green = tree.query_nearest(shapely.points(network.greens), all_matches=False)[1]
    parks = tuple(blocks[index] for index in green)
    built = [block for index, block in enumerate(blocks) if index not in set(green.tolist())]
    large = set(rng.permutation(len(built))[:LARGE_BLOCKS].tolist())
    lots = cut_lots(rng, [(block, index in large) for index, block in enumerate(built)], ways)

    street, side, along = _facing(kerbs, lots)
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
    return Ground(tuple(blocks), parks, buildings, frontages)


def _blocks(kerbs: Kerbs) -> tuple[list[Polygon], Polygon]:
    """The ground between the streets and in a strip around the town, and the roads with their pavements."""
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
    core = town.buffer(-OUTSKIRTS_M).buffer(2 * OUTSKIRTS_M, quad_segs=4)  # without the ways out of town
    outer = shapely.get_parts(core.difference(town))
    faces = [
        *(Polygon(ring) for ring in ways.interiors),
        *(face for face in outer if face.area > MIN_BLOCK_M2),
    ]
    return list(shapely.set_precision(np.array(faces), 0.001)), ways


def _facing(kerbs: Kerbs, lots: Lots) -> tuple[Ints, Ints, Floats]:
    """The street before each front, the side of it (1 left, -1 right), and how far along the street."""
    run = lots.right - lots.left
    out = np.stack([run[:, 1], -run[:, 0]], axis=1) / np.linalg.norm(run, axis=1)[:, None]
    middles = (lots.left + lots.right) / 2
    street = shapely.STRtree(kerbs.lines).query_nearest(
        shapely.points(middles + 5.0 * out), all_matches=False
    )[1]
    along = shapely.line_locate_point(kerbs.lines[street], shapely.points(middles))
    feet, heading = kerbs.at(street, along, np.zeros(len(along)))
    off, angle = middles - feet, np.radians(heading)
    side = np.where(np.sin(angle) * off[:, 1] - np.cos(angle) * off[:, 0] > 0, 1, -1)
    return street, side, along


def _house_numbers(network: Network, street: Ints, side: Ints, along: Floats) -> Ints:
    """Odd numbers on the left and even ones on the right, counted along all streets of one name."""
    names = np.unique([one.name for one in network.streets], return_inverse=True)[1]
    group = names[street] * 2 + (side < 0)
    order = np.lexsort((np.arange(len(street)), along, group))
    first = np.searchsorted(group[order], group[order])
    numbers = np.empty(len(street), dtype=np.int64)
    numbers[order] = 2 * (np.arange(len(street)) - first) + 1
    return numbers + (side < 0)


def _build(rng: Generator, lots: Lots, busy: Floats) -> tuple[tuple[Building, ...], Ints]:
    """Buildings on all lots but the gardens, and the building behind each front (-1: none)."""
    count = len(lots.footprints)
    peak = np.zeros(count)
    np.maximum.at(peak, lots.lot, busy)
    garden = (rng.random(count) < GARDENS) & (peak < 0.5)
    storeys = np.clip(np.round(rng.normal(2.8, 0.8, count) + LIFT_STOREYS * peak), 2, 7)
    heights = np.round(GROUND_FLOOR_M + STOREY_M * storeys, 1)
    variants = rng.integers(0, 2**31, count)
    number = np.where(garden, -1, np.cumsum(~garden) - 1)
    buildings = tuple(
        Building(int(number[lot]), lots.footprints[lot], float(heights[lot]), int(variants[lot]))
        for lot in np.flatnonzero(~garden)
    )
    return buildings, number[lots.lot]
