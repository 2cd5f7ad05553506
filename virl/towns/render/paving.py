"""Compiled kernels: how tiles of ground lie on streets, squares and green, and what stains and frays them."""

from math import floor, sin
from typing import NamedTuple

import numpy as np

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.ground import along_street
from virl.towns.render.kernel import inline_kernel, part
from virl.towns.render.paint import share_between, share_in_stripes
from virl.towns.render.rasters import (
    DIRECTIONS,
    EDGE_M,
    GRAVEL,
    LAND_SHIFT,
    LAWN,
    OPEN,
    ROAD,
    STONE,
    Cell,
    Heights,
    Indices,
    RasterGrid,
    Shares,
    cell_at,
    land_around,
    material_beyond,
    raster_at,
)
from virl.towns.render.sampling import SIDE_BITS, Footprint, Tile, bilinear, channel, fixed_point, variant_of
from virl.towns.render.segments import LAID_M
from virl.towns.render.surfaces import ROAD_MARKS, SIDE
from virl.towns.render.textures import LEVELS, STRIDE, TILE_INDEX, Words

GREEN_TILE, GRAVEL_TILE, WATER_TILE = TILE_INDEX["green"], TILE_INDEX["gravel"], TILE_INDEX["water"]
STAINS_TILE = TILE_INDEX["stains"]
_TURNS = np.arange(DIRECTIONS) * np.pi / DIRECTIONS
DOT_M, DOT_PERIOD_M, TACTILE = 0.04, 0.08, (1.24, 1.18, 1.00)
"""Width of a dot and metres from one to the next, and the factors on RGB of slabs with dots; chosen."""
TILE_M = 4.0
"""Length in metres of a side of a ground texture."""
ASPHALT, SLABS = TILE_INDEX["asphalt"], TILE_INDEX["slabs"]
STAINS_M = 64.0
"""Length in metres of a side of the tile of stains."""
MARKS = len(ROAD_MARKS)
"""Number of variants of asphalt with marks, one of 16 stretches of road each."""
CLEAR_M = 9.0
"""Length in metres of both ends of a street without marks, where the tiles of several streets meet."""
SEAM_M, SEAM_SEEN_M = 0.12, 0.4
"""Width of the edge stones where slabs cease to follow a kerb, and size of a block that may show them."""
SQUARE, SURELY_SQUARE = 0.966, 0.99
"""Sine of the angle between a street and the way off its kerb above which slabs follow the kerb, and from
which none of a block's pixels has less; chosen: 15 and 8 degrees off a right angle."""
_TUFTS_A_METRE = 22.0
"""Number of tufts in a metre where kinds of green ground grow into each other; chosen by eye."""
_ROW_DIRECTIONS = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)


class Spot(NamedTuple):
    """A point (x, y) of the ground, metres, and its move per pixel to the right (a) and down (b)."""

    x: float
    y: float
    ax: float
    ay: float
    bx: float
    by: float


class Materials(NamedTuple):
    """The tile of asphalt, and the offsets in texels from it to the tiles of other ground materials."""

    asphalt: Tile
    slabs: int
    green: int
    gravel: int
    water: int
    stains: int
    """Offset of the tile of stains among all texels."""
    is_paved: bool
    """True where the ground beyond pavements is paved; else it is lawn."""
    paths: bool
    axis: tuple[float, float]


class Stains(NamedTuple):
    """The factors on the colours of green ground, and of any other (grey), that stains make."""

    red: float
    green: float
    blue: float
    grey: float


class Laid(NamedTuple):
    """A tile on the ground: texels from asphalt's, (u, v) in metres, and the unit vectors along both."""

    ahead: int
    u: float
    v: float
    ux: float
    uy: float
    vx: float
    vy: float


@inline_kernel
def read_material(
    parks: Heights, water: Shares, gravel: Shares, cell: Cell, segments: Floats, i: int, d: float,
    materials: Materials,
) -> int:  # fmt: skip
    """Return the material beyond a pavement in a cell; `STONE` where open ground is paved.

    Args:
        parks: metres into parks.
        water: share of water.
        gravel: share of gravel.
        cell: of the rasters.
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        d: metres from the kerb.
        materials: of the town.
    """
    path = segments[i, 12] if d <= segments[i, 8] else 0.0
    found = material_beyond(
        raster_at(parks, cell)[0], raster_at(water, cell)[0], raster_at(gravel, cell)[0], path,
        materials.paths,
    )  # fmt: skip
    return STONE if found == OPEN and materials.is_paved else found


@inline_kernel
def lay_tile(  # noqa: PLR0913, PLR0917 - see `_mixed_ground`
    material: int, land: int, d: float, d_x: float, d_y: float, segments: Floats, i: int, x: float, y: float,
    materials: Materials,
) -> Laid:  # fmt: skip
    """Return how a material's tile lies at a point.

    Args:
        material: number of the material.
        land: kind of green ground, with the direction of its rows.
        d: metres from the kerb.
        d_x: growth of `d` a metre to the east.
        d_y: growth of `d` a metre to the north.
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        x: metres east.
        y: metres north.
        materials: of the town.
    """
    if material == ASPHALT or (
        material == STONE
        and d < LAID_M
        and _metres_laid(segments, i, x, y, d) > 0.0
        and squareness_at(segments, i, d_x, d_y) > SQUARE
    ):
        ux, uy = segments[i, 2], segments[i, 3]
        u, v = along_street(segments, i, x, y)
        u += segments[i, 5]
        if material != ASPHALT:
            return Laid(materials.slabs, u, d - EDGE_M, ux, uy, d_x, d_y)
        side = 1.0 if v >= 0.0 else -1.0
        ahead = _road_mark(u, side, segments[i, 6]) * STRIDE
        return Laid(ahead, u, side * v, ux, uy, -side * uy, side * ux)
    if material == STONE:
        (ux, uy), ahead = materials.axis, materials.slabs
    elif material in (LAWN, OPEN):
        ux, uy = _ROW_DIRECTIONS[land >> 3, 0], _ROW_DIRECTIONS[land >> 3, 1]
        ahead = materials.green + (land & 7) * STRIDE
    else:
        ux, uy = 1.0, 0.0
        ahead = 0 if material == ROAD else materials.gravel if material == GRAVEL else materials.water
    return Laid(ahead, x * ux + y * uy, y * ux - x * uy, ux, uy, -uy, ux)


@inline_kernel
def _metres_laid(segments: Floats, i: int, x: float, y: float, d: float) -> float:
    """Return the metres from (x, y), d off the kerb, to where slabs cease to follow it; below 0 beyond."""
    along = along_street(segments, i, x, y)[0] + segments[i, 5]
    return float(min(LAID_M - d, along - segments[i, 25], segments[i, 26] - along))


@inline_kernel
def squareness_at(segments: Floats, i: int, d_x: float, d_y: float) -> float:
    """Return the growth of the distance from the kerb straight away from a segment; less between kerbs.

    Args:
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        d_x: growth of the distance a metre to the east.
        d_y: growth a metre to the north.
    """
    return float(abs(d_y * segments[i, 2] - d_x * segments[i, 3]))


@inline_kernel
def _road_mark(along: float, side: float, length: float) -> int:
    """Return the variant of asphalt at metres along a street, on its left (1) or right (-1)."""
    cell = int(along / TILE_M)
    if cell * TILE_M < CLEAR_M or (cell + 1) * TILE_M > length - CLEAR_M:
        return 0
    return max(0, variant_of(cell, int(side), -8, int(length * 16.0), 16) + MARKS - 15)


@inline_kernel
def lay_texture(cover: Footprint, lay: Laid) -> Footprint:
    """Return a pixel's samples turned into a texture as it lies."""
    du, dv = cover.du * lay.ux + cover.dv * lay.uy, cover.du * lay.vx + cover.dv * lay.vy
    return Footprint(cover.level, cover.offset, cover.wide, cover.high, cover.taps, du, dv)


@inline_kernel
def may_be_cut(segments: Floats, i: int, spot: Spot, d: float, squareness: float, around: float) -> bool:
    """Return whether slabs may cease to follow a kerb within some metres of a spot.

    Args:
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        spot: middle of a block of pixels.
        d: metres from the kerb.
        squareness: as `squareness_at` gives it.
        around: metres.
    """
    inside = _metres_laid(segments, i, spot.x, spot.y, d)
    return bool(abs(inside) < around + SEAM_M or (inside > 0.0 and squareness < SURELY_SQUARE))


@inline_kernel
def seam_at(segments: Floats, i: int, spot: Spot, d: float, per: float) -> float:
    """Return the share of edge stones, [0, 1], in a pixel.

    Args:
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        spot: middle of the pixel.
        d: metres from the kerb.
        per: pixels a metre, away from the kerb.
    """
    inside = _metres_laid(segments, i, spot.x, spot.y, d)
    if inside < LAID_M - d:
        per = 1.0 / blurs_at(segments, i, spot)[0]
    return share_between(inside, 0.0, SEAM_M, per)


@inline_kernel
def dotted_tint(segments: Floats, i: int, spot: Spot, d: float, grey: float) -> Rgb:
    """Return the factors on the colours of slabs with dots in a pixel.

    Args:
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        spot: middle of the pixel.
        d: metres from the kerb.
        grey: factor of stains.
    """
    along, _ = along_street(segments, i, spot.x, spot.y)
    blur_along, blur_aside = blurs_at(segments, i, spot)
    dots = share_in_stripes(along, DOT_M, DOT_PERIOD_M, blur_along)
    tone = grey * (0.86 + 0.4 * dots * share_in_stripes(d, DOT_M, DOT_PERIOD_M, blur_aside))
    return tone * TACTILE[0], tone * TACTILE[1], tone * TACTILE[2]


@part
def fray_at(x: float, y: float) -> float:
    """Return the metres by which grass grows over the edge of gravel at a point, metres; they vary."""
    tufts = sin(5.3 * x + 2.0 * sin(3.1 * y)) + sin(4.7 * y + 2.0 * sin(2.9 * x))
    fine = sin(61.0 * x + 23.0 * y + 2.0 * tufts) + sin(101.0 * y - 67.0 * x) + sin(151.0 * x + 113.0 * y)
    return 0.02 * tufts + 0.025 * fine


@part
def blended_land(nearest: Indices, grid: RasterGrid, spot: Spot) -> int:
    """Return the kind of green ground at a spot, where kinds grow into each other, as `land_at` does.

    Args:
        nearest: raster of the nearest segments and kinds of green ground.
        grid: of the raster.
        spot: middle of the pixel.
    """
    cell = cell_at(grid, spot.x, spot.y)
    left, low = max(cell[0] - 1, 0), max(cell[1] - 1, 0)
    right, high = min(cell[0] + 2, grid.columns - 1), min(cell[1] + 2, grid.rows - 1)
    here = nearest[cell[1], cell[0]]
    others = (nearest[low, left] ^ here) | (nearest[low, right] ^ here)
    others |= (nearest[high, left] ^ here) | (nearest[high, right] ^ here)
    if np.int64(others) >> LAND_SHIFT == 0:
        return int(np.int64(here) >> LAND_SHIFT)
    column, row = floor(spot.x * _TUFTS_A_METRE), floor(spot.y * _TUFTS_A_METRE)
    east, north = variant_of(column, row, -8, 1, 256) / 256.0, variant_of(column, row, -8, 2, 256) / 256.0
    lump = 0.25 * sin(2.3 * spot.y + 1.9 * sin(1.7 * spot.x)) - 0.45
    return land_around(nearest, cell_at(grid, spot.x + 0.9 * east + lump, spot.y + 0.9 * north + lump))


@inline_kernel
def blurs_at(segments: Floats, i: int, spot: Spot) -> tuple[float, float]:
    """Return the (length, width) of a pixel in metres, along and aside of a segment.

    Args:
        segments: as `street_segments` gives them.
        i: number of the nearest segment.
        spot: middle of the pixel.
    """
    ux, uy = segments[i, 2], segments[i, 3]
    along = abs(spot.ax * ux + spot.ay * uy) + abs(spot.bx * ux + spot.by * uy) + 1e-6
    return along, abs(spot.ay * ux - spot.ax * uy) + abs(spot.by * ux - spot.bx * uy) + 1e-6


@inline_kernel
def tint_of(material: int, stains: Stains) -> Rgb:
    """Return the factors on the colours of a material that stains make."""
    if material in (LAWN, OPEN):
        return stains.red, stains.green, stains.blue
    return stains.grey, stains.grey, stains.grey


@inline_kernel
def stain_level(spot: Spot) -> int:
    """Return the mip level of the tile of stains for pixels as long on the ground as that at a spot."""
    level, texel = 0, STAINS_M / SIDE
    while level < LEVELS - 1 and texel < 0.5 * (abs(spot.bx) + abs(spot.by)):
        level, texel = level + 1, 2.0 * texel
    return level


@inline_kernel
def stains_at(texels: Words, offset: int, level: int, x: float, y: float) -> Stains:
    """Return the factors of stains at a point.

    Args:
        texels: of all tiles.
        offset: of the stains' tile.
        level: mip level that is read.
        x: metres east.
        y: metres north.
    """
    bits = SIDE_BITS - level
    # As many texels as all finer levels have together.
    offset += 4 * (SIDE * SIDE - (1 << (2 * bits))) // 3
    found = bilinear(texels, offset, bits, fixed_point(x / STAINS_M, bits), fixed_point(y / STAINS_M, bits))
    red, green, blue, grey = channel(found, 0), channel(found, 1), channel(found, 2), channel(found, 3)
    return Stains(red / 128.0, green / 128.0, blue / 128.0, grey / 128.0)
