"""Meshes of buildings: walls with windows, cornices, pipes, mansard roofs with dormers, front doors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Building, Sign
from virl.towns.render.bays import BARE, BLANK, DOOR, Bays, all_windows, on_walls
from virl.towns.render.facades import FACADES
from virl.towns.render.mesh import TWO_SIDED, Quads, join, ledge, level, quads, repeats, take, upright
from virl.towns.render.roofs import cap_mesh, chimney_mesh, roof_mesh
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.walls import (
    GROUND_FLOOR_M,
    STOREY_M,
    WALL_NAMES,
    Walls,
    count_out,
    looks_of,
    walls_of,
)

CORNICE_M = (0.30, 0.42)
"""Distance in metres that a cornice stands out, and its height."""
COVE_M, COVE_SHADE = 0.26, 0.66
"""Height in metres of the shade on the wall under a cornice, and the share of its paint; chosen."""
COURSE_M = (0.07, 0.22)
DOOR_M = (1.25, 2.45)
MANSARD_M = 2.6
_DORMER_M = (1.15, 1.5, 0.3)
"""Width and height of a dormer, and how far it stands behind the wall, metres."""
_PIPE_M = (6.0, 0.09)
"""Least length of a wall with a down-pipe, and the pipe's width, metres."""
HALL_M = 5.0
"""Height in metres of a storey of a hall; chosen."""
_FEWEST_BAYS = 7
"""Least number of bays of a wall whose bays above doors differ."""

ROOFS = np.array([[0.32, 0.33, 0.36], [0.52, 0.30, 0.24], [0.40, 0.36, 0.34]])
TRIM = np.array([[0.88, 0.86, 0.81], [0.76, 0.74, 0.70], [0.94, 0.93, 0.91]])
DOORS = np.array(
    [[0.36, 0.15, 0.13], [0.14, 0.25, 0.34], [0.17, 0.30, 0.22], [0.40, 0.27, 0.16], [0.16, 0.16, 0.18]]
)

FACADE_TILES = np.array([TILE_INDEX[f"facade/{i}"] for i in range(len(FACADES))])
_GROUND = np.array([TILE_INDEX[f"ground/{name}"] for name in WALL_NAMES])
_BASE = np.array([TILE_INDEX[f"base/{name}"] for name in WALL_NAMES])
_BLANK = np.array([TILE_INDEX[f"wall/{name}"] for name in WALL_NAMES])
PROUD_M = 0.02
"""Distance in metres from the windows to the bare wall that hides them behind a sign."""
ABOVE_M = 0.12
"""Height in metres of the bare wall above a sign on an upper floor; chosen."""
SILL_M = (0.05, 0.06)
"""Distance in metres that a sill stands out, and its height; chosen."""
SILL_PAINT = (0.84, 0.82, 0.78)

WINDOWS = np.array(
    [(one.window.left, one.window.right, one.window.bottom, one.window.top) for one in FACADES]
)
_SIBLING = np.array(
    [
        max((k for k, one in enumerate(WALL_NAMES) if one == name and k != i), default=i)
        for i, name in enumerate(WALL_NAMES)
    ]
)
"""Facade of the same wall as each facade, for the bays above doors."""


def building_mesh(
    buildings: Sequence[Building],
    signs: Sequence[Sign] = (),
    walls: Walls | None = None,
    bays: Bays | None = None,
) -> Quads:
    """Return the quads of buildings: walls, windows and roofs, without shop fronts and front doors.

    Args:
        buildings: of the town, or some of them.
        signs: windows begin above those that hang on an upper floor.
        walls: of these buildings; `None` measures them as those of the whole town.
        bays: of these walls; `None` for windows in all of them.
    """
    if not buildings:
        return join([])
    walls = walls_of(buildings, signs) if walls is None else walls
    bays = all_windows(walls) if bays is None else bays
    return join(
        [
            _storeys(walls, bays),
            bare_wall_mesh(signs, walls),
            _ground_floors(walls, bays),
            _pipes(walls, bays),
            _trims(walls),
            _mansards(walls),
            _dormers(walls, bays),
            chimney_mesh(walls, _is_mansard(walls)),
            roof_mesh(buildings, [looks_of(one)[1] for one in buildings], ROOFS),
            cap_mesh(buildings),
        ]
    )


def door_mesh(walls: Walls, bays: Bays) -> Quads:
    """Return the quads of front doors, each in the middle of its bay."""
    bays = bays.of_kind(DOOR)
    if not len(bays.wall):
        return join([])
    number = walls.number[bays.wall] * 7 + bays.place
    out, along = walls.out[bays.wall], walls.direction[bays.wall]
    middle = walls.at(bays.wall, bays.place + 0.5)
    half = DOOR_M[0] / 2
    a, b = middle - along * half + out * 0.05, middle + along * half + out * 0.05
    trim = TRIM[number % len(TRIM)]
    doors = quads(
        upright(a, b, 0.0, DOOR_M[1]), texture=TILE_INDEX["house door"], paint=DOORS[number % len(DOORS)],
        seed=number,
    )  # fmt: skip
    portal = upright(a - along * 0.25 - out * 0.02, b + along * 0.25 - out * 0.02, 0.0, DOOR_M[1] + 0.3)
    hood_a, hood_b = a - along * 0.2, b + along * 0.2
    front = upright(hood_a + out * 0.6, hood_b + out * 0.6, DOOR_M[1] + 0.1, DOOR_M[1] + 0.28)
    under = ledge(hood_a, hood_b, out, 0.6, DOOR_M[1] + 0.1)
    hoods = quads(np.concatenate([front, under]), paint=np.tile(trim, (2, 1)))
    step = quads(upright(hood_a + out * 0.35, hood_b + out * 0.35, 0.0, 0.16), paint=(0.62, 0.61, 0.58))
    tread = quads(ledge(hood_a, hood_b, out, 0.35, 0.16)[:, [1, 0, 3, 2]], paint=(0.70, 0.69, 0.66))
    hooded = np.tile(walls.variant[bays.wall] // 13 % 2 == 0, 2)
    return join([quads(portal, paint=trim * 0.93), doors, take(hoods, hooded), step, tread])


def _storeys(walls: Walls, bays: Bays) -> Quads:
    """Return the fronts of the upper floors, with windows unless the wall is blank; odd ones above doors."""
    floating = walls.blank | (walls.base > 0)
    bottom = np.where(floating, walls.base, walls.ground)
    storeys = np.rint((walls.height - bottom) / np.where(walls.is_hall, HALL_M, STOREY_M))
    texture = np.where(walls.blank | (storeys < 1), _BLANK[walls.style], FACADE_TILES[walls.style])
    striped = (walls.bays >= _FEWEST_BAYS) & ~walls.blank & (storeys >= 1)
    look = np.where(bays.kind == BLANK, 2, (bays.kind == DOOR) & striped[bays.wall])
    wall, first, count, look = bays.runs(look)
    whole = np.flatnonzero(walls.open_number < 0)
    wall, look = np.append(wall, whole), np.append(look, 0 * whole)
    first, count = np.append(first, 0 * whole), np.append(count, walls.bays[whole])
    style = walls.style[wall]
    texture = np.choose(look, [texture[wall], FACADE_TILES[_SIBLING[style]], _BLANK[style]])
    rows = np.maximum(storeys, 1.0)[wall]
    return quads(
        upright(walls.at(wall, first), walls.at(wall, first + count), bottom[wall], walls.height[wall]),
        uv=np.stack([first, np.zeros(len(first)), count, rows], axis=1),
        texture=texture,
        paint=walls.paint[wall],
        seed=walls.building[wall] * 31 + walls.number[wall],
    )


def _ground_floors(walls: Walls, bays: Bays) -> Quads:
    """Return the fronts of the ground floors; a door hides the window of its bay."""
    wall, first, count, bare = bays.runs(np.where(bays.kind < BARE, 0, 1))
    return quads(
        upright(walls.at(wall, first), walls.at(wall, first + count), 0.0, walls.ground[wall]),
        uv=np.stack([first, np.zeros(len(first)), count, np.ones(len(first))], axis=1),
        texture=np.where(bare > 0, _BASE[walls.style[wall]], _GROUND[walls.style[wall]]),
        paint=walls.paint[wall],
        seed=walls.building[wall] * 17 + walls.open_number[wall],
    )


def _trims(walls: Walls) -> Quads:
    """Return the quads of cornices at the top and string courses over the ground floor."""
    parts = []
    own = TRIM[walls.variant // 3 % len(TRIM)] * 0.55 + walls.paint * 0.45
    out, along = walls.out, walls.direction
    shown = ~walls.blank
    tall = shown & (walls.height > walls.ground + 1) & (walls.base < walls.ground)
    for which, (depth, high), top in (
        (shown, CORNICE_M, walls.height + 0.15),
        (tall, COURSE_M, walls.ground + 0.30),
    ):
        o, a, height = out[which], along[which], top[which]
        # Neighbours in one line differ by millimetres, or their ends would lie in one plane.
        reach = depth + np.asarray(walls.building[which, None] % 5, float) * 0.006
        left, right = walls.left[which] - a * reach, walls.right[which] + a * reach
        low, high_edge = height - high - reach[:, 0] / 10, height + reach[:, 0] / 10
        parts.append(quads(upright(left + o * reach, right + o * reach, low, high_edge), paint=own[which]))
        if depth > COURSE_M[0]:  # the underside of a string course is too narrow to be seen
            under = ledge(left, right, o, reach, low)
            # Slanted, and in a darker colour of the wall: the shade on the wall under a cornice.
            under[:, :2, :2] = np.stack([walls.left[which], walls.right[which]], axis=1)
            under[:, :2, 2] -= COVE_M
            parts.append(quads(under, paint=walls.paint[which] * COVE_SHADE))
    return join(parts)


def _pipes(walls: Walls, bays: Bays) -> Quads:
    """Return down-pipes at the left ends of some walls with doors or places, as strips at an angle."""
    which = np.flatnonzero(is_front(walls, bays) & (walls.length > _PIPE_M[0]) & (walls.variant % 3 == 0))
    out, along = walls.out[which], walls.direction[which]
    foot = walls.left[which] + along * 0.01 + out * 0.02
    strip = upright(foot, foot + (along + out) * _PIPE_M[1], 0.0, walls.height[which] - 0.1)
    return quads(strip, paint=(0.46, 0.47, 0.47), mode=TWO_SIDED)


def is_front(walls: Walls, bays: Bays) -> NDArray[np.bool_]:
    """Return True for walls with doors or places."""
    fronts = np.zeros(len(walls.number), bool)
    fronts[bays.wall[(bays.kind == DOOR) | (bays.kind == BARE)]] = True
    return fronts


def _is_mansard(walls: Walls) -> NDArray[np.bool_]:
    """Return True for the walls of every third low convex building, which has a mansard roof."""
    low = walls.height < GROUND_FLOOR_M + 4.5 * STOREY_M
    chosen: NDArray[np.bool_] = walls.simple & (walls.variant // 5 % 3 == 0) & low & (walls.base == 0)
    chosen &= walls.roof == ""
    return chosen


def _dormers(walls: Walls, bays: Bays) -> Quads:
    """Return dormers on mansard roofs, above every fourth bay of walls with doors or places."""
    chosen = (_is_mansard(walls) & is_front(walls, bays))[bays.wall] & (bays.place % 4 == 1)
    wall, place = bays.wall[chosen], bays.place[chosen]
    out, along = walls.out[wall], walls.direction[wall]
    middle = walls.at(wall, place + 0.5) - out * _DORMER_M[2]
    a, b = middle - along * _DORMER_M[0] / 2, middle + along * _DORMER_M[0] / 2
    low, high = walls.height[wall] + 0.55, walls.height[wall] + 0.55 + _DORMER_M[1]
    window, rim = WINDOWS[walls.style[wall]], 0.04
    size = window[:, [1, 3]] - window[:, [0, 2]] + 2 * rim
    uv = np.column_stack([place + window[:, 0] - rim, window[:, 2] - rim, size])
    front = quads(
        upright(a, b, low, high),
        uv=uv,
        texture=FACADE_TILES[walls.style[wall]],
        paint=walls.paint[wall],
        seed=walls.building[wall] * 23 + walls.number[wall],
    )
    back = out * 2.0
    cheeks = [
        quads(upright(end - back, end, low, high), paint=(0.36, 0.37, 0.39), mode=TWO_SIDED) for end in (a, b)
    ]
    eaves_a, eaves_b = a - along * 0.1 + out * 0.1, b + along * 0.1 + out * 0.1
    return join([front, *cheeks, quads(upright(eaves_a, eaves_b, high, high + 0.16), paint=TRIM[0])])


def _mansards(walls: Walls) -> Quads:
    """Return mansard roofs of every third low convex building."""
    which = _is_mansard(walls)
    left, right, centre = walls.left[which], walls.right[which], walls.centre[which]
    base, share = walls.height[which] + 0.1, 0.28
    corners = upright(left, right, base, base + MANSARD_M)
    corners[:, 3, :2] += share * (centre - left)
    corners[:, 2, :2] += share * (centre - right)
    uv = repeats(walls.length[which] / 3.0, 1.0)
    paint = ROOFS[walls.variant[which] // 11 % len(ROOFS)]
    return quads(corners, uv=uv, texture=TILE_INDEX["roof"], paint=paint)


def bare_wall_mesh(signs: Sequence[Sign], walls: Walls) -> Quads:
    """Return quads of bare wall behind the signs on upper floors, with sills on top."""
    upstairs = [sign for sign in signs if sign.kind == "fascia" and sign.bottom >= GROUND_FLOOR_M]
    if not upstairs:
        return join([])
    wall, low, high = on_walls(walls, [(sign.left, sign.right, 0.0) for sign in upstairs])
    hung = np.flatnonzero((wall >= 0) & (walls.floors[wall] > 0))
    wall, top = wall[hung], np.array([sign.top for sign in upstairs])[hung] + ABOVE_M
    first = np.clip(np.floor(low[hung]), 0, walls.bays[wall] - 1)
    last = np.clip(np.ceil(high[hung]), first + 1, walls.bays[wall])
    ground = walls.ground[wall]
    rise = (top - ground) * walls.floors[wall] / (walls.height[wall] - ground)
    proud = walls.out[wall] * PROUD_M
    bare = quads(
        upright(walls.at(wall, first) + proud, walls.at(wall, last) + proud, ground, top),
        uv=np.stack([first, np.zeros_like(first), last - first, rise], axis=1),
        texture=_BLANK[walls.style[wall]],
        paint=walls.paint[wall],
        seed=walls.building[wall] * 31 + walls.number[wall],
    )
    return join([bare, *_sills(walls, wall, first, last, top, rise)])


def _sills(walls: Walls, wall: Ints, first: Floats, last: Floats, top: Floats, rise: Floats) -> list[Quads]:
    """Return sills for windows, `first` to before `last`, whose tops show above a sign's bare wall."""
    sign, number = count_out((last - first).astype(np.int64))
    bay = number + first[sign]
    window = WINDOWS[walls.style[wall[sign]]]
    kept = rise[sign] < window[:, 3]
    sign, bay, window = sign[kept], bay[kept], window[kept]
    out = walls.out[wall[sign]] * (PROUD_M + SILL_M[0])
    a, b = (walls.at(wall[sign], bay + edge) + out for edge in window[:, :2].T)
    front = upright(a, b, top[sign] - SILL_M[1], top[sign])
    over = level(np.stack([a, b, b - out, a - out], axis=1), top[sign])
    return [quads(front, paint=SILL_PAINT), quads(over, paint=SILL_PAINT)]
