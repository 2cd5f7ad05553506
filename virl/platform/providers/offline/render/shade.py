"""Compiled kernels, second pass: what colour has each pixel that shows a quad?

Every visible pixel is textured once. The derivatives of texture coordinates come from the linear forms
exactly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.lens import Lens
from virl.platform.providers.offline.render.mesh import CUTOUT
from virl.platform.providers.offline.render.raster import Drawing
from virl.platform.providers.offline.render.sampling import (
    Growth,
    Tile,
    channel,
    footprint,
    gather,
    letters,
    tile_at,
    variant_of,
)  # fmt: skip
from virl.platform.providers.offline.render.scene import Scene
from virl.platform.providers.offline.render.textures import TILE, Coverage, Textures, Words
from virl.platform.streetview import Image

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rgb = tuple[float, float, float]

TILE_TAPS, LETTER_TAPS = 4, 8  # chosen: letters that need more are too narrow to read
BLOCK = 8
"""Pixels of a row that share one footprint and one haze. Chosen: both change slowly along a row."""

HAZE_RGB = (196.0, 208.0, 220.0)
HAZE_M = 1200.0  # chosen: metres at which half of the contrast is gone, a clear day in town


class _Plane(NamedTuple):
    """The linear forms along one row: (W, S, T) at column 0, and their growth per column and per row."""

    w0: float
    s0: float
    t0: float
    wx: float
    sx: float
    tx: float
    wy: float
    sy: float
    ty: float


class _Wear(NamedTuple):
    """How a texture is laid on a quad: (u, v) at its corner and their growth along its edges."""

    u: float
    v: float
    du: float
    dv: float
    seed: int
    painted: bool
    """Whether all of it takes the paint."""


class _Colours(NamedTuple):
    """Paint and ink of a quad in its light, [0, 255], and the light itself."""

    paint: Rgb
    ink: Rgb
    light: Rgb


class _Run(NamedTuple):
    """Pixels [first, end) of a row."""

    row: int
    first: int
    end: int


@inlined
def _plane(forms: Floats, k: int, row: int) -> _Plane:
    y = row + 0.5
    return _Plane(
        forms[k, 0] + forms[k, 2] * y, forms[k, 3] + forms[k, 5] * y, forms[k, 6] + forms[k, 8] * y,
        forms[k, 1], forms[k, 4], forms[k, 7], forms[k, 2], forms[k, 5], forms[k, 8],
    )  # fmt: skip


@inlined
def _colours(paint: Singles, ink: Singles, light: Singles, q: int) -> _Colours:
    r, g, b = 255.0 * light[q, 0], 255.0 * light[q, 1], 255.0 * light[q, 2]
    return _Colours(
        (paint[q, 0] * r, paint[q, 1] * g, paint[q, 2] * b), (ink[q, 0] * r, ink[q, 1] * g, ink[q, 2] * b),
        (float(light[q, 0]), float(light[q, 1]), float(light[q, 2])),
    )  # fmt: skip


@inlined
def _growth(p: _Plane, k_ray: float, s: float, t: float, du: float, dv: float) -> Growth:
    """Derivatives where the plane is seen at (s, t), for du and dv repeats along its edges."""
    du, dv = du * k_ray, dv * k_ray
    return Growth(
        (p.sx - s * p.wx) * du, (p.tx - t * p.wx) * dv, (p.sy - s * p.wy) * du, (p.ty - t * p.wy) * dv
    )


@inlined
def haze_over(metres: float) -> float:
    """Share of the haze's colour in what is seen from so far."""
    return metres / (metres + HAZE_M)


@inlined
def put(picture: Image, row: int, column: int, red: float, green: float, blue: float, haze: float) -> None:
    """Write a colour with a share of haze."""
    picture[row, column, 0] = np.uint8(min(255.0, red + haze * (HAZE_RGB[0] - red)))
    picture[row, column, 1] = np.uint8(min(255.0, green + haze * (HAZE_RGB[1] - green)))
    picture[row, column, 2] = np.uint8(min(255.0, blue + haze * (HAZE_RGB[2] - blue)))


@kernel
def shade_quads(drawing: Drawing, scene: Scene, textures: Textures, lens: Lens, picture: Image) -> None:
    """Colour every pixel that shows a quad."""
    # Taken out of the tuples once: to do so for each run would cost more than the work itself.
    shown, order, forms = drawing.shown, drawing.order, drawing.forms
    texture, uv, seed, mode = scene.texture, scene.uv, scene.seed, scene.mode
    paint, ink, light = scene.paint, scene.ink, scene.light
    table, texels, coverage, focal = textures.table, textures.texels, textures.coverage, lens.focal
    height, width = shown.shape
    for row in range(height):
        column = 0
        while column < width:
            k = shown[row, column]
            first = column
            column += 1
            while column < width and shown[row, column] == k:
                column += 1
            if k < 0:
                continue
            q = order[k]
            run, plane, colours = (
                _Run(row, first, column),
                _plane(forms, k, row),
                _colours(paint, ink, light, q),
            )
            if texture[q] < 0:
                _plain_run(run, plane, colours, focal, picture)
                continue
            tile = tile_at(table, texture[q])
            if table[texture[q], 0] == TILE:
                wear = _Wear(uv[q, 0], uv[q, 1], uv[q, 2], uv[q, 3], seed[q], mode[q] == CUTOUT)
                _tile_run(run, plane, colours, tile, wear, texels, focal, picture)
            else:
                _letter_run(run, plane, colours, tile, coverage, focal, picture)


@kernel
def _plain_run(run: _Run, p: _Plane, colours: _Colours, focal: float, picture: Image) -> None:
    red, green, blue = colours.paint
    for column in range(run.first, run.end):
        haze = haze_over(focal / (p.w0 + p.wx * (column + 0.5)))
        put(picture, run.row, column, red, green, blue, haze)


@kernel
def _tile_run(
    run: _Run,
    p: _Plane,
    colours: _Colours,
    tile: Tile,
    wear: _Wear,
    texels: Words,
    focal: float,
    picture: Image,
) -> None:
    light_r, light_g, light_b = colours.light
    # A texel's colour times light, or where it takes the paint, times paint and light.
    paint_r = colours.paint[0] / 255.0 - light_r
    paint_g = colours.paint[1] / 255.0 - light_g
    paint_b = colours.paint[2] / 255.0 - light_b
    for block in range(run.first, run.end, BLOCK):
        stop = min(block + BLOCK, run.end)
        x = 0.5 * (block + stop)
        k_ray = 1.0 / (p.w0 + p.wx * x)
        s, t = (p.s0 + p.sx * x) * k_ray, (p.t0 + p.tx * x) * k_ray
        cover = footprint(tile, _growth(p, k_ray, s, t, wear.du, wear.dv), TILE_TAPS)
        share, haze = 1.0 / cover.taps, haze_over(focal * k_ray)
        for column in range(block, stop):
            x = column + 0.5
            k_ray = 1.0 / (p.w0 + p.wx * x)
            u = wear.u + (p.s0 + p.sx * x) * k_ray * wear.du
            v = wear.v + (p.t0 + p.tx * x) * k_ray * wear.dv
            ahead = variant_of(u, v, wear.seed, tile.variants) * tile.stride if tile.variants > 1 else 0
            total = gather(texels, cover, ahead, u, v)
            a = 1.0 if wear.painted else channel(total, 3) * share * (1.0 / 255.0)
            red = channel(total, 0) * share * (light_r + a * paint_r)
            green = channel(total, 1) * share * (light_g + a * paint_g)
            blue = channel(total, 2) * share * (light_b + a * paint_b)
            put(picture, run.row, column, red, green, blue, haze)


@kernel
def _letter_run(
    run: _Run, p: _Plane, colours: _Colours, tile: Tile, coverage: Coverage, focal: float, picture: Image
) -> None:
    paint, ink = colours.paint, colours.ink
    for column in range(run.first, run.end):
        x = column + 0.5
        k_ray = 1.0 / (p.w0 + p.wx * x)
        s, t = (p.s0 + p.sx * x) * k_ray, (p.t0 + p.tx * x) * k_ray
        cover = footprint(tile, _growth(p, k_ray, s, t, 1.0, 1.0), LETTER_TAPS)
        total, share = 0.0, 1.0 / cover.taps
        for tap in range(cover.taps):
            along = (tap + 0.5) * share - 0.5
            u, v = s * cover.wide + along * cover.du, t * cover.high + along * cover.dv
            total += letters(coverage, cover.offset, cover.wide, cover.high, u, v)
        a = total * share * (1.0 / 255.0)
        red = paint[0] + a * (ink[0] - paint[0])
        green = paint[1] + a * (ink[1] - paint[1])
        blue = paint[2] + a * (ink[2] - paint[2])
        put(picture, run.row, column, red, green, blue, haze_over(focal * k_ray))
