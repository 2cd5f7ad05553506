"""Compiled kernels, second pass: the pixels that no quad covers, which are ground or sky.

A camera without roll sees all of a picture's row at the same fall, so along a row the ground is a straight
line at even steps. Runs are coloured in blocks of a few pixels: most blocks show one material only, which
the distance to the kerb tells at once.
"""

from typing import NamedTuple

from virl.geo.globe import Floats
from virl.platform.city.streetview import Image
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.ground import GroundRasters, along_street
from virl.towns.render.kernel import inline_kernel, kernel, part
from virl.towns.render.lens import Lens
from virl.towns.render.light import SKY_RGB, SUN, SUN_RGB
from virl.towns.render.paint import is_painted, markings, metres_off_zebra, share_between
from virl.towns.render.paving import (
    ASPHALT,
    GRAVEL_TILE,
    GREEN_TILE,
    SEAM_M,
    SEAM_SEEN_M,
    SLABS,
    STAINS_TILE,
    TILE_M,
    WATER_TILE,
    Laid,
    Materials,
    Spot,
    Stains,
    blended_land,
    blurs_at,
    dotted_tint,
    fray_at,
    lay_texture,
    lay_tile,
    may_be_cut,
    read_material,
    seam_at,
    squareness_at,
    stain_level,
    stains_at,
    tint_of,
)
from virl.towns.render.raster import GeometryBuffer
from virl.towns.render.rasters import (  # fmt: skip
    EDGE_M,
    LAWN,
    STONE,
    Heights,
    Indices,
    RasterGrid,
    Shares,
    cell_at,
    land_at,
    raster_at,
    segment_at,
    uniform_around,
)
from virl.towns.render.sampling import (  # fmt: skip
    Footprint,
    Growth,
    Taps,
    channel,
    fixed_point,
    footprint,
    gather,
    taps_of,
    tile_at,
)
from virl.towns.render.shade import Mix, PixelRun, haze_over, plain_mix, put, write
from virl.towns.render.shadows import NO_SUN
from virl.towns.render.sky import CLOUDS, RowRay, shade_sky
from virl.towns.render.skyline import Skyline
from virl.towns.render.textures import Textures, Words

_SUNLIT = (float(SUN_RGB[0] * SUN[2]), float(SUN_RGB[1] * SUN[2]), float(SUN_RGB[2] * SUN[2]))
_SKYLIT = (float(SKY_RGB[0]), float(SKY_RGB[1]), float(SKY_RGB[2]))

KERB_M, GUTTER_M = 0.16, 0.30  # widths: kerb stone, darker strip along it; a joint is behind it, to `EDGE_M`
KERB_RGB = (184.0, 182.0, 176.0)
"""Colour of kerb stones, [0, 255]."""
FACE_M, FACE_SEEN_M = 0.12, 0.6
"""Height in metres of a kerb's face, and most metres of road that it covers for one who looks at it."""
RAMP_M, TACTILE_M = 0.6, (EDGE_M, 0.8)
"""Metres beside a zebra in which a kerb rises to its height, and distances in metres from it between which
slabs with dots lie; chosen."""
_FACE_SKY, _FACE_SUN = 0.50, 0.75
"""Light on a kerb's face, as a share of that on the ground: without the sun, and more of a sun before it."""
PAINT, WEAR = 222.0, 0.88  # brightness of road paint, and how much of it is left
_COARSE, _FINE = (8, 1), (16, 2)
"""Pixels of ground that are coloured at once, and texels a pixel: in small pictures, and in others."""
_SMALL_PX = 150.0
"""Focal length in pixels below which a picture is small; chosen."""
_NO_SUN, _NO_SKY = 1.0 / NO_SUN, 0.5 / (255 - NO_SUN)
"""Share of the sun's and, above `NO_SUN`, of the sky's light that a step of the shadow raster keeps off."""
_EVEN = 0.4
"""Most change a pixel of the shadow raster's values for which a block has one light; chosen."""
HORIZON = -1e-3
"""Slope of a ray, rise per unit ahead, below which it meets the ground."""

EDGE_LINE_M = (-0.28, -0.16)
"""Distances in metres from a road's edge between which the line along it is painted."""
MIXED, PAINTED = -1, -2
"""Marks of a block of pixels in which several ground materials may show, and of asphalt with paint."""


class _Few(NamedTuple):
    """A few pixels of a row from column `first` up to but without `end`, with their shadow and haze.

    Of the raster of shadows, `dark` is the value at the first, and `darker` the change from one to the next.
    """

    row: int
    first: int
    end: int
    dark: float
    darker: float
    haze: float


@kernel
def shade_backdrop(
    drawing: GeometryBuffer,
    ground: GroundRasters,
    skyline: Skyline,
    textures: Textures,
    lens: Lens,
    picture: Image,
) -> None:
    """Colour in `picture` every pixel that shows ground or sky.

    Args:
        drawing: with its quads drawn.
        ground: around the camera.
        skyline: around it.
        textures: of the city.
        lens: of the camera.
        picture: shape (height, width, 3); is changed.
    """
    # Taken out of the tuples once: to do so for each run would cost more than the work itself.
    shown, frame, texels = drawing.shown, lens.frame, textures.texels
    clouds = tile_at(textures.table, CLOUDS)
    height, width = shown.shape
    for number in range(height):
        up = lens.cy - number - 0.5
        z = up * frame[1, 2] + lens.focal * frame[2, 2]
        is_ground = z < HORIZON * lens.focal
        k = -lens.eye[2] / z if is_ground else 0.0
        x, y = up * frame[1, 0] + lens.focal * frame[2, 0], up * frame[1, 1] + lens.focal * frame[2, 1]
        row = RowRay(
            x, y, z, frame[0, 0], frame[0, 1], k, haze_over(k * lens.focal),
        )  # fmt: skip
        column = 0
        while column < width:
            if shown[number, column] >= 0:
                column += 1
                continue
            first = column
            while column < width and shown[number, column] < 0:
                column += 1
            if is_ground:
                _ground_run(PixelRun(number, first, column), row, ground, textures, lens, picture)
            else:
                shade_sky(PixelRun(number, first, column), row, clouds, skyline, texels, lens, picture)


@inline_kernel
def _spot(row: RowRay, eye: Floats, frame: Floats, right: float) -> Spot:
    """Return the ground that a row shows `right` pixels to the right of its middle column."""
    k, turn = row.k, frame[1, 2] / row.z
    x, y = row.x + right * row.dx, row.y + right * row.dy
    return Spot(
        eye[0] + k * x, eye[1] + k * y, k * row.dx, k * row.dy, k * (x * turn - frame[1, 0]),
        k * (y * turn - frame[1, 1]),
    )  # fmt: skip


@part
def _ground_run(
    run: PixelRun, row: RowRay, ground: GroundRasters, textures: Textures, lens: Lens, picture: Image
) -> None:
    """Colour a run of pixels of one row that show the ground, some pixels at a time."""
    kerb, parks, nearest, shadow = ground.kerb, ground.parks, ground.nearest, ground.shadow
    stone, wet, loose, uniform = ground.stone, ground.water, ground.gravel, ground.uniform
    segments, texels, table, eye, cx = ground.segments, textures.texels, textures.table, lens.eye, lens.cx
    grid = RasterGrid(ground.origin[0], ground.origin[1], ground.per_cell, kerb.shape[1], kerb.shape[0])
    x_step, y_step = row.k * row.dx, row.k * row.dy
    x0, y0 = eye[0] + row.k * row.x + (0.5 - cx) * x_step, eye[1] + row.k * row.y + (0.5 - cx) * y_step
    asphalt = tile_at(table, ASPHALT)
    base, slope = asphalt.offset, grid.per_metre / 256.0
    materials = Materials(
        asphalt, table[SLABS, 1] - base, table[GREEN_TILE, 1] - base, table[GRAVEL_TILE, 1] - base,
        table[WATER_TILE, 1] - base, table[STAINS_TILE, 1], ground.paved, ground.paths, ground.axis,
    )  # fmt: skip
    is_near = 2.0 * row.k < FACE_M  # as in `_line_of_sight`
    level = stain_level(_spot(row, eye, lens.frame, 0.5 * (run.first + run.end) - cx))
    begin = cell_at(grid, x0 + run.first * x_step, y0 + run.first * y_step)
    next_dark = raster_at(shadow, begin)[0]
    size, samples = _FINE if lens.focal >= _SMALL_PX else _COARSE
    for block in range(run.first, run.end, size):
        stop = min(block + size, run.end)
        spot = _spot(row, eye, lens.frame, 0.5 * (block + stop) - cx)
        cover = footprint(
            asphalt,
            Growth(spot.ax / TILE_M, spot.ay / TILE_M, spot.bx / TILE_M, spot.by / TILE_M),
            samples,
        )
        cell = cell_at(grid, spot.x, spot.y)
        i = segment_at(nearest, cell)
        # As far as anything in the block can lie from its middle: half of its width, and a pixel down.
        around = 0.5 * size * row.k + abs(spot.bx) + abs(spot.by)
        near, past = raster_at(kerb, cell), raster_at(stone, cell)[0] / 256.0
        d, sight = near[0] / 256.0, _line_of_sight(eye, spot, row.k)
        material = _only_material(
            d, past, around, _kerb_face(near[1] * slope, near[2] * slope, sight), segments, i, spot.x, spot.y
        )
        by_zebra = is_near and _is_by_zebra(segments, i, spot, d, around)
        material = MIXED if by_zebra and material == STONE else material
        # One light for a block, unless its ends differ, and one set of stains.
        end = cell_at(grid, x0 + stop * x_step, y0 + stop * y_step)
        dark, next_dark = next_dark, raster_at(shadow, end)[0]
        darker = (next_dark - dark) / (stop - block)
        stains = stains_at(texels, materials.stains, level, spot.x, spot.y)
        if material == PAINTED and (segment_at(nearest, begin) != i or segment_at(nearest, end) != i):
            material = MIXED
        begin = end
        if material == MIXED and uniform_around(uniform, cell) > around * grid.per_metre:
            material = read_material(parks, wet, loose, cell, segments, i, d, materials)
        if material == MIXED or (
            material == STONE
            and around < SEAM_SEEN_M
            and may_be_cut(segments, i, spot, d, squareness_at(segments, i, near[1], near[2]) * slope, around)
        ):
            road = lay_tile(ASPHALT, 0, d, 0.0, 0.0, segments, i, spot.x, spot.y, materials)
            road_taps = taps_of(lay_texture(cover, road))
            is_plain = not is_painted(segments, i, *along_street(segments, i, spot.x, spot.y), around)
            plain = i if is_plain else -1
            for column in range(block, stop):
                light = _ground_light(dark + (column - block) * darker)
                red, green, blue = _mixed_ground(
                    Spot(x0 + column * x_step, y0 + column * y_step, spot.ax, spot.ay, spot.bx, spot.by),
                    sight, cover, grid, materials, kerb, stone, parks, wet, loose, nearest, segments,
                    texels, stains, road.ahead, road_taps, plain, past + around < 0.0, by_zebra,
                )  # fmt: skip
                put(picture, run.row, column, red * light[0], green * light[1], blue * light[2], row.haze)
            continue
        lay = lay_tile(
            ASPHALT if material == PAINTED else material, land_at(nearest, cell), d, near[1] * slope,
            near[2] * slope, segments, i, spot.x, spot.y, materials,
        )  # fmt: skip
        few = _Few(run.row, block, stop, dark, darker, row.haze)
        painted = i if material == PAINTED else -1
        _fill(few, spot, cover, lay, tint_of(material, stains), painted, segments, texels, picture)


@inline_kernel
def _fill(
    few: _Few, spot: Spot, cover: Footprint, lay: Laid, tint: Rgb, painted: int, segments: Floats,
    texels: Words, picture: Image,
) -> None:  # fmt: skip
    """Colour a few pixels, around a spot, with one material, and the paint of a segment; -1 without paint."""
    back = few.first + 0.5 - 0.5 * (few.first + few.end)
    x, y = spot.x + back * spot.ax, spot.y + back * spot.ay
    off_x, off_y = x - spot.x, y - spot.y
    u, v = lay.u + off_x * lay.ux + off_y * lay.uy, lay.v + off_x * lay.vx + off_y * lay.vy
    taps, share = taps_of(lay_texture(cover, lay)), 1.0 / cover.taps
    mix = _lit_mix(few.dark + 0.5 * few.darker * (few.end - few.first), tint, share, few.haze)
    along, aside = fixed_point(u / TILE_M, taps.bits), fixed_point(v / TILE_M, taps.bits)
    texel = (256 << taps.bits) / TILE_M
    along_step = int((spot.ax * lay.ux + spot.ay * lay.uy) * texel)
    aside_step = int((spot.ax * lay.vx + spot.ay * lay.vy) * texel)
    paper, centre = PAINT * cover.taps / tint[0], fixed_point(0.0, taps.bits)
    for column in range(few.first, few.end):
        # A street's sides mirror each other.
        across = centre + abs(aside - centre) if painted >= 0 else aside
        total = gather(texels, taps, lay.ahead, along, across)
        if abs(few.darker) > _EVEN:
            mix = _lit_mix(few.dark + (column - few.first) * few.darker, tint, share, few.haze)
        red, green, blue = channel(total, 0), channel(total, 1), channel(total, 2)
        if painted >= 0:
            paint = _paint(segments, painted, *along_street(segments, painted, x, y), spot)
            white, x, y = int(paint * paper), x + spot.ax, y + spot.ay
            red, green, blue = red - int(paint * red), green - int(paint * green), blue - int(paint * blue)
            red, green, blue = red + white, green + white, blue + white
        write(picture, few.row, column, mix, red, green, blue, 0)
        along, aside = along + along_step, aside + aside_step


@inline_kernel
def _paint(segments: Floats, i: int, along: float, aside: float, spot: Spot) -> float:
    """Return the share of paint, [0, 1], in a pixel of segment `i`, metres along and aside of it."""
    blur_along, blur_aside = blurs_at(segments, i, spot)
    return WEAR * min(markings(segments, i, along, aside, blur_along, blur_aside), 1.0)


@inline_kernel
def _lit_mix(dark: float, tint: Rgb, share: float, haze: float) -> Mix:
    """Return the factors of ground by the value of the raster of shadows; the others as in `plain_mix`."""
    light = _ground_light(dark)
    return plain_mix((light[0] * tint[0], light[1] * tint[1], light[2] * tint[2]), share, haze)


@inline_kernel
def _ground_light(dark: float) -> Rgb:
    """Return the light on the ground as factors on RGB, by the value of the raster of shadows."""
    sun, sky = max(1.0 - dark * _NO_SUN, 0.0), min(1.0 - (dark - NO_SUN) * _NO_SKY, 1.0)
    return (
        sky * _SKYLIT[0] + sun * _SUNLIT[0], sky * _SKYLIT[1] + sun * _SUNLIT[1],
        sky * _SKYLIT[2] + sun * _SUNLIT[2],
    )  # fmt: skip


@inline_kernel
def _line_of_sight(eye: Floats, spot: Spot, pixel: float) -> tuple[float, float]:
    """Return the metres east and north from a spot toward the eye for each metre up.

    They are 0 where the face of a kerb is lower than two pixels, of so many metres, and is left out.
    """
    up = 1.0 / eye[2] if 2.0 * pixel < FACE_M else 0.0
    return (eye[0] - spot.x) * up, (eye[1] - spot.y) * up


@inline_kernel
def _kerb_face(d_x: float, d_y: float, sight: tuple[float, float]) -> float:
    """Return the metres of road that the face of a kerb hides, by the growth of the distance from it.

    The line of `sight` moves so many metres toward the eye for each that it rises.
    """
    return min(FACE_M * max(0.0, -d_x * sight[0] - d_y * sight[1]), FACE_SEEN_M)


@inline_kernel
def _only_material(
    d: float, past: float, around: float, face: float, segments: Floats, i: int, x: float, y: float
) -> int:
    """Return what shows within `around` metres of (x, y): `ASPHALT`, `STONE`, `PAINTED` or `MIXED`.

    `d` and `past` are the metres off the kerb and past the pavement.

    The distances to the kerb, d, and past the pavement change by no more than a metre a metre; `face` is what
    the kerb hides of the road, metres.
    """
    if d - around > EDGE_M and past + around < 0.0:
        return STONE
    kind = segments[i, 14]
    if d + around > (-GUTTER_M - face if kind == 0.0 else EDGE_LINE_M[0] * (kind - 1.0)):
        return MIXED
    along, aside = along_street(segments, i, x, y)
    return PAINTED if is_painted(segments, i, along, aside, around) else ASPHALT


@inline_kernel
def _mixed_ground(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be taken out of it for every pixel
    spot: Spot, sight: tuple[float, float], cover: Footprint, grid: RasterGrid, materials: Materials,
    kerb: Heights, stone: Heights, parks: Heights, water: Shares, gravel: Shares, nearest: Indices,
    segments: Floats, texels: Words, stains: Stains, mark: int, road_taps: Taps,
    plain: int, is_paved: bool, by_zebra: bool,
) -> Rgb:  # fmt: skip
    """Return the unlit RGB, [0, 255], of a pixel of ground where kerb, paint and materials may meet."""
    cell = cell_at(grid, spot.x, spot.y)
    d, d_x, d_y = raster_at(kerb, cell)
    d, d_x, d_y = d / 256.0, d_x * (grid.per_metre / 256.0), d_y * (grid.per_metre / 256.0)
    i = segment_at(nearest, cell)
    per = 1.0 / (abs(d_x * spot.ax + d_y * spot.ay) + abs(d_x * spot.bx + d_y * spot.by) + 1e-6)
    share = 1.0 / cover.taps
    red = green = blue = 0.0
    road = min(1.0, max(0.0, 0.5 - d * per))
    has_kerb = 1.0 if segments[i, 14] == 0.0 else 0.0
    off = metres_off_zebra(segments, i, along_street(segments, i, spot.x, spot.y)[0]) if by_zebra else RAMP_M
    # The road lies lower than the pavement: of one who looks across it, the kerb's face hides a stripe.
    high = has_kerb * min(off / RAMP_M, 1.0) * _kerb_face(d_x, d_y, sight)
    if road > 0.0:
        along, aside = along_street(segments, i, spot.x, spot.y)
        u, v = fixed_point((along + segments[i, 5]) / TILE_M, road_taps.bits), abs(aside) / TILE_M
        total = gather(texels, road_taps, mark, u, fixed_point(v, road_taps.bits))
        paint = _paint(segments, i, along, aside, spot) if i != plain else 0.0
        if segments[i, 14] == 2.0:
            paint += WEAR * share_between(d, EDGE_LINE_M[0], EDGE_LINE_M[1], per)
        paint = min(paint, WEAR)
        gutter = has_kerb * 0.22 * share_between(d, -high - GUTTER_M, -high, per)
        face = min(share_between(d, -high, 0.0, per) / road, 1.0) if high > 0.0 else 0.0
        paint *= 1.0 - face
        tone = share * (1.0 - paint) * (1.0 - face) * (1.0 - gutter) * stains.grey
        # At the brink of a passage the distance jumps, and the way off the kerb is no unit vector.
        face *= _FACE_SKY + _FACE_SUN * min(1.0, max(0.0, -d_x * SUN[0] - d_y * SUN[1]))
        red = road * (channel(total, 0) * tone + paint * PAINT + face * KERB_RGB[0])
        green = road * (channel(total, 1) * tone + paint * PAINT + face * KERB_RGB[1])
        blue = road * (channel(total, 2) * tone + paint * PAINT + face * KERB_RGB[2])
    if road < 1.0:
        found = STONE
        if not is_paved and raster_at(stone, cell)[0] > 0.0:
            fray = fray_at(spot.x, spot.y) if segments[i, 12] == 1.0 else 0.0
            found = read_material(parks, water, gravel, cell, segments, i, d + fray, materials)
        land = blended_land(nearest, grid, spot) if found == LAWN else 0
        lay = lay_tile(found, land, d, d_x, d_y, segments, i, spot.x, spot.y, materials)
        taps = taps_of(lay_texture(cover, lay))
        u, v = fixed_point(lay.u / TILE_M, taps.bits), fixed_point(lay.v / TILE_M, taps.bits)
        total = gather(texels, taps, lay.ahead, u, v)
        tint = tint_of(found, stains)
        edge = has_kerb * share_between(d, 0.0, KERB_M, per)
        dark = has_kerb * 0.35 * share_between(d, KERB_M, EDGE_M, per)
        if found == STONE and per * SEAM_M > 1.0:
            dark += 0.22 * seam_at(segments, i, spot, d, per)
        if off == 0.0 and found == STONE and TACTILE_M[0] < d < TACTILE_M[1]:
            tint, dark = dotted_tint(segments, i, spot, d, stains.grey), 0.0
        tone = share * (1.0 - edge) * (1.0 - dark)
        red += (1.0 - road) * (channel(total, 0) * tone * tint[0] + edge * KERB_RGB[0])
        green += (1.0 - road) * (channel(total, 1) * tone * tint[1] + edge * KERB_RGB[1])
        blue += (1.0 - road) * (channel(total, 2) * tone * tint[2] + edge * KERB_RGB[2])
    return red, green, blue


@inline_kernel
def _is_by_zebra(segments: Floats, i: int, spot: Spot, d: float, around: float) -> bool:
    """Return whether a lowered kerb, or slabs with dots, may show within `around` metres of a spot."""
    if segments[i, 14] != 0.0 or not -FACE_SEEN_M - around < d < TACTILE_M[1] + around:
        return False
    off = metres_off_zebra(segments, i, along_street(segments, i, spot.x, spot.y)[0])
    return bool(off < RAMP_M + around)
