"""Compiled kernels, second pass: what colour does each pixel have?

Every visible pixel is textured once. The derivatives of texture coordinates come from the linear forms
exactly; their footprint is covered by bilinear taps along its long axis, at the mip level
of its short one, so that facades and signs seen along the street stay sharp.

Texels are RGBA in one uint32. For a tile, opacity says how much of the quad's paint a texel takes: walls
take it, windows do not. A sign's texture is the coverage of its letters, which blends from paint to ink.
"""

from math import floor, sqrt

import numpy as np
from virl.platform.providers.offline.render.kernel import inlined, kernel

from virl.platform.providers.offline.render.mesh import CUTOUT

TILE, LETTERS = 0, 1
"""The kinds of texture: columns of a texture's entry are kind, offset, width, height, levels, variants,
stride from one variant to the next."""

TILE_TAPS, LETTER_TAPS = 4, 8  # chosen: letters beyond the last are too narrow to read anyway

BLOCK = 8
"""Pixels of a row that share one footprint. Chosen: it changes slowly along a row."""

HAZE_RGB = (196.0, 208.0, 220.0)
HAZE_M = 1200.0  # chosen: metres at which half of the contrast is gone, a clear day in town

_SPREAD_1 = np.uint64(0x0000FFFF0000FFFF)
_SPREAD_2 = np.uint64(0x00FF00FF00FF00FF)
_LANE = np.uint64(0xFFFF)


@inlined
def lanes(texel):
    """The four bytes of a texel in the four 16-bit lanes of one word, so that one product weighs all."""
    word = np.uint64(texel)
    word = (word | (word << np.uint64(16))) & _SPREAD_1
    return (word | (word << np.uint64(8))) & _SPREAD_2


@inlined
def bilinear(texels, offset, wide, high, u, v):
    """Lanes of a wrapped texture at (u, v) in texels of its level; sides are powers of two."""
    sixteenth_u, sixteenth_v = floor(u * 16.0 - 8.0), floor(v * 16.0 - 8.0)
    fx, fy = sixteenth_u & 15, sixteenth_v & 15
    x0, y0 = (sixteenth_u >> 4) & (wide - 1), (sixteenth_v >> 4) & (high - 1)
    x1, y1 = (x0 + 1) & (wide - 1), (y0 + 1) & (high - 1)
    row0, row1 = offset + y0 * wide, offset + y1 * wide
    total = lanes(texels[row0 + x0]) * np.uint64((16 - fx) * (16 - fy))
    total += lanes(texels[row0 + x1]) * np.uint64(fx * (16 - fy))
    total += lanes(texels[row1 + x0]) * np.uint64((16 - fx) * fy)
    total += lanes(texels[row1 + x1]) * np.uint64(fx * fy)
    return (total >> np.uint64(8)) & _SPREAD_2


@inlined
def letters(coverage, offset, wide, high, u, v):
    """Coverage in [0, 255] of a sign's letters at (u, v) in texels of its level, edges repeated."""
    left, low = floor(u - 0.5), floor(v - 0.5)
    fx, fy = u - 0.5 - left, v - 0.5 - low
    x0, y0 = min(max(int(left), 0), wide - 1), min(max(int(low), 0), high - 1)
    x1, y1 = min(max(int(left) + 1, 0), wide - 1), min(max(int(low) + 1, 0), high - 1)
    row0, row1 = offset + y0 * wide, offset + y1 * wide
    first = coverage[row0 + x0] * (1.0 - fx) + coverage[row0 + x1] * fx
    second = coverage[row1 + x0] * (1.0 - fx) + coverage[row1 + x1] * fx
    return first * (1.0 - fy) + second * fy


@inlined
def footprint(offset, wide, high, levels, ux, vx, uy, vy, most):
    """How to cover a pixel whose texture coordinates, in repeats, grow by these derivatives.

    Args:
        offset, wide, high, levels: of the texture.
        ux, vx, uy, vy: growth of (u, v) per pixel to the right and down.
        most: taps at most.

    Returns:
        Offset, width and height of the mip level, the taps, and the long axis in texels of that level.
    """
    ux, uy, vx, vy = ux * wide, uy * wide, vx * high, vy * high
    along_x, along_y = ux * ux + vx * vx, uy * uy + vy * vy
    taps, du, dv = 1, 0.0, 0.0
    if along_x > 1.0 or along_y > 1.0:
        if along_x >= along_y:
            du, dv, major = ux, vx, sqrt(along_x)
        else:
            du, dv, major = uy, vy, sqrt(along_y)
        minor = max(abs(ux * vy - uy * vx) / major, 1.0)
        taps = max(1, min(int(major / minor + 0.7), most))
        scale = max(major / taps, minor)
        for _ in range(levels - 1):
            if scale <= 1.5:
                break
            offset += wide * high
            wide, high = max(1, wide >> 1), max(1, high >> 1)
            scale, du, dv = scale * 0.5, du * 0.5, dv * 0.5
    return offset, wide, high, taps, du, dv


@inlined
def gather(texels, offset, wide, high, taps, du, dv, u, v):
    """Lanes of a tile at (u, v) in repeats, added up over the taps of a footprint."""
    u, v = u * wide, v * high
    if taps == 1:
        return bilinear(texels, offset, wide, high, u, v)
    total, share = np.uint64(0), 1.0 / taps
    u, v = u + (0.5 * share - 0.5) * du, v + (0.5 * share - 0.5) * dv
    du, dv = du * share, dv * share
    for tap in range(taps):
        total += bilinear(texels, offset, wide, high, u + tap * du, v + tap * dv)
    return total


@inlined
def channel(total, number):
    """One lane as a number."""
    return float(np.int64((total >> np.uint64(16 * number)) & _LANE))


@inlined
def variant_of(u, v, seed, variants):
    """The variant that the texture's cell at (u, v) shows on a quad with this seed; a power of two of them."""
    cell = np.uint32(floor(u) * 73856093 ^ floor(v) * 19349663 ^ np.int64(seed) * 83492791)
    cell = (cell ^ (cell >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    return np.int64(cell >> np.uint32(12)) & (variants - 1)


@kernel
def shade_quads(
    order, shown, forms, uv, texture, paint, ink, light, mode, seed, table, texels, coverage, focal, picture
):  # fmt: skip
    """Colour every pixel that shows a quad.

    Args:
        order, shown, forms: what the first pass wrote.
        uv, texture, paint, ink, mode, seed: of the mesh.
        light: how bright each quad is, (n, 3).
        table, texels, coverage: the textures.
        focal: pixels.
        picture: receives RGB, (height, width, 3).
    """
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
            if texture[order[k]] < 0:
                _plain_run(k, order[k], row, first, column, forms, paint, light, focal, picture)
            elif table[texture[order[k]], 0] == TILE:
                _tile_run(
                    k, order[k], row, first, column, forms, uv, texture, paint, light, mode, seed, table, texels,
                    focal, picture,
                )  # fmt: skip
            else:
                _letter_run(
                    k, order[k], row, first, column, forms, uv, texture, paint, ink, light, table, coverage,
                    focal, picture,
                )  # fmt: skip


@kernel
def _plain_run(k, q, row, first, end, forms, paint, light, focal, picture):
    red = 255.0 * paint[q, 0] * light[q, 0]
    green = 255.0 * paint[q, 1] * light[q, 1]
    blue = 255.0 * paint[q, 2] * light[q, 2]
    for column in range(first, end):
        w = forms[k, 0] + forms[k, 1] * (column + 0.5) + forms[k, 2] * (row + 0.5)
        put(picture, row, column, red, green, blue, focal / w)


@kernel
def _tile_run(
    k, q, row, first, end, forms, uv, texture, paint, light, mode, seed, table, texels, focal, picture
):  # fmt: skip
    w0, wx, wy = forms[k, 0] + forms[k, 2] * (row + 0.5), forms[k, 1], forms[k, 2]
    s0, sx, sy = forms[k, 3] + forms[k, 5] * (row + 0.5), forms[k, 4], forms[k, 5]
    t0, tx, ty = forms[k, 6] + forms[k, 8] * (row + 0.5), forms[k, 7], forms[k, 8]
    u0, v0, du, dv = float(uv[q, 0]), float(uv[q, 1]), float(uv[q, 2]), float(uv[q, 3])
    entry = texture[q]
    offset, full_wide, full_high, levels = table[entry, 1], table[entry, 2], table[entry, 3], table[entry, 4]
    variants, stride = table[entry, 5], table[entry, 6]
    paint_r, paint_g, paint_b = paint[q, 0] - 1.0, paint[q, 1] - 1.0, paint[q, 2] - 1.0
    light_r, light_g, light_b = float(light[q, 0]), float(light[q, 1]), float(light[q, 2])
    painted = mode[q] == CUTOUT
    for block in range(first, end, BLOCK):
        stop = min(block + BLOCK, end)
        x = 0.5 * (block + stop)
        k_ray = 1.0 / (w0 + wx * x)
        s, t = (s0 + sx * x) * k_ray, (t0 + tx * x) * k_ray
        grow_u, grow_v = du * k_ray, dv * k_ray
        at, wide, high, taps, step_u, step_v = footprint(
            offset, full_wide, full_high, levels, (sx - s * wx) * grow_u, (tx - t * wx) * grow_v,
            (sy - s * wy) * grow_u, (ty - t * wy) * grow_v, TILE_TAPS,
        )  # fmt: skip
        share = 1.0 / taps
        for column in range(block, stop):
            x = column + 0.5
            k_ray = 1.0 / (w0 + wx * x)
            u, v = u0 + (s0 + sx * x) * k_ray * du, v0 + (t0 + tx * x) * k_ray * dv
            here = at
            if variants > 1:
                here += variant_of(u, v, seed[q], variants) * stride
            total = gather(texels, here, wide, high, taps, step_u, step_v, u, v)
            a = 1.0 if painted else channel(total, 3) * share * (1.0 / 255.0)
            put(
                picture, row, column, channel(total, 0) * share * (1.0 + a * paint_r) * light_r,
                channel(total, 1) * share * (1.0 + a * paint_g) * light_g,
                channel(total, 2) * share * (1.0 + a * paint_b) * light_b, focal * k_ray,
            )  # fmt: skip


@kernel
def _letter_run(
    k, q, row, first, end, forms, uv, texture, paint, ink, light, table, coverage, focal, picture
):  # fmt: skip
    w0, wx, wy = forms[k, 0] + forms[k, 2] * (row + 0.5), forms[k, 1], forms[k, 2]
    s0, sx, sy = forms[k, 3] + forms[k, 5] * (row + 0.5), forms[k, 4], forms[k, 5]
    t0, tx, ty = forms[k, 6] + forms[k, 8] * (row + 0.5), forms[k, 7], forms[k, 8]
    entry = texture[q]
    offset, wide, high, levels = table[entry, 1], table[entry, 2], table[entry, 3], table[entry, 4]
    for column in range(first, end):
        x = column + 0.5
        k_ray = 1.0 / (w0 + wx * x)
        s, t = (s0 + sx * x) * k_ray, (t0 + tx * x) * k_ray
        at, level_wide, level_high, taps, du, dv = footprint(
            offset, wide, high, levels, (sx - s * wx) * k_ray, (tx - t * wx) * k_ray, (sy - s * wy) * k_ray,
            (ty - t * wy) * k_ray, LETTER_TAPS,
        )  # fmt: skip
        total, share = 0.0, 1.0 / taps
        for tap in range(taps):
            along = (tap + 0.5) * share - 0.5
            total += letters(
                coverage, at, level_wide, level_high, s * level_wide + along * du, t * level_high + along * dv
            )
        a = total * share * (1.0 / 255.0)
        put(
            picture, row, column,
            255.0 * (paint[q, 0] + a * (ink[q, 0] - paint[q, 0])) * light[q, 0],
            255.0 * (paint[q, 1] + a * (ink[q, 1] - paint[q, 1])) * light[q, 1],
            255.0 * (paint[q, 2] + a * (ink[q, 2] - paint[q, 2])) * light[q, 2],
            focal * k_ray,
        )  # fmt: skip


@inlined
def put(picture, row, column, red, green, blue, metres):
    """Write a colour behind `metres` of hazy air."""
    haze = metres / (metres + HAZE_M)
    picture[row, column, 0] = np.uint8(min(255.0, red + haze * (HAZE_RGB[0] - red)))
    picture[row, column, 1] = np.uint8(min(255.0, green + haze * (HAZE_RGB[1] - green)))
    picture[row, column, 2] = np.uint8(min(255.0, blue + haze * (HAZE_RGB[2] - blue)))
