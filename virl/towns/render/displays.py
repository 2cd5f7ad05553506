"""What fronts of places show by the place's type: tiles of display windows, and symbols on the glass."""

from functools import cache
from itertools import product

import cv2
import numpy as np
from pydantic import Field

from virl.platform.city.place_types import Words
from virl.settings.model import Settings
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.surfaces import SIDE, Surface
from virl.towns.storage import read_table

Colour = tuple[float, float, float, float]

VARIANTS = 2
"""Number of display windows of each sort of goods."""
TILE_M = 2.4
"""Width in metres of a display window's tile, which has two panes."""
FRAME_PX = 7
"""Width in texels of half a glazing bar."""
STONE_WINDOWS = {"lobby": (36, 20, 236, 0), "nave": (21, 8, 190, 56)}
"""Half the width, foot, top of the sides and height of the arch of windows in stone, texels; chosen."""
STONE_FRAME_PX = 9
"""Width in texels of the frame of a window in stone; chosen by eye."""
CELLS = 5
"""Number of symbols side by side on their tile."""
NOTICES = ("hours", "chalk")
"""Names of the plates that stand after the symbols on their tile: opening hours, and words in chalk."""
CREAM: Colour = (0.97, 0.95, 0.89, 0.0)
DARK: Colour = (0.13, 0.13, 0.14, 0.0)
PALE: Colour = (0.80, 0.80, 0.78, 0.0)
_COLOURS = {"cream": CREAM, "dark": DARK, "pale": PALE, "wood": (0.40, 0.28, 0.18, 0.0)}


class Kind(Settings):
    """A row of `data/displays.yaml`: how fronts of places of some types look."""

    shows: str
    types: Words
    shape: str
    awning: bool = False
    portal: bool = False
    paint: Rgb | None = None
    rooms: dict[str, Words] = Field({})
    """Goods that places of some of these types show instead."""


class _Displays(Settings):
    """The table of fronts and of goods in their windows."""

    kinds: dict[str, Kind]
    goods: dict[str, str]


_TABLE = read_table("displays", _Displays)
KINDS = _TABLE.kinds
"""Kinds of fronts by the name of their symbol, the last of them for all other places."""
GOODS = _TABLE.goods
"""Steps in which each sort of goods is drawn."""


@cache
def kind_of(types: tuple[str, ...]) -> str:
    """Return the name of the kind of a place's front by its types, the most specific first."""
    for one in types:
        for name, kind in KINDS.items():
            if one in kind.types or any(known[:1] == "_" and one.endswith(known) for known in kind.types):
                return name
    return list(KINDS)[-1]


@cache
def goods_of(types: tuple[str, ...]) -> str:
    """Return the name of the goods that a place shows by its types."""
    kind = KINDS[kind_of(types)]
    return next((name for name, some in kind.rooms.items() if not {*some}.isdisjoint(types)), kind.shows)


def symbol_cell(name: str) -> tuple[float, float, float, float]:
    """Return (u, v, width, height) of a symbol or notice on the tile of symbols."""
    row, column = divmod([*KINDS, *NOTICES].index(name), CELLS)
    return column / CELLS, row / CELLS, 1 / CELLS, 1 / CELLS


def symbols_tile() -> Surface:
    """Return the tile of all symbols, pale on the paint of their board."""
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[:] = (0.95, 0.95, 0.95, 1.0)
    size = SIDE / CELLS
    for name, kind in KINDS.items():
        corner = np.array(symbol_cell(name)[:2]) * SIDE
        for part in kind.shape.split(";"):
            how, *numbers = part.split()
            points = np.array([[float(x) for x in one.split(",")] for one in numbers if "," in one])
            at = ((corner + size * (0.14 + points * 0.036)) * 16).astype(np.int32)
            if how == "f":
                cv2.fillPoly(tile, [at], CREAM, cv2.LINE_AA, 4)
            elif how == "l":
                cv2.polylines(
                    tile, [at], isClosed=False, color=CREAM, thickness=3, lineType=cv2.LINE_AA, shift=4
                )
            else:
                radius = int(float(numbers[-1]) * size * 0.036 * 16)
                cv2.circle(tile, at[0], radius, CREAM, 3 if how == "o" else -1, cv2.LINE_AA, 4)
    for name, ground, ink in (("hours", CREAM, DARK), ("chalk", DARK, PALE)):
        x, y = (round(part * SIDE) for part in symbol_cell(name)[:2])
        tile[y : y + 52, x : x + 52] = ground
        for row, wide in enumerate((30, 34, 22, 34, 28)):
            tile[y + 8 + 8 * row : y + 11 + 8 * row, x + 8 : x + 8 + wide] = ink
    return tile


def display_tile(goods: str, variant: int) -> Surface:
    """Return the tile of a display window: two panes in frames of the shop's paint, which show two rooms."""
    tile = _room(goods, variant)
    tile[:, SIDE // 2 :] = _room(goods, 1 - variant)[:, SIDE // 2 :]
    _reflect(tile, variant + len(goods))
    if goods in STONE_WINDOWS:
        _wall(tile, *STONE_WINDOWS[goods])
    else:
        _frame(tile)
    return tile


def _room(goods: str, variant: int) -> Surface:
    """Return goods in a room, whose walls are those of the other variant, which is mirrored."""
    seed = [len(goods), ord(goods[0]), ord(goods[-1])]
    rng = np.random.default_rng(seed)
    y = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None, None]
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    wall = np.array([0.47, 0.43, 0.38], np.float32) * rng.uniform(0.8, 1.1, 3).astype(np.float32)
    tile[..., :3] = wall * (0.55 + 0.5 * y)
    tile[: SIDE // 6, :, :3] = np.array([0.34, 0.29, 0.25]) * rng.uniform(0.8, 1.1)
    for x in (36, 98, 160, 222):  # lamps under the ceiling
        cv2.ellipse(tile, (x, 238), (11, 3), 0, 0, 360, (1.0, 0.95, 0.82, 0.0), -1)
    _draw(tile, GOODS[goods], np.random.default_rng([*seed, variant]))
    tile[..., :3] = cv2.GaussianBlur(tile[..., :3], (0, 0), 0.8) * (0.98 + 0.25 * y)
    return tile[:, ::-1] if variant else tile


def _reflect(tile: Surface, variant: int) -> None:
    """Draw the sky and the dark houses across the street in both panes, each of which leans differently."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    pane = (x > 0.5).astype(np.float32)
    roofs = 0.62 + 0.07 * np.sin(variant * 2.3 + pane * 1.7) + 0.05 * np.sign(np.sin(9 * x + variant))
    sky = np.clip((y - roofs) / 0.03 + 0.5, 0, 1)[..., None]
    mirrored = np.array([0.20, 0.19, 0.18]) + sky * np.array([0.52, 0.60, 0.67])
    tile[..., :3] += (0.10 + 0.20 * sky) * (mirrored - tile[..., :3])


def _frame(tile: Surface) -> None:
    """Draw the frames of both panes in the shop's paint, and their shadows on the glass."""
    for at in (0, SIDE // 2, SIDE):
        low, high = max(at - FRAME_PX, 0), min(at + FRAME_PX, SIDE)
        tile[:, high : high + 5, :3] *= 0.55
        tile[:, low:high] = (0.90, 0.90, 0.90, 1.0)
        tile[:, max(high - 3, 0) : high, :3] *= 0.8
    tile[-22:-12, :, :3] *= 0.5
    tile[-12:] = tile[:10] = (0.92, 0.92, 0.92, 1.0)


def _wall(tile: Surface, half: int, foot: int, top: int, arch: int) -> None:
    """Draw a wall of stone around a window in each half, in the paint of the front."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    across = np.abs(x % (SIDE // 2) - SIDE // 4)
    above = np.clip((y - top) / max(arch, 1), 0, 1)
    glass, frame = (
        (across < (half + more) * np.sqrt(1 - above)) & (y >= foot - more) & (y < top + arch + more)
        for more in (0, STONE_FRAME_PX)
    )
    row = y // 43
    joints = (y % 43 < 2) | ((x + row % 2 * 43) % 86 < 2)
    bars = (across < 2) | (y % 60 < 3)
    for where, tone in ((glass & bars, 0.3), (~glass, 0.62), (~frame, 0.92)):
        tile[where] = (tone, tone, tone, 1.0)
    tile[joints & ~frame, :3] *= 0.86


def _tone(rng: np.random.Generator, low: float, high: float) -> Colour:
    """Return a random colour, a little greyed, with channels in [low, high] and opacity 0."""
    rgb = rng.uniform(low, high, 3)
    r, g, b = 0.7 * rgb + 0.3 * rgb.mean()
    return (float(r), float(g), float(b), 0.0)


def _draw(tile: Surface, steps: str, rng: np.random.Generator) -> None:
    """Draw goods into a tile in the steps of a row of the table."""
    own = _tone(rng, 0.12, 0.7)

    def ink(text: str) -> Colour:
        """Return a colour that an entry of the table allows."""
        name = str(rng.choice(text.split("|")))
        if name[0] == "#":
            r, g, b = (int(name[i : i + 2], 16) / 255 for i in (1, 3, 5))
            return (r, g, b, 0.0)
        if name[0].isdigit():
            low, high = name.split("-")
            return _tone(rng, int(low) / 100, int(high) / 100)
        return {"t": own, **_COLOURS}[name]

    def number(text: str) -> int:
        """Return a number that an entry of the table allows."""
        low, _, high = text.partition("-")
        return int(rng.integers(int(low), int(high))) if high else int(low)

    for step in steps.split(";"):
        how, across, up, wide, high, colours = step.split()
        one = ink(colours.removeprefix("="))
        for y, x in product(_entries(up), _entries(across)):
            colour = one if colours[0] == "=" else ink(colours)
            left, low, size = number(x), number(y), (number(wide), number(high))
            if how == "b":
                tile[low : low + size[1], left : left + size[0]] = colour
            else:
                cv2.ellipse(tile, (left, low), size, 0, 0, 360, colour, -1, cv2.LINE_AA)


def _entries(text: str) -> list[str]:
    """Return the entries of a list, or of a start:stop:step, of the table."""
    if ":" in text:
        return [str(one) for one in range(*map(int, text.split(":")))]
    return text.split(",")
