"""Compiled kernels, second pass: what colour has each pixel that shows a quad?

Every visible pixel is textured once. The derivatives of texture coordinates come from the linear forms
exactly; their footprint is covered by bilinear taps along its long axis, at the mip level of its short
one, so that facades and signs seen along the street stay sharp.
"""

from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.lens import Lens
from virl.platform.providers.offline.render.mesh import CUTOUT
from virl.platform.providers.offline.render.raster import Drawing, column_start, row_start
from virl.platform.providers.offline.render.scene import Scene
from virl.platform.providers.offline.render.textures import TILE, Coverage, Table, Textures, Words
from virl.platform.streetview import Image

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rgb = tuple[float, float, float]

TILE_TAPS, LETTER_TAPS = 4, 8  # chosen: letters that need more are too narrow to read
TAP_SHARE = 0.5  # of the taps that would leave no gap between them; chosen: no blur can be seen

BLOCK = 8
"""Pixels of a row that share one footprint and one haze. Chosen: both change slowly along a row."""

HAZE_RGB = (196.0, 208.0, 220.0)
HAZE_M = 1200.0  # chosen: metres at which half of the contrast is gone, a clear day in town

_SPREAD_1 = np.uint64(0x0000FFFF0000FFFF)
_SPREAD_2 = np.uint64(0x00FF00FF00FF00FF)
_LANE = np.uint64(0xFFFF)


class Footprint(NamedTuple):
    """How to cover a pixel: a mip level, and taps along the long axis (du, dv) in texels of it."""

    offset: int
    wide: int
    high: int
    taps: int
    du: float
    dv: float


class Growth(NamedTuple):
    """Derivatives of (u, v), in repeats of the texture, per pixel to the right (x) and down (y)."""

    ux: float
    vx: float
    uy: float
    vy: float


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


class Tile(NamedTuple):
    """A texture: where its finest level lies, its sides in texels, its levels, variants and their stride."""

    offset: int
    wide: int
    high: int
    levels: int
    variants: int
    stride: int


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
def tile_at(table: Table, texture: int) -> Tile:
    """A row of the table of textures."""
    return Tile(
        table[texture, 1], table[texture, 2], table[texture, 3], table[texture, 4], table[texture, 5],
        table[texture, 6],
    )  # fmt: skip


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
def lanes(texel: np.uint32) -> np.uint64:
    """The four bytes of a texel in the four 16-bit lanes of one word, so that one product weighs all."""
    word = np.uint64(texel)
    word = (word | (word << np.uint64(16))) & _SPREAD_1
    return (word | (word << np.uint64(8))) & _SPREAD_2


@inlined
def bilinear(texels: Words, offset: int, wide: int, high: int, u: float, v: float) -> np.uint64:
    """Lanes of a wrapped texture at (u, v) in texels of its level; sides are powers of two."""
    sixteenth_u, sixteenth_v = floor(u * 16.0 - 8.0), floor(v * 16.0 - 8.0)
    fx, fy = sixteenth_u & 15, sixteenth_v & 15
    x0, y0 = (sixteenth_u >> 4) & (wide - 1), (sixteenth_v >> 4) & (high - 1)
    x1, y1 = (x0 + 1) & (wide - 1), (y0 + 1) & (high - 1)
    row0, row1 = offset + row_start(y0, wide), offset + row_start(y1, wide)
    column0, column1 = column_start(x0), column_start(x1)
    total = lanes(texels[row0 + column0]) * np.uint64((16 - fx) * (16 - fy))
    total += lanes(texels[row0 + column1]) * np.uint64(fx * (16 - fy))
    total += lanes(texels[row1 + column0]) * np.uint64((16 - fx) * fy)
    total += lanes(texels[row1 + column1]) * np.uint64(fx * fy)
    return (total >> np.uint64(8)) & _SPREAD_2


@inlined
def letters(coverage: Coverage, offset: int, wide: int, high: int, u: float, v: float) -> float:
    """Coverage in [0, 255] of a sign's letters at (u, v) in texels of its level, edges repeated."""
    left, low = floor(u - 0.5), floor(v - 0.5)
    fx, fy = u - 0.5 - left, v - 0.5 - low
    x0, y0 = min(max(left, 0), wide - 1), min(max(low, 0), high - 1)
    x1, y1 = min(max(left + 1, 0), wide - 1), min(max(low + 1, 0), high - 1)
    row0, row1 = offset + y0 * wide, offset + y1 * wide
    first = coverage[row0 + x0] * (1.0 - fx) + coverage[row0 + x1] * fx
    second = coverage[row1 + x0] * (1.0 - fx) + coverage[row1 + x1] * fx
    return first * (1.0 - fy) + second * fy


@inlined
def footprint(tile: Tile, growth: Growth, most: int) -> Footprint:
    """Cover a pixel where texture coordinates grow so, with so many taps at most."""
    offset, wide, high = tile.offset, tile.wide, tile.high
    ux, uy, vx, vy = growth.ux * wide, growth.uy * wide, growth.vx * high, growth.vy * high
    along_x, along_y = ux * ux + vx * vx, uy * uy + vy * vy
    taps, du, dv = 1, 0.0, 0.0
    if along_x > 1.0 or along_y > 1.0:
        if along_x >= along_y:
            du, dv, major = ux, vx, sqrt(along_x)
        else:
            du, dv, major = uy, vy, sqrt(along_y)
        minor = max(abs(ux * vy - uy * vx) / major, 1.0)
        taps = max(1, min(int(TAP_SHARE * major / minor + 0.5), most))
        scale = max(major / taps, minor)
        for _ in range(tile.levels - 1):
            if scale <= 1.5:
                break
            offset += wide * high
            wide, high = max(1, wide >> 1), max(1, high >> 1)
            scale, du, dv = scale * 0.5, du * 0.5, dv * 0.5
    return Footprint(offset, wide, high, taps, du, dv)


@inlined
def gather(texels: Words, f: Footprint, ahead: int, u: float, v: float) -> np.uint64:
    """Lanes of a tile at (u, v) in repeats, added up over the taps; `ahead` is an offset to another tile."""
    offset = f.offset + ahead
    u, v = u * f.wide, v * f.high
    if f.taps == 1:
        return bilinear(texels, offset, f.wide, f.high, u, v)
    total, share = np.uint64(0), 1.0 / f.taps
    u, v = u + (0.5 * share - 0.5) * f.du, v + (0.5 * share - 0.5) * f.dv
    du, dv = f.du * share, f.dv * share
    for tap in range(f.taps):
        total += bilinear(texels, offset, f.wide, f.high, u + tap * du, v + tap * dv)
    return total


@inlined
def channel(total: np.uint64, number: int) -> float:
    """One lane as a number."""
    return float(np.int64((total >> np.uint64(16 * number)) & _LANE))


@inlined
def variant_of(u: float, v: float, seed: int, variants: int) -> int:
    """Which of a power of two of variants the texture's cell at (u, v) shows, on a quad with this seed."""
    cell = np.uint32(floor(u) * 73856093 ^ floor(v) * 19349663 ^ np.int64(seed) * 83492791)
    cell = (cell ^ (cell >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    return int(np.int64(cell >> np.uint32(12)) & (variants - 1))


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
