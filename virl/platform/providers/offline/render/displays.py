"""Tiles of shops and street furniture: display windows, doors, awnings, wheels, panels."""

import cv2
import numpy as np

from virl.platform.providers.offline.render.surfaces import SIDE, Surface, blank

Colour = tuple[float, float, float, float]

DISPLAYS = 8
"""How many display windows there are."""


def display_tile(variant: int) -> Surface:
    """A display window: a frame in the shop's paint, a lit room behind, goods in front."""
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
    r, g, b = rng.uniform(low, high, 3)
    return (float(r), float(g), float(b), 0.0)


def _shelves(tile: Surface, rng: np.random.Generator) -> None:
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
    for x in (24, 98, 172):
        ground = _tone(rng, 0.35, 0.95)
        cv2.rectangle(tile, (x, 70), (x + 60, 190), ground, -1)
        cv2.ellipse(tile, (x + 30, 146), (20, 24), 0, 0, 360, _tone(rng, 0.2, 0.9), -1)
        for y in (82, 92, 102):
            cv2.line(tile, (x + 8, y), (x + 52, y), (0.98, 0.98, 0.96, 0.0), 4)
    cv2.rectangle(tile, (16, 16), (240, 44), _tone(rng, 0.4, 0.7), -1)


def _plants(tile: Surface, rng: np.random.Generator) -> None:
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


def _reflection(tile: Surface, variant: int) -> None:
    """The street's bright sky in the glass, in slanting bands."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    band = np.clip(np.sin(4.5 * (x + 0.55 * y) + variant * 1.7) - 0.35, 0, 1) * 0.30 + 0.06
    tile[..., :3] += band[..., None] * (np.array([0.80, 0.87, 0.94]) - tile[..., :3])


def shop_door_tile() -> Surface:
    """A glass door in the shop's paint."""
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
    """A panelled door with a light over it, in its own paint, within a pale frame."""
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
    """Cloth in the shop's colour; with stripes, every second one is white."""
    tile = blank((0.95, 0.95, 0.95))
    if stripes:
        x = np.arange(SIDE) * 2 * stripes // SIDE
        tile[:, x % 2 == 1] = (0.95, 0.94, 0.90, 0.0)
    return tile


def wheel_tile() -> Surface:
    """A wheel, cut out."""
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    for radius, colour in (
        (126, (0.09, 0.09, 0.10, 1)),
        (84, (0.62, 0.63, 0.66, 1)),
        (70, (0.36, 0.37, 0.40, 1)),
    ):
        cv2.circle(tile, (128, 128), radius, colour, -1)
    for turn in range(5):
        end = (int(128 + 74 * np.cos(turn * 1.2566)), int(128 + 74 * np.sin(turn * 1.2566)))
        cv2.line(tile, (128, 128), end, (0.72, 0.73, 0.75, 1), 20)
    cv2.circle(tile, (128, 128), 18, (0.55, 0.56, 0.58, 1), -1)
    return tile


def envelope_tile() -> Surface:
    """The front of a mailbox: its slot and an envelope, on the box's own paint."""
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
    """The front of a trash bin: slats and an opening, on the bin's own paint."""
    tile = blank((0.86, 0.86, 0.86))
    for x in range(0, SIDE, 32):
        tile[:176, x : x + 8, :3] *= 0.55
    cv2.rectangle(tile, (36, 190), (220, 232), (0.05, 0.05, 0.06, 0.0), -1)
    return tile


def signal_tile(lit: int) -> Surface:
    """The face of a traffic light with its lamps; `lit` 0 is red, 1 amber, 2 green."""
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
