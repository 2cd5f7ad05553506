"""Bays of ground floors: which have a window, which a door, and which are covered by shop fronts."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.flat import line_strings
from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Frontage, Sign, Street
from virl.towns.render.mesh import outward
from virl.towns.render.walls import Walls, count_out

WINDOW, DOOR, BARE, BLANK = 0, 1, 2, 3
"""Kinds of bays; a blank one has no window on any floor, a bare one none on the ground floor."""
ON_WALL_M = 0.5
"""Largest distance in metres from the middle of a front to its wall."""
REVEAL = 0.25
"""Share of a bay's width on either side of its window that may be covered."""
BESIDE_M = 0.4
"""Width in metres beside a directory that its portal covers."""
STREET_M, FACING = 18.0, 0.6
"""Largest distance in metres from a front with doors to its street, and least cosine of the angle to it."""
DOOR_EVERY_M, LONG_M, NARROW_M = 15.0, 12.0, 2.8
"""Metres of front for each door of a house none of whose fronts is known, least length of a second front with
doors, and of a first one."""
SHORTER = 0.95
"""Share of the length of a house's longest wall below which a wall is a gable; chosen."""


class Bays(NamedTuple):
    """The bays of the walls with windows that start at the ground, wall by wall, as arrays of length n.

    Args:
        wall: index of the wall of each bay.
        place: number of each bay on its wall, from the left.
        kind: one of `WINDOW`, `DOOR`, `BARE` and `BLANK`.
    """

    wall: Ints
    place: Ints
    kind: NDArray[np.uint8]

    def of_kind(self, kind: int) -> "Bays":
        """Return the bays of a kind."""
        mine = self.kind == kind
        return Bays(self.wall[mine], self.place[mine], self.kind[mine])

    def runs(self, look: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return (wall, first bay, number of bays, value of `look`) of the longest runs of equal `look`."""
        change = (np.diff(self.wall, prepend=-1) != 0) | (np.diff(look, prepend=0) != 0)
        start = np.flatnonzero(change)
        count = np.diff(np.append(start, len(self.wall)))
        return self.wall[start], self.place[start], count, look[start]


def all_windows(walls: Walls) -> Bays:
    """Return the bays of walls with a window in each; halls have none."""
    wall, place = count_out(np.where(walls.open_number >= 0, walls.bays, 0).astype(np.int64))
    return Bays(wall, place, np.where(walls.is_hall[wall], BARE, WINDOW).astype(np.uint8))


def plan_bays(
    walls: Walls,
    frontages: Iterable[Frontage],
    streets: Sequence[Street],
    taken: Collection[int],
    signs: Iterable[Sign],
) -> Bays:
    """Return the bays of the walls of buildings.

    A frontage without a place has a door. A house without any has one for each 15 m of its front on a street.

    Args:
        walls: of the buildings.
        frontages: of these buildings.
        streets: those within 18 m of them, or more.
        taken: ids of the frontages that have a place.
        signs: of the plan, of which directories cover their bays.
    """
    bays = all_windows(walls)
    if not len(bays.wall):
        return bays
    start = np.searchsorted(bays.wall, np.arange(len(walls.number)))
    fronts = [one for one in frontages if one.building is not None]
    covers = [(one.left, one.right, 0.0) for one in fronts if one.id in taken]
    covers += [(one.left, one.right, BESIDE_M) for one in signs if one.kind == "directory"]
    free = [(one.left, one.right, 0.0) for one in fronts if one.id not in taken]
    wall, low, high = on_walls(walls, [*covers, *free])
    covered = np.arange(len(wall)) < len(covers)
    for one, first, last in zip(
        *(part[covered & (wall >= 0)].tolist() for part in (wall, low, high)), strict=True
    ):
        a, b = max(int(np.floor(first + REVEAL)), 0), int(min(np.ceil(last - REVEAL), walls.bays[one]))
        bays.kind[start[one] + a : start[one] + max(a, b)] = BARE
    doors = ~covered & (wall >= 0)
    place = np.clip((low + high)[doors] / 2, 0, walls.bays[wall[doors]] - 1e-6).astype(np.int64)
    _open_doors(bays, start[wall[doors]] + place)
    known = np.zeros(int(walls.building.max()) + 1, bool)
    known[walls.building[wall[doors]]] = True
    wall, place = _spread_doors(streets, walls, ~known[walls.building])
    _open_doors(bays, start[wall] + place)
    bays.kind[(bays.kind == WINDOW) & _at_gable_ends(walls, bays)] = BLANK
    return bays


def _at_gable_ends(walls: Walls, bays: Bays) -> NDArray[np.bool_]:
    """Return True for the 1 to 3 bays at either end of gables: shorter walls without doors or places."""
    longest = np.zeros(int(walls.building.max()) + 1)
    np.maximum.at(longest, walls.building, walls.length)
    gable = np.ones(len(walls.number), bool)
    gable[bays.wall[bays.kind != WINDOW]] = False
    gable &= walls.simple & (walls.roof == "gabled") & (walls.length < SHORTER * longest[walls.building])
    ends = np.where(gable & (walls.bays > 2), np.clip(walls.bays // 4, 1, 3), 0)[bays.wall]
    found: NDArray[np.bool_] = (bays.place < ends) | (bays.place >= walls.bays[bays.wall] - ends)
    return found


def _open_doors(bays: Bays, at: Ints) -> None:
    """Turn bays with a window, by index, to bays with a door."""
    bays.kind[at] = np.where(bays.kind[at] == WINDOW, DOOR, bays.kind[at])


def on_walls(walls: Walls, fronts: list[tuple[object, object, float]]) -> tuple[Ints, Floats, Floats]:
    """Return (wall, -1 for none; first and last bay) of fronts.

    Args:
        walls: of buildings.
        fronts: both ends of each, and metres beside them.
    """
    found = np.full(len(fronts), -1, np.int64)
    if not fronts:
        return found, np.empty(0), np.empty(0)
    ends = np.array([(one, other) for one, other, _ in fronts], float)
    open_ = np.flatnonzero(walls.open_number >= 0)
    lines = shapely.linestrings(np.stack([walls.left, walls.right], axis=1)[open_])
    front, near = shapely.STRtree(np.asarray(lines)).query_nearest(
        shapely.points(ends.mean(axis=1)), max_distance=ON_WALL_M, all_matches=False
    )
    found[front] = open_[near]
    per_metre = walls.bays[found] / walls.length[found]
    along = np.einsum("nij,nj->ni", ends - walls.left[found][:, None], walls.direction[found])
    aside = np.array([beside for *_, beside in fronts])
    return found, (along.min(axis=1) - aside) * per_metre, (along.max(axis=1) + aside) * per_metre


def _spread_doors(streets: Sequence[Street], walls: Walls, wanting: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return (wall, bay) of doors in the fronts, on streets, of houses whose walls are True in `wanting`."""
    which = np.flatnonzero(wanting & (walls.open_number >= 0) & (walls.length > NARROW_M))
    if not len(which):
        return which, which
    middle = (walls.left[which] + walls.right[which]) / 2
    lines = line_strings(street.line for street in streets)
    one, street = shapely.STRtree(lines).query_nearest(
        shapely.points(middle), max_distance=STREET_M, all_matches=False
    )
    line = lines[street]
    nearest = shapely.line_interpolate_point(
        line, shapely.line_locate_point(line, shapely.points(middle[one]))
    )
    toward = shapely.get_coordinates(nearest) - middle[one]
    away = np.linalg.norm(toward, axis=1)
    out = outward(walls.left[which[one]], walls.right[which[one]])
    faced = np.sum(toward * out, axis=1) > FACING * away
    wall, away = which[one[faced]], away[faced]
    order = np.lexsort((away, walls.building[wall]))
    wall = wall[order]
    first = np.diff(walls.building[wall], prepend=-1) != 0
    wall = np.sort(wall[first | (walls.length[wall] > LONG_M)])
    count = np.maximum(np.rint(walls.length[wall] / DOOR_EVERY_M), 1).astype(np.int64)
    index, rank = count_out(count)
    chosen = wall[index]
    return chosen, np.floor((rank + 0.5) / count[index] * walls.bays[chosen]).astype(np.int64)
