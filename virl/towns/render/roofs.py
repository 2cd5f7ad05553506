"""Meshes of pitched roofs, of the undersides of what juts out, and of posts below roofs without walls."""

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, Building
from virl.towns.render.mesh import TWO_SIDED, Quads, box, join, level, outward, quads, repeats, unit, upright
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.walls import Walls, count_out

EAVES_M = 0.35
"""Distance in metres that a pitched roof stands out over the walls; chosen."""
RECTANGULAR = 0.86
"""Least share of its smallest enclosing rectangle that a footprint fills to get one ridge; chosen."""
SMOOTHED_M = 0.5
"""Distance in metres below which a wall's jog does not show in the roof; chosen."""
STEEPEST = 3.0
"""Largest rise in metres for each metre inwards of a roof without a ridge."""
DOME_RINGS = 5
GUTTER, GUTTER_M = (0.44, 0.45, 0.45), (0.12, 0.04)
"""Paint of gutters; their height, and how far they stand before the eaves, metres."""
CHIMNEY_M, CHIMNEY_EVERY_M, CHIMNEY_INWARD = (0.6, 0.9, 1.5), 10.0, 0.35
"""Depth, width and height of a chimney, metres between two, share of the way from wall to middle."""
CHIMNEYS = np.array([[0.62, 0.36, 0.28], [0.54, 0.32, 0.27], [0.74, 0.66, 0.56]])
SOFFIT = (0.62, 0.60, 0.57)
POST_M, PILLAR_M, THIN_M = 0.11, 0.28, 0.5  # a thin roof has posts, all else has pillars
STEEL = (0.56, 0.57, 0.58)


def roof_mesh(buildings: Sequence[Building], walls: Sequence[Floats], tints: Floats) -> Quads:
    """Return the quads of all roofs but flat ones; `walls`: each gable's paint, `tints`: usual roof colours.

    Args:
        buildings: of a plan.
        walls: the paint of each, for gables.
        tints: roofs without a paint of their own have one of these by their variant, (n, 3).
    """
    slopes, paints, gables, gable_paints = [], [], [], []
    for building, wall in zip(buildings, walls, strict=True):
        if building.roof in {"", "flat"} or building.roof_height <= 0:
            continue
        faces, ends = _faces(building)
        own = building.roof_paint
        paint = tints[building.variant // 11 % len(tints)] if own is None else np.array(own)
        slopes += faces
        paints += [paint] * len(faces)
        gables += ends
        gable_paints += [wall] * len(ends)
    return join(
        [
            _quads(slopes, paints, TILE_INDEX["roof"]),
            _quads(gables, gable_paints, TILE_INDEX["wall/plaster"]),
            _gutters(slopes),
        ]
    )


def _gutters(slopes: Sequence[Floats]) -> Quads:
    """Return a gutter along the lower edge of each slope of a roof."""
    a, b = (np.reshape(slopes, (-1, 4, 3))[:, corner] for corner in (0, 1))
    out = outward(a[:, :2], b[:, :2]) * GUTTER_M[1]
    low = a[:, 2] - GUTTER_M[0]
    return quads(upright(a[:, :2] + out, b[:, :2] + out, low, a[:, 2]), paint=GUTTER, mode=TWO_SIDED)


def chimney_mesh(walls: Walls, is_mansard: NDArray[np.bool_]) -> Quads:
    """Return chimneys of every other house, every 10 m beside their longest wall.

    Args:
        walls: of the houses.
        is_mansard: True for walls of houses with a mansard roof, on which chimneys stand higher.
    """
    order = np.lexsort((-walls.length, walls.building))
    first = order[np.diff(walls.building[order], prepend=-1) != 0]
    tall = (walls.height[first] > 5.0) & (walls.base[first] == 0) & ~walls.is_hall[first]
    one = first[tall & (walls.variant[first] // 3 % 2 > 0)]
    count = np.clip(np.rint(walls.length[one] / CHIMNEY_EVERY_M), 1, 3).astype(np.int64)
    index, rank = count_out(count)
    wall = one[index]
    along, out = walls.direction[wall], walls.out[wall]
    spot = walls.at(wall, (rank + 0.5) / count[index] * walls.bays[wall])
    spot += (walls.centre[wall] - spot) * CHIMNEY_INWARD
    base = walls.height[wall]
    top = base + CHIMNEY_M[2] + np.minimum(0.8 * walls.roof_height[wall], 2.5) + 1.6 * is_mansard[wall]
    a, b = along * CHIMNEY_M[1] / 2, out * CHIMNEY_M[0] / 2
    ring = [spot - a + b, spot + a + b, spot + a - b, spot - a - b]
    faces = [upright(ring[k], ring[(k + 1) % 4], base, top) for k in range(4)]
    uv = (0.0, 0.0, 0.25, 0.6)
    paint = CHIMNEYS[walls.variant[wall] % len(CHIMNEYS)]
    return join(quads(face, uv=uv, texture=TILE_INDEX["wall/brick"], paint=paint) for face in faces)


def cap_mesh(buildings: Sequence[Building]) -> Quads:
    """Return the undersides and posts of raised parts, and tops of houses low enough to look down on."""
    under = [one for one in buildings if one.base > 0]
    low = [one for one in buildings if one.height < CAMERA_HEIGHT_M + 1.0 and one.roof in {"", "flat"}]
    posts = [_post(x, y, one) for one in under for x, y in one.posts]
    return join(
        [
            _lids(under, [one.base for one in under], up=False),
            _lids(low, [one.height for one in low], up=True),
            quads(posts, paint=STEEL),
        ]
    )


def _quads(corners: Sequence[Floats], paints: Sequence[Floats], texture: int) -> Quads:
    """Return roof faces, by corners and tint of each, as quads with a texture and coordinates in it."""
    stacked = np.reshape(corners, (-1, 4, 3))
    across = np.linalg.norm(stacked[:, 1] - stacked[:, 0], axis=1) / 3.0
    up = np.linalg.norm(stacked[:, 3] - stacked[:, 0], axis=1) / 3.2
    paint = np.reshape(paints, (-1, 3))
    return quads(stacked, uv=repeats(across, up), texture=texture, paint=paint, mode=TWO_SIDED)


def _faces(building: Building) -> tuple[list[Floats], list[Floats]]:
    """Return (slopes of a roof, triangles of wall below them)."""
    shape = shapely.orient_polygons(building.footprint, exterior_cw=False)
    base, top = building.height, building.height + building.roof_height
    corners = shapely.get_coordinates(shapely.oriented_envelope(shape))[:4]
    rectangular = len(corners) == 4 and shape.area >= RECTANGULAR * Polygon(corners).area
    if building.roof == "gabled" and rectangular:
        return _gable(corners, base, top)
    ring = shapely.get_coordinates(shapely.simplify(shape.exterior, SMOOTHED_M))[:-1]
    if building.roof in {"pyramidal", "dome"} and _is_convex(shape):
        return _pyramid(ring, base, top, rings=DOME_RINGS if building.roof == "dome" else 1), []
    if building.roof == "hipped" and rectangular:
        return _hip(corners, base, top), []
    return _slope_all_walls(ring, base, top), []


def _is_convex(shape: Polygon) -> bool:
    """Return whether an outline is nearly convex, without courtyards."""
    return bool(shape.area > 0.93 * shape.convex_hull.area) and not shape.interiors


def _along_ridge(corners: Floats) -> Floats:
    """Return the corners of a rectangle, anticlockwise, a longer side first."""
    if shapely.LinearRing(corners).is_ccw is False:
        corners = corners[::-1]
    if np.linalg.norm(corners[1] - corners[0]) < np.linalg.norm(corners[2] - corners[1]):
        corners = np.roll(corners, -1, axis=0)
    return corners


def _gable(corners: Floats, base: float, top: float) -> tuple[list[Floats], list[Floats]]:
    """Return (slopes of a gabled roof, triangles of wall at its ends), from `base` to `top` metres high."""
    a, b, c, d = _along_ridge(corners)
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-6)
    aside = (d - a) / max(float(np.linalg.norm(d - a)), 1e-6)
    half = float(np.linalg.norm(d - a)) / 2
    # Eaves jut out on the slope of the roof, below the top of the wall.
    drop = (top - base) / max(half, 0.1) * EAVES_M
    out, end = aside * EAVES_M, along * EAVES_M
    left, right = (a + d) / 2, (b + c) / 2
    ridge = left - end, right + end
    near = _face(a - out - end, b - out + end, ridge[1], ridge[0], base - drop, top)
    far = _face(c + out + end, d + out - end, ridge[0], ridge[1], base - drop, top)
    return [near, far], [_face(b, c, right, right, base, top), _face(d, a, left, left, base, top)]


def _hip(corners: Floats, base: float, top: float) -> list[Floats]:
    """Return the slopes of a hipped roof over a rectangle, from `base` to `top` metres high."""
    ring = _move_inward(_along_ridge(corners), -EAVES_M)
    a, b, c, d = ring
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-6)
    # As far from the ends as from the sides, so that all four slopes are equally steep.
    inward = min(float(np.linalg.norm(d - a)), float(np.linalg.norm(b - a))) / 2
    one, other = (a + d) / 2 + along * inward, (b + c) / 2 - along * inward
    return [
        _face(a, b, other, one, base, top), _face(b, c, other, other, base, top),
        _face(c, d, one, other, base, top), _face(d, a, one, one, base, top),
    ]  # fmt: skip


def _pyramid(ring: Floats, base: float, top: float, *, rings: int) -> list[Floats]:
    """Return the slopes of a pyramid, or with several `rings` of a dome, from `base` to `top` metres high."""
    centre = ring.mean(axis=0)
    steps = np.arange(rings + 1) / rings
    if rings == 1:
        scale, rise = 1 - steps, steps
    else:
        scale, rise = np.cos(steps * np.pi / 2), np.sin(steps * np.pi / 2)
    faces = []
    for n in range(rings):
        low, high = centre + (ring - centre) * scale[n], centre + (ring - centre) * scale[n + 1]
        z = base + (top - base) * rise[n], base + (top - base) * rise[n + 1]
        faces += _band(low, high, *z)
    return faces


def _slope_all_walls(ring: Floats, base: float, top: float) -> list[Floats]:
    """Return slopes along all walls of an outline from `base` to at most `top` metres, `[]` if too narrow."""
    # The deepest first: moved too far in, narrow parts of a house turn inside out.
    for inward in (5.0, 3.5, 2.5, 1.6, 1.0):
        inner = _move_inward(ring, inward)
        if _keeps_its_shape(ring, inner):
            eaves = _move_inward(ring, -EAVES_M)
            eaves = eaves if _keeps_its_shape(ring, eaves) else ring
            return _band(eaves, inner, base, base + min(top - base, inward * STEEPEST))
    return []


def _move_inward(ring: Floats, inward: float) -> Floats:
    """Return an anticlockwise ring with all sides moved inwards by some metres."""
    along = unit(np.roll(ring, -1, axis=0) - ring)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1)
    before = np.roll(normal, 1, axis=0)
    spread = 1 + np.sum(normal * before, axis=1, keepdims=True)
    # The corner of two sides that nearly fold back would move without end.
    moved: Floats = ring + inward * (normal + before) / np.maximum(spread, 0.2)
    return moved


def _keeps_its_shape(ring: Floats, moved: Floats) -> bool:
    """Return whether a moved ring has no turned or crossing sides."""
    sides, new = np.roll(ring, -1, axis=0) - ring, np.roll(moved, -1, axis=0) - moved
    return bool((np.sum(sides * new, axis=1) > 0).all()) and bool(shapely.LinearRing(moved).is_simple)


def _band(low: Floats, high: Floats, bottom: float, top: float) -> list[Floats]:
    """Return the faces between a ring at `bottom` and an equally long one at `top`, heights in metres."""
    n = len(low)
    return [_face(low[k], low[(k + 1) % n], high[(k + 1) % n], high[k], bottom, top) for k in range(n)]


def _face(a: Floats, b: Floats, c: Floats, d: Floats, bottom: float, top: float) -> Floats:
    """Return the corners of a face: a and b at height `bottom`, c and d at `top`, metres, shape (4, 3)."""
    return np.array([[*a, bottom], [*b, bottom], [*c, top], [*d, top]], float)


def _lids(buildings: Sequence[Building], heights: Sequence[float], *, up: bool) -> Quads:
    """Return the footprints of buildings as level quads at some heights in metres, facing up or down."""
    if not buildings:
        return join([])
    shapes = np.array([one.footprint for one in buildings], object)
    pieces, owner = shapely.get_parts(shapely.constrained_delaunay_triangles(shapes), return_index=True)
    ring = shapely.get_coordinates(shapely.orient_polygons(pieces, exterior_cw=not up)).reshape(-1, 4, 2)
    # A triangle is a quad whose last two corners are one.
    corners = level(ring[:, [0, 1, 2, 2]], np.asarray(heights, float)[owner])
    paint = [one.roof_paint or SOFFIT if up else SOFFIT for one in buildings]
    return quads(corners, paint=np.array(paint, float)[owner])


def _post(x: float, y: float, building: Building) -> Floats:
    """Return the faces of a post below a raised building."""
    half = POST_M if building.height - building.base < THIN_M else PILLAR_M
    return box((x - half, x + half), (y - half, y + half), (0.0, building.base))
