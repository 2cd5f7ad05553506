"""Materials drawn by procedure: walls, pavings, grass, leaves. All repeat without a seam.

A surface is a float32 array (height, width, 4) of RGBA in [0, 1], row 0 at the bottom. Opacity is how much
of the paint of a building (or of whatever wears the texture) a texel takes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from virl.extras import Late

cv2 = Late("cv2", extra="eyes")

Surface = NDArray[np.float32]
"""RGBA in [0, 1], row 0 at the bottom, shape (height, width, 4)."""
Field = NDArray[np.float32]
"""Numbers, one for each texel of a tile, shape (side, side)."""

SIDE = 256
"""Number of texels along a tile's side."""


def noise(side: int, cells: int, seed: int, octaves: int = 3) -> Field:
    """Return smooth noise in about [-1, 1] that repeats: `cells` lumps a side, finer ones half as strong.

    Args:
        side: texels.
        cells: lumps along a side.
        seed: same seed, same noise.
        octaves: number of sizes of lumps.
    """
    rng = np.random.default_rng(seed)
    total = np.zeros((side, side), np.float32)
    for octave in range(octaves):
        n = min(cells << octave, side)
        lattice = rng.uniform(-1, 1, (n, n)).astype(np.float32)
        rim = 2
        grown = np.pad(lattice, rim, mode="wrap")
        step = side // n
        big = cv2.resize(grown, None, fx=step, fy=step, interpolation=cv2.INTER_CUBIC)
        total += np.asarray(big[rim * step : rim * step + side, rim * step : rim * step + side]) / 2**octave
    return total


def grains(side: int, seed: int) -> Field:
    """Return a random number for each texel, in [-1, 1] and independent of its neighbours."""
    return np.random.default_rng(seed).uniform(-1, 1, (side, side)).astype(np.float32)


def blank(rgb: tuple[float, float, float], opacity: float = 1.0, side: int = SIDE) -> Surface:
    """Return a square texture of `side` texels of one colour, RGB and opacity in [0, 1].

    Args:
        rgb: in [0, 1].
        opacity: in [0, 1].
        side: texels.
    """
    surface = np.empty((side, side, 4), np.float32)
    surface[:] = (*rgb, opacity)
    return surface


def scale_colours(surface: Surface, brightness: Field) -> Surface:
    """Return the surface, its colours multiplied in place by a field of factors."""
    surface[..., :3] *= brightness[..., None]
    return surface


def _courses(rows: int, columns: int, joint: float, seed: int, *, side: int = SIDE) -> tuple[Field, Field]:
    """Return (share of joint, random number of the block in [-1, 1]) of each texel of a wall of blocks."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) / side
    row = np.floor(y * rows).astype(int)
    along = x * columns + (row % 2) * 0.5
    column = np.floor(along).astype(int) % columns
    edge_y = np.minimum(y * rows - row, 1 - (y * rows - row)) / rows
    edge_x = np.minimum(along % 1, 1 - along % 1) / columns
    gap = np.clip(1.5 - np.minimum(edge_x, edge_y) / joint, 0, 1)
    block = np.random.default_rng(seed).uniform(-1, 1, (rows, columns)).astype(np.float32)
    return gap.astype(np.float32), block[row, column]


def _masonry(
    rows: int, columns: int, joint: float, contrast: float, mortar: float, seed: int, bay: int
) -> Surface:
    """Return the texture of a wall, `rows` by `columns` blocks a bay; `joint`: half its width, in bays."""
    gap, block = _courses(rows, columns, joint, 100 * seed + bay)
    wall = blank((0.86, 0.86, 0.86))
    scale_colours(wall, 1 + contrast * block + 0.05 * noise(SIDE, 8, seed) + 0.05 * grains(SIDE, seed))
    wall[..., :3] += gap[..., None] * (mortar - wall[..., :3])
    wall[..., 3] -= 0.55 * gap
    return wall


def _brick(bay: int) -> Surface:
    """Return the texture of bricks of 25 x 8 cm on a bay of 3.0 x 3.2 m."""
    return _masonry(40, 12, 0.0035, 0.13, 0.72, 1, bay)


def _stone(bay: int) -> Surface:
    """Return the texture of ashlar blocks of 75 x 40 cm."""
    return _masonry(8, 4, 0.0032, 0.06, 0.66, 2, bay)


def _tiles(bay: int) -> Surface:
    """Return the texture of glazed tiles of 10 x 10 cm, stacked."""
    return _masonry(32, 30, 0.0030, 0.05, 0.93, 3, bay)


def _plaster(_: int) -> Surface:
    """Return the texture of painted plaster with slight stains."""
    wall = blank((0.92, 0.92, 0.92))
    return scale_colours(wall, 1 + 0.035 * noise(SIDE, 4, 4) + 0.025 * grains(SIDE, 4))


def _concrete(_: int) -> Surface:
    """Return the texture of cast panels, one to a bay."""
    wall = blank((0.80, 0.80, 0.79))
    scale_colours(wall, 1 + 0.07 * noise(SIDE, 4, 5) + 0.04 * grains(SIDE, 5))
    wall[:3] *= 0.7
    wall[:, :2] *= 0.75
    return wall


def _wood(_: int) -> Surface:
    """Return the texture of horizontal boards 16 cm high."""
    y = np.arange(SIDE) / SIDE * 20
    board = np.random.default_rng(6).uniform(-1, 1, 20).astype(np.float32)[np.floor(y).astype(int)]
    lap = np.clip((y % 1) / 0.12, 0.55, 1).astype(np.float32)
    wall = blank((0.88, 0.88, 0.88))
    streaks = cv2.resize(noise(SIDE, 32, 6, 2), (SIDE * 4, SIDE))[:, :SIDE]
    return scale_colours(wall, (lap * (1 + 0.06 * board))[:, None] * (1 + 0.05 * streaks))


def roof_tiles() -> Surface:
    """Return the texture of a roof's tiles in rows, 3.0 x 3.2 m."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    row, column = np.floor(y * 10).astype(int), np.floor(x * 14).astype(int)
    tone = np.random.default_rng(23).uniform(-1, 1, (10, 14)).astype(np.float32)[row, column]
    shade = (0.72 + 0.28 * np.clip((1 - y * 10 % 1) / 0.8, 0, 1)) * (0.86 + 0.14 * np.sin(x * 14 % 1 * np.pi))
    return scale_colours(blank((1.0, 1.0, 1.0)), shade * (1 + 0.08 * tone + 0.06 * noise(SIDE, 4, 24)))


_WALLS: dict[str, Callable[[int], Surface]] = {
    "brick": _brick,
    "stone": _stone,
    "plaster": _plaster,
    "concrete": _concrete,
    "wood": _wood,
    "tiles": _tiles,
}
"""Function that draws each wall material, by the number of the bay."""


WALLS = tuple(_WALLS)
"""Names of the wall materials."""


def wall_surface(material: str, bay: int) -> Surface:
    """Return bay number `bay` of a wall of a material; all fit side by side, and no two look the same."""
    inner = np.sin(np.linspace(0, np.pi, SIDE, dtype=np.float32))
    stains = noise(SIDE, 8, 200 + bay, 4) * inner[:, None] * inner
    return scale_colours(_WALLS[material](bay), 1 + 0.07 * stains)


def asphalt(variant: int = 0) -> Surface:
    """Return the texture of half a road, 4 m to a side, the middle of the road below; see `ROAD_MARKS`."""
    road = blank((0.335, 0.34, 0.35), 0.0)
    scale_colours(road, 1 + 0.025 * noise(SIDE, 8, 7) + 0.05 * noise(SIDE, 32, 8) + 0.12 * grains(SIDE, 7))
    across = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE * 4
    tracks = sum(np.exp(-(((across - track) / 0.22) ** 2)) for track in (1.05, 2.6))
    scale_colours(road, np.broadcast_to((1 + 0.06 * np.asarray(tracks))[:, None], (SIDE, SIDE)))
    return ROAD_MARKS[variant - 1](road) if variant else road


def _cracks(road: Surface) -> Surface:
    """Draw cracks, filled with tar in part, on the texture of a road."""
    rng = np.random.default_rng(31)
    for begin, width in (((30, 60), 1), ((120, 150), 2), ((70, 220), 1)):
        steps = rng.normal((9.0, 1.0), (4.0, 7.0), (14, 2))
        line = np.clip(np.cumsum(np.vstack([begin, steps]), axis=0), 20, SIDE - 20)
        cv2.polylines(
            road,
            [np.rint(line * 8).astype(np.int32)],
            isClosed=False,
            color=_TAR,
            thickness=width,
            lineType=cv2.LINE_AA,
            shift=3,
        )
    return road


def _patch(road: Surface) -> Surface:
    """Draw a patch of newer, darker asphalt with a seam of tar on the texture of a road."""
    inner = road[60:190, 40:215]
    inner[..., :3] *= 0.84
    cv2.rectangle(road, (40, 60), (214, 189), (0.25, 0.25, 0.26, 0.0), 1)
    return road


def _manhole(road: Surface) -> Surface:
    """Draw the cast-iron cover of a manhole, 0.65 m wide, on the texture of a road."""
    middle, radius = (SIDE // 2, 118), 21
    cv2.circle(road, middle, radius + 5, (0.28, 0.28, 0.29, 0.0), -1, cv2.LINE_AA)
    cv2.circle(road, middle, radius, (0.23, 0.22, 0.21, 0.0), -1, cv2.LINE_AA)
    for ring in (7, 13, 19):
        cv2.circle(road, middle, ring, (0.33, 0.32, 0.30, 0.0), 2, cv2.LINE_AA)
    return road


_TAR = (0.20, 0.20, 0.21, 0.0)
ROAD_MARKS: tuple[Callable[[Surface], Surface], ...] = (_cracks, _manhole, _patch)
"""Function that draws what marks a stretch of road, by the variant of its texture less 1."""


def slabs() -> Surface:
    """Return the texture of a pavement of slabs of 0.4 x 0.67 m in running bond, 4 m to a side."""
    gap, slab = _courses(10, 6, 0.0026, 9)
    paving = blank((0.63, 0.615, 0.59), 0.0)
    scale_colours(paving, 1 + 0.055 * slab + 0.035 * noise(SIDE, 16, 9) + 0.06 * grains(SIDE, 9))
    return scale_colours(paving, 1 - 0.30 * gap)


def green_ground(kind: int) -> Surface:
    """Return the texture of a kind of green ground, 4 m to a side, by its number in `rasters.LANDS`.

    Rows run from left to right. It has no lumps of half a metre and more, which would show that it repeats.
    """
    blades, tufts = grains(SIDE, 10), noise(SIDE, 32, 11 + kind)
    if kind == 0:
        return scale_colours(blank((0.30, 0.37, 0.20), 0.0), 1 + 0.09 * tufts + 0.20 * blades)
    across = (np.arange(SIDE, dtype=np.float32) + 0.5)[:, None] / SIDE * 4
    ground = blank(_SOILS[kind - 1], 0.0)
    wide, period, colour = _ROWS[kind - 1]
    away = 0.5 + 0.4 * noise(SIDE, 16, 20 + kind)
    if period:
        away = np.asarray(np.abs((across + 0.05 * tufts) % period / period - 0.5) * 2, np.float32)
    row = np.clip((wide - away) * 6 + 0.5 + 0.9 * tufts, 0, 1)[..., None]
    ground[..., :3] += row * (np.array(colour, np.float32) - ground[..., :3])
    return scale_colours(ground, 1 + 0.14 * tufts + 0.26 * blades)


_SOILS = (0.33, 0.36, 0.19), (0.37, 0.31, 0.22), (0.35, 0.36, 0.21), (0.235, 0.22, 0.165)
_ROWS: tuple[tuple[float, float, tuple[float, float, float]], ...] = (
    (0.3, 0.0, (0.42, 0.42, 0.24)), (0.5, 0.5, (0.33, 0.38, 0.18)), (0.3, 2.0, (0.19, 0.25, 0.12)),
    (0.4, 0.0, (0.225, 0.26, 0.155)),
)  # fmt: skip
"""(share in rows, metres between them or 0 for patches, colour) of meadow, field, vineyard and wood."""


def stains() -> Surface:
    """Return a texture, 64 m to a side, of factors on the colours of ground: half is 1.

    Red, green and blue are for green ground, with lumps of 12 to 40 m, and opacity is for paved ground.
    """
    lush, dry = noise(SIDE, 4, 41, 6), noise(SIDE, 8, 42, 4)
    factors = np.stack(
        [
            1 + 0.13 * lush + 0.09 * dry,
            1 + 0.13 * lush,
            1 + 0.11 * lush - 0.04 * dry,
            1 + 0.05 * noise(SIDE, 8, 43, 5),
        ],
        axis=-1,
    )
    return np.asarray(0.5 * factors, np.float32)


def gravel() -> Surface:
    """Return the texture of the pale gravel of park paths and yards, 4 m to a side."""
    ground = blank((0.68, 0.62, 0.52), 0.0)
    return scale_colours(ground, 1 + 0.06 * noise(SIDE, 8, 12) + 0.14 * grains(SIDE, 12))


def water() -> Surface:
    """Return the texture of water under a bright sky, with small waves, 4 m to a side."""
    surface = blank((0.30, 0.42, 0.50), 0.0)
    return scale_colours(surface, 1 + 0.10 * noise(SIDE, 4, 15, 4) + 0.04 * noise(SIDE, 16, 16, 2))


def clouds() -> Surface:
    """Return a texture of a layer of clouds seen from below: how thick, and its slope east and north."""
    whole, smooth = 0.5 + 0.34 * noise(SIDE, 4, 13, 6), noise(SIDE, 4, 13, 4)
    east, north = (0.5 + 0.55 * (np.roll(smooth, -6, axis) - np.roll(smooth, 6, axis)) for axis in (1, 0))
    return np.stack([whole, east, north, whole], axis=2).astype(np.float32)


def bark() -> Surface:
    """Return the texture of bark with upright streaks."""
    streaks = cv2.resize(noise(SIDE, 64, 15, 2), (SIDE, SIDE * 6), interpolation=cv2.INTER_LINEAR)[:SIDE]
    return scale_colours(blank((0.42, 0.35, 0.28)), 1 + 0.3 * streaks)


def leaves(seed: int) -> Surface:
    """Return the texture of a clump of leaves: opaque where there are leaves."""
    rng = np.random.default_rng(seed)
    clump = np.zeros((SIDE, SIDE, 4), np.float32)
    clump[..., :3] = (0.22, 0.29, 0.13)
    for i in range(1250):
        radius, angle = 0.44 * rng.uniform() ** 0.6, rng.uniform(0, 2 * np.pi)
        lump = 1 + 0.07 * np.sin(3 * angle + seed) + 0.07 * np.sin(7 * angle + 2 * seed)
        x, y = 0.5 + radius * lump * np.cos(angle), 0.5 + radius * lump * np.sin(angle)
        tone = (0.62 + 0.5 * i / 1250) * rng.uniform(0.8, 1.2)
        colour = (tone * rng.uniform(0.34, 0.44), tone * rng.uniform(0.44, 0.54), tone * 0.21, 1.0)
        center = (int(x * SIDE * 8), int(y * SIDE * 8))
        axes = (int(rng.uniform(3, 6) * 8), int(rng.uniform(2, 4) * 8))
        points = np.asarray(cv2.ellipse2Poly((0, 0), axes, int(rng.uniform(0, 180)), 0, 360, 45)) + center
        cv2.fillConvexPoly(clump, points.astype(np.int32), colour, cv2.LINE_8, 3)
    return clump


def hedge() -> Surface:
    """Return the texture of a hedge's clipped leaves without a gap."""
    rng = np.random.default_rng(21)
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[:] = (0.13, 0.19, 0.09, 1.0)
    for i in range(1500):
        tone = (0.55 + 0.5 * i / 1500) * rng.uniform(0.8, 1.2)
        colour = (tone * rng.uniform(0.26, 0.36), tone * rng.uniform(0.40, 0.50), tone * 0.18, 1.0)
        axes = (int(rng.uniform(5, 8) * 8), int(rng.uniform(3, 5) * 8))
        turned = np.asarray(cv2.ellipse2Poly((0, 0), axes, int(rng.uniform(0, 180)), 0, 360, 45))
        across, up = rng.integers(0, SIDE * 8, 2)
        for right in (0, -SIDE * 8):
            for high in (0, -SIDE * 8):
                points = (turned + np.array([across + right, up + high])).astype(np.int32)
                cv2.fillConvexPoly(tile, points, colour, cv2.LINE_8, 3)
    return tile


def pales() -> Surface:
    """Return the texture of a fence: upright pales between two rails, and holes."""
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[..., :3] = 0.8
    for start in range(0, SIDE, 32):
        tile[8:250, start + 5 : start + 26] = (1.0, 1.0, 1.0, 1.0)
    for bottom in (48, 196):
        tile[bottom : bottom + 18, :, :3] *= 0.86
        tile[bottom : bottom + 18, :, 3] = 1.0
    return scale_colours(tile, 1 + 0.06 * noise(SIDE, 8, 22))


def railing() -> Surface:
    """Return the texture of an iron railing on a slab: thin bars between two rails, and holes."""
    tile, slab = blank((0.15, 0.16, 0.17)), 40
    tile[:slab, :, :3] = 1.0
    # Bars fill texels of the mip levels in part: so they show from near, and the rails from afar.
    tile[slab + 12 : -16, :, 3] = np.arange(SIDE) % 32 < 6
    return tile


def quoins() -> Surface:
    """Return the texture of a long quoin below a short one with a hole beside it; the corner is left."""
    tile = blank((0.84, 0.84, 0.84))
    half, short = SIDE // 2, 5 * SIDE // 8
    tile[half:, short:, 3] = 0.0
    for bottom, end in ((0, SIDE), (half, short)):
        tile[bottom : bottom + 9, :, :3] *= 0.62  # the joint
        tile[bottom : bottom + half, end - 10 : end, :3] *= 0.78
    return scale_colours(tile, 1 + 0.05 * noise(SIDE, 8, 25) + 0.05 * grains(SIDE, 25))
