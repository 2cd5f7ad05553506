"""Compiled kernels: the colour of a texture under a pixel.

The footprint of a pixel on a texture is covered by bilinear taps along its long axis, at the mip level of
its short one, so that facades and signs seen along the street stay sharp.
"""

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from virl.towns.render.kernel import inline_kernel
from virl.towns.render.surfaces import SIDE
from virl.towns.render.textures import Coverage, Table, Words, column_start, row_start

TAP_SHARE = 0.5
"""Number of samples (taps) taken, as a share of those that would leave no gap; chosen: no blur is seen."""

SIDE_BITS = SIDE.bit_length() - 1
AWAY = 1024
"""Number of whole repeats added to a texture coordinate, so that it is positive."""

_SPREAD_1 = np.uint64(0x0000FFFF0000FFFF)
_SPREAD_2 = np.uint64(0x00FF00FF00FF00FF)
_LANE = np.uint64(0xFFFF)


class Tile(NamedTuple):
    """One row of the table of textures: where its texels begin, their size, mip levels and variants."""

    offset: int
    wide: int
    """Width of the finest level, texels."""
    high: int
    """Height of the finest level, texels."""
    levels: int
    variants: int
    stride: int


class Footprint(NamedTuple):
    """The texels that one pixel covers: a mip level, and evenly spaced samples (taps) along the long axis."""

    level: int
    offset: int
    wide: int
    high: int
    taps: int
    du: float
    dv: float


class Taps(NamedTuple):
    """The samples of a pixel in whole numbers: tile sides of 2 ** bits texels, lengths in 1/256 of a texel.

    The first tap is off the middle by (first_u, first_v), and the others follow by steps of (du, dv).
    """

    offset: int
    bits: int
    taps: int
    first_u: int
    first_v: int
    du: int
    dv: int


class Growth(NamedTuple):
    """Derivatives of (u, v), in repeats of the texture, per pixel to the right (x) and down (y)."""

    ux: float
    vx: float
    uy: float
    vy: float


@inline_kernel
def tile_at(table: Table, texture: int) -> Tile:
    """Return the row of a texture, by its index, in the table of textures."""
    return Tile(
        table[texture, 1], table[texture, 2], table[texture, 3], table[texture, 4], table[texture, 5],
        table[texture, 6],
    )  # fmt: skip


@inline_kernel
def lanes(texel: np.uint32) -> np.uint64:
    """Return the four bytes of a texel (RGBA) spread to four lanes of 16 bits."""
    word = np.uint64(texel)
    word = (word | (word << np.uint64(16))) & _SPREAD_1
    return (word | (word << np.uint64(8))) & _SPREAD_2


@inline_kernel
def bilinear(texels: Words, offset: int, bits: int, u: int, v: int) -> np.uint64:
    """Return the interpolated RGBA lanes of a tile of 2 ** bits texels a side at (u, v) in 1/256 texel.

    Args:
        texels: of all tiles.
        offset: of the tile.
        bits: log2 of its side.
        u: in 1/256 texel.
        v: in 1/256 texel.
    """
    mask = (1 << bits) - 1
    # Sixteenths: the four weights add up to 256, so that 16 bits hold a weighed byte.
    fx, fy = (u >> 4) & 15, (v >> 4) & 15
    x0, y0 = (u >> 8) & mask, (v >> 8) & mask
    x1, y1 = (x0 + 1) & mask, (y0 + 1) & mask
    row0, row1 = offset + row_start(y0, bits), offset + row_start(y1, bits)
    column0, column1 = column_start(x0), column_start(x1)
    total = lanes(texels[row0 + column0]) * np.uint64((16 - fx) * (16 - fy))
    total += lanes(texels[row0 + column1]) * np.uint64(fx * (16 - fy))
    total += lanes(texels[row1 + column0]) * np.uint64((16 - fx) * fy)
    total += lanes(texels[row1 + column1]) * np.uint64(fx * fy)
    return (total >> np.uint64(8)) & _SPREAD_2


@inline_kernel
def letters(coverage: Coverage, offset: int, wide: int, high: int, u: float, v: float) -> float:
    """Return the coverage, [0, 255], at (u, v) in texels of a sign's level, which begins at `offset`.

    Args:
        coverage: of all signs.
        offset: of the level.
        wide: texels.
        high: texels.
        u: texels.
        v: texels.
    """
    # A texel has its colour in its middle.
    left, low = floor(u - 0.5), floor(v - 0.5)
    fx, fy = u - 0.5 - left, v - 0.5 - low
    x0, y0 = min(max(left, 0), wide - 1), min(max(low, 0), high - 1)
    x1, y1 = min(max(left + 1, 0), wide - 1), min(max(low + 1, 0), high - 1)
    row0, row1 = offset + y0 * wide, offset + y1 * wide
    first = coverage[row0 + x0] * (1.0 - fx) + coverage[row0 + x1] * fx
    second = coverage[row1 + x0] * (1.0 - fx) + coverage[row1 + x1] * fx
    return float(first * (1.0 - fy) + second * fy)


@inline_kernel
def footprint(tile: Tile, growth: Growth, most: int) -> Footprint:
    """Return the texels that a pixel with this growth of texture coordinates covers, in at most `most` taps.

    Args:
        tile: at its finest level.
        growth: of the texture coordinates, a pixel.
        most: taps.
    """
    offset, wide, high = tile.offset, tile.wide, tile.high
    ux, uy, vx, vy = growth.ux * wide, growth.uy * wide, growth.vx * high, growth.vy * high
    along_x, along_y = ux * ux + vx * vx, uy * uy + vy * vy
    level, taps, du, dv = 0, 1, 0.0, 0.0
    if along_x > 1.0 or along_y > 1.0:
        # The taps lie along the longer side of what a pixel covers of the texture.
        if along_x >= along_y:
            du, dv, major = ux, vx, sqrt(along_x)
        else:
            du, dv, major = uy, vy, sqrt(along_y)
        # The area that it covers over its longer side.
        minor = max(abs(ux * vy - uy * vx) / major, 1.0)
        taps = max(1, min(int(TAP_SHARE * major / minor + 0.5), most))
        scale = max(major / taps, minor)
        for _ in range(tile.levels - 1):
            if scale <= 1.5:
                break
            offset += wide * high
            wide, high = max(1, wide >> 1), max(1, high >> 1)
            scale, du, dv = scale * 0.5, du * 0.5, dv * 0.5
            level += 1
    return Footprint(level, offset, wide, high, taps, du, dv)


@inline_kernel
def taps_of(cover: Footprint) -> Taps:
    """Return the samples of a pixel's footprint in whole numbers."""
    du, dv, share = cover.du * 256.0, cover.dv * 256.0, 1.0 / cover.taps
    # The taps lie evenly about the middle; 128 is half a texel, as `bilinear` counts from its middle.
    first = 0.5 * share - 0.5
    # Some tiles lack the finest level, so that they are half as wide.
    bits = SIDE_BITS - cover.level - int((cover.wide << cover.level) < SIDE)
    return Taps(
        cover.offset, bits, cover.taps, int(first * du) - 128, int(first * dv) - 128,
        int(share * du), int(share * dv),
    )  # fmt: skip


@inline_kernel
def fixed_point(repeats: float, bits: int) -> int:
    """Return a texture coordinate, in repeats of a tile of 2 ** bits texels, in 1/256 texel.

    Never below zero.
    """
    return int((repeats + AWAY) * (256 << bits))


@inline_kernel
def gather(texels: Words, taps: Taps, ahead: int, u: int, v: int) -> np.uint64:
    """Return the summed RGBA lanes of a pixel's taps in a tile, `ahead` texels on, at (u, v) in 1/256 texel.

    Args:
        texels: of all tiles.
        taps: of the pixel.
        ahead: texels to another tile; 0 for this one.
        u: in 1/256 texel.
        v: in 1/256 texel.
    """
    u, v = u + taps.first_u, v + taps.first_v
    # 16 bits hold the bytes of 257 taps.
    total = np.uint64(0)
    for _ in range(taps.taps):
        total += bilinear(texels, taps.offset + ahead, taps.bits, u, v)
        u, v = u + taps.du, v + taps.dv
    return total


@inline_kernel
def channel(total: np.uint64, number: int) -> int:
    """Return one of four 16-bit lanes: 0 red, 1 green, 2 blue, 3 opacity."""
    return int(np.int64((total >> np.uint64(16 * number)) & _LANE))


@inline_kernel
def variant_of(u: int, v: int, bits: int, seed: int, variants: int) -> int:
    """Return the index, below `variants`, of the variant that a tile shows at (u, v), by a quad's seed.

    Args:
        u: in 1/256 texel.
        v: in 1/256 texel.
        bits: log2 of the tile's side.
        seed: of the quad.
        variants: number, a power of 2.
    """
    column, row = u >> (bits + 8), v >> (bits + 8)
    # The primes of the spatial hash of Teschner et al. (2003), and the bits mixed once more.
    cell = np.uint32(column * 73856093 ^ row * 19349663 ^ np.int64(seed) * 83492791)
    cell = (cell ^ (cell >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    return int(np.int64(cell >> np.uint32(12)) & (variants - 1))
