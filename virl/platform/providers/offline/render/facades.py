"""Facade tiles: one bay of one storey each, with its window, in a few variants."""

from dataclasses import dataclass

import cv2
import numpy as np

from virl.platform.providers.offline.plan import Rgb
from virl.platform.providers.offline.render.surfaces import SIDE, Surface

VARIANTS = 4
"""How many windows of each kind there are: curtains, blinds, reflections and a lamp."""

WHITE: Rgb = (0.93, 0.93, 0.91)
DARK: Rgb = (0.16, 0.17, 0.18)
OAK: Rgb = (0.45, 0.29, 0.17)
GREEN: Rgb = (0.20, 0.33, 0.27)
STONE: Rgb = (0.80, 0.77, 0.71)


@dataclass(frozen=True, slots=True)
class Window:
    """A window in its bay. Lengths are shares of the bay's width and the storey's height."""

    left: float
    right: float
    bottom: float
    top: float
    columns: int = 2
    rows: int = 2
    frame: Rgb = WHITE
    surround: Rgb | None = None
    shutters: Rgb | None = None
    railing: bool = False
    arched: bool = False


@dataclass(frozen=True, slots=True)
class Facade:
    """A wall material and a window."""

    wall: str
    window: Window


FACADES: tuple[Facade, ...] = (
    Facade("brick", Window(0.31, 0.69, 0.26, 0.80, 2, 2, WHITE, STONE)),
    Facade("brick", Window(0.27, 0.73, 0.24, 0.80, 3, 3, DARK, arched=True)),
    Facade("stone", Window(0.33, 0.67, 0.20, 0.82, 2, 3, OAK, STONE)),
    Facade("stone", Window(0.28, 0.72, 0.10, 0.82, 2, 3, WHITE, STONE, railing=True)),
    Facade("plaster", Window(0.35, 0.65, 0.25, 0.79, 2, 2, WHITE, shutters=GREEN)),
    Facade("plaster", Window(0.30, 0.70, 0.12, 0.82, 2, 3, WHITE, WHITE, railing=True)),
    Facade("plaster", Window(0.25, 0.75, 0.28, 0.78, 2, 1, DARK)),
    Facade("concrete", Window(0.08, 0.92, 0.30, 0.78, 3, 1, DARK)),
    Facade("concrete", Window(0.03, 0.97, 0.08, 0.93, 2, 1, DARK)),
    Facade("wood", Window(0.32, 0.68, 0.28, 0.80, 2, 2, WHITE, WHITE)),
    Facade("tiles", Window(0.20, 0.80, 0.28, 0.80, 2, 1, WHITE)),
    Facade("tiles", Window(0.30, 0.70, 0.24, 0.82, 1, 2, DARK, STONE)),
)

GROUND_WINDOW = Window(0.30, 0.70, 0.30, 0.78, 2, 2, WHITE, STONE)


def facade_tile(wall: Surface, window: Window, variant: int) -> Surface:
    """One bay of an upper storey, row 0 at the bottom."""
    tile = wall.copy()
    _window(tile, window, variant)
    return tile


def ground_floor_tile(wall: Surface, variant: int) -> Surface:
    """One bay of a ground floor without a shop: a plinth, and a window in most variants."""
    tile = wall.copy()
    if variant != 1:
        _window(tile, GROUND_WINDOW, variant)
    plinth = SIDE // 6
    tile[:plinth] = (0.52, 0.51, 0.49, 0.25)
    tile[plinth - 3 : plinth] *= (1.25, 1.25, 1.25, 1.0)
    tile[: SIDE // 10, :, :3] *= np.linspace(0.75, 1, SIDE // 10)[:, None, None]
    tile[-12:] = (0.78, 0.76, 0.72, 0.5)
    tile[-15:-12, :, :3] *= 0.55
    return tile


def _window(tile: Surface, window: Window, variant: int) -> None:
    x0, x1 = int(window.left * SIDE), int(window.right * SIDE)
    y0, y1 = int(window.bottom * SIDE), int(window.top * SIDE)
    if window.surround:
        tile[y0 - 9 : y1 + 12, x0 - 9 : x1 + 9] = (*window.surround, 0.15)
        tile[y0 - 9 : y1 + 12, x0 - 11 : x0 - 9, :3] *= 0.85
    if window.shutters:
        _shutters(tile, window.shutters, x0, x1, y0, y1)
    tile[y0:y1, x0:x1] = _glass(y1 - y0, x1 - x0, variant)
    _bars(tile, window, x0, x1, y0, y1)
    tile[y1 - 6 : y1, x0:x1, :3] *= 0.5  # the lintel's shadow
    tile[y0:y1, x0 : x0 + 3, :3] *= 0.7
    tile[y0 - 8 : y0, max(x0 - 10, 0) : x1 + 10] = (0.84, 0.82, 0.78, 0.1)
    tile[y0 - 15 : y0 - 8, max(x0 - 8, 0) : x1 + 12, :3] *= 0.72
    if window.arched:
        _arch(tile, x0, x1, y1)
    if window.railing:
        _railing(tile, x0 - 14, x1 + 14, y0 - 4, y0 + 76)


def _glass(height: int, width: int, variant: int) -> Surface:
    """Panes as they look from the street: sky above, the dark room below, and what hangs in the window."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    y, x = y / height, x / width
    glass = np.zeros((height, width, 4), np.float32)
    dark, sky = np.array([0.13, 0.17, 0.21]), np.array([0.50, 0.60, 0.69])
    shine = np.clip(0.15 + 0.75 * y + 0.25 * np.sin(6 * (x + 0.6 * y) + variant), 0, 1)[..., None]
    glass[..., :3] = dark + (sky - dark) * shine * (0.75 if variant % 2 else 0.5)
    if variant == 0:  # curtains drawn aside
        hem = 0.22 + 0.10 * y
        cloth = (x < hem) | (x > 1 - hem)
        folds = 0.78 + 0.10 * np.sin(x * 70)
        glass[cloth, :3] = 0.25 * glass[cloth, :3] + 0.75 * folds[cloth, None] * np.array([0.92, 0.89, 0.82])
    elif variant == 1:  # a blind, half down
        blind = y > 0.45
        slats = 0.72 + 0.10 * np.sign(np.sin(y * 110))
        glass[blind, :3] = slats[blind, None] * np.array([0.95, 0.94, 0.90])
    elif variant == 2:  # a lamp in the room
        glow = np.exp(-((x - 0.6) ** 2 * 14 + (y - 0.62) ** 2 * 18))[..., None]
        glass[..., :3] += glow * np.array([0.55, 0.42, 0.20])
    else:  # net curtain over the lower half and a plant
        net = y < 0.5
        glass[net, :3] = 0.5 * glass[net, :3] + 0.5 * np.array([0.80, 0.80, 0.77])
        plant = ((x - 0.3) ** 2 * 9 + (y - 0.12) ** 2 * 12) < 0.12
        glass[plant, :3] = (0.20, 0.33, 0.16)
    return np.clip(glass, 0, 1)


def _bars(tile: Surface, window: Window, x0: int, x1: int, y0: int, y1: int) -> None:
    frame = (*window.frame, 0.0)
    for i in range(window.columns + 1):
        x = x0 + (x1 - x0 - 4) * i // window.columns
        tile[y0:y1, x : x + 4] = frame
    for i in range(window.rows + 1):
        y = y0 + (y1 - y0 - 4) * i // window.rows
        tile[y : y + (4 if i in {0, window.rows} else 3), x0:x1] = frame


def _shutters(tile: Surface, colour: Rgb, x0: int, x1: int, y0: int, y1: int) -> None:
    wide = (x1 - x0) // 2 - 2
    slats = 0.85 + 0.15 * np.sign(np.sin(np.arange(y1 - y0) * 0.9))
    for left in (x0 - wide - 3, x1 + 3):
        tile[y0:y1, left : left + wide] = (*colour, 0.0)
        tile[y0:y1, left : left + wide, :3] *= slats[:, None, None]
        tile[y0:y1, left + wide : left + wide + 3, :3] *= 0.7


def _arch(tile: Surface, x0: int, x1: int, y1: int) -> None:
    """Round the top of a window with a ring of stone, out of the wall beside it."""
    radius, middle = (x1 - x0) // 2, (x0 + x1) // 2
    centre = y1 - radius // 2
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    r = np.hypot(x - middle, (y - centre) * 2.0)
    ring = (y >= centre) & (r >= radius - 2) & (r < radius + 16) & (np.abs(x - middle) <= radius + 8)
    tile[ring] = (*STONE, 0.1)
    corner = (y >= centre) & (y < y1 + 2) & (r >= radius + 16) & (x >= x0) & (x < x1)
    tile[corner] = tile[8, 8]


def _railing(tile: Surface, x0: int, x1: int, y0: int, y1: int) -> None:
    bars = np.zeros((SIDE, SIDE), np.uint8)
    for x in range(x0, x1, 9):
        cv2.line(bars, (x, y0), (x, y1), 1, 2)
    cv2.rectangle(bars, (x0, y1 - 3), (x1, y1), 1, -1)
    cv2.rectangle(bars, (x0, y0), (x1, y0 + 4), 1, -1)
    tile[bars > 0] = (0.12, 0.13, 0.14, 0.0)
