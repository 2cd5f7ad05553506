"""Meshes of who and what makes streets lively: people, cyclists and tables before cafes."""

from collections.abc import Sequence

import numpy as np

from virl.geo.globe import Floats
from virl.towns.plan.crowd import COMPANIES, PEOPLE
from virl.towns.plan.town_plan import Point, Rgb
from virl.towns.render.figures import BESIDE_M, BICYCLE_M, PERSON_M, TURNS
from virl.towns.render.mesh import FIGURE, TWO_SIDED, Quads, join, lid, prism, quads
from virl.towns.render.textures import TILE_INDEX

CLOTHES: tuple[Rgb, ...] = (
    (0.72, 0.64, 0.50), (0.68, 0.69, 0.70), (0.44, 0.18, 0.22), (0.46, 0.43, 0.28), (0.13, 0.13, 0.14),
    (0.88, 0.87, 0.84), (0.54, 0.63, 0.74), (0.60, 0.37, 0.25), (0.54, 0.46, 0.60), (0.78, 0.59, 0.58),
    (0.37, 0.28, 0.22), (0.34, 0.50, 0.52),
)  # fmt: skip
"""Colours of jackets; chosen: none is that of a trash bin or a fire hydrant."""
_TABLE, _STEEL, _WEAVE = (0.80, 0.79, 0.76), (0.42, 0.43, 0.45), (0.62, 0.48, 0.32)
CHILD = 0.66
"""Height of a child as a share of a grown-up's."""


def person(variant: int) -> Quads:
    """Return somebody whose front is at -y, alone, with a dog or a pram, or with a child."""
    number, company = variant % PEOPLE, variant // PEOPLE % COMPANIES
    tile, cells = TILE_INDEX[f"person/{number}"], [(0.25 * n, 0.0, 0.25, 0.75) for n in range(4)]
    parts = [_figure(tile, cells, (PERSON_M / 3, PERSON_M))]
    if company == 1:
        beside = [(0.25 * n, 0.75, 0.25, 0.25) for n in range(4)]
        at = (0.0, -0.62) if number % 2 else (-0.55, -0.35)
        parts.append(_figure(tile, beside, (BESIDE_M, BESIDE_M), at))
    if company == 2:
        other = TILE_INDEX[f"person/{(number + 5) % PEOPLE}"]
        size = (PERSON_M / 3 * CHILD, PERSON_M * CHILD)
        parts.append(_figure(other, cells, size, (0.48, -0.05)))
    return join(parts)


def bicycle(variant: int) -> Quads:
    """Return a cyclist whose front is at -y."""
    tile = TILE_INDEX[f"bicycle/{variant % 2}"]
    cells = [(n % 2 * 0.5, n // 2 * 0.5, 0.5, 0.5) for n in range(4)]
    return _figure(tile, cells, (BICYCLE_M, BICYCLE_M))


def cafe_table(variant: int) -> Quads:
    """Return a round table and two or three chairs."""
    rods, weave = [*prism((0.04, 0.03), (0.0, 0.72), 3)], []
    for x, y in ((-0.66, 0.0), (0.66, 0.0), (0.0, 0.66))[: 2 + variant % 2]:
        out = np.sign((x, y)) * 0.2
        ahead, aside = np.array([*out, 0.0]), np.array([out[1], -out[0], 0.0])
        seat, rest = np.array([x, y, 0.45]), np.array([0.0, 0.0, 0.12])
        back = seat + ahead
        left, right = back - aside, back + aside
        weave.append([seat - ahead - aside, left, right, seat - ahead + aside])
        weave.append([left + rest, right + rest, right + 3.3 * rest, left + 3.3 * rest])
        for leg in weave[-2]:
            foot, wide = leg * (1, 1, 0), aside * 0.12 + ahead * 0.12
            rods.append([foot - wide, foot + wide, leg + wide, leg - wide])
    return join(
        [
            quads(rods, paint=_STEEL, mode=TWO_SIDED), quads(lid(0.36, 0.74, 8), paint=_TABLE),
            quads(weave, paint=_WEAVE, mode=TWO_SIDED, normal=(0.0, 0.0, 0.9)),
        ]
    )  # fmt: skip


def _figure(
    tile: int, cells: Sequence[tuple[float, ...]], size: tuple[float, float], at: Point = (0.0, 0.0)
) -> Quads:
    """Return cards (width, height) in metres around `at`, one for each of eight directions of sight.

    `cells` are the (u, v, width, height) in the tile of what is seen at the angles of `TURNS`.
    """
    corners: list[Floats] = []
    uv, normals = [], []
    for turn, (u, v, wide, high) in zip(np.radians(TURNS), cells, strict=True):
        for side in (1.0, -1.0):
            way = np.array([np.cos(turn), -side * np.sin(turn), 0.0]) * size[0] / 2
            up, foot = np.array([0.0, 0.0, size[1]]), np.array([*at, 0.0])
            corners.append(np.stack([foot - way, foot + way, foot + way + up, foot - way + up]))
            uv.append((u, v, wide, high) if side > 0 else (u + wide, v, -wide, high))
            normals.append((-0.85 * side * np.sin(turn), -0.85 * np.cos(turn), 0.45))
    return quads(corners, texture=tile, uv=uv, normal=normals, mode=FIGURE)
