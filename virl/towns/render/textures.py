"""All textures in two flat arrays with their mip levels: tiles as RGBA words, signs as letter coverage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.files.stores import Arrays, ArrayStore
from virl.towns.plan.crowd import PEOPLE
from virl.towns.render import cutouts, displays, facades, figures, surfaces
from virl.towns.render.kernel import inline_kernel
from virl.towns.render.rasters import LANDS
from virl.towns.render.surfaces import SIDE, Surface
from virl.towns.storage import maker

Words = NDArray[np.uint32]
"""Texels, each RGBA in one 32-bit word."""
Coverage = NDArray[np.uint8]
"""Share of each texel of signs that letters cover, 0 to 255."""
Table = NDArray[np.int64]

LEVELS = SIDE.bit_length() - 2
"""Number of mip levels of a tile, down to 4 by 4 texels."""
STRIDE = sum((SIDE >> level) ** 2 for level in range(LEVELS))
"""Number of texels of one variant of a tile with all its mip levels."""

MAX_LETTER_LEVELS = 6
"""Largest number of mip levels of a sign."""

TILE, LETTERS = 0, 1
"""Numbers of the two kinds of texture: tiles, and letters of signs."""


@inline_kernel
def row_start(y: int, bits: int) -> int:
    """Return the index of row `y`'s first texel in a tile, 2 ** bits wide, stored in squares of 4 by 4."""
    return ((y >> 2) << (bits + 2)) + ((y & 3) << 2)


@inline_kernel
def column_start(x: int) -> int:
    """Return the number of texels from a row's first to that in column `x`, stored in squares of 4 by 4."""
    return ((x >> 2) << 4) + (x & 3)


class Textures(NamedTuple):
    """The table of all textures of a city, the texels of tiles, and the letters of signs.

    Args:
        table: a row for each texture: kind, offset, width, height, mip levels, variants, and the stride
            from one variant to the next.
        texels: tiles as RGBA in one word each, in squares of 4 by 4. Opacity says how much of the quad's
            paint a texel takes: walls take it, windows do not.
        coverage: signs, [0, 255]: how much of a texel is letter, which blends from paint to ink.
    """

    table: Table
    texels: Words
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class TileSet:
    """A named texture with its variants."""

    name: str
    variants: int
    draw: Callable[[int], Surface]
    """Function that draws the variant of a given number."""
    skipped: int = 0
    """Number of finest mip levels left out, for tiles that are seldom seen from near: 0 or 1."""

    @property
    def stride(self) -> int:
        """Number of texels of one variant with its mip levels."""
        return sum((SIDE >> level) ** 2 for level in range(self.skipped, LEVELS))


def tile_sets() -> tuple[TileSet, ...]:
    """Return all sets of tiles, in the order of their texture indices, drawn when first used."""
    walls = cache(surfaces.wall_surface)
    plain: dict[str, Callable[[], Surface]] = {
        "symbols": displays.symbols_tile,
        "shop door": facades.shop_door_tile,
        "church door": partial(facades.house_door_tile, 2),
        "roof": surfaces.roof_tiles,
        "bark": surfaces.bark,
        "car side": cutouts.car_side,
        "far trees": cutouts.far_trees,
        "envelope": facades.envelope_tile,
        "bin": facades.bin_tile,
        "slabs": surfaces.slabs,
        "gravel": surfaces.gravel,
        "water": surfaces.water,
        "stains": surfaces.stains,
        "clouds": surfaces.clouds,
        "hedge": surfaces.hedge,
        "thicket": cutouts.thicket,
        "tuft": cutouts.tuft,
        "plants": cutouts.plants,
        "pales": surfaces.pales,
        "quoins": surfaces.quoins,
        "railing": surfaces.railing,
    }
    numbered: dict[str, tuple[Callable[[int], Surface], tuple[int, ...]]] = {
        "awning": (facades.awning_tile, (0, 4)),
        "leaves": (surfaces.leaves, (0, 1)),
        "signal": (facades.signal_tile, (0, 1, 2)),
        "pane": (cutouts.pane, (0, 1)),
        "person": (figures.people, tuple(range(PEOPLE))),
        "bicycle": (figures.bicycles, (0, 1)),
    }

    def facade(number: int, variant: int) -> Surface:
        """Return the tile of a facade in a variant."""
        chosen = facades.FACADES[number]
        return facades.facade_tile(walls(chosen.wall, variant % 4), chosen.window, variant, number)

    def ground_floor(name: str, variant: int) -> Surface:
        """Return the tile of a ground floor in a variant."""
        return facades.ground_floor_tile(walls(name, variant % 4), variant, surfaces.WALLS.index(name))

    def base(name: str, variant: int) -> Surface:
        """Return the tile of a ground floor without a window in a variant."""
        return facades.ground_floor_tile(walls(name, variant), -1, 0)

    return (
        *(
            TileSet(f"facade/{i}", facades.VARIANTS, partial(facade, i), 1)
            for i in range(len(facades.FACADES))
        ),
        *(
            TileSet(f"ground/{name}", facades.VARIANTS, partial(ground_floor, name), 1)
            for name in surfaces.WALLS
        ),
        *(TileSet(f"base/{name}", facades.WALL_VARIANTS, partial(base, name), 1) for name in surfaces.WALLS),
        *(TileSet(f"wall/{name}", facades.WALL_VARIANTS, partial(walls, name)) for name in surfaces.WALLS),
        *(
            TileSet(f"display/{name}", displays.VARIANTS, partial(displays.display_tile, name))
            for name in displays.GOODS
        ),
        TileSet("house door", facades.DOOR_VARIANTS, facades.house_door_tile),
        *(
            TileSet(f"{name}/{n}", 1, _single_variant(partial(draw, n)))
            for name, (draw, numbers) in numbered.items()
            for n in numbers
        ),
        TileSet("asphalt", len(surfaces.ROAD_MARKS) + 1, surfaces.asphalt),
        TileSet("green", len(LANDS), surfaces.green_ground),
        *(TileSet(name, 1, _single_variant(draw)) for name, draw in plain.items()),
    )


def _single_variant(draw: Callable[[], Surface]) -> Callable[[int], Surface]:
    """Return a function that draws the one variant of a tile."""

    def draw_variant(_: int) -> Surface:
        """Return the one variant, whatever the number."""
        return draw()

    return draw_variant


TILE_SETS = tile_sets()
TILE_INDEX = {tiles.name: i for i, tiles in enumerate(TILE_SETS)}
"""Texture indices of the tiles by name."""
TEXELS = sum(tiles.stride * tiles.variants for tiles in TILE_SETS)
"""Number of texels of all tiles with their mip levels."""


@cache
def all_tiles() -> Words:
    """Return the texels of all tiles with their mip levels, flat and read-only, equal for every city."""
    return _KEPT.get(f"{maker()} {cv2.__version__}", _draw_tiles)


def _read_tiles(kept: Arrays) -> Words:
    """Return the texels of all tiles from the arrays of a cache file."""
    texels = kept["texels"]
    if texels.shape != (TEXELS,) or texels.dtype != np.uint32:
        raise ValueError(f"{texels.dtype} of shape {texels.shape}")
    return texels


_KEPT = ArrayStore("tiles", "set of tiles", 2, lambda texels: {"texels": texels}, _read_tiles)  # 60 MB each


def _draw_tiles() -> Words:
    """Return the texels of all tiles, drawn anew."""
    texels = np.empty(TEXELS, np.uint32)
    offset = 0
    for tiles in tile_sets():  # anew, so that the materials it keeps are freed
        for variant in range(tiles.variants):
            texels[offset : offset + tiles.stride] = _mip_chain(tiles.draw(variant))[-tiles.stride :]
            offset += tiles.stride
    return texels


def texture_table(sign_sizes: Sequence[tuple[int, int]]) -> tuple[Table, int]:
    """Return (table of all tiles and signs, bytes of coverage of the signs).

    Args:
        sign_sizes: width and height of each sign's texture.
    """
    rows: list[tuple[int, ...]] = []
    offset = 0
    for tiles in TILE_SETS:
        side, levels = SIDE >> tiles.skipped, LEVELS - tiles.skipped
        rows.append((TILE, offset, side, side, levels, tiles.variants, tiles.stride))
        offset += tiles.stride * tiles.variants
    offset = 0
    for width, height in sign_sizes:
        rows.append((LETTERS, offset, width, height, MAX_LETTER_LEVELS, 1, 0))
        offset += sum(w * h for w, h in _letter_levels(width, height))
    return np.array(rows, np.int64), offset


def _letter_levels(width: int, height: int) -> list[tuple[int, int]]:
    """Return (width, height) of each mip level of a sign."""
    return [(max(1, width >> level), max(1, height >> level)) for level in range(MAX_LETTER_LEVELS)]


def letter_chain(coverage: Coverage) -> Coverage:
    """Return a sign's coverage with its mip levels, flat."""
    height, width = coverage.shape
    levels = [coverage]
    for size in _letter_levels(width, height)[1:]:
        levels.append(np.asarray(cv2.resize(levels[-1], size, interpolation=cv2.INTER_AREA), np.uint8))
    return np.concatenate([level.reshape(-1) for level in levels])


def _mip_chain(surface: Surface) -> Words:
    """Return a surface with its mip levels as words, flat."""
    levels = []
    level = np.clip(surface, 0, 1)
    for _ in range(LEVELS):
        packed = np.ascontiguousarray((level * 255 + 0.5).astype(np.uint8))
        squares = packed.view(np.uint32).reshape(level.shape[0] // 4, 4, -1, 4).transpose(0, 2, 1, 3)
        levels.append(squares.reshape(-1))
        level = level.reshape(level.shape[0] // 2, 2, level.shape[1] // 2, 2, 4).mean((1, 3), np.float32)
    return np.concatenate(levels)
