"""Tiles of people, dogs, prams and cyclists: jointed figures as they look from four directions."""

from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.surfaces import SIDE, Surface

TURNS = (22.5, 67.5, 112.5, 157.5)
"""Degrees from a figure's front to who looks at it, of the four pictures in a tile; mirrored for the rest."""
PAINTED, BARE = 1.0, 0.2
"""Opacity of what takes a figure's paint, and of all else of it."""
PERSON_M, BESIDE_M, BICYCLE_M = 1.9, 1.05, 2.0
"""Heights in metres of the cells of people, which are three times as high as wide, and of the square ones."""
_FINE = 4
"""Number of pixels along a texel in which figures are drawn."""

_CIRCLE = np.array([(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 19)[:-1]])
Joint = tuple[float, float, float]
"""Metres to a figure's right, ahead of it, and up."""


class _Part(NamedTuple):
    """A rounded part of a figure, from joint to joint, with a radius in metres at each."""

    low: Joint
    high: Joint
    thick: float
    thin: float
    colour: Rgb
    opacity: float = BARE
    wide: tuple[float, float] = (0.0, 0.0)
    """Metres by which each end reaches to both sides."""


class _Looks(NamedTuple):
    """The hair and its length in metres, skin, legwear, hem of the jacket in metres, stride, and a bag."""

    hair: Rgb
    long: float
    skin: Rgb
    legs: Rgb
    hem: float
    stride: float
    bag: str = ""
    skirt: float = 0.0
    """Height of a skirt's hem in metres; 0 for trousers."""


_PALE, _TAN, _BROWN = (0.80, 0.60, 0.49), (0.66, 0.46, 0.34), (0.42, 0.28, 0.20)
_LOOKS = (
    _Looks((0.20, 0.13, 0.09), 0.0, _PALE, (0.20, 0.24, 0.33), 0.86, 1.0),
    _Looks((0.45, 0.31, 0.16), 0.24, _PALE, (0.13, 0.13, 0.15), 0.62, 0.7, "side"),
    _Looks((0.08, 0.07, 0.07), 0.0, _BROWN, (0.46, 0.41, 0.32), 0.88, 1.0, "back"),
    _Looks((0.11, 0.08, 0.07), 0.20, _TAN, (0.28, 0.22, 0.22), 0.92, 0.6, "side", 0.48),
    _Looks((0.62, 0.61, 0.60), 0.0, _PALE, (0.30, 0.30, 0.32), 0.80, 0.45),
    _Looks((0.07, 0.06, 0.06), 0.05, _TAN, (0.15, 0.16, 0.19), 0.70, 0.15),
)
_CLOTH: Rgb = (0.90, 0.90, 0.90)
_DARK, _LEATHER, _STEEL = (0.10, 0.10, 0.11), (0.27, 0.18, 0.12), (0.45, 0.46, 0.48)


def people(number: int) -> Surface:
    """Return somebody from four directions, and above them what goes beside: a dog, or a pram if odd."""
    tile = _blank()
    beside = _pram() if number % 2 else _dog(number // 2)
    for cell, turn in enumerate(TURNS):
        _draw(tile, _person(_LOOKS[number]), turn, (cell * 64, 0, 64, 192), 192 / PERSON_M)
        _draw(tile, beside, turn, (cell * 64, 192, 64, 64), 64 / BESIDE_M)
    return _shrink(tile)


def bicycles(number: int) -> Surface:
    """Return a bicycle with its rider from four directions, in quarters of the tile."""
    tile = _blank()
    for cell, turn in enumerate(TURNS):
        place = (cell % 2 * 128, cell // 2 * 128, 128, 128)
        _draw(tile, _cyclist(_LOOKS[1 + 4 * number]), turn, place, 128 / BICYCLE_M)
    return _shrink(tile)


def _person(looks: _Looks) -> list[_Part]:
    """Return the parts of somebody who walks, 1.75 m tall."""
    parts = _head(looks, (0.0, 0.0, 1.62))
    step = looks.stride
    for side in (-1.0, 1.0):
        way = side * step
        hip, knee = (side * 0.09, 0.0, 0.90), (side * 0.09, 0.07 * way + 0.04 * step, 0.49)
        ankle = (side * 0.09, 0.15 * way, 0.10 + 0.07 * max(-way, 0.0))
        bare = looks.skin if looks.skirt else looks.legs
        parts += [
            _Part(hip, knee, 0.095, 0.068, looks.legs), _Part(knee, ankle, 0.064, 0.046, bare),
            _Part(ankle, (side * 0.10, ankle[1] + 0.15, ankle[2] - 0.055), 0.048, 0.036, _DARK),
        ]  # fmt: skip
        elbow = (side * 0.225, -0.08 * way, 1.13)
        hand = (side * 0.215, 0.06 - 0.15 * way, 0.90)
        parts += [
            _Part((side * 0.185, 0.0, 1.39), elbow, 0.065, 0.052, _CLOTH, PAINTED),
            _Part(elbow, hand, 0.050, 0.040, _CLOTH, PAINTED), _Part(hand, hand, 0.042, 0.042, looks.skin),
        ]  # fmt: skip
    parts += [
        _Part((0.0, 0.0, 1.345), (0.0, 0.0, 1.0), 0.105, 0.105, _CLOTH, PAINTED, (0.09, 0.065)),
        _Part((0.0, 0.0, 1.06), (0.0, 0.0, looks.hem), 0.11, 0.095, _CLOTH, PAINTED, (0.055, 0.085)),
    ]
    if looks.skirt:
        parts.append(
            _Part((0.0, 0.0, 0.98), (0.0, 0.02, looks.skirt), 0.10, 0.11, looks.legs, wide=(0.06, 0.11))
        )
    if looks.bag == "back":
        parts.append(_Part((0.0, -0.15, 1.32), (0.0, -0.17, 1.08), 0.10, 0.115, (0.30, 0.28, 0.26)))
    if looks.bag == "side":
        parts.append(_Part((0.21, -0.03, 0.94), (0.21, 0.07, 0.94), 0.08, 0.08, _LEATHER))
    return parts


def _head(looks: _Looks, at: Joint) -> list[_Part]:
    """Return a neck, a head and its hair; `at`: its middle."""
    x, y, z = at
    parts = [
        _Part((x, y - 0.01, z - 0.22), (x, y, z - 0.05), 0.055, 0.05, looks.skin),
        _Part((x, y + 0.030, z - 0.050), (x, y + 0.022, z + 0.035), 0.066, 0.076, looks.skin),
        _Part((x, y - 0.030, z + 0.005), (x, y - 0.012, z + 0.068), 0.082, 0.084, looks.hair),
        _Part((x, y + 0.098, z), (x, y + 0.104, z - 0.025), 0.010, 0.017, looks.skin),
    ]
    parts += [
        _Part((s * 0.032, y + 0.088, z + 0.016), (s * 0.032, y + 0.088, z + 0.016), 0.010, 0.010, _DARK)
        for s in (-1, 1)
    ]
    if looks.long:
        parts.append(_Part((x, y - 0.055, z), (x, y - 0.085, z - looks.long), 0.085, 0.075, looks.hair))
    return parts


def _dog(number: int) -> list[_Part]:
    """Return the parts of a dog, half a metre tall."""
    coat = ((0.45, 0.32, 0.20), (0.12, 0.11, 0.11), (0.76, 0.70, 0.60), (0.55, 0.42, 0.28))[number % 4]
    parts = [
        _Part((0.0, -0.22, 0.37), (0.0, 0.16, 0.39), 0.095, 0.115, coat),
        _Part((0.0, 0.20, 0.44), (0.0, 0.30, 0.53), 0.07, 0.075, coat),
        _Part((0.0, 0.33, 0.52), (0.0, 0.43, 0.49), 0.055, 0.035, coat),
        _Part((0.0, -0.28, 0.40), (0.0, -0.42, 0.55), 0.035, 0.02, coat),
    ]
    for side in (-1.0, 1.0):
        parts.append(_Part((side * 0.06, 0.27, 0.58), (side * 0.08, 0.25, 0.48), 0.03, 0.025, _DARK))
        parts += [
            _Part((side * 0.06, y, 0.34), (side * 0.06, y + 0.05 * side, 0.03), 0.045, 0.028, coat)
            for y in (-0.22, 0.15)
        ]
    return parts


def _pram() -> list[_Part]:
    """Return the parts of a pram, whose handle is behind."""
    parts = [
        _Part((s * 0.06, -0.20, 0.56), (s * 0.06, 0.24, 0.56), 0.14, 0.14, (0.32, 0.30, 0.36))
        for s in (-1, 1)
    ]
    parts += [
        _Part((0.0, 0.20, 0.66), (0.0, 0.10, 0.72), 0.20, 0.20, (0.22, 0.21, 0.26)),
        _Part((0.0, -0.14, 0.68), (0.0, 0.02, 0.70), 0.12, 0.10, (0.80, 0.78, 0.74)),
    ]
    for side in (-0.20, 0.20):
        for y in (-0.26, 0.26):
            parts += _ring((side, y, 0.13), 0.115, 0.022)
            parts.append(_Part((side, y, 0.13), (side, -y * 0.7, 0.50), 0.014, 0.014, _STEEL))
        parts.append(_Part((side, -0.20, 0.60), (side, -0.46, 0.98), 0.014, 0.016, _DARK))
    parts.append(_Part((-0.20, -0.46, 0.98), (0.20, -0.46, 0.98), 0.018, 0.018, _DARK))
    return parts


def _cyclist(looks: _Looks) -> list[_Part]:
    """Return the parts of a bicycle and of who rides it."""
    crank, seat, head = (0.0, -0.06, 0.30), (0.0, -0.24, 0.86), (0.0, 0.36, 0.84)
    bars = [
        (crank, seat), (seat, head), (crank, head), (crank, (0.0, -0.52, 0.34)), (seat, (0.0, -0.52, 0.34)),
        (head, (0.0, 0.52, 0.34)),
    ]  # fmt: skip
    parts = [_Part(low, high, 0.020, 0.020, (0.20, 0.22, 0.26)) for low, high in bars]
    parts += [*_ring((0.0, -0.52, 0.34), 0.32, 0.022), *_ring((0.0, 0.52, 0.34), 0.32, 0.022)]
    parts += [
        _Part((-0.26, 0.36, 1.00), (0.26, 0.36, 1.00), 0.02, 0.02, _DARK),
        _Part(head, (0.0, 0.36, 1.0), 0.02, 0.02, _STEEL),
    ]
    parts += _head(looks, (0.0, 0.24, 1.60))
    back = ((0.0, -0.20, 1.0), (0.0, 0.12, 1.36))
    parts.append(_Part(*back, 0.115, 0.10, _CLOTH, PAINTED, (0.06, 0.10)))
    for side in (-1.0, 1.0):
        knee = (side * 0.10, 0.20 + 0.03 * side, 0.66 + 0.10 * side)
        foot = (side * 0.10, -0.04 + 0.06 * side, 0.26 + 0.13 * side)
        parts += [
            _Part((side * 0.09, -0.20, 0.93), knee, 0.095, 0.065, looks.legs),
            _Part(knee, foot, 0.062, 0.045, looks.legs),
            _Part(foot, (foot[0], foot[1] + 0.13, foot[2] - 0.02), 0.045, 0.035, _DARK),
            _Part((side * 0.18, 0.14, 1.37), (side * 0.25, 0.24, 1.13), 0.062, 0.05, _CLOTH, PAINTED),
            _Part((side * 0.25, 0.24, 1.13), (side * 0.24, 0.36, 1.03), 0.048, 0.04, _CLOTH, PAINTED),
        ]  # fmt: skip
    return parts


def _ring(at: Joint, radius: float, thick: float) -> list[_Part]:
    """Return an upright ring along the figure's way, of a radius and half a thickness in metres."""
    turn = np.linspace(0, 2 * np.pi, 17).tolist()
    joints = [(at[0], at[1] + radius * np.cos(a), at[2] + radius * np.sin(a)) for a in turn]
    return [_Part(low, high, thick, thick, _DARK) for low, high in pairwise(joints)]


def _blank() -> Surface:
    """Return an empty tile in the size in which figures are drawn."""
    return np.zeros((SIDE * _FINE, SIDE * _FINE, 4), np.float32)


def _draw(
    tile: Surface, parts: list[_Part], turn: float, place: tuple[int, int, int, int], scale: float
) -> None:
    """Draw a figure into a cell (left, bottom, width, height) of a tile, `turn` degrees off its front.

    `scale` is the number of texels in a metre.
    """
    a = np.radians(turn)
    right, near = np.array([-np.cos(a), np.sin(a), 0.0]), np.array([np.sin(a), np.cos(a), 0.0])
    left, bottom, wide, high = (one * _FINE for one in place)
    cell, scale = tile[bottom : bottom + high, left : left + wide], scale * _FINE

    def depth(part: _Part) -> float:
        """Return how near a part is to who looks, in metres."""
        middle = float((np.array(part.low) + part.high) @ near) / 2
        return middle + 0.3 * max(part.thick, part.thin) + 0.05 * (max(part.wide) > 0)

    for part in sorted(parts, key=depth):
        ends = (part.low, part.wide[0], part.thick), (part.high, part.wide[1], part.thin)
        discs = [
            (
                np.array([np.dot(end, right) + way * half * right[0], end[2]]) * scale + (wide / 2, 0),
                size * scale,
            )
            for end, half, size in ends
            for way in (-1.0, 1.0)
        ]
        # Rounded: from a dark rim to a light middle, which lies to the left and up.
        for share, light in ((1.0, 0.64), (0.80, 0.82), (0.52, 1.0)):
            colour = (*(tone * light for tone in part.colour), part.opacity)
            outline = _hull(discs, share)
            cv2.fillPoly(cell, [np.rint(outline * 16).astype(np.int32)], colour, cv2.LINE_8, 4)


def _hull(discs: list[tuple[Floats, float]], share: float) -> Floats:
    """Return the outline around discs (middle, radius), shrunk to a share, to the left and up."""
    ring = _CIRCLE * share + (1 - share) * np.array([-0.35, 0.25])
    points = np.concatenate([middle + ring * radius for middle, radius in discs])
    return np.asarray(cv2.convexHull(points.astype(np.float32)), float).reshape(-1, 2)


def _shrink(tile: Surface) -> Surface:
    """Return a tile in its own size, in which holes have the colours around them."""
    covered = (tile[..., 3:] > 0).astype(np.float32)
    share = cv2.resize(covered, (SIDE, SIDE), interpolation=cv2.INTER_AREA)[..., None]
    small = np.asarray(cv2.resize(tile * covered, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    small[..., :3] = np.where(share > 0, small[..., :3] / np.maximum(share, 1e-6), 0.25)
    return small
