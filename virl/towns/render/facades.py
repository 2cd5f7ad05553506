"""Tiles of house fronts and of street furniture: windows, shop displays, doors, awnings, panels."""

from dataclasses import dataclass

import cv2
import numpy as np

from virl.towns.plan.town_plan import Rgb
from virl.towns.render.surfaces import SIDE, Surface, blank

VARIANTS = 4
"""Number of variants of each window, which differ in curtains, blinds, reflections and a lamp."""

WHITE: Rgb = (0.93, 0.93, 0.91)
DARK: Rgb = (0.16, 0.17, 0.18)
OAK: Rgb = (0.45, 0.29, 0.17)
GREEN: Rgb = (0.20, 0.33, 0.27)
STONE: Rgb = (0.80, 0.77, 0.71)

Colour = tuple[float, float, float, float]

DISPLAYS = 8
"""Number of variants of a shop's display window."""


@dataclass(frozen=True, slots=True)
class Window:
    """A shape of window: edges as shares of the bay's width and the storey's height, panes and extras."""

    left: float
    right: float
    bottom: float
    top: float
    columns: int = 2
    """Number of panes side by side."""
    rows: int = 2
    """Number of panes on top of each other."""
    frame: Rgb = WHITE
    surround: Rgb | None = None
    shutters: Rgb | None = None
    railing: bool = False
    arched: bool = False


@dataclass(frozen=True, slots=True)
class Facade:
    """A look of a building's front: a wall material with a shape of window."""

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
    """Return the tile of one bay of an upper storey, row 0 at the bottom; `variant`: of its window.

    Args:
        wall: texture without windows.
        window: its shape and colours.
        variant: of what hangs in it.
    """
    tile = wall.copy()
    _window(tile, window, variant)
    return tile


def ground_floor_tile(wall: Surface, variant: int) -> Surface:
    """Return a wall's tile for one ground-floor bay without a shop; it has no window if `variant` is 1."""
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
    """Draw a window with its surround and shutters into a tile."""
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
        _draw_railing(tile, x0 - 14, x1 + 14, y0 - 4, y0 + 76)


def _glass(height: int, width: int, variant: int) -> Surface:
    """Return a picture of window panes seen from the street: sky, the dark room, and what hangs inside."""
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
    """Draw a window's frame and glazing bars into columns `x0` to `x1` and rows `y0` to `y1` of a tile."""
    frame = (*window.frame, 0.0)
    for i in range(window.columns + 1):
        x = x0 + (x1 - x0 - 4) * i // window.columns
        tile[y0:y1, x : x + 4] = frame
    for i in range(window.rows + 1):
        y = y0 + (y1 - y0 - 4) * i // window.rows
        tile[y : y + (4 if i in {0, window.rows} else 3), x0:x1] = frame


def _shutters(tile: Surface, colour: Rgb, x0: int, x1: int, y0: int, y1: int) -> None:
    """Draw open shutters beside a window in columns `x0` to `x1` and rows `y0` to `y1` of a tile."""
    wide = (x1 - x0) // 2 - 2
    slats = 0.85 + 0.15 * np.sign(np.sin(np.arange(y1 - y0) * 0.9))
    for left in (x0 - wide - 3, x1 + 3):
        tile[y0:y1, left : left + wide] = (*colour, 0.0)
        tile[y0:y1, left : left + wide, :3] *= slats[:, None, None]
        tile[y0:y1, left + wide : left + wide + 3, :3] *= 0.7


def _arch(tile: Surface, x0: int, x1: int, y1: int) -> None:
    """Draw a stone arch over a window with sides x0, x1 and top y1, in pixels of the tile, rows upwards."""
    radius, middle = (x1 - x0) // 2, (x0 + x1) // 2
    centre = y1 - radius // 2
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    r = np.hypot(x - middle, (y - centre) * 2.0)
    ring = (y >= centre) & (r >= radius - 2) & (r < radius + 16) & (np.abs(x - middle) <= radius + 8)
    tile[ring] = (*STONE, 0.1)
    corner = (y >= centre) & (y < y1 + 2) & (r >= radius + 16) & (x >= x0) & (x < x1)
    tile[corner] = tile[8, 8]


def _draw_railing(tile: Surface, x0: int, x1: int, y0: int, y1: int) -> None:
    """Draw an iron railing before a window in columns `x0` to `x1` and rows `y0` to `y1` of a tile."""
    bars = np.zeros((SIDE, SIDE), np.uint8)
    for x in range(x0, x1, 9):
        cv2.line(bars, (x, y0), (x, y1), 1, 2)
    cv2.rectangle(bars, (x0, y1 - 3), (x1, y1), 1, -1)
    cv2.rectangle(bars, (x0, y0), (x1, y0 + 4), 1, -1)
    tile[bars > 0] = (0.12, 0.13, 0.14, 0.0)


def display_tile(variant: int) -> Surface:
    """Return the tile of a display window: a frame in the shop's paint, goods in a lit room."""
    rng = np.random.default_rng(100 + variant)
    y = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None, None]
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    wall = np.array([0.72, 0.62, 0.48], np.float32) * rng.uniform(0.75, 1.15, 3).astype(np.float32)
    tile[..., :3] = wall * (0.50 + 0.60 * y)
    tile[: SIDE // 5, :, :3] = np.array([0.50, 0.40, 0.31]) * rng.uniform(0.7, 1.1)
    for x in (52, 128, 204):  # lamps under the ceiling
        cv2.ellipse(tile, (x, 232), (15, 5), 0, 0, 360, (1.0, 0.95, 0.78, 0.0), -1)
    _GOODS[variant % len(_GOODS)](tile, rng)
    _reflection(tile, variant)
    tile[:8] = tile[-8:] = (0.92, 0.92, 0.92, 1.0)
    tile[:, :8] = tile[:, -8:] = (0.92, 0.92, 0.92, 1.0)
    tile[-13:-8, :, :3] *= 0.5
    tile[:, 8:11, :3] *= 0.65
    return tile


def _tone(rng: np.random.Generator, low: float, high: float) -> Colour:
    """Return a random colour with channels in [low, high] and opacity 0."""
    r, g, b = rng.uniform(low, high, 3)
    return (float(r), float(g), float(b), 0.0)


def _shelves(tile: Surface, rng: np.random.Generator) -> None:
    """Draw shelves with goods into a display's tile."""
    for bottom in (46, 104, 162):
        cv2.rectangle(tile, (16, bottom - 5), (240, bottom), (0.45, 0.32, 0.20, 0.0), -1)
        x = 20
        while x < 226:
            wide, high = int(rng.integers(9, 24)), int(rng.integers(18, 46))
            colour = _tone(rng, 0.25, 0.95)
            cv2.rectangle(tile, (x, bottom), (min(x + wide, 238), bottom + high), colour, -1)
            shade = (colour[0] * 0.6, colour[1] * 0.6, colour[2] * 0.6, 0.0)
            cv2.rectangle(
                tile, (x + 2, bottom + high // 3), (min(x + wide, 238) - 2, bottom + high // 2), shade, -1
            )
            x += wide + int(rng.integers(2, 7))


def _mannequins(tile: Surface, rng: np.random.Generator) -> None:
    """Draw mannequins into a display's tile."""
    for x in (64, 128, 192):
        skin, cloth = (0.86, 0.78, 0.70, 0.0), _tone(rng, 0.2, 0.9)
        cv2.rectangle(tile, (x - 9, 24), (x - 2, 92), (0.20, 0.20, 0.24, 0.0), -1)
        cv2.rectangle(tile, (x + 2, 24), (x + 9, 92), (0.20, 0.20, 0.24, 0.0), -1)
        shape = np.array(
            [(x - 17, 84), (x + 17, 84), (x + 11, 125), (x + 20, 160), (x - 20, 160), (x - 11, 125)]
        )
        cv2.fillConvexPoly(tile, cv2.convexHull(shape.astype(np.int32)), cloth, cv2.LINE_AA)
        cv2.rectangle(tile, (x - 4, 160), (x + 4, 170), skin, -1)
        cv2.ellipse(tile, (x, 182), (10, 13), 0, 0, 360, skin, -1)


def _tables(tile: Surface, rng: np.random.Generator) -> None:
    """Draw tables with lamps into a display's tile."""
    for x in (56, 136, 214):
        cv2.line(tile, (x, 24), (x, 70), (0.15, 0.13, 0.12, 0.0), 5)
        cv2.ellipse(tile, (x, 72), (34, 6), 0, 0, 360, (0.60, 0.42, 0.26, 0.0), -1)
        cv2.rectangle(tile, (x - 8, 74), (x - 2, 90), (0.90, 0.90, 0.88, 0.0), -1)
        cv2.ellipse(tile, (x + 12, 80), (6, 7), 0, 0, 360, _tone(rng, 0.4, 0.9), -1)
        for side in (-42, 42):
            colour = _tone(rng, 0.25, 0.5)
            cv2.rectangle(tile, (x + side - 4, 24), (x + side + 4, 96), colour, -1)
        cv2.line(tile, (x, 170), (x, 250), (0.10, 0.10, 0.10, 0.0), 2)
        cv2.ellipse(tile, (x, 166), (15, 11), 0, 0, 360, (1.0, 0.88, 0.55, 0.0), -1)


def _counter(tile: Surface, rng: np.random.Generator) -> None:
    """Draw a counter with food and shelves into a display's tile."""
    cv2.rectangle(tile, (16, 16), (240, 84), (0.55, 0.40, 0.26, 0.0), -1)
    cv2.rectangle(tile, (16, 84), (240, 90), (0.92, 0.90, 0.86, 0.0), -1)
    for x in range(30, 236, 21):
        warm = rng.uniform(0.75, 1.1)
        cv2.ellipse(tile, (x, 98), (10, 8), 0, 0, 360, (0.85 * warm, 0.58 * warm, 0.30 * warm, 0.0), -1)
    for bottom in (136, 180):
        cv2.rectangle(tile, (20, bottom), (236, bottom + 4), (0.85, 0.85, 0.83, 0.0), -1)
        for x in range(28, 232, 18):
            cv2.rectangle(
                tile, (x, bottom + 4), (x + 10, bottom + int(rng.integers(16, 36))), _tone(rng, 0.3, 0.95), -1
            )


def _posters(tile: Surface, rng: np.random.Generator) -> None:
    """Draw posters into a display's tile."""
    for x in (24, 98, 172):
        ground = _tone(rng, 0.35, 0.95)
        cv2.rectangle(tile, (x, 70), (x + 60, 190), ground, -1)
        cv2.ellipse(tile, (x + 30, 146), (20, 24), 0, 0, 360, _tone(rng, 0.2, 0.9), -1)
        for y in (82, 92, 102):
            cv2.line(tile, (x + 8, y), (x + 52, y), (0.98, 0.98, 0.96, 0.0), 4)
    cv2.rectangle(tile, (16, 16), (240, 44), _tone(rng, 0.4, 0.7), -1)


def _plants(tile: Surface, rng: np.random.Generator) -> None:
    """Draw plants in pots into a display's tile."""
    for x in range(34, 236, 38):
        cv2.rectangle(tile, (x - 11, 22), (x + 11, 50), (0.66, 0.36, 0.24, 0.0), -1)
        for _ in range(26):
            px, py = x + rng.normal(0, 11), 76 + rng.normal(0, 16)
            green = rng.uniform(0.35, 0.7)
            colour = (
                (green * 0.5, green, green * 0.35, 0.0) if rng.uniform() < 0.75 else _tone(rng, 0.55, 1.0)
            )
            cv2.ellipse(tile, (int(px), int(max(py, 50))), (6, 5), 0, 0, 360, colour, -1)


_GOODS = (_shelves, _tables, _mannequins, _counter, _posters, _plants)
"""Functions that draw the goods of a display into a tile, one of them for each variant."""


def _reflection(tile: Surface, variant: int) -> None:
    """Draw the street's bright sky in the glass, in slanting bands."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    band = np.clip(np.sin(4.5 * (x + 0.55 * y) + variant * 1.7) - 0.35, 0, 1) * 0.30 + 0.06
    tile[..., :3] += band[..., None] * (np.array([0.80, 0.87, 0.94]) - tile[..., :3])


def shop_door_tile() -> Surface:
    """Return the tile of a glass door in the shop's paint."""
    tile = blank((0.92, 0.92, 0.92))
    pane = tile[24:236, 44:212]
    y = np.linspace(0, 1, pane.shape[0], dtype=np.float32)[:, None, None]
    pane[:] = (0.0, 0.0, 0.0, 0.0)
    pane[..., :3] = np.array([0.17, 0.20, 0.23]) + y * np.array([0.24, 0.27, 0.29])
    pane[70:74] = (0.92, 0.92, 0.92, 1.0)
    tile[98:150, 186:196] = (0.85, 0.80, 0.62, 0.0)
    tile[150:176, 96:160] = (0.95, 0.94, 0.90, 0.0)
    tile[158:168, 104:152] = (0.70, 0.18, 0.15, 0.0)
    tile[:, :5, :3] *= 0.55
    tile[:, -5:, :3] *= 0.55
    tile[-8:, :, :3] *= 0.6
    return tile


def house_door_tile() -> Surface:
    """Return the tile of a panelled door with a light above, within a pale frame."""
    tile = blank((0.86, 0.84, 0.80), 0.0)
    tile[:196, 26:230] = (0.80, 0.80, 0.80, 1.0)
    for y0, y1 in ((20, 84), (100, 180)):
        for x0, x1 in ((44, 118), (138, 212)):
            tile[y0:y1, x0:x1, :3] = 0.66
            tile[y0 + 6 : y1 - 6, x0 + 6 : x1 - 6, :3] = 0.86
    tile[206:246, 26:230] = (0.33, 0.40, 0.46, 0.0)
    tile[206:246, 126:130] = (0.86, 0.84, 0.80, 0.0)
    tile[92:104, 196:210] = (0.85, 0.72, 0.36, 0.0)
    tile[190:196, 26:230, :3] *= 0.6
    tile[:10] = (0.60, 0.59, 0.57, 0.0)
    return tile


def awning_tile(stripes: int) -> Surface:
    """Return the cloth of an awning in the shop's colour, with `stripes` white stripes."""
    tile = blank((0.95, 0.95, 0.95))
    if stripes:
        x = np.arange(SIDE) * 2 * stripes // SIDE
        tile[:, x % 2 == 1] = (0.95, 0.94, 0.90, 0.0)
    return tile


def envelope_tile() -> Surface:
    """Return the tile of a mailbox's front: a slot and an envelope, on the box's own paint."""
    tile = blank((0.92, 0.92, 0.92))
    cv2.rectangle(tile, (40, 176), (216, 196), (0.08, 0.08, 0.09, 0.0), -1)
    cv2.rectangle(tile, (60, 66), (196, 146), (0.97, 0.97, 0.95, 0.0), -1)
    cv2.polylines(
        tile,
        [np.array([(62, 144), (128, 98), (194, 144)], np.int32)],
        isClosed=False,
        color=(0.3, 0.3, 0.35, 0.0),
        thickness=5,
    )
    return tile


def bin_tile() -> Surface:
    """Return the front of a trash bin: slats and an opening, on the bin's own paint."""
    tile = blank((0.86, 0.86, 0.86))
    for x in range(0, SIDE, 32):
        tile[:176, x : x + 8, :3] *= 0.55
    cv2.rectangle(tile, (36, 190), (220, 232), (0.05, 0.05, 0.06, 0.0), -1)
    return tile


def signal_tile(lit: int) -> Surface:
    """Return the tile of a traffic light's lamps, of which `lit` shines: 0 red, 1 amber, 2 green."""
    tile = blank((0.10, 0.10, 0.11), 0.0)
    colours = ((0.96, 0.16, 0.12), (0.98, 0.72, 0.10), (0.15, 0.90, 0.45))
    for i, colour in enumerate(colours):
        dim = 1.0 if i == lit else 0.25
        centre = (128, 212 - 84 * i)
        axes = (88, 34)  # the face is three times as high as wide
        cv2.ellipse(
            tile, centre, axes, 0, 0, 360, (colour[0] * dim, colour[1] * dim, colour[2] * dim, 0.0), -1
        )
    return tile
