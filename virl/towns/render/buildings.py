"""Meshes of buildings: walls with windows, cornices, mansard roofs, front doors."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Building, Frontage, Sign
from virl.towns.render.facades import FACADES
from virl.towns.render.mesh import Quads, join, ledge, outward, quads, upright
from virl.towns.render.roofs import cap_mesh, roof_mesh
from virl.towns.render.textures import TILE_INDEX

GROUND_FLOOR_M, _STOREY_M = 4.0, 3.2
_BAY_M = (2.5, 3.5)
_BLANK_WALL_M = 1.8
"""Width in metres below which a wall has no window."""
_CONVEX = 0.95
"""Ratio of a footprint's area to its convex hull's from which it counts as convex; chosen."""

# Tints of each wall material; an entry is picked by the building's variant. Chosen by eye.
_PAINTS: dict[str, Floats] = {
    "brick": np.array(
        [[0.66, 0.34, 0.25], [0.56, 0.30, 0.24], [0.74, 0.47, 0.33], [0.80, 0.68, 0.50], [0.48, 0.33, 0.29]]
    ),
    "stone": np.array([[0.82, 0.76, 0.64], [0.74, 0.71, 0.66], [0.86, 0.81, 0.72], [0.70, 0.63, 0.54]]),
    "plaster": np.array(
        [
            [0.93, 0.88, 0.74], [0.90, 0.76, 0.60], [0.80, 0.86, 0.84], [0.92, 0.91, 0.88],
            [0.86, 0.66, 0.55], [0.75, 0.80, 0.68], [0.72, 0.80, 0.88], [0.93, 0.82, 0.80],
        ]
    ),
    "concrete": np.array([[0.80, 0.80, 0.79], [0.70, 0.72, 0.74], [0.85, 0.82, 0.76]]),
    "wood": np.array([[0.92, 0.92, 0.90], [0.62, 0.72, 0.76], [0.80, 0.72, 0.56], [0.58, 0.66, 0.54]]),
    "tiles": np.array([[0.90, 0.91, 0.90], [0.62, 0.74, 0.74], [0.82, 0.74, 0.66], [0.55, 0.62, 0.70]]),
}  # fmt: skip

WALL_NAMES = tuple(facade.wall for facade in FACADES)
"""Name of the wall material of each facade, by the facade's index."""
_ALL = tuple(range(len(FACADES)))
_OF_WALL = {wall: tuple(n for n in _ALL if WALL_NAMES[n] == wall) for wall in _PAINTS}

CORNICE_M = (0.30, 0.42)
"""Distance in metres that a cornice stands out, and its height."""
COURSE_M = (0.07, 0.22)
DOOR_M = (1.25, 2.7)
MANSARD_M = 2.6

ROOFS = np.array([[0.32, 0.33, 0.36], [0.52, 0.30, 0.24], [0.40, 0.36, 0.34]])
TRIM = np.array([[0.88, 0.86, 0.81], [0.76, 0.74, 0.70], [0.94, 0.93, 0.91]])
DOORS = np.array(
    [[0.36, 0.15, 0.13], [0.14, 0.25, 0.34], [0.17, 0.30, 0.22], [0.40, 0.27, 0.16], [0.16, 0.16, 0.18]]
)

_FACADE = np.array([TILE_INDEX[f"facade/{i}"] for i in range(len(FACADES))])
_GROUND = np.array([TILE_INDEX[f"ground/{name}"] for name in WALL_NAMES])
_BLANK = np.array([TILE_INDEX[f"wall/{name}"] for name in WALL_NAMES])
FROM_WALL_M = 0.3
"""Largest distance in metres from a sign to the wall behind it."""
PROUD_M = 0.02
"""Distance in metres from the windows to the bare wall that hides them behind a sign."""
ABOVE_M = 0.12
"""Height in metres of the bare wall above a sign on an upper floor; chosen."""
SILL_M = (0.05, 0.06)
"""Distance in metres that a sill stands out, and its height; chosen."""
SILL_PAINT = (0.84, 0.82, 0.78)

_WINDOW = np.array([(facade.window.left, facade.window.right, facade.window.top) for facade in FACADES])


@dataclass(frozen=True, slots=True)
class Walls:
    """All walls of some buildings, as arrays of length n."""

    number: Ints
    """Index of each wall among those of the town."""
    open_number: Ints
    """Index of each wall among those with windows that start at the ground; -1 for all others."""
    building: Ints
    """Index of the building that each wall belongs to."""
    left: Floats
    """Left end as seen from outside, metres, shape (n, 2)."""
    right: Floats
    """Right end as seen from outside, metres, shape (n, 2)."""
    centre: Floats
    """Centre of the building, metres, shape (n, 2)."""
    base: Floats
    """Metres from the ground to the foot of each wall."""
    height: Floats
    """Metres from the ground to the top of each wall."""
    roof: NDArray[np.str_]
    variant: Ints
    style: Ints
    """Index in `FACADES` of the facade of each wall."""
    paint: Floats
    """Tint of each wall, RGB in [0, 1], shape (n, 3)."""
    simple: NDArray[np.bool_]
    """True for walls of a convex building without a courtyard."""
    blank: NDArray[np.bool_]
    """True for walls without windows."""

    def of_buildings(self, numbers: Ints) -> "Walls":
        """Return the walls of some buildings, in the same order."""
        mine = np.isin(self.building, numbers)
        return Walls(*(getattr(self, column.name)[mine] for column in fields(self)))


def building_mesh(
    buildings: Sequence[Building], signs: Sequence[Sign] = (), walls: Walls | None = None
) -> Quads:
    """Return the quads of buildings: walls, windows and roofs, without shop fronts and front doors.

    Args:
        buildings: of the town, or some of them.
        signs: windows begin above those that hang on an upper floor.
        walls: of these buildings; `None` measures them as those of the whole town.
    """
    if not buildings:
        return join([])
    walls = walls_of(buildings) if walls is None else walls
    return join(
        [
            _storeys(walls),
            bare_wall_mesh(signs, walls),
            _ground_floors(walls),
            _trims(walls),
            _mansards(walls),
            roof_mesh(buildings, [looks_of(one)[1] for one in buildings], ROOFS),
            cap_mesh(buildings),
        ]
    )


def door_mesh(frontages: Sequence[Frontage], taken: Collection[int]) -> Quads:
    """Return the quads of front doors of frontages with a building, except those with ids in `taken`."""
    homes = [f for f in frontages if f.building is not None and f.id not in taken]
    if not homes:
        return join([])
    left, right = np.array([f.left for f in homes]), np.array([f.right for f in homes])
    number = np.array([f.id for f in homes])
    out = outward(left, right)
    middle, along = (left + right) / 2, (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    half = DOOR_M[0] / 2
    a, b = middle - along * half + out * 0.05, middle + along * half + out * 0.05
    doors = quads(
        upright(a, b, 0.0, DOOR_M[1]), texture=TILE_INDEX["house door"], paint=DOORS[number % len(DOORS)]
    )
    portal = upright(a - along * 0.32 - out * 0.02, b + along * 0.32 - out * 0.02, 0.0, DOOR_M[1] + 0.35)
    hood_a, hood_b = a - along * 0.2, b + along * 0.2
    front = upright(hood_a + out * 0.6, hood_b + out * 0.6, DOOR_M[1] + 0.1, DOOR_M[1] + 0.28)
    hoods = quads(front, paint=TRIM[number % len(TRIM)])
    below = quads(ledge(hood_a, hood_b, out, 0.6, DOOR_M[1] + 0.1), paint=TRIM[number % len(TRIM)])
    step = quads(upright(hood_a + out * 0.35, hood_b + out * 0.35, 0.0, 0.16), paint=(0.62, 0.61, 0.58))
    tread = quads(ledge(hood_a, hood_b, out, 0.35, 0.16)[:, [1, 0, 3, 2]], paint=(0.70, 0.69, 0.66))
    portals = quads(portal, paint=TRIM[number % len(TRIM)] * 0.93)
    return join([portals, doors, hoods, below, step, tread])


def _storeys(walls: Walls) -> Quads:
    """Return the fronts of the upper floors, with windows unless the wall is blank."""
    floating = walls.blank | (walls.base > 0)
    bottom = np.where(floating, walls.base, np.minimum(GROUND_FLOOR_M, walls.height))
    storeys = np.maximum(1.0, np.rint((walls.height - bottom) / _STOREY_M))
    bays = _bays_of(walls)
    uv = np.stack([np.zeros_like(bays), np.zeros_like(bays), bays, storeys], axis=1)
    return quads(
        upright(walls.left, walls.right, bottom, walls.height),
        uv=uv,
        texture=np.where(walls.blank, _BLANK[walls.style], _FACADE[walls.style]),
        paint=walls.paint,
        seed=walls.building * 31 + walls.number,
    )


def _ground_floors(walls: Walls) -> Quads:
    """Return the fronts of the ground floors, of walls that start at the ground and are not blank."""
    open_walls = walls.open_number >= 0
    bays = _bays_of(walls)[open_walls]
    uv = np.stack([np.zeros_like(bays), np.zeros_like(bays), bays, np.ones_like(bays)], axis=1)
    left, right = walls.left[open_walls], walls.right[open_walls]
    return quads(
        upright(left, right, 0.0, np.minimum(GROUND_FLOOR_M, walls.height[open_walls])),
        uv=uv,
        texture=_GROUND[walls.style[open_walls]],
        paint=walls.paint[open_walls],
        seed=walls.building[open_walls] * 17 + walls.open_number[open_walls],
    )


def _trims(walls: Walls) -> Quads:
    """Return the quads of cornices at the top and string courses over the ground floor."""
    parts = []
    own = TRIM[walls.variant // 3 % len(TRIM)] * 0.55 + walls.paint * 0.45
    out = outward(walls.left, walls.right)
    length = np.linalg.norm(walls.right - walls.left, axis=1, keepdims=True)
    along = (walls.right - walls.left) / length
    shown = ~walls.blank
    tall = shown & (walls.height > GROUND_FLOOR_M + 1) & (walls.base < GROUND_FLOOR_M)
    for which, (depth, high), top in (
        (shown, CORNICE_M, walls.height + 0.15),
        (tall, COURSE_M, np.full(len(out), GROUND_FLOOR_M + 0.30)),
    ):
        o, a, height = out[which], along[which], top[which]
        # Neighbours in one line differ by millimetres, or their ends would lie in one plane.
        reach = depth + np.asarray(walls.building[which, None] % 5, float) * 0.006
        left, right = walls.left[which] - a * reach, walls.right[which] + a * reach
        low, high_edge = height - high - reach[:, 0] / 10, height + reach[:, 0] / 10
        parts.append(quads(upright(left + o * reach, right + o * reach, low, high_edge), paint=own[which]))
        parts.append(quads(ledge(left, right, o, reach, low), paint=own[which]))
    return join(parts)


def _mansards(walls: Walls) -> Quads:
    """Return mansard roofs of every third low convex building."""
    low = walls.height < GROUND_FLOOR_M + 4.5 * _STOREY_M
    which = walls.simple & (walls.variant // 5 % 3 == 0) & low & (walls.base == 0) & (walls.roof == "")
    left, right, centre = walls.left[which], walls.right[which], walls.centre[which]
    base, share = walls.height[which] + 0.1, 0.28
    corners = upright(left, right, base, base + MANSARD_M)
    corners[:, 3, :2] += share * (centre - left)
    corners[:, 2, :2] += share * (centre - right)
    bays = np.linalg.norm(right - left, axis=1) / 3.0
    uv = np.stack([np.zeros_like(bays), np.zeros_like(bays), bays, np.ones_like(bays)], axis=1)
    paint = ROOFS[walls.variant[which] // 11 % len(ROOFS)]
    return quads(corners, uv=uv, texture=TILE_INDEX["wall/brick"], paint=paint)


def bare_wall_mesh(signs: Sequence[Sign], walls: Walls) -> Quads:
    """Return quads of bare wall behind the signs on upper floors, with sills on top."""
    upstairs = [sign for sign in signs if sign.kind == "fascia" and sign.bottom >= GROUND_FLOOR_M]
    if not upstairs:
        return join([])
    ends = np.array([(sign.left, sign.right) for sign in upstairs])
    hung, wall = _walls_behind(ends, walls)
    top = np.array([sign.top for sign in upstairs])[hung] + ABOVE_M
    left, right = walls.left[wall], walls.right[wall]
    length = np.linalg.norm(right - left, axis=1)
    along, bays = (right - left) / length[:, None], _bays_of(walls)[wall]
    per_metre = bays / length
    metres = np.einsum("nij,nj->ni", ends[hung] - left[:, None], along)
    first = np.clip(np.floor(metres.min(axis=1) * per_metre), 0, bays - 1)
    last = np.clip(np.ceil(metres.max(axis=1) * per_metre), first + 1, bays)
    storeys = np.maximum(1.0, np.rint((walls.height[wall] - GROUND_FLOOR_M) / _STOREY_M))
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
        texture=_BLANK[walls.style[wall]],
        paint=walls.paint[wall],
        seed=walls.building[wall] * 31 + walls.number[wall],
    )
    return join([bare, *_sills(walls, wall, first, last, per_metre, top, rise)])


def _walls_behind(ends: Floats, walls: Walls) -> tuple[Ints, Ints]:
    """Return (indices of signs with windows behind them, indices of those walls).

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
    """Return sills for windows, `first` to before `last`, whose tops show above a sign's bare wall."""
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


def walls_of(buildings: Sequence[Building]) -> Walls:
    """Return the walls of buildings, courtyards included."""
    footprints = shapely.orient_polygons(
        np.array([b.footprint for b in buildings], object), exterior_cw=False
    )
    rings, house = shapely.get_rings(footprints, return_index=True)  # those of courtyards too
    points, ring = shapely.get_coordinates(rings, return_index=True)
    inner = ring[:-1] == ring[1:]
    left, right, owner = points[:-1][inner], points[1:][inner], house[ring[:-1][inner]]
    length = np.linalg.norm(right - left, axis=1)
    keep = length > 0.05
    left, right, owner, length = left[keep], right[keep], owner[keep], length[keep]
    variant = np.array([b.variant for b in buildings], np.int64)
    looks = [looks_of(b) for b in buildings]
    style = np.array([number for number, _ in looks], np.int64)
    paint = np.array([colour for _, colour in looks], float)
    base, height = np.array([b.base for b in buildings]), np.array([b.height for b in buildings])
    blank = (length < _BLANK_WALL_M) | (height - base < _STOREY_M - 1.0)[owner]
    blank |= _party(footprints, left, right, owner, np.stack([base, height, variant]))
    is_open = ~blank & (base == 0)[owner]
    return Walls(
        number=np.arange(len(owner)),
        open_number=np.where(is_open, np.cumsum(is_open) - 1, -1),
        building=owner,
        left=left,
        right=right,
        centre=shapely.get_coordinates(shapely.centroid(footprints))[owner],
        base=base[owner],
        height=height[owner],
        roof=np.array([b.roof for b in buildings])[owner],
        variant=variant[owner],
        style=style[owner],
        paint=paint[owner],
        simple=(shapely.area(footprints) > _CONVEX * shapely.area(shapely.convex_hull(footprints)))[owner],
        blank=blank,
    )


def looks_of(building: Building) -> tuple[int, Floats]:
    """Return (index in `FACADES`, RGB colour of the walls, each in [0, 1]) of a building."""
    facades = _OF_WALL.get(building.material, _ALL)
    style = facades[building.variant % len(facades)]
    if building.paint is not None:
        return style, np.array(building.paint)
    choices = _PAINTS[WALL_NAMES[style]]
    return style, choices[building.variant // len(FACADES) % len(choices)]


def _party(
    footprints: NDArray[np.object_], left: Floats, right: Floats, owner: Ints, measures: Floats
) -> NDArray[np.bool_]:
    """Return True for each wall that a neighbour adjoins; `measures`: base, height, variant, (3, buildings).

    Against a piece of the same building, which has the same variant, only where that is as tall.

    Args:
        footprints: of the buildings.
        left: ends of the walls, as seen from outside.
        right: the other ends.
        owner: the building of each wall.
        measures: base, height and variant of the buildings, shape (3, n).
    """
    probe = (left + right) / 2 + outward(left, right) * 0.4
    # Each footprint asks for the points within: so it is made ready once, not for each point.
    other, wall = shapely.STRtree(np.asarray(shapely.points(probe))).query(footprints, predicate="contains")
    base, height, variant = measures[:, owner[wall]]
    base_beside, height_beside, variant_beside = measures[:, other]
    hidden = (base_beside <= base + 0.5) & (height_beside >= height - 0.5)
    alone = (variant_beside != variant) & (base_beside == 0)
    against = np.zeros(len(left), bool)
    against[wall[hidden | alone]] = True
    return against


def _bays_of(walls: Walls) -> Floats:
    """Return the number of window bays of each wall, shape (n,)."""
    width = _BAY_M[0] + (_BAY_M[1] - _BAY_M[0]) * (walls.variant // 7 % 5) / 4
    bays: Floats = np.maximum(1.0, np.rint(np.linalg.norm(walls.right - walls.left, axis=1) / width))
    return bays
