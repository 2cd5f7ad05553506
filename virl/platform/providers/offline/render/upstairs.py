"""Bare wall behind signs on an upper floor: the windows there begin above the sign."""

from collections.abc import Sequence

import numpy as np
import shapely

from virl.platform.providers.offline.plan import Sign
from virl.platform.providers.offline.render.facades import FACADES
from virl.platform.providers.offline.render.mesh import Quads, join, outward, quads, upright
from virl.platform.providers.offline.render.textures import TILE_INDEX
from virl.platform.providers.offline.render.walls import (
    GROUND_FLOOR_M,
    STOREY_M,
    WALL_NAMES,
    Floats,
    Ints,
    Walls,
    bays_of,
)

FROM_WALL_M = 0.3  # farthest that a sign hangs from the wall behind it
PROUD_M = 0.02  # of the bare wall before the windows that it hides
ABOVE_M = 0.12  # bare wall above a sign; chosen
SILL_M = (0.05, 0.06)  # how far it stands out, and its height; chosen
SILL_PAINT = (0.84, 0.82, 0.78)

_BARE = np.array([TILE_INDEX[f"wall/{name}"] for name in WALL_NAMES])
_WINDOW = np.array([(facade.window.left, facade.window.right, facade.window.top) for facade in FACADES])


def bare_wall_mesh(signs: Sequence[Sign], walls: Walls) -> Quads:
    """The wall behind signs that hang above the ground floor, over whole bays, and sills on top of it."""
    upstairs = [sign for sign in signs if sign.kind == "fascia" and sign.bottom >= GROUND_FLOOR_M]
    if not upstairs:
        return join([])
    ends = np.array([(sign.left, sign.right) for sign in upstairs])
    hung, wall = _behind(ends, walls)
    top = np.array([sign.top for sign in upstairs])[hung] + ABOVE_M
    left, right = walls.left[wall], walls.right[wall]
    length = np.linalg.norm(right - left, axis=1)
    along, bays = (right - left) / length[:, None], bays_of(walls)[wall]
    per_metre = bays / length
    metres = np.einsum("nij,nj->ni", ends[hung] - left[:, None], along)
    first = np.clip(np.floor(metres.min(axis=1) * per_metre), 0, bays - 1)
    last = np.clip(np.ceil(metres.max(axis=1) * per_metre), first + 1, bays)
    storeys = np.maximum(1.0, np.rint((walls.height[wall] - GROUND_FLOOR_M) / STOREY_M))
    rise = (top - GROUND_FLOOR_M) * storeys / (walls.height[wall] - GROUND_FLOOR_M)
    out = outward(left, right)
    bare = quads(
        upright(
            left + along * (first / per_metre)[:, None] + out * PROUD_M,
            left + along * (last / per_metre)[:, None] + out * PROUD_M,
            GROUND_FLOOR_M,
            top,
        ),
        uv=np.stack([first, np.zeros_like(first), last - first, rise], axis=1),
        texture=_BARE[walls.style[wall]],
        paint=walls.paint[wall],
        seed=walls.building[wall] * 31 + wall,
    )
    return join([bare, *_sills(walls, wall, first, last, per_metre, top, rise)])


def _behind(ends: Floats, walls: Walls) -> tuple[Ints, Ints]:
    """Which signs have a wall with windows behind them, and which wall.

    Args:
        ends: of the signs, (n, 2, 2).
        walls: of all buildings.
    """
    windowed = np.flatnonzero(~walls.blank & (walls.base == 0) & (walls.height > GROUND_FLOOR_M))
    lines = shapely.linestrings(np.stack([walls.left, walls.right], axis=1)[windowed])
    tree = shapely.STRtree(np.asarray(lines))
    hung, near = tree.query_nearest(
        shapely.points(ends.mean(axis=1)), max_distance=FROM_WALL_M, all_matches=False
    )
    return hung, windowed[near]


def _sills(
    walls: Walls, wall: Ints, first: Floats, last: Floats, per_metre: Floats, top: Floats, rise: Floats
) -> list[Quads]:
    """A sill under what is left of each window; none where nothing is left."""
    count = (last - first).astype(np.int64)
    sign = np.repeat(np.arange(len(wall)), count)
    bay = np.concatenate([np.arange(low, high) for low, high in zip(first, last, strict=True)])
    window = _WINDOW[walls.style[wall[sign]]]
    kept = rise[sign] < window[:, 2]
    sign, bay, window = sign[kept], bay[kept], window[kept]
    left, right = walls.left[wall[sign]], walls.right[wall[sign]]
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    out = outward(left, right) * (PROUD_M + SILL_M[0])
    a, b = (left + along * ((bay + edge) / per_metre[sign])[:, None] + out for edge in window[:, :2].T)
    low = top[sign] - SILL_M[1]
    level = np.stack([a - out, b - out, b, a], axis=1)
    over = np.concatenate(
        [level[:, [3, 2, 1, 0]], np.broadcast_to(top[sign, None, None], (len(a), 4, 1))], axis=2
    )
    return [quads(upright(a, b, low, top[sign]), paint=SILL_PAINT), quads(over, paint=SILL_PAINT)]
