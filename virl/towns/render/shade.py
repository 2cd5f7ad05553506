"""Compiled kernels, second pass: what colour has each pixel that shows a quad?

Every visible pixel is textured once. The derivatives of texture coordinates come from the linear forms
exactly.
"""

from typing import NamedTuple

import numpy as np

from virl.geo.globe import Floats
from virl.platform.city.streetview import Image
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.glass import FAINT, GLASS, GLAZED, NARROW, NO_PANE, Pane, glaze, mirrored, pane_of
from virl.towns.render.kernel import inline_kernel, kernel, part
from virl.towns.render.lens import Lens
from virl.towns.render.light import HAZE_M, HAZE_RGB
from virl.towns.render.mesh import CUTOUT, DETAIL, Singles
from virl.towns.render.raster import GeometryBuffer
from virl.towns.render.sampling import (  # fmt: skip
    Growth,
    Tile,
    channel,
    fixed_point,
    footprint,
    gather,
    letters,
    taps_of,
    tile_at,
    variant_of,
)
from virl.towns.render.scene import Scene
from virl.towns.render.textures import TILE, Coverage, Textures, Words

TILE_TAPS, LETTER_TAPS = 4, 8  # chosen: letters that need more are too narrow to read
BLOCK = 16
"""Number of pixels of a row that share one footprint and one haze. Chosen: both change slowly along a row."""

STEEP = 1.12
"""Largest ratio of depths within a block of pixels; a steeper block has four pixels.
Chosen: texture coordinates in between are taken evenly, which is then off by less than half a texel."""

FAR_BITS, FAR_VARIANTS = 4, 4
"""Logarithm of texels a side up to which a tile is far off, and largest number of its variants then."""

UNIT_BITS = 16
UNIT, HALF = float(1 << UNIT_BITS), 1 << (UNIT_BITS - 1)


class _Plane(NamedTuple):
    """A quad's W (1 / depth), S and T (place * W) on a row: at column 0 (0), per column (x) and row (y)."""

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
    """The placing of a texture on a quad: (u, v) at corner 0, and their growth across the quad."""

    u: float
    v: float
    du: float
    dv: float
    seed: int
    painted: bool
    """True where the paint colours the whole texture (a cutout); False where texels' opacity decides."""


class _Colours(NamedTuple):
    """The paint and ink of a quad in its light, RGB in [0, 255], and the light as factors on RGB."""

    paint: Rgb
    ink: Rgb
    light: Rgb


class Mix(NamedTuple):
    """The parts of a colour, in 1 / `UNIT`: texel * (light + opacity * paint / 256) + haze."""

    light: tuple[int, int, int]
    paint: tuple[int, int, int]
    haze: tuple[int, int, int]


class PixelRun(NamedTuple):
    """Pixels of one row of a picture, from column `first` up to but without `end`."""

    row: int
    first: int
    end: int


@inline_kernel
def _plane(forms: Floats, k: int, row: int) -> _Plane:
    """Return the linear forms of quad `k` along a row of the picture."""
    y = row + 0.5
    return _Plane(
        forms[k, 0] + forms[k, 2] * y, forms[k, 3] + forms[k, 5] * y, forms[k, 6] + forms[k, 8] * y,
        forms[k, 1], forms[k, 4], forms[k, 7], forms[k, 2], forms[k, 5], forms[k, 8],
    )  # fmt: skip


@inline_kernel
def _colours(paint: Singles, ink: Singles, light: Singles, q: int) -> _Colours:
    """Return the colours of quad `q` in its light."""
    r, g, b = 255.0 * light[q, 0], 255.0 * light[q, 1], 255.0 * light[q, 2]
    return _Colours(
        (paint[q, 0] * r, paint[q, 1] * g, paint[q, 2] * b), (ink[q, 0] * r, ink[q, 1] * g, ink[q, 2] * b),
        (float(light[q, 0]), float(light[q, 1]), float(light[q, 2])),
    )  # fmt: skip


@inline_kernel
def _growth(p: _Plane, k_ray: float, s: float, t: float, du: float, dv: float) -> Growth:
    """Return how (u, v) grow per pixel at (s, t) of a quad; `k_ray`: 1 / W, `du`, `dv`: growth over it."""
    du, dv = du * k_ray, dv * k_ray
    return Growth(
        (p.sx - s * p.wx) * du, (p.tx - t * p.wx) * dv, (p.sy - s * p.wy) * du, (p.ty - t * p.wy) * dv
    )


@inline_kernel
def haze_over(metres: float) -> float:
    """Return the share of haze, [0, 1], before something some metres away."""
    return metres / (metres + HAZE_M)


@inline_kernel
def write(
    picture: Image, row: int, column: int, mix: Mix, red: int, green: int, blue: int, opacity: int
) -> None:
    """Write one pixel as a mix of haze, paint and texels, given as sums of taps of red, green, blue, opacity.

    Args:
        picture: is changed.
        row: of the pixel.
        column: of the pixel.
        mix: of light, paint and haze.
        red: sum of the taps.
        green: sum of the taps.
        blue: sum of the taps.
        opacity: of the paint.
    """
    red = red * (mix.light[0] + ((opacity * mix.paint[0]) >> 8)) + mix.haze[0]
    green = green * (mix.light[1] + ((opacity * mix.paint[1]) >> 8)) + mix.haze[1]
    blue = blue * (mix.light[2] + ((opacity * mix.paint[2]) >> 8)) + mix.haze[2]
    picture[row, column, 0] = np.uint8(min(255, red >> UNIT_BITS))
    picture[row, column, 1] = np.uint8(min(255, green >> UNIT_BITS))
    picture[row, column, 2] = np.uint8(min(255, blue >> UNIT_BITS))


@inline_kernel
def put(picture: Image, row: int, column: int, red: float, green: float, blue: float, haze: float) -> None:
    """Write one pixel of a picture from a colour in [0, 255] and a share of haze in [0, 1].

    Args:
        picture: is changed.
        row: of the pixel.
        column: of the pixel.
        red: in [0, 255].
        green: in [0, 255].
        blue: in [0, 255].
        haze: share.
    """
    picture[row, column, 0] = np.uint8(min(255.0, red + haze * (HAZE_RGB[0] - red)))
    picture[row, column, 1] = np.uint8(min(255.0, green + haze * (HAZE_RGB[1] - green)))
    picture[row, column, 2] = np.uint8(min(255.0, blue + haze * (HAZE_RGB[2] - blue)))


@kernel
def shade_quads(
    drawing: GeometryBuffer, scene: Scene, textures: Textures, lens: Lens, picture: Image
) -> None:
    """Colour in `picture` every pixel that shows a quad.

    Args:
        drawing: with its quads drawn.
        scene: quads of the city.
        textures: of the city.
        lens: of the camera.
        picture: shape (height, width, 3); is changed.
    """
    # Taken out of the tuples once: to do so for each run would cost more than the work itself.
    shown, order, forms = drawing.shown, drawing.order, drawing.forms
    texture, uv, seed, mode = scene.texture, scene.uv, scene.seed, scene.mode
    paint, ink, light = scene.paint, scene.ink, scene.light
    table, texels, coverage, focal = textures.table, textures.texels, textures.coverage, lens.focal
    planes, frame, cx, cy = scene.planes, lens.frame, lens.cx, lens.cy
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
                PixelRun(row, first, column),
                _plane(forms, k, row),
                _colours(paint, ink, light, q),
            )
            if texture[q] < 0:
                _plain_run(run, plane, colours, focal, picture)
                continue
            tile = tile_at(table, texture[q])
            if table[texture[q], 0] == TILE:
                painted = mode[q] == CUTOUT or mode[q] == DETAIL
                wear = _Wear(uv[q, 0], uv[q, 1], uv[q, 2], uv[q, 3], seed[q], painted)
                pane = NO_PANE
                if texture[q] < GLAZED and column - first > NARROW:
                    normal = float(planes[q, 0]), float(planes[q, 1]), 0.0
                    pane = pane_of(frame, focal, -cx, cy - row - 0.5, normal, seed[q])
                _tile_run(run, plane, colours, tile, wear, pane, texels, focal, picture)
            else:
                _letter_run(run, plane, colours, tile, coverage, focal, picture)


@part
def _plain_run(run: PixelRun, p: _Plane, colours: _Colours, focal: float, picture: Image) -> None:
    """Colour a run of pixels of a quad without a texture."""
    red, green, blue = colours.paint
    for column in range(run.first, run.end):
        haze = haze_over(focal / (p.w0 + p.wx * (column + 0.5)))
        put(picture, run.row, column, red, green, blue, haze)


@part
def _tile_run(
    run: PixelRun,
    p: _Plane,
    colours: _Colours,
    tile: Tile,
    wear: _Wear,
    pane: Pane,
    texels: Words,
    focal: float,
    picture: Image,
) -> None:
    """Colour a run of pixels of a quad with a tile, whose glass mirrors what a pane does."""
    share, mirror, next_look = 0.0, colours.light, run.first if pane.phase >= 0.0 else run.end
    # (u, v) times the form W, at column 0 and per column.
    u0, v0 = wear.u * p.w0 + wear.du * p.s0, wear.v * p.w0 + wear.dv * p.t0
    ux, vx = wear.u * p.wx + wear.du * p.sx, wear.v * p.wx + wear.dv * p.tx
    block = run.first
    while block < run.end:
        stop = min(block + BLOCK, run.end)
        w, w_last = p.w0 + p.wx * (block + 0.5), p.w0 + p.wx * (stop - 0.5)
        if w > STEEP * w_last or w_last > STEEP * w:
            stop = min(block + 4, run.end)
            w_last = p.w0 + p.wx * (stop - 0.5)
        x = 0.5 * (block + stop)
        k_ray = 1.0 / (p.w0 + p.wx * x)
        s, t = (p.s0 + p.sx * x) * k_ray, (p.t0 + p.tx * x) * k_ray
        cover = footprint(tile, _growth(p, k_ray, s, t, wear.du, wear.dv), TILE_TAPS)
        taps = taps_of(cover)
        haze = haze_over(focal * k_ray)
        mix = _mix(colours, wear.painted, 1.0 / cover.taps, haze)
        if block >= next_look:
            (share, mirror), next_look = mirrored(pane, block + 0.5 * BLOCK), block + BLOCK
        glass = GLASS * cover.taps if share > FAINT else 0
        part_of_glass = share * (1.0 - haze) / (32.0 * GLASS * cover.taps)
        u, v = (
            fixed_point((u0 + ux * (block + 0.5)) / w, taps.bits),
            fixed_point((v0 + vx * (block + 0.5)) / w, taps.bits),
        )
        # Divided at both ends of the block instead of at each pixel.
        u_last = fixed_point((u0 + ux * (stop - 0.5)) / w_last, taps.bits)
        v_last = fixed_point((v0 + vx * (stop - 0.5)) / w_last, taps.bits)
        steps = max(stop - block - 1, 1)
        du, dv = (u_last - u) // steps, (v_last - v) // steps
        # From afar a few are as good as many, and stay in the processor's cache.
        variants = tile.variants if taps.bits > FAR_BITS else min(tile.variants, FAR_VARIANTS)
        for column in range(block, stop):
            which = 0
            if variants > 1:
                which = variant_of(u, v, taps.bits, wear.seed, variants)
            total = gather(texels, taps, which * tile.stride, u, v)
            write(
                picture, run.row, column, mix, channel(total, 0), channel(total, 1), channel(total, 2),
                channel(total, 3),
            )  # fmt: skip
            clear = glass - channel(total, 3)
            if clear > 0:
                # Each window leans a little differently.
                glaze(picture, run.row, column, part_of_glass * (clear * (22 + which)), mirror)
            u, v = u + du, v + dv
        block = stop


@inline_kernel
def _mix(colours: _Colours, painted: bool, share: float, haze: float) -> Mix:
    """Return the factors of a quad's colour; `share`: 1 / number of taps, `haze`: share of haze, [0, 1]."""
    (r, g, b), (paint_r, paint_g, paint_b) = colours.light, colours.paint
    paint_r, paint_g, paint_b = paint_r / 255.0, paint_g / 255.0, paint_b / 255.0
    if painted:
        return plain_mix((paint_r, paint_g, paint_b), share, haze)
    plain = plain_mix((r, g, b), share, haze)
    # Opacity comes in bytes and summed over the taps too.
    tint = (1.0 - haze) * share * share * (256.0 * UNIT / 255.0)
    return Mix(
        plain.light,
        (int((paint_r - r) * tint), int((paint_g - g) * tint), int((paint_b - b) * tint)),
        plain.haze,
    )


@inline_kernel
def plain_mix(light: Rgb, share: float, haze: float) -> Mix:
    """Return the factors of an unpainted colour in light; `share`: 1 / number of taps, `haze` in [0, 1].

    Args:
        light: RGB.
        share: of one tap.
        haze: share.
    """
    # `HALF` makes `write`, which cuts the fraction off, round to the nearest.
    clear, fog = (1.0 - haze) * share * UNIT, haze * UNIT
    return Mix(
        (int(light[0] * clear), int(light[1] * clear), int(light[2] * clear)), (0, 0, 0),
        (int(HAZE_RGB[0] * fog) + HALF, int(HAZE_RGB[1] * fog) + HALF, int(HAZE_RGB[2] * fog) + HALF),
    )  # fmt: skip


@part
def _letter_run(
    run: PixelRun, p: _Plane, colours: _Colours, tile: Tile, coverage: Coverage, focal: float, picture: Image
) -> None:
    """Draw a run of pixels of a lettered sign into `picture`; `focal` in pixels."""
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
