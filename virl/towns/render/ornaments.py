"""Meshes of what adorns houses: balconies, bay windows, quoins at corners, and ivy."""

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Sign
from virl.towns.render.bays import WINDOW, Bays
from virl.towns.render.buildings import COVE_M, COVE_SHADE, FACADE_TILES, PROUD_M, TRIM, WINDOWS, is_front
from virl.towns.render.mesh import DETAIL, Quads, join, level, quads, repeats, upright
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.walls import Walls, count_out

BALCONY, BAY_WINDOW, QUOINS, NONE = range(4)
"""Kinds of ornaments; every third house has one."""
EVERY = 8, 12
"""Number of free bays of a front for each balcony of a floor, and for each bay window; chosen."""
OUT_M, FREE_M = 0.8, 1.6
"""Metres that both stand out, less than a pavement's first one, and that are free before them; chosen."""
WIDE, SLANT_M = 0.78, 0.4
"""Width of both as a share of the bay's, and metres by which each side of a bay window slants; chosen."""
SLAB_M, LIP_M = 0.18, 0.06
"""Height of the slab below both, and how far it stands out from a bay window, metres; chosen."""
EAVES_M, RIM = 0.55, 0.07
"""Metres of wall above a bay window, below the cornice's shade; share of the bay beside its panes; chosen."""
RAILING_M = 1.2
"""Height of a railing with its slab, and width of the texture, metres."""
QUOIN_M, COURSES_M, CORNER_M = 0.56, 0.84, 0.25
"""Width of a quoin, height of a long and a short one, and reach of a corner, metres; chosen."""
IVY_EVERY, IVY_LEAST_M, IVY_STEP, IVY_OUT_M = 9, 0.8, 0.75, 0.09
"""Walls for each that may have ivy, of which half have room, least metres between its windows, distance of
clumps in their size, and metres before the wall; chosen: it covers string courses."""
GOLDEN = 0.6180339887
"""Ratio whose multiples, less whole numbers, scatter."""
IVY = np.array([[0.60, 0.74, 0.54], [0.50, 0.64, 0.46], [0.68, 0.74, 0.52]])


def ornament_mesh(signs: Sequence[Sign], walls: Walls, bays: Bays) -> Quads:
    """Return the quads of balconies, bay windows, quoins and ivy.

    Args:
        signs: none is covered.
        walls: of buildings.
        bays: of these walls.
    """
    free = _free_bays(signs, walls, bays)
    front = is_front(walls, bays)
    roomy = np.isin(walls.building, walls.building[free.wall[front[free.wall]]])
    kind = np.where(roomy, walls.variant // 15 % 3, QUOINS)
    kind = np.where(front & (walls.variant // 5 % 3 == 0) & ~walls.is_hall, kind, NONE)
    balconies = _balconies(walls, *_spread(walls, free, kind, BALCONY))
    bay_windows = _bay_windows(walls, *_spread(walls, free, kind, BAY_WINDOW))
    quoins = _quoins(walls, np.flatnonzero(kind == QUOINS))
    return join([balconies, bay_windows, quoins, _ivy(walls, free, kind)])


def _free_bays(signs: Sequence[Sign], walls: Walls, bays: Bays) -> Bays:
    """Return the bays with windows on upper floors before which neither walls nor signs stand."""
    bays = bays.of_kind(WINDOW)
    a, b = walls.at(bays.wall, bays.place), walls.at(bays.wall, bays.place + 1)
    near, far = (walls.out[bays.wall] * reach for reach in (0.03, FREE_M))
    outlines = np.asarray(shapely.polygons(np.stack([a + near, b + near, b + far, a + far], axis=1)))
    boards = np.reshape([(one.left, one.right) for one in signs], (-1, 2, 2))
    lines = np.concatenate([np.stack([walls.left, walls.right], axis=1), boards])
    free = walls.floors[bays.wall] > 0
    free[_find_crossed(outlines, lines)] = False
    return Bays(bays.wall[free], bays.place[free], bays.kind[free])


def _find_crossed(shapes: NDArray[np.object_], lines: Floats) -> Ints:
    """Return the indices of the shapes that any of some lines, (n, 2, 2), touches."""
    tree = shapely.STRtree(np.asarray(shapely.linestrings(lines)))
    return np.unique(tree.query(shapes, predicate="intersects")[0])


def _spread(walls: Walls, free: Bays, kind: Ints, which: int) -> tuple[Ints, Ints, Ints]:
    """Return (wall, bay, floor) of a kind of ornament, on all floors of some free bays from the middle on."""
    mine = np.flatnonzero(kind[free.wall] == which)
    wall = free.wall[mine]
    first, end = (np.searchsorted(wall, wall, side) for side in ("left", "right"))
    mine = mine[(np.arange(len(wall)) - (first + end - 1) // 2) % EVERY[which] == 0]
    index, floor = count_out(walls.floors[free.wall[mine]])
    return free.wall[mine[index]], free.place[mine[index]], floor


def _ring(walls: Walls, wall: Ints, place: Ints, slant: float, lip: float) -> Floats:
    """Return the outlines of what stands out from bays, larger by a lip, four points each, (4, n, 2)."""
    along, out = walls.direction[wall], walls.out[wall] * (OUT_M - LIP_M + lip)
    a, b = (walls.at(wall, place + 0.5 + side * WIDE / 2) + side * lip * along for side in (-1, 1))
    return np.stack([a, a + along * slant + out, b - along * slant + out, b])


def _sides(ring: Floats, low: Floats, high: Floats) -> Floats:
    """Return the corners of the three upright sides of n outlines, (3 n, 4, 3)."""
    return upright(ring[:3].reshape(-1, 2), ring[1:].reshape(-1, 2), np.tile(low, 3), np.tile(high, 3))


def _undersides(walls: Walls, wall: Ints, ring: Floats, low: Floats) -> Quads:
    """Return the undersides of outlines with the shade on the wall below, as under a cornice."""
    under = level(ring[[0, 3, 2, 1]].swapaxes(0, 1), low)
    under[:, :2, 2] -= COVE_M
    return quads(under, paint=walls.paint[wall] * COVE_SHADE)


def _trim(walls: Walls, wall: Ints) -> Floats:
    """Return the colour of what adorns each of these walls, (n, 3)."""
    return np.asarray(TRIM[walls.variant[wall] // 3 % 3])


def _balconies(walls: Walls, wall: Ints, place: Ints, floor: Ints) -> Quads:
    """Return balconies: a slab with a railing, and a window down to it."""
    low, high = walls.span(wall, floor)
    ring = _ring(walls, wall, place, 0.0, LIP_M)
    uv = repeats(np.linalg.norm(np.diff(ring, axis=0), axis=2).reshape(-1) / RAILING_M, 1.0)
    trim, fence = _trim(walls, np.tile(wall, 3)), _sides(ring, low, low + RAILING_M)
    railing = quads(fence, uv=uv, texture=TILE_INDEX["railing"], paint=trim, mode=DETAIL)
    left, right, bottom, head = WINDOWS[walls.style[wall]].T
    a, b = (walls.at(wall, place + edge) + walls.out[wall] * PROUD_M for edge in (left, right))
    door = quads(
        upright(a, b, low + SLAB_M, low + (high - low) * head),
        uv=np.column_stack([place + left, floor + bottom, right - left, head - bottom]),
        texture=FACADE_TILES[walls.style[wall]], paint=walls.paint[wall], seed=walls.number[wall],
    )  # fmt: skip
    return join([_undersides(walls, wall, ring, low), railing, door])


def _bay_windows(walls: Walls, wall: Ints, place: Ints, floor: Ints) -> Quads:
    """Return bay windows: a slab, and three faces with windows on each floor."""
    low, high = walls.span(wall, floor)
    top = np.minimum(high, walls.height[wall] - EAVES_M)
    left, right = (np.clip(WINDOWS[walls.style[wall], i] + rim, 0, 1) for i, rim in ((0, -RIM), (1, RIM)))
    uv = np.column_stack([place + left, floor, right - left, (top - low) / (high - low)])
    side, every = np.repeat(np.arange(3), len(wall)), np.tile(wall, 3)
    faces = quads(
        _sides(_ring(walls, wall, place, SLANT_M, 0.0), low, top), uv=np.tile(uv, (3, 1)),
        texture=FACADE_TILES[walls.style[every]], paint=walls.paint[every], seed=walls.number[every] + side,
    )  # fmt: skip
    wall, place, low = wall[floor == 0], place[floor == 0], low[floor == 0]
    ring, trim = _ring(walls, wall, place, SLANT_M, LIP_M), _trim(walls, np.tile(wall, 3))
    slab = quads(_sides(ring, low, low + SLAB_M), paint=trim)
    return join([faces, slab, _undersides(walls, wall, ring, low)])


def _quoins(walls: Walls, wall: Ints) -> Quads:
    """Return the quoins of walls at ends that are corners, in strips as high as a floor."""
    wall = wall[walls.length[wall] > 4 * QUOIN_M]
    lines, parts = np.stack([walls.left, walls.right], axis=1), []
    for end, inward, side in ((walls.left, walls.direction, 0), (walls.right, -walls.direction, 1)):
        # Another wall leads into the house only from a corner.
        spot, reach = (end - walls.out * CORNER_M)[wall], inward[wall] * CORNER_M
        probes = shapely.linestrings(np.stack([spot - reach, spot + reach], axis=1))
        corner = wall[_find_crossed(np.asarray(probes), lines)]
        index, floor = count_out(walls.floors[corner] + 1)
        one = corner[index]
        low, high = walls.span(one, floor - 1)
        edge = (end + (walls.out - inward) * PROUD_M)[one]
        strip = edge, edge + inward[one] * QUOIN_M
        # Long ones on one wall stand beside short ones on the other.
        uv = repeats(1 - 2 * side, np.rint((high - low) / COURSES_M)) + np.array([side, side / 2, 0, 0])
        corners = upright(strip[side], strip[1 - side], low, high)
        parts.append(
            quads(corners, uv=uv, texture=TILE_INDEX["quoins"], paint=_trim(walls, one), mode=DETAIL)
        )
    return join(parts)


def _ivy(walls: Walls, free: Bays, kind: Ints) -> Quads:
    """Return ivy between free bays of 5 % of walls: clumps of leaves, smaller toward the top."""
    beside = (np.diff(free.wall, prepend=-1) == 0) & (np.diff(free.place, prepend=-1) == 1)
    overgrown = ((walls.variant // 9 + 7 * walls.number) % IVY_EVERY == 0) & (kind >= QUOINS)
    left, right = WINDOWS[walls.style[free.wall], :2].T
    size = (1 - right + left) * (walls.length / walls.bays)[free.wall]
    stem = np.flatnonzero(beside & overgrown[free.wall] & (size > IVY_LEAST_M))
    number = 5 * walls.number[free.wall[stem]] + free.place[stem]
    tall = walls.height[free.wall[stem]] * (0.35 + 0.55 * (number * GOLDEN % 1))
    count = np.ceil(tall / (size[stem] * IVY_STEP)).astype(np.int64)
    index, up = count_out(count)
    wall, size, chance = free.wall[stem[index]], size[stem[index]], (27 * number[index] + 7 * up) * GOLDEN % 1
    half = size * (0.8 - 0.36 * up / count[index]) * (0.7 + 0.6 * chance)
    middle = (
        walls.at(wall, free.place[stem[index]]) + walls.out[wall] * (IVY_OUT_M + 0.02 * (up % 4))[:, None]
    )
    a, b = (
        middle + walls.direction[wall] * (0.6 * size * (chance - 0.5) + way)[:, None] for way in (-half, half)
    )
    high = np.maximum((up + 0.6) * size * IVY_STEP, half)
    corners, leaves = upright(a, b, high - half, high + half), TILE_INDEX["leaves/0"] + up % 2
    return quads(corners, texture=leaves, paint=IVY[(number[index] + up) % len(IVY)], mode=DETAIL)
