"""Meshes of cars: bodies with doors and wheel arches, panes, round wheels, and drivers in traffic."""

import numpy as np

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.mesh import TWO_SIDED, Quads, box, join, quads
from virl.towns.render.textures import TILE_INDEX

PAINTS: tuple[Rgb, ...] = (
    (0.86, 0.87, 0.88), (0.62, 0.64, 0.66), (0.13, 0.14, 0.16), (0.60, 0.10, 0.10), (0.12, 0.24, 0.45),
    (0.36, 0.38, 0.40), (0.80, 0.76, 0.66), (0.16, 0.34, 0.28), (0.88, 0.55, 0.12),
)  # fmt: skip
RUBBER, CHROME = (0.07, 0.07, 0.08), (0.30, 0.31, 0.33)
LAMP, TAIL, PLATE = (0.96, 0.96, 0.92), (0.70, 0.05, 0.05), (0.93, 0.92, 0.84)

BUILDS: tuple[tuple[float, ...], ...] = (
    (4.5, 0.88, 0.90, 1.42, 0.27, 0.20, 0.13, 0.46),
    (3.9, 0.84, 0.92, 1.48, 0.23, 0.03, 0.13, 0.16),
    (4.8, 0.95, 1.08, 1.95, 0.17, 0.01, 0.11, 0.08),
)
"""Saloon, hatchback, van: length, half width, waist, roof in metres; shares before and behind the cabin's
foot; slope of the windscreen as a share of the length, and of the rear window in metres."""

SILL_M, BONNET_M = 0.12, 0.72
"""Heights in metres of the foot of the body, and of its edge before the bonnet."""
AXLES = (0.185, 0.815)
"""Places of the axles as shares of the length, from the rear end, as in the tile of a side."""
WHEEL_M = 0.32
"""Radius of a wheel in metres."""
_CUT = np.arcsin(1 - SILL_M / WHEEL_M)
"""Angle in radians between the level of the axle and where the wheel comes out below the body."""
SIDE_TILE_M = (4.5, 1.0)
"""Length and height in metres of the body that the tile of a side shows."""


def car(variant: int, *, driven: bool = False) -> Quads:
    """Return the quads in metres of a car whose front is at -y, with somebody at the wheel if `driven`."""
    paint = PAINTS[variant % len(PAINTS)]
    length, half, waist, roof, front, rear, screen, back = BUILDS[variant // len(PAINTS) % len(BUILDS)]
    y0, y1 = -length / 2, length / 2
    foot = (y0 + length * front, y1 - length * rear - 0.04)
    head = (foot[0] + length * screen, foot[1] - back)
    cabin = box((0.01 - half, half - 0.01), foot, (waist, roof), top=((0.17 - half, half - 0.17), head))
    ends = [_quad_across(half, y0, SILL_M, y0, BONNET_M), _quad_across(-half, y1, SILL_M, y1, waist)]
    decks = [_quad_across(half, y0, BONNET_M, foot[0], waist), _quad_across(half, foot[1], waist, y1, waist)]
    skirt = box((0.12 - half, half - 0.12), (y0 + 0.25, y1 - 0.25), (0.03, SILL_M))[1:4:2]
    mirrors = [
        box((x, x + 0.17), (foot[0] + 0.22, foot[0] + 0.34), (waist + 0.02, waist + 0.16))[[0, 2]]
        for x in (-half - 0.14, half - 0.03)
    ]
    lamps = [_patch(x, half * 0.42, y0 - 0.01, BONNET_M - 0.13, 0.11) for x in (-0.95 * half, 0.53 * half)]
    tails = [_patch(x, -half * 0.30, y1 + 0.01, waist - 0.24, 0.15) for x in (-0.66 * half, 0.96 * half)]
    plates = [_patch(-0.26, 0.52, y0 - 0.015, 0.30, 0.11), _patch(0.26, -0.52, y1 + 0.015, 0.36, 0.11)]
    trims = [
        _patch(-half, 2 * half, y0 - 0.005, SILL_M, 0.13), _patch(half, -2 * half, y1 + 0.005, SILL_M, 0.20)
    ]  # fmt: skip
    grille = [_patch(-0.42 * half, 0.84 * half, y0 - 0.01, BONNET_M - 0.13, 0.10)]
    return join(
        [
            quads([*ends, *decks, *cabin, *np.concatenate(mirrors)], paint=paint),
            _sides(length, half, waist, foot[0], paint),
            _panes(cabin, driven=driven),
            quads([*skirt, *trims, *grille], paint=RUBBER),
            quads(lamps, paint=LAMP), quads(tails, paint=TAIL), quads(plates, paint=PLATE),
            _treads(length, half),
        ]
    )  # fmt: skip


def _quad_across(half: float, y_low: float, z_low: float, y_high: float, z_high: float) -> Floats:
    """Return a quad across the car, from x = -`half` to `half`, between two lines at (y, z), metres."""
    corners = [(-half, y_low, z_low), (half, y_low, z_low), (half, y_high, z_high), (-half, y_high, z_high)]
    return np.array(corners)


def _patch(x: float, wide: float, y: float, z: float, high: float) -> Floats:
    """Return an upright quad at `y` from `x` on, `wide` and `high` metres; below 0 it looks backwards."""
    return np.array([(x, y, z), (x + wide, y, z), (x + wide, y, z + high), (x, y, z + high)])


def _sides(length: float, half: float, waist: float, screen: float, paint: Rgb) -> Quads:
    """Return both sides with wheels and doors; the bonnet begins at `screen`, the windscreen's foot."""
    y0, y1 = -length / 2, length / 2
    share = (BONNET_M - SILL_M) / SIDE_TILE_M[1]
    faces, uv = [], []
    for x in (-half, half):
        # From the rear end on, which is upright, so that the texture of the upper part is not slanted.
        faces.append([(x, y1, SILL_M), (x, y0, SILL_M), (x, y0, BONNET_M), (x, y1, BONNET_M)])
        faces.append([(x, y1, BONNET_M), (x, y0, BONNET_M), (x, screen, waist), (x, y1, waist)])
        uv += [(0.0, 0.0, 1.0, share), (0.0, share, 1.0, (waist - BONNET_M) / SIDE_TILE_M[1])]
    outwards = [(-1.0, 0.0, 0.0)] * 2 + [(1.0, 0.0, 0.0)] * 2
    texture = TILE_INDEX["car side"]
    return quads(faces, uv=uv, texture=texture, paint=paint, normal=outwards, mode=TWO_SIDED)


def _panes(cabin: Floats, *, driven: bool) -> Quads:
    """Return the panes of a cabin: a windscreen, a rear window, and two panes on each side."""
    front, right, back, left = cabin[:4]
    panes = [
        _pane(front, 0.06, 0.94, 0.90), _pane(back, 0.10, 0.90, 0.74),
        *(_pane(side, *part, 0.80) for side in (right, left) for part in ((0.10, 0.49), (0.53, 0.93))),
    ]  # fmt: skip
    glass, seen = TILE_INDEX["pane/0"], TILE_INDEX["pane/1"]
    # The driver sits on the left, which is to the right of one who looks at the front.
    behind = [seen, glass, glass, glass, glass, seen] if driven else glass
    return quads(panes, texture=behind)


def _treads(length: float, half: float) -> Quads:
    """Return what of the wheels is below the body: the ends of 14-sided discs, and the treads behind them."""
    angle = np.linspace(np.pi + _CUT, 2 * np.pi - _CUT, 5)
    parts = []
    for share in AXLES:
        y, z = length * (0.5 - share) + WHEEL_M * np.cos(angle), WHEEL_M * (1 + np.sin(angle))
        for x, inner in ((-half, 0.22 - half), (half, half - 0.22)):
            disc = [(x, y[k], z[k]) for k in range(5)]
            parts += [[disc[k], disc[k + 1], disc[3 - k], disc[4 - k]] for k in (0, 1)]
            ends = [(inner, y[k], z[k]) for k in range(5)]
            parts += [[disc[k], disc[k + 1], ends[k + 1], ends[k]] for k in (0, 3)]
    return quads(parts, paint=RUBBER, mode=TWO_SIDED, normal=(0.0, 0.0, -0.6))


def _pane(face: Floats, left: float, right: float, high: float) -> Floats:
    """Return the part of a face between shares `left` and `right`, `high` of its height, a little lifted."""
    p, q, r, s = face

    def at(u: float, v: float) -> Floats:
        """Return the point of the face at shares (u, v) of its sides."""
        point: Floats = (p * (1 - u) + q * u) * (1 - v) + (s * (1 - u) + r * u) * v
        return point

    normal = np.cross(r - p, s - q)
    low = 0.55 * (1 - high)
    points = [at(left, low), at(right, low), at(right, low + high), at(left, low + high)]
    pane: Floats = np.stack(points) + normal / np.linalg.norm(normal) * 0.012
    return pane
