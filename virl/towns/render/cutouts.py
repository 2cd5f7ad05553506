"""Tiles of cars and far trees, drawn by code."""

import cv2
import numpy as np

from virl.towns.plan.town_plan import Rgb
from virl.towns.render.surfaces import SIDE, Surface, blank

Colour = tuple[float, float, float, float]
"""RGB and opacity in [0, 1]."""

CROWNS = ((0.30, 0.45), (0.32, 0.55), (0.22, 0.40), (0.28, 0.42), (0.38, 0.52))
"""Height of the crown's foot as a share of the tree's, and of its widest place in the crown, by species."""

_BLOOMS: tuple[tuple[Rgb, ...], ...] = (
    (), ((0.60, 0.58, 0.50), (0.58, 0.46, 0.50)),
    ((0.76, 0.62, 0.22), (0.74, 0.72, 0.62), (0.72, 0.64, 0.66)),
    ((0.46, 0.32, 0.58), (0.70, 0.44, 0.56), (0.74, 0.70, 0.70)),
)  # fmt: skip
"""Colours of the blossoms of two shrubs and of two clumps of flowers."""
_FINE = 8
"""Parts of a texel in which shapes are placed."""


def _shape(tile: Surface, points: object, colour: Colour) -> None:
    """Fill an outline of (across, up) in shares of the tile."""
    corners = np.rint(np.asarray(points, float) * len(tile) * _FINE).astype(np.int32)
    cv2.fillPoly(tile, [corners], colour, cv2.LINE_8, 3)


def _oval(tile: Surface, x: float, y: float, wide: float, high: float, colour: Colour) -> None:
    """Fill an ellipse around (x, y) with half axes `wide` and `high`, all in shares of the tile."""
    around = np.linspace(0, 2 * np.pi, 49)[:-1]
    _shape(tile, np.column_stack([x + wide * np.cos(around), y + high * np.sin(around)]), colour)


def car_side() -> Surface:
    """Return the side of a car, 4.5 by 1 m, from its rear end and from 0.12 m above the road on."""
    side = 4 * SIDE  # made smaller at the end: round things get smooth edges
    tile = blank((0.94, 0.94, 0.94), side=side)
    rows = np.arange(side, dtype=np.float32)[:, None] / side
    # Lighter above the crease, which faces the sky, and darker below.
    tile[..., :3] *= np.where(rows > 0.52, 1.0, 0.84 + 0.10 * rows / 0.52)[..., None]
    tile[: int(0.10 * side)] = (0.10, 0.10, 0.11, 0.0)
    gap: Colour = (0.42, 0.42, 0.43, 0.55)
    for at in (0.305, 0.49, 0.675):
        tile[int(0.11 * side) :, int(at * side) : int(at * side) + 8] = gap
    tile[int(0.11 * side) : int(0.125 * side), int(0.305 * side) : int(0.675 * side)] = gap
    handle: Colour = (0.30, 0.30, 0.31, 0.4)
    for at in (0.33, 0.515):
        tile[int(0.655 * side) : int(0.685 * side), int(at * side) : int((at + 0.035) * side)] = handle
    for axle in (0.185, 0.815):
        for radius, tone in ((0.40, 0.05), (0.32, 0.11), (0.215, 0.60), (0.185, 0.30)):
            _oval(tile, axle, 0.20, radius / 4.5, radius, (tone, tone, tone * 1.06, 0.0))
        for turn in np.arange(5) * 1.2566 + 0.3:
            along, aside = (np.cos(turn) / 4.5, np.sin(turn)), (-np.sin(turn) / 4.5, np.cos(turn))
            spoke = np.outer((0.0, 0.19, 0.19, 0.0), along) + np.outer((-1, -1, 1, 1), aside) * 0.035
            _shape(tile, spoke + np.array([axle, 0.20]), (0.64, 0.65, 0.68, 0.0))
        _oval(tile, axle, 0.20, 0.05 / 4.5, 0.05, (0.45, 0.46, 0.48, 0.0))
    return np.asarray(cv2.resize(tile, (SIDE, SIDE), interpolation=cv2.INTER_AREA))


def pane(driver: int) -> Surface:
    """Return a car's pane that mirrors the sky, with somebody behind its right half if `driver` is 1."""
    tile = blank((0.0, 0.0, 0.0), 0.0)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    tile[..., :3] = np.array([0.10, 0.12, 0.14]) + (0.7 * y[..., None]) ** 2 * np.array([0.42, 0.50, 0.58])
    if driver:
        _oval(tile, 0.70, 0.10, 0.19, 0.34, (0.24, 0.27, 0.34, 0.0))
        _oval(tile, 0.70, 0.52, 0.075, 0.17, (0.50, 0.36, 0.28, 0.0))
        _oval(tile, 0.70, 0.62, 0.08, 0.10, (0.14, 0.11, 0.09, 0.0))
    sheen = np.clip(1 - np.abs(x + 0.35 * y - 0.45) / 0.16, 0, 1)[..., None] * 0.10
    tile[..., :3] += sheen * (np.array([0.80, 0.86, 0.92]) - tile[..., :3])
    return tile


def far_trees() -> Surface:
    """Return the trees of all species as seen from afar, in cells of a quarter by a half of the tile."""
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[..., :3] = (0.20, 0.26, 0.12)
    for number, (foot, belly) in enumerate(CROWNS):
        rng = np.random.default_rng(70 + number)
        x, y = number % 4 * 0.25 + 0.125, number // 4 * 0.5
        for i in range(400):
            radius, angle = 0.93 * np.sqrt(rng.uniform()), rng.uniform(0, 2 * np.pi)
            rise = radius * np.sin(angle)
            up = foot + (1 - foot) * (belly + rise * ((1 - belly) if rise > 0 else belly))
            tone = (0.50 + 0.32 * up + 0.14 * i / 400) * rng.uniform(0.75, 1.2)
            leaf = (tone * rng.uniform(0.34, 0.44), tone * rng.uniform(0.44, 0.54), tone * 0.21, 1.0)
            size = rng.uniform(0.006, 0.011)
            _oval(tile, x + 0.108 * radius * np.cos(angle), y + 0.485 * up, size, size * 0.8, leaf)
    return tile


def plants() -> Surface:
    """Return two shrubs, and above them two clumps of flowers, each in a quarter of the tile."""
    rng = np.random.default_rng(91)
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[..., :3] = (0.17, 0.22, 0.10)
    for number, blooms in enumerate(_BLOOMS):
        x, y, leaves = number % 2 * 0.5 + 0.25, number // 2 * 0.5, 700 if number < 2 else 420
        if number < 2:
            _oval(tile, x, y + 0.14, 0.17, 0.12, (0.15, 0.195, 0.085, 1.0))
        for i in range(leaves):
            across, share, size = rng.uniform(-1, 1), rng.uniform() ** 0.7, rng.uniform(0.007, 0.014)
            up = share * (1 - abs(across) ** 2.5) ** 0.5 * (0.90 + 0.06 * np.sin(11 * across + number))
            tone = (0.60 + 0.42 * up) * rng.uniform(0.75, 1.25)
            colour: Colour = (
                tone * rng.uniform(0.30, 0.40),
                tone * rng.uniform(0.42, 0.52),
                tone * 0.19,
                1.0,
            )
            if blooms and i > 0.85 * leaves and share > 0.4:
                colour, size = (*blooms[i % len(blooms)], 1.0), size * 1.2
            _oval(tile, x + 0.225 * across, y + 0.01 + 0.46 * up, size, size * 0.8, colour)
    return tile


def thicket() -> Surface:
    """Return a clump of trees of a wood, 9 m wide: crowns, and shrubs before trunks in the dark."""
    rng = np.random.default_rng(90)
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[..., :3] = (0.10, 0.12, 0.07)
    crowns = ((0.22, 0.20, 0.74), (0.44, 0.19, 0.95), (0.66, 0.20, 0.84), (0.82, 0.15, 0.62))
    x = (np.arange(SIDE) + 0.5) / SIDE
    tops = [high * np.clip(1 - ((x - at) / wide) ** 2, 0, 1) ** 0.4 for at, wide, high in crowns]
    top = np.max(tops, axis=0)
    foot = 0.03 + 0.02 * np.sin(23 * x) + 0.01 * np.sin(61 * x)
    tile[(x[:, None] < 0.93 * top) & (x[:, None] > foot)] = (0.08, 0.10, 0.055, 1.0)
    for at in np.sort(rng.uniform(0.10, 0.90, 9)).tolist():
        wide, tone = rng.uniform(0.007, 0.016), rng.uniform(0.13, 0.24)
        bark: Colour = (tone * 1.1, tone, tone * 0.8, 1.0)
        _shape(
            tile, [(at - wide, 0.02), (at + wide, 0.02), (at + wide * 0.7, 0.5), (at - wide * 0.7, 0.5)], bark
        )
    for i in range(2400):
        across, share = rng.uniform(0.02, 0.98), rng.uniform()
        high = top[int(across * SIDE)]
        is_shrub = i % 4 == 0
        up = 0.01 + 0.10 * share * (1.3 + np.sin(9 * across)) if is_shrub else high * (0.36 + 0.64 * share)
        tone = (0.42 if is_shrub else 0.34 + 0.56 * up) * (0.7 + 0.3 * i / 2400) * rng.uniform(0.7, 1.25)
        leaf: Colour = (tone * rng.uniform(0.32, 0.44), tone * rng.uniform(0.44, 0.54), tone * 0.20, 1.0)
        if high > 0.1:
            _oval(tile, across, min(up, high), rng.uniform(0.007, 0.013), rng.uniform(0.005, 0.010), leaf)
    return tile


def tuft() -> Surface:
    """Return a tuft of grass, blades that lean to both sides, of the colours of lawns and meadows."""
    rng = np.random.default_rng(95)
    tile = np.zeros((SIDE, SIDE, 4), np.float32)
    tile[..., :3] = (0.30, 0.35, 0.19)
    for foot in rng.permutation(np.linspace(0.1, 0.9, 64)).tolist():
        high = rng.uniform(0.35, 1.0) * (1 - (1.5 * (foot - 0.5)) ** 2)
        lean, tone = foot + rng.normal(0.0, 0.08), rng.uniform(0.75, 1.2)
        blade = (tone * rng.uniform(0.30, 0.40), tone * rng.uniform(0.37, 0.44), tone * 0.20, 1.0)
        _shape(tile, [(foot - 0.02, 0), (foot + 0.02, 0), (lean + 0.008, high), (lean - 0.008, high)], blade)
    # Darker at the foot, where little light comes.
    tile[..., :3] *= np.linspace(0.85, 1.35, SIDE, dtype=np.float32)[:, None, None]
    return tile
