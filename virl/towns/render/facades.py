"""Tiles of house fronts and of street furniture: windows, doors, awnings, panels."""

from dataclasses import dataclass

import numpy as np

from virl.extras import Late
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.surfaces import SIDE, Surface, blank

cv2 = Late("cv2", extra="eyes")

VARIANTS = 16
"""Number of variants of each window, which differ in what hangs inside and in what the glass mirrors."""
WALL_VARIANTS = 2
"""Number of variants of each wall without windows."""

WHITE: Rgb = (0.93, 0.93, 0.91)
DARK: Rgb = (0.16, 0.17, 0.18)
OAK: Rgb = (0.45, 0.29, 0.17)
GREEN: Rgb = (0.20, 0.33, 0.27)
STONE: Rgb = (0.80, 0.77, 0.71)
NO_GLASS = 0.15
"""Least opacity of what mirrors nothing."""


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


@dataclass(frozen=True, slots=True)
class Inside:
    """Curtains, blinds and the room behind a window; widths and heights are shares of the glass."""

    left: float = 0.0
    """Width of the curtain on the left."""
    right: float = 0.0
    """Width of the curtain on the right."""
    cloth: Rgb = (0.88, 0.85, 0.78)
    blind: float = 0.0
    """Height of the blind, from the top."""
    slats: bool = False
    net: float = 0.0
    """Height of the net curtain, from the bottom."""
    wall: float = 0.17
    """Brightness of the room, [0, 1]."""


INSIDES = (
    Inside(0.24, 0.24), Inside(), Inside(net=1.0), Inside(blind=1.0, cloth=(0.80, 0.79, 0.75)),
    Inside(blind=0.45, slats=True), Inside(0.20, 0.20, (0.40, 0.46, 0.54)), Inside(0.34, 0.06),
    Inside(net=0.5), Inside(wall=0.24), Inside(blind=0.25, cloth=(0.76, 0.70, 0.58)),
    Inside(blind=0.9, slats=True),
    Inside(0.52, 0.50, (0.80, 0.78, 0.73)), Inside(wall=0.30), Inside(0.1, 0.3, (0.50, 0.47, 0.45), net=1),
    Inside(0.16, 0.16, net=0.45), Inside(0.06, 0.22, blind=0.15),
)  # fmt: skip
"""Curtains and rooms behind each variant of a window."""
ODD = 15
"""Variant with a lamp in every third facade, and with a plant in most others: 2 % and 4 % of all windows."""


def facade_tile(wall: Surface, window: Window, variant: int, place: int) -> Surface:
    """Return the tile of one bay of an upper storey, row 0 at the bottom; `variant`: of its window.

    Args:
        wall: texture without windows.
        window: its shape and colours.
        variant: of what hangs in it.
        place: number of the facade, from which it follows where a plant or lamp stands.
    """
    tile = wall.copy()
    _window(tile, window, variant, place)
    return tile


def ground_floor_tile(wall: Surface, variant: int, place: int) -> Surface:
    """Return a wall's tile for one ground-floor bay without a shop; without a window if `variant` is -1.

    Args:
        wall: texture without windows.
        variant: of what hangs in the window.
        place: number of the wall material, see `facade_tile`.
    """
    tile = wall.copy()
    if variant >= 0:
        _window(tile, GROUND_WINDOW, variant, place)
    plinth = SIDE // 6
    tile[:plinth] = (0.52, 0.51, 0.49, 0.25)
    tile[plinth - 3 : plinth] *= (1.25, 1.25, 1.25, 1.0)
    # Less of the sky is seen from near the ground.
    tile[: SIDE // 5, :, :3] *= np.linspace(0.65, 1, SIDE // 5)[:, None, None]
    tile[-12:] = (0.78, 0.76, 0.72, 0.5)
    tile[-15:-12, :, :3] *= 0.55
    tile[-52:-12, :, :3] *= np.linspace(1, 0.75, 40)[:, None, None]  # under the string course
    return tile


def _window(tile: Surface, window: Window, variant: int, place: int) -> None:
    """Draw a window with its surround and shutters, set back into the wall, into a tile."""
    x0, x1 = int(window.left * SIDE), int(window.right * SIDE)
    y0, y1 = int(window.bottom * SIDE), int(window.top * SIDE)
    if window.surround:
        tile[y0 - 9 : y1 + 12, x0 - 9 : x1 + 9] = (*window.surround, 0.15)
        tile[y0 - 9 : y1 + 12, x0 - 11 : x0 - 9, :3] *= 0.85
    if window.shutters:
        _shutters(tile[y0:y1], window.shutters, x0, x1)
    opening = tile[y0:y1, x0:x1]
    opening[:] = _glass(y1 - y0, x1 - x0, window.columns, variant, place)
    _bars(opening, window)
    opening[-9:, :, :3] *= 0.45  # the reveal's shadow
    opening[:, :6, :3] *= 0.6
    tile[y0 - 8 : y0, max(x0 - 10, 0) : x1 + 10] = (0.84, 0.82, 0.78, NO_GLASS)
    tile[y0 - 15 : y0 - 8, max(x0 - 8, 0) : x1 + 12, :3] *= 0.72
    streaks = np.linspace(1.0, 0.93, max(y0 - 15, 0))[:, None, None]
    for edge in (x0 - 8, x1 + 2):  # where rain runs down from the ends of the sill
        tile[: y0 - 15, max(edge, 0) : edge + 6, :3] *= streaks
    if window.arched:
        _arch(tile, x0, x1, y1)
    if window.railing:
        _draw_railing(tile, x0 - 14, x1 + 14, y0 - 4, y0 + 76)


def _glass(height: int, width: int, columns: int, variant: int, place: int) -> Surface:
    """Return a picture of window panes seen from the street: room, curtains, mirrored sky."""
    inside = INSIDES[variant]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    y, x = y / height, x / width
    glass = np.zeros((height, width, 4), np.float32)
    glass[..., :3] = (inside.wall * (0.7 + 0.7 * y))[..., None] * np.array([0.94, 1.0, 1.06])
    thing = "lamp" if variant == ODD and place % 3 == 0 else "plant" if variant == ODD and place % 6 else ""
    at = (0.25, 0.5, 0.74)[place % 3]
    if thing == "lamp":
        glow = np.exp(-((x - at) ** 2 * 30 + (y - 0.62) ** 2 * 36))[..., None]
        glass[..., :3] += glow * np.array([0.50, 0.38, 0.20])
    elif thing == "plant":
        leaves = (x - at) ** 2 * 9 + (y - 0.14) ** 2 * 12 < 0.10 + 0.03 * np.sin(40 * x) * np.sin(34 * y)
        glass[leaves, :3] = (0.17, 0.27, 0.13)
    net = y < inside.net
    glass[net, :3] = 0.45 * glass[net, :3] + 0.5 * (0.75 + 0.05 * np.sin(x[net] * 90))[:, None]
    cloth = (x < inside.left + 0.06 * y) & (inside.left > 0)
    cloth |= (x > 1 - inside.right - 0.06 * y) & (inside.right > 0)
    folds = 0.72 + 0.12 * np.sin(x * 64 + variant)
    glass[cloth, :3] = folds[cloth, None] * np.array(inside.cloth)
    blind = y > 1 - inside.blind
    slats = 0.74 + (0.14 * np.sign(np.sin(y * 110)) if inside.slats else 0.02 * np.sin(y * 40))
    glass[blind, :3] = slats[blind, None] * np.array(inside.cloth)
    # Each casement leans a little differently, so that it mirrors another piece of the street.
    lean = np.sin(np.floor(x * columns) * 2.1 + variant * 1.3 + place)
    roofs = 0.45 + 0.22 * np.sin(variant * 2.4) + 0.08 * lean + 0.05 * np.sign(np.sin(7 * x + variant + lean))
    sky = np.clip((y - roofs) / 0.09 + 0.5, 0, 1)[..., None]
    mirrored = np.array([0.27, 0.30, 0.33]) + sky * (np.array([0.36, 0.44, 0.52]) + 0.16 * y[..., None])
    glass[..., :3] += (0.25 + (0.22 + 0.06 * lean[..., None]) * sky) * (mirrored - glass[..., :3])
    return np.clip(glass, 0, 1)


def _bars(opening: Surface, window: Window) -> None:
    """Draw a window's frame and glazing bars into its opening."""
    high, wide = opening.shape[:2]
    frame = (*window.frame, NO_GLASS)
    for i in range(window.columns + 1):
        x = (wide - 6) * i // window.columns
        opening[:, x + 6 : x + 9, :3] *= 0.75
        opening[:, x : x + 6] = frame
    for i in range(window.rows + 1):
        y = (high - 6) * i // window.rows
        opening[y : y + (6 if i in {0, window.rows} else 4)] = frame


def _shutters(rows: Surface, colour: Rgb, x0: int, x1: int) -> None:
    """Draw open shutters beside a window in columns `x0` to `x1` into its rows of a tile."""
    wide = (x1 - x0) // 2 - 2
    slats = 0.85 + 0.15 * np.sign(np.sin(np.arange(len(rows)) * 0.9))
    for left in (x0 - wide - 3, x1 + 3):
        rows[:, left : left + wide] = (*colour, NO_GLASS)
        rows[:, left : left + wide, :3] *= slats[:, None, None]
        rows[:, left + wide : left + wide + 3, :3] *= 0.7


def _arch(tile: Surface, x0: int, x1: int, y1: int) -> None:
    """Draw a stone arch over a window with sides x0, x1 and top y1, in pixels of the tile, rows upwards."""
    radius, middle = (x1 - x0) // 2, (x0 + x1) // 2
    centre = y1 - radius // 2
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    r = np.hypot(x - middle, (y - centre) * 2.0)
    ring = (y >= centre) & (r >= radius - 2) & (r < radius + 16) & (np.abs(x - middle) <= radius + 8)
    tile[ring] = (*STONE, NO_GLASS)
    corner = (y >= centre) & (y < y1 + 2) & (r >= radius + 16) & (x >= x0) & (x < x1)
    tile[corner] = tile[8, 8]


def _draw_railing(tile: Surface, x0: int, x1: int, y0: int, y1: int) -> None:
    """Draw an iron railing before a window in columns `x0` to `x1` and rows `y0` to `y1` of a tile."""
    bars = np.zeros((SIDE, SIDE), np.uint8)
    for x in range(x0, x1, 9):
        cv2.line(bars, (x, y0), (x, y1), 1, 2)
    cv2.rectangle(bars, (x0, y1 - 3), (x1, y1), 1, -1)
    cv2.rectangle(bars, (x0, y0), (x1, y0 + 4), 1, -1)
    tile[bars > 0] = (0.12, 0.13, 0.14, NO_GLASS)


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


DOOR_VARIANTS = 4
"""Number of front doors: panelled, glazed, of two wings, and of boards."""


def house_door_tile(variant: int) -> Surface:
    """Return the tile of a front door with a light above, within a pale frame."""
    tile = blank((0.86, 0.84, 0.80), 0.0)
    tile[:196, 26:230] = (0.80, 0.80, 0.80, 1.0)
    rows = (((20, 84), (100, 180)), ((20, 60), (76, 182)), ((20, 84), (100, 180)), ((20, 182),))[variant]
    columns = [(44, 118), (138, 212)] if variant < 3 else [(x, x + 24) for x in range(36, 220, 32)]
    for y0, y1 in rows:
        for x0, x1 in columns:
            tile[y0:y1, x0:x1, :3] = 0.66
            tile[y0 + 5 : y1 - 5, x0 + 5 : x1 - 5, :3] = 0.86
            if variant == 1 and y1 > 100:
                tile[y0 + 5 : y1 - 5, x0 + 5 : x1 - 5] = (0.26, 0.30, 0.33, 0.0)
    if variant == 2:
        tile[:196, 124:132, :3] *= 0.5
    tile[206:246, 26:230] = (0.33, 0.40, 0.46, 0.0)
    tile[206:246, 126:130] = (0.86, 0.84, 0.80, 0.0)
    tile[92:104, 196:210] = (0.85, 0.72, 0.36, 0.0)
    tile[190:196, 26:230, :3] *= 0.6
    tile[178:196, 26:230, :3] *= 0.8  # the reveal's shadow
    tile[:196, 26:32, :3] *= 0.7
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
    flap = np.array([(62, 144), (128, 98), (194, 144)], np.int32)
    cv2.polylines(tile, [flap], isClosed=False, color=(0.3, 0.3, 0.35, 0.0), thickness=5)
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
        shown = [part * (1.0 if i == lit else 0.25) for part in colour]
        # The face is three times as high as wide.
        cv2.ellipse(tile, (128, 212 - 84 * i), (88, 34), 0, 0, 360, (*shown, 0.0), -1)
    return tile
