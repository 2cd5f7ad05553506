"""Compiled kernels, second pass: the pixels that no quad covers, which are ground or sky."""

from math import floor, sqrt

from virl.platform.providers.offline.render.kernel import inlined, kernel

from virl.platform.providers.offline.render.light import SKY_RGB, SUN, SUN_RGB
from virl.platform.providers.offline.render.shade import BLOCK, channel, footprint, gather, put

_SUN = (float(SUN[0]), float(SUN[1]), float(SUN[2]))
_SUNLIT = (float(SUN_RGB[0] * SUN[2]), float(SUN_RGB[1] * SUN[2]), float(SUN_RGB[2] * SUN[2]))
_SKYLIT = (float(SKY_RGB[0]), float(SKY_RGB[1]), float(SKY_RGB[2]))

KERB_M, GUTTER_M = 0.16, 0.30  # widths of the kerb stone and of the darker strip along it
GROUND_TAPS = 4
TILE_M = 4.0  # side of a ground texture
PATH_M = (1.2, 3.4)  # a park's path lies this far inside its edge
DASH_M, DASH_PERIOD_M, LINE_M = 3.0, 9.0, 0.13
STRIPE_M, STRIPE_PERIOD_M, ZEBRA_LENGTH_M = 0.5, 1.0, 3.2
PAINT = 222.0
KERB_RGB = (184.0, 182.0, 176.0)
SHADOW = 0.92 / 255.0  # share of the sun that a full shadow keeps off, for a byte of the raster
CLOUD_SCALE = 0.22
SKY_STEP = 4
HORIZON = -1e-3  # the ground ends where a ray falls by less than this share of its length ahead

# Places in the array of the ground's textures.
ASPHALT, SLABS, GRASS, GRAVEL, CLOUDS = 0, 1, 2, 3, 4


@inlined
def _between(x, low, high, blur):
    """How much of a pixel of width `blur` at x lies in [low, high]."""
    return max(0.0, min(1.0, (x - low) / blur + 0.5) - max(0.0, (x - high) / blur + 0.5))


@inlined
def _stripes(x, wide, period, blur):
    """How much of a pixel of width `blur` at x is in stripes [0, wide) of a period."""
    if blur > period:
        return wide / period
    return _stripe_sum(x + 0.5 * blur, wide, period, blur) - _stripe_sum(x - 0.5 * blur, wide, period, blur)


@inlined
def _stripe_sum(x, wide, period, blur):
    turns = floor(x / period)
    return (turns * wide + min(x - turns * period, wide)) / blur


@inlined
def _raster_at(raster, column, row, fx, fy):
    """Value of a raster and its differences per cell, between four cells."""
    a, b = float(raster[row, column]), float(raster[row, column + 1])
    c, d = float(raster[row + 1, column]), float(raster[row + 1, column + 1])
    low, high = a + (b - a) * fx, c + (d - c) * fx
    return low + (high - low) * fy, (b - a) * (1.0 - fy) + (d - c) * fy, high - low


@inlined
def _markings(segments, i, gx, gy, ax, ay, bx, by):
    """Share of road paint in a pixel at (gx, gy), with the ground's derivatives a along x and b along y."""
    ux, uy = segments[i, 2], segments[i, 3]
    dx, dy = gx - segments[i, 0], gy - segments[i, 1]
    along, aside = dx * ux + dy * uy + segments[i, 5], dy * ux - dx * uy
    blur_along = abs(ax * ux + ay * uy) + abs(bx * ux + by * uy) + 1e-6
    blur_aside = abs(ay * ux - ax * uy) + abs(by * ux - bx * uy) + 1e-6
    back = segments[i, 6] - along
    half = segments[i, 7]
    to_start, to_end = along - segments[i, 9], back - segments[i, 10]
    reach = ZEBRA_LENGTH_M + 1.4
    if -blur_along < to_start < reach + blur_along:
        return _junction_paint(to_start, aside, half, blur_along, blur_aside)
    if -blur_along < to_end < reach + blur_along:
        return _junction_paint(to_end, -aside, half, blur_along, blur_aside)
    if segments[i, 11] == 0.0 or abs(aside) > LINE_M + blur_aside:
        return 0.0
    clear = ZEBRA_LENGTH_M + 1.5 if segments[i, 9] < 1e8 else 9.0
    clear_end = ZEBRA_LENGTH_M + 1.5 if segments[i, 10] < 1e8 else 9.0
    if to_start < clear - (0.0 if segments[i, 9] < 1e8 else segments[i, 9]) or to_end < clear_end - (
        0.0 if segments[i, 10] < 1e8 else segments[i, 10]
    ):
        return 0.0
    dash = _stripes(along, DASH_M, DASH_PERIOD_M, blur_along)
    return dash * _between(aside, -LINE_M / 2, LINE_M / 2, blur_aside)


@inlined
def _junction_paint(along, aside, half, blur_along, blur_aside):
    """Zebra and stop line, `along` metres from where the zebra begins, `aside` to the left."""
    zebra = _between(along, 0.0, ZEBRA_LENGTH_M, blur_along)
    stop = _between(along, ZEBRA_LENGTH_M + 1.0, ZEBRA_LENGTH_M + 1.35, blur_along)
    paint = 0.0
    if zebra > 0.0:
        inside = _between(aside, -half + 0.4, half - 0.4, blur_aside)
        paint = zebra * inside * _stripes(aside + half, STRIPE_M, STRIPE_PERIOD_M, blur_aside)
    if stop > 0.0:
        paint += stop * _between(aside, 0.1, half - 0.4, blur_aside)
    return min(paint, 1.0)


@kernel
def shade_backdrop(
    shown, eye, frame, focal, cx, cy, origin, cell, kerb, green, nearest, shadow, segments,
    table, texels, backdrop, picture,
):  # fmt: skip
    """Colour every pixel that shows ground or sky. The camera must not be rolled.

    Args:
        shown: negative where no quad is, (height, width).
        eye, frame: camera position, and its rows right, up, forward.
        focal, cx, cy: pixels.
        origin, cell, kerb, green, nearest, shadow, segments: of the ground.
        table, texels: the textures.
        backdrop: texture indices in the order of this module's constants.
        picture: receives RGB, (height, width, 3).
    """
    height, width = shown.shape
    for row in range(height):
        up = cy - row - 0.5
        # Without roll a row looks down by the same amount everywhere.
        x0 = up * frame[1, 0] + focal * frame[2, 0]
        y0 = up * frame[1, 1] + focal * frame[2, 1]
        z = up * frame[1, 2] + focal * frame[2, 2]
        column = 0
        while column < width:
            if shown[row, column] >= 0:
                column += 1
                continue
            first = column
            while column < width and shown[row, column] < 0:
                column += 1
            if z < HORIZON * focal:
                _ground_run(
                    row, first, column, x0, y0, z, eye, frame, focal, cx, origin, cell, kerb, green, nearest,
                    shadow, segments, table, texels, backdrop, picture,
                )  # fmt: skip
            else:
                _sky_run(row, first, column, x0, y0, z, frame, focal, cx, table, texels, backdrop[CLOUDS], picture)


@kernel
def _ground_run(
    row, first, end, x0, y0, z, eye, frame, focal, cx, origin, cell, kerb, green, nearest, shadow, segments,
    table, texels, backdrop, picture,
):  # fmt: skip
    rows, columns = kerb.shape
    k = -eye[2] / z
    metres = k * focal
    ax, ay = k * frame[0, 0], k * frame[0, 1]
    offset, levels = table[backdrop[ASPHALT], 1], table[backdrop[ASPHALT], 4]
    side = table[backdrop[ASPHALT], 2]
    for block in range(first, end, BLOCK):
        stop = min(block + BLOCK, end)
        right = 0.5 * (block + stop) - cx
        bx = k * ((x0 + right * frame[0, 0]) * frame[1, 2] / z - frame[1, 0])
        by = k * ((y0 + right * frame[0, 1]) * frame[1, 2] / z - frame[1, 1])
        at, wide, _, taps, du, dv = footprint(
            offset, side, side, levels, ax / TILE_M, ay / TILE_M, bx / TILE_M, by / TILE_M, GROUND_TAPS
        )
        level, share = at - offset, 1.0 / taps
        for column in range(block, stop):
            right = column + 0.5 - cx
            gx, gy = eye[0] + k * (x0 + right * frame[0, 0]), eye[1] + k * (y0 + right * frame[0, 1])
            px, py = (gx - origin[0]) / cell, (gy - origin[1]) / cell
            px, py = min(max(px, 0.0), columns - 1.001), min(max(py, 0.0), rows - 1.001)
            c, r = int(px), int(py)
            fx, fy = px - c, py - r
            d, d_x, d_y = _raster_at(kerb, c, r, fx, fy)
            d, d_x, d_y = d / 256.0, d_x / (256.0 * cell), d_y / (256.0 * cell)
            i = nearest[int(py + 0.5), int(px + 0.5)]
            blur = abs(d_x * ax + d_y * ay) + abs(d_x * bx + d_y * by) + 1e-6
            red = gre = blue = 0.0
            road = min(1.0, max(0.0, 0.5 - d / blur))
            if road > 0.0:
                total = gather(texels, at, wide, wide, taps, du, dv, gx / TILE_M, gy / TILE_M)
                paint = 0.88 * _markings(segments, i, gx, gy, ax, ay, bx, by)
                tone = share * (1.0 - paint) * (1.0 - 0.22 * _between(d, -GUTTER_M, 0.0, blur))
                red = road * (channel(total, 0) * tone + paint * PAINT)
                gre = road * (channel(total, 1) * tone + paint * PAINT)
                blue = road * (channel(total, 2) * tone + paint * PAINT)
            if road < 1.0:
                material = backdrop[SLABS]
                if d > segments[i, 8]:
                    material = backdrop[GRAVEL]
                    lawn, _, _ = _raster_at(green, c, r, fx, fy)
                    lawn /= -256.0
                    if lawn > 0.0 and not (PATH_M[0] < lawn < PATH_M[1]):
                        material = backdrop[GRASS]
                ux, uy = segments[i, 2], segments[i, 3]
                dx, dy = (gx - segments[i, 0]) / TILE_M, (gy - segments[i, 1]) / TILE_M
                total = gather(
                    texels, table[material, 1] + level, wide, wide, taps, du * ux + dv * uy, dv * ux - du * uy,
                    dx * ux + dy * uy, dy * ux - dx * uy,
                )  # fmt: skip
                stone = _between(d, 0.0, KERB_M, blur)
                tone = share * (1.0 - stone) * (1.0 - 0.35 * _between(d, KERB_M, KERB_M + 0.04, blur))
                red += (1.0 - road) * (channel(total, 0) * tone + stone * KERB_RGB[0])
                gre += (1.0 - road) * (channel(total, 1) * tone + stone * KERB_RGB[1])
                blue += (1.0 - road) * (channel(total, 2) * tone + stone * KERB_RGB[2])
            dark, _, _ = _raster_at(shadow, c, r, fx, fy)
            sun = 1.0 - SHADOW * dark
            put(
                picture, row, column, red * (_SKYLIT[0] + sun * _SUNLIT[0]), gre * (_SKYLIT[1] + sun * _SUNLIT[1]),
                blue * (_SKYLIT[2] + sun * _SUNLIT[2]), metres,
            )  # fmt: skip


@kernel
def _sky_run(row, first, end, x0, y0, z, frame, focal, cx, table, texels, clouds, picture):
    """Colour a run of sky: exactly at every `SKY_STEP`th pixel, and evenly in between."""
    offset, side, levels = table[clouds, 1], table[clouds, 2], table[clouds, 4]
    red, gre, blue = _sky_at(first, x0, y0, z, frame, focal, cx, offset, side, levels, texels)
    for block in range(first, end, SKY_STEP):
        next_red, next_gre, next_blue = _sky_at(
            block + SKY_STEP, x0, y0, z, frame, focal, cx, offset, side, levels, texels
        )
        for column in range(block, min(block + SKY_STEP, end)):
            share = (column - block) * (1.0 / SKY_STEP)
            put(
                picture, row, column, red + share * (next_red - red), gre + share * (next_gre - gre),
                blue + share * (next_blue - blue), 0.0,
            )  # fmt: skip
        red, gre, blue = next_red, next_gre, next_blue


@kernel
def _sky_at(column, x0, y0, z, frame, focal, cx, offset, side, levels, texels):
    right = column + 0.5 - cx
    x, y = x0 + right * frame[0, 0], y0 + right * frame[0, 1]
    length = 1.0 / sqrt(x * x + y * y + z * z)
    up = max(z * length, 0.0)
    low = (1.0 - up) * (1.0 - up)
    low = low * low * (1.0 - up)
    red, gre, blue = 88.0 + 122.0 * low, 142.0 + 82.0 * low, 206.0 + 30.0 * low
    toward = max(x * _SUN[0] + y * _SUN[1] + z * _SUN[2], 0.0) * length
    if up > 0.01:
        depth = CLOUD_SCALE / (up + 0.07)
        grow = depth / focal
        at, wide, high, taps, du, dv = footprint(
            offset, side, side, levels, grow, 0.0, 0.0, grow / (up + 0.07), 1
        )
        total = gather(texels, at, wide, high, taps, du, dv, x * length * depth, y * length * depth)
        cover = channel(total, 0) / 255.0 * min(1.0, up * 7.0)
        tone = 250.0 - 42.0 * cover * cover
        red += cover * (tone - red)
        gre += cover * (tone + 1.0 - gre)
        blue += cover * (tone + 5.0 - blue)
    toward8 = toward * toward
    toward8 *= toward8
    toward8 *= toward8
    toward64 = toward8 * toward8 * toward8 * toward8
    toward64 *= toward64
    glow = min(1.0, toward8 * 0.25 + toward64 * 0.5 + (1.0 if toward > 0.9994 else 0.0))
    return red + glow * (255.0 - red), gre + glow * (250.0 - gre), blue + glow * (228.0 - blue)
