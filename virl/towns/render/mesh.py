"""Meshes: planar convex quads with texture coordinates, as parallel arrays.

A quad has four corners in the order bottom left, bottom right, top right, top left of one who looks at
its front. Its texture is laid along the edges 0 -> 1 and 0 -> 3, so a trapezoid or a triangle (two corners
equal) shows part of the texture without bending it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from virl.geo.globe import Floats

Singles = NDArray[np.float32]
Interval = tuple[float, float]
"""Both ends of an interval, metres."""

PLAIN = -1
"""Texture index of a quad in one colour."""

NOBODY = -1
"""Owner index of a quad that belongs to no sign or thing of the ground truth."""

FRONT_ONLY, TWO_SIDED, CUTOUT, CARD, FAR, FIGURE, DETAIL, TUFT = range(8)
"""Numbers of the modes in which a quad shows: front only, both sides, both sides with holes.

A `CARD` of leaves is a cutout that shows unless it is seen almost edge-on or from afar; `FAR` is a flat
picture that takes its place there. `FAR` and `FIGURE` show only to those who look at them head-on, the
latter at its front: several in a circle make a thing that turns with who looks at it. A `DETAIL` is a cutout
that is left out where it is small in the picture, a `TUFT` one that shows from near alone."""


@dataclass(frozen=True, slots=True)
class Quads:
    """A mesh of n quadrilaterals: their corners, textures, colours, owners and modes.

    Args:
        corners: metres, shape (n, 4, 3).
        uv: texture coordinates of corner 0 and their growth to corner 1 (u) and corner 3 (v), (n, 4), in
            repeats of the texture: (u0, v0, du, dv).
        texture: index of the texture or `PLAIN`, (n,).
        paint: tint of the texture, or the colour of a plain quad or of a sign's board, (n, 3), [0, 1].
        ink: colour of a sign's letters, (n, 3), [0, 1].
        normal: the direction that decides how light falls, (n, 3), about unit length; of a quad that is drawn
            from its front only, the normal of its plane.
        owner: index of the object that a quad belongs to, or `NOBODY`, (n,).
        mode: one of the modes from `FRONT_ONLY` to `TUFT`, (n,).
        seed: picks the variant of each cell of a texture, (n,).
    """

    corners: Singles
    uv: Singles
    texture: NDArray[np.int32]
    paint: Singles
    ink: Singles
    normal: Singles
    owner: NDArray[np.int32]
    mode: NDArray[np.uint8]
    seed: NDArray[np.uint32]

    def __len__(self) -> int:
        """Return the number of quads."""
        return len(self.corners)


def quads(
    corners: ArrayLike,
    *,
    uv: ArrayLike = (0.0, 0.0, 1.0, 1.0),
    texture: ArrayLike = PLAIN,
    paint: ArrayLike = (1.0, 1.0, 1.0),
    ink: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike | None = None,
    owner: ArrayLike = NOBODY,
    mode: ArrayLike = FRONT_ONLY,
    seed: ArrayLike = 0,
) -> Quads:
    """Return n quads by their corners, (n, 4, 3); other values are one for each quad, or one for all.

    Args:
        corners: metres, (n, 4, 3).
        uv: texture coordinates of the corners.
        texture: index of the tile or sign.
        paint: RGB that the texture's opacity mixes in.
        ink: RGB of letters.
        normal: unit vectors; `None` computes them.
        owner: number of the thing.
        mode: how it is shaded.
        seed: for variants of tiles.
    """
    points = np.asarray(corners, float).reshape(-1, 4, 3)
    n = len(points)
    facing = face_normals(points) if normal is None else normal
    return Quads(
        corners=points.astype(np.float32),
        uv=np.broadcast_to(np.asarray(uv, np.float32), (n, 4)),
        texture=np.broadcast_to(np.asarray(texture, np.int32), (n,)),
        paint=np.broadcast_to(np.asarray(paint, np.float32), (n, 3)),
        ink=np.broadcast_to(np.asarray(ink, np.float32), (n, 3)),
        normal=np.broadcast_to(np.asarray(facing, np.float32), (n, 3)),
        owner=np.broadcast_to(np.asarray(owner, np.int32), (n,)),
        mode=np.broadcast_to(np.asarray(mode, np.uint8), (n,)),
        seed=np.broadcast_to(np.asarray(seed, np.uint32), (n,)),
    )


def face_normals(corners: Floats) -> Floats:
    """Return unit normals towards those who see the fronts, from the diagonals so that triangles work too."""
    (a, b, c), (d, e, f) = (corners[:, 2] - corners[:, 0]).T, (corners[:, 3] - corners[:, 1]).T
    # Written out: `np.cross` takes three times as long for a few quads.
    return unit(np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=1))


def unit(vectors: Floats) -> Floats:
    """Return vectors scaled to length 1, but for those without a length; shape (n, 2) or (n, 3)."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def join(parts: Iterable[Quads]) -> Quads:
    """Return the quads of several meshes as one mesh."""
    meshes = list(parts) or [quads(np.empty((0, 4, 3)))]
    return Quads(*(np.concatenate([getattr(mesh, f.name) for mesh in meshes]) for f in fields(Quads)))


def take(mesh: Quads, which: NDArray[np.intp] | NDArray[np.bool_]) -> Quads:
    """Return the quads that an index or mask selects."""
    return Quads(*(getattr(mesh, f.name)[which] for f in fields(Quads)))


def upright(left: Floats, right: Floats, bottom: ArrayLike, top: ArrayLike) -> Floats:
    """Return the corners of upright rectangles from left to right, between two heights, shape (n, 4, 3).

    Args:
        left: ends as one who faces the front sees them, (n, 2).
        right: the other ends, (n, 2).
        bottom: heights, broadcast to (n,).
        top: heights, broadcast to (n,).
    """
    n = len(left)
    low, high = np.broadcast_to(bottom, (n,)), np.broadcast_to(top, (n,))
    feet = np.stack([left, right, right, left], axis=1)
    heights = np.stack([low, low, high, high], axis=1)
    return np.concatenate([feet, heights[..., None]], axis=2)


def level(outlines: Floats, z: ArrayLike) -> Floats:
    """Return the corners of level quads by their outlines, (n, 4, 2), and heights, metres, one or (n,)."""
    heights = np.broadcast_to(np.reshape(z, (-1, 1, 1)), (len(outlines), 4, 1))
    return np.concatenate([outlines, heights], axis=2)


def repeats(wide: ArrayLike, high: ArrayLike) -> Floats:
    """Return the texture coordinates of quads that show `wide` by `high` repeats of a texture, (n, 4)."""
    u, v = np.broadcast_arrays(wide, high)
    return np.stack([0.0 * u, 0.0 * v, u, v], axis=1)


def outward(left: Floats, right: Floats) -> Floats:
    """Return unit normals towards the reader of upright rectangles: (dy, -dx) of left -> right, (n, 2)."""
    along = unit(right - left)
    return np.stack([along[:, 1], -along[:, 0]], axis=1)


def ledge(left: Floats, right: Floats, out: Floats, depth: Floats | float, z: ArrayLike) -> Floats:
    """Return corners of level strips, seen from below, `depth` metres towards `out`, at height `z`.

    Args:
        left: ends at the wall, (n, 2).
        right: the other ends, (n, 2).
        out: unit vectors away from the wall, (n, 2).
        depth: metres.
        z: metres, broadcast to (n,).
    """
    return level(np.stack([left, right, right + out * depth, left + out * depth], axis=1), z)


def box(
    x: Interval, y: Interval, z: Interval, *, inset: float = 0.0, top: tuple[Interval, Interval] | None = None
) -> Floats:
    """Return the corners of a box's faces, (5, 4, 3): front (-y), right, back, left, top.

    Args:
        x: in metres.
        y: in metres.
        z: in metres.
        inset: how much narrower the top is on each side.
        top: x and y of the top, else as `inset` has it.
    """
    (x0, x1), (y0, y1), (z0, z1) = x, y, z
    (left, right), (front, back) = top or ((x0 + inset, x1 - inset), (y0 + inset, y1 - inset))
    low = [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)]
    high = [(left, front, z1), (right, front, z1), (right, back, z1), (left, back, z1)]
    around = [(low[k], low[(k + 1) % 4], high[(k + 1) % 4], high[k]) for k in range(4)]
    return np.array([*around, tuple(high)], float)


def prism(radius: tuple[float, float], z: tuple[float, float], sides: int) -> Floats:
    """Return the corners of the upright sides of a prism around the origin, without a lid.

    Args:
        radius: at the bottom and at the top, metres.
        z: of bottom and top, metres.
        sides: number.
    """
    angle = np.arange(sides + 1) * 2 * np.pi / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low, high = (np.column_stack([ring * r, np.full(sides + 1, at)]) for r, at in zip(radius, z, strict=True))
    return np.stack([low[:-1], low[1:], high[1:], high[:-1]], axis=1)


def lid(radius: float, z: float, sides: int) -> Floats:
    """Return the corners of level quads that close a prism at height `z`, shape (sides / 2 - 1, 4, 3).

    Args:
        radius: metres.
        z: metres.
        sides: number, even.
    """
    angle = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius
    strips = [(k, k + 1, sides - k - 2, sides - k - 1) for k in range(sides // 2 - 1)]
    return level(ring[np.array(strips)], z)


def place_copies(
    template: Quads, x: ArrayLike, y: ArrayLike, heading: ArrayLike
) -> tuple[Quads, NDArray[np.intp]]:
    """Return (template copied to points, metres, and headings, degrees; index of the copy of each quad).

    Args:
        template: at the origin.
        x: metres east, of each copy.
        y: metres north.
        heading: degrees.
    """
    angle = np.radians(np.atleast_1d(np.asarray(heading, float)))
    m, k = len(angle), len(template)
    # The template's -y turns to (sin h, cos h).
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.zeros((m, 3, 3))
    rotation[:, 0, 0], rotation[:, 0, 1] = -cos, -sin
    rotation[:, 1, 0], rotation[:, 1, 1] = sin, -cos
    rotation[:, 2, 2] = 1.0
    shift = np.column_stack([np.atleast_1d(x), np.atleast_1d(y), np.zeros(m)])
    corners = np.einsum("mij,kcj->mkci", rotation, template.corners) + shift[:, None, None, :]
    normal = np.einsum("mij,kj->mki", rotation, template.normal)
    copy = np.repeat(np.arange(m), k)
    repeated = take(template, np.tile(np.arange(k), m))
    moved = replace(
        repeated,
        corners=corners.reshape(-1, 4, 3).astype(np.float32),
        normal=normal.reshape(-1, 3).astype(np.float32),
    )
    return moved, copy
