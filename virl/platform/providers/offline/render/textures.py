"""All textures in two flat arrays with their mip levels: tiles as RGBA words, signs as letter coverage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.render import displays, facades, surfaces
from virl.platform.providers.offline.render.shade import LETTERS, TILE
from virl.platform.providers.offline.render.surfaces import SIDE, Surface

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Table = NDArray[np.int64]

LEVELS = SIDE.bit_length()
STRIDE = sum((SIDE >> level) ** 2 for level in range(LEVELS))
"""Texels of one tile with its mip levels."""

MAX_LETTER_LEVELS = 6


@dataclass(frozen=True, slots=True)
class TileSet:
    """A named texture of one or more variants, and what draws each."""

    name: str
    variants: int
    draw: Callable[[int], Surface]


def tile_sets() -> tuple[TileSet, ...]:
    """All tiles, in the order of their texture indices. Materials are drawn when the first one is."""
    walls: dict[str, Surface] = {}

    def wall(name: str) -> Surface:
        if name not in walls:
            walls[name] = surfaces.WALLS[name]()
        return walls[name]

    def fixed(draw: Callable[[], Surface]) -> Callable[[int], Surface]:
        return lambda _: draw()

    return (
        *(
            TileSet(f"facade/{i}", facades.VARIANTS, lambda v, f=f: facades.facade_tile(wall(f.wall), f.window, v))
            for i, f in enumerate(facades.FACADES)
        ),
        *(
            TileSet(f"ground/{w}", facades.VARIANTS, lambda v, w=w: facades.ground_floor_tile(wall(w), v))
            for w in surfaces.WALLS
        ),
        *(TileSet(f"wall/{w}", 1, lambda _, w=w: wall(w)) for w in surfaces.WALLS),
        TileSet("display", displays.DISPLAYS, displays.display_tile),
        TileSet("shop door", 1, fixed(displays.shop_door_tile)),
        TileSet("house door", 1, fixed(displays.house_door_tile)),
        *(TileSet(f"awning/{n}", 1, lambda _, n=n: displays.awning_tile(n)) for n in (0, 4)),
        *(TileSet(f"leaves/{n}", 1, lambda _, n=n: surfaces.leaves(n)) for n in range(3)),
        *(TileSet(f"signal/{n}", 1, lambda _, n=n: displays.signal_tile(n)) for n in range(3)),
        TileSet("bark", 1, fixed(surfaces.bark)),
        TileSet("wheel", 1, fixed(displays.wheel_tile)),
        TileSet("envelope", 1, fixed(displays.envelope_tile)),
        TileSet("bin", 1, fixed(displays.bin_tile)),
        TileSet("asphalt", 1, fixed(surfaces.asphalt)),
        TileSet("slabs", 1, fixed(surfaces.slabs)),
        TileSet("grass", 1, fixed(surfaces.grass)),
        TileSet("gravel", 1, fixed(surfaces.gravel)),
        TileSet("clouds", 1, fixed(surfaces.clouds)),
    )


TILE_SETS = tile_sets()
TILE_INDEX = {tiles.name: i for i, tiles in enumerate(TILE_SETS)}
"""Texture indices of the tiles by name."""


def draw_tiles() -> Words:
    """All tiles with their mip levels, flat."""
    drawn = [_mip_chain(tiles.draw(v)) for tiles in TILE_SETS for v in range(tiles.variants)]
    return np.concatenate(drawn)


def texture_table(sign_sizes: Sequence[tuple[int, int]]) -> tuple[Table, int]:
    """Entries of all tiles and then of the signs, and how many bytes of coverage the signs take.

    Args:
        sign_sizes: width and height of each sign's texture.
    """
    rows: list[tuple[int, ...]] = []
    offset = 0
    for tiles in TILE_SETS:
        rows.append((TILE, offset, SIDE, SIDE, LEVELS, tiles.variants, STRIDE))
        offset += STRIDE * tiles.variants
    offset = 0
    for width, height in sign_sizes:
        rows.append((LETTERS, offset, width, height, MAX_LETTER_LEVELS, 1, 0))
        offset += sum(w * h for w, h in _letter_levels(width, height))
    return np.array(rows, np.int64), offset


def _letter_levels(width: int, height: int) -> list[tuple[int, int]]:
    return [(max(1, width >> level), max(1, height >> level)) for level in range(MAX_LETTER_LEVELS)]


def letter_chain(coverage: Bytes) -> Bytes:
    """A sign's coverage, row 0 at the bottom, with its mip levels, flat."""
    height, width = coverage.shape
    levels = [coverage]
    for size in _letter_levels(width, height)[1:]:
        levels.append(np.asarray(cv2.resize(levels[-1], size, interpolation=cv2.INTER_AREA), np.uint8))
    return np.concatenate([level.reshape(-1) for level in levels])


def _mip_chain(surface: Surface) -> Words:
    levels = []
    level = np.clip(surface, 0, 1)
    for _ in range(LEVELS):
        packed = np.ascontiguousarray((level * 255 + 0.5).astype(np.uint8))
        levels.append(packed.view(np.uint32).reshape(-1))
        if level.shape[0] > 1:
            level = level.reshape(level.shape[0] // 2, 2, level.shape[1] // 2, 2, 4).mean((1, 3), np.float32)
    return np.concatenate(levels)
