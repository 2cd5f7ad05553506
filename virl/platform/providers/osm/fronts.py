"""Which part of a façade each place has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Geometry

from virl.platform.providers.osm.extract import Shapes
from virl.platform.providers.osm.facades import FacadeCells
from virl.platform.providers.osm.houses import Houses
from virl.platform.providers.osm.network import Floats, Ints

OWN_HOUSE_M = 5.0  # a place farther from every house stands free
FROM_POINT_M = 15.0  # a front lies within this of where the place is mapped
OTHER_STREET_M = 8.0  # what a front on another street than the address counts as farther off; chosen
UPSTAIRS_M = 6.0  # what a front on the first floor counts as farther off; chosen
TALL_M = 7.5  # a lower house has no first floor for a sign
WIDEST_CELLS = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """A place that wants a front."""

    shape: Geometry
    """A point or an area, in metres."""
    street: str = ""
    """Of its address; empty if unknown."""
    at: Geometry | None = None
    """The point of an area that its front should be near to; by default `shape`."""


@dataclass(frozen=True, slots=True)
class Front:
    """The cells of a wall that a place has: `first` to `last`, on the ground floor or the one above."""

    first: int
    last: int
    floor: int


Taken = dict[tuple[int, int], int]
"""The place that has each cell and floor."""


def own_houses(shapes: Shapes, houses: Houses, within: float = OWN_HOUSE_M) -> Ints:
    """The house that each place is in, or at most so many metres from; -1 for none."""
    found = np.full(len(shapes), -1, np.int64)
    if not len(shapes) or not len(houses.ids):
        return found
    place, house = shapely.STRtree(houses.footprints).query_nearest(
        shapely.point_on_surface(shapes), max_distance=within, all_matches=False
    )
    found[place] = house
    return found


def cells_by_house(cells: FacadeCells) -> Mapping[int, Ints]:
    """The cells of each house that has some."""
    order = np.argsort(cells.house, kind="stable")
    owners, starts = np.unique(cells.house[order], return_index=True)
    return dict(zip(owners.tolist(), np.split(order, starts[1:]), strict=True)) if len(order) else {}


def assign_fronts(
    claims: Sequence[Claim], house: Ints, cells: FacadeCells, street: NDArray[np.str_], heights: Floats
) -> tuple[list[Front | None], Taken]:
    """Give each place the free cell of its house that suits it best; `None` where nothing is left.

    Args:
        claims: the places.
        house: of each, -1 for none.
        cells: of all façades.
        street: name of the street before each cell.
        heights: of all houses, metres.
    """
    of_house = cells_by_house(cells)
    bids = []
    middles = np.asarray(shapely.points(cells.middle))
    for number, claim in enumerate(claims):
        mine = of_house.get(int(house[number]))
        if mine is None:
            continue
        near = shapely.distance(claim.shape, middles[mine]) <= FROM_POINT_M
        cost = shapely.distance(claim.at or claim.shape, middles[mine])
        cost += OTHER_STREET_M * (street[mine] != claim.street) if claim.street else 0.0
        for floor in (0, 1) if heights[house[number]] >= TALL_M else (0,):
            bids += [
                (float(price) + floor * UPSTAIRS_M, number, int(cell), floor)
                for price, cell in zip(cost[near], mine[near], strict=True)
            ]
    taken: Taken = {}
    fronts: list[Front | None] = [None] * len(claims)
    for _, number, cell, floor in sorted(bids):
        if fronts[number] is None and (cell, floor) not in taken:
            taken[cell, floor] = number
            fronts[number] = Front(cell, cell, floor)
    return fronts, taken


def grow(front: Front, number: int, cells: FacadeCells, taken: Taken, widest: int = WIDEST_CELLS) -> Front:
    """A front of one cell with the free cells beside it, up to `widest` in all; `taken` learns of them."""
    first, last = front.first, front.last
    for step in (1, -1, 1, -1):
        if last - first + 1 >= widest:
            break
        cell = last + 1 if step > 0 else first - 1
        beside = 0 <= cell < len(cells.wall) and cells.wall[cell] == cells.wall[front.first]
        if not beside or (cell, front.floor) in taken or not _touch(cells, min(cell, first), max(cell, last)):
            continue
        taken[cell, front.floor] = number
        first, last = min(cell, first), max(cell, last)
    return Front(first, last, front.floor)


def _touch(cells: FacadeCells, first: int, last: int) -> bool:
    """Whether cells from `first` to `last` follow one another without a gap."""
    gaps = np.linalg.norm(cells.left[first + 1 : last + 1] - cells.right[first:last], axis=1)
    return bool((gaps < 0.05).all())
