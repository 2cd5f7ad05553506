"""A city's mesh made ready for drawing: single precision, sorted into cells, lit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Ints
from virl.towns.render.light import brightness
from virl.towns.render.mesh import Quads, Singles

CELL_M = 32.0
"""Metres of a cell of the ground; chosen: about a building's width."""


class Scene(NamedTuple):
    """n quads, those of one cell of the ground next to each other.

    Args:
        corners, uv, texture, paint, ink, owner, mode, seed: as in `Quads`.
        light: RGB, (n, 3).
        planes: the mesh's normals, (n, 3).
        spheres: centre and radius, (n, 4).
        cells: centre and radius of the c cells that hold something, (c, 4).
        starts: first quad of each cell, and n, (c + 1,).
    """

    corners: Singles
    uv: Singles
    texture: NDArray[np.int32]
    paint: Singles
    ink: Singles
    owner: NDArray[np.int32]
    mode: NDArray[np.uint8]
    seed: NDArray[np.uint32]
    light: Singles
    planes: Singles
    spheres: Singles
    cells: Singles
    starts: Ints


def build_scene(mesh: Quads) -> Scene:
    """Return a mesh sorted into cells and lit."""
    middle = mesh.corners.mean(axis=1)
    cell = np.floor(middle[:, :2] / CELL_M).astype(np.int64)
    key = (cell[:, 1] << 32) + cell[:, 0]
    order = np.argsort(key, kind="stable")
    corners = mesh.corners[order]
    middle = middle[order]
    spread = corners - middle[:, None]
    radius = np.sqrt(np.einsum("ncj,ncj->nc", spread, spread).max(axis=1))
    spheres = np.column_stack([middle, radius]).astype(np.float32)
    normal = mesh.normal[order]
    starts = np.flatnonzero(np.diff(key[order], prepend=np.int64(-1) << 62))
    return Scene(
        corners=corners,
        uv=mesh.uv[order],
        texture=mesh.texture[order],
        paint=mesh.paint[order],
        ink=mesh.ink[order],
        owner=mesh.owner[order],
        mode=mesh.mode[order],
        seed=mesh.seed[order],
        light=brightness(normal),
        planes=normal,
        spheres=spheres,
        cells=_cells(spheres, starts),
        starts=np.append(starts, len(order)),
    )


def _cells(spheres: Singles, starts: NDArray[np.intp]) -> Singles:
    """Return (centre, radius) of the sphere around each cell's quads, metres, shape (cells, 4)."""
    if not len(spheres):
        return np.empty((0, 4), np.float32)
    reach = spheres[:, 3:]
    low = np.minimum.reduceat(spheres[:, :3] - reach, starts)
    high = np.maximum.reduceat(spheres[:, :3] + reach, starts)
    radius = np.linalg.norm(high - low, axis=1) / 2
    return np.column_stack([(low + high) / 2, radius]).astype(np.float32)
