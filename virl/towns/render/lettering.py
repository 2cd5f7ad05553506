"""Signs: how large a texture one needs, its colours, and its letters."""

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from virl.errors import BadInput
from virl.pages.fonts import face_for, font, is_shaped
from virl.towns.plan.town_plan import Rgb, Sign

PIXELS_PER_M = 84
"""Texels a metre of a sign; chosen: a view shows 69 pixels a metre at 8 m."""
MAX_WIDTH = 768

_REFERENCE = 50
"""Font size at which texts are measured."""
_MARGIN, _LINE_MARGIN = 0.07, 0.16
"""Margins at each edge, as shares of a board's shorter side; more on a directory, whose lines touch."""
_TAGLINE_SHARE = 0.30
"""Share of a board's height for the tagline."""


SCHEMES: tuple[tuple[Rgb, Rgb], ...] = (
    ((0.08, 0.16, 0.34), (1.00, 0.98, 0.92)),  # navy, cream
    ((0.62, 0.09, 0.10), (1.00, 0.97, 0.90)),  # red, cream
    ((0.07, 0.32, 0.20), (0.98, 0.97, 0.88)),  # green, ivory
    ((0.95, 0.94, 0.90), (0.10, 0.10, 0.12)),  # white, black
    ((0.97, 0.80, 0.16), (0.12, 0.09, 0.08)),  # yellow, black
    ((0.10, 0.10, 0.11), (0.98, 0.82, 0.40)),  # black, gold
    ((0.94, 0.92, 0.86), (0.60, 0.07, 0.10)),  # ivory, red
    ((0.20, 0.10, 0.22), (0.98, 0.90, 0.96)),  # aubergine, pink
    ((0.05, 0.36, 0.44), (1.00, 1.00, 1.00)),  # teal, white
    ((0.30, 0.18, 0.10), (0.99, 0.92, 0.78)),  # brown, cream
    ((0.93, 0.95, 0.97), (0.06, 0.20, 0.48)),  # pale, blue
    ((0.86, 0.35, 0.05), (1.00, 1.00, 0.98)),  # orange, white
)
"""Colours of (board, letters), RGB."""

_STREET_SCHEME: tuple[Rgb, Rgb] = ((0.05, 0.17, 0.45), (0.99, 0.99, 0.99))
_SIGNPOST_SCHEME: tuple[Rgb, Rgb] = ((0.36, 0.20, 0.09), (0.99, 0.99, 0.97))
_PARK_SCHEME: tuple[Rgb, Rgb] = ((0.09, 0.28, 0.16), (0.99, 0.98, 0.90))


class _Fit(NamedTuple):
    """The size at which lines of text fill a rectangle."""

    size: float
    """Font size."""
    width: float
    """Width of the widest line at the reference size, pixels."""
    lines: tuple[str, ...]


def colours(sign: Sign) -> tuple[Rgb, Rgb]:
    """Return the colours of board and letters of a sign, each RGB in [0, 1]."""
    if sign.kind == "board":
        return _PARK_SCHEME
    if sign.kind == "plate":
        return _STREET_SCHEME
    if sign.kind == "signpost":
        return _SIGNPOST_SCHEME
    return SCHEMES[sign.variant // 5 % len(SCHEMES)]


def face_of(sign: Sign) -> str | None:
    """Return the font face of a sign; `None` where none can draw its text."""
    try:
        return face_for(sign.text + sign.tagline, sign.variant)
    except BadInput:
        return None


def drawn_text(sign: Sign) -> str:
    """Return the text that pictures show on a sign; empty where it is blank."""
    return sign.text if face_of(sign) else ""


def texture_size(sign: Sign) -> tuple[int, int]:
    """Return (width, height) of a sign's texture, texels."""
    wide = hypot(sign.right[0] - sign.left[0], sign.right[1] - sign.left[1])
    scale = min(PIXELS_PER_M, MAX_WIDTH / max(wide, 0.1))
    return max(8, round(wide * scale)), max(8, round((sign.top - sign.bottom) * scale))


def letter(sign: Sign) -> NDArray[np.uint8]:
    """Return the coverage of a sign's letters, [0, 255], row 0 at the bottom, shape (height, width)."""
    width, height = texture_size(sign)
    face = face_of(sign)
    if face is None:
        return np.zeros((height, width), np.uint8)
    picture = Image.new("L", (width, height))
    draw = ImageDraw.Draw(picture)
    margin = (_LINE_MARGIN if sign.kind == "directory" else _MARGIN) * min(width, height)
    room = (width - 2 * margin, height - 2 * margin)
    share = _TAGLINE_SHARE if sign.tagline else 0.0
    name_room = (room[0], room[1] * (1 - share))
    _write(draw, sign.text, face, (margin, margin), name_room)
    if sign.tagline:
        top = margin + name_room[1]
        _write(draw, sign.tagline, face, (margin, top + 0.04 * room[1]), (room[0], room[1] * (share - 0.04)))
    return np.ascontiguousarray(np.asarray(picture)[::-1])


def _write(
    draw: ImageDraw.ImageDraw, text: str, face: str, corner: tuple[float, float], room: tuple[float, float]
) -> None:
    """Draw a text in the middle of a rectangle, as large as fits."""
    fit = _fit((text,), face, room)
    if fit.width * fit.size > 0.98 * room[0] * _REFERENCE:  # one line leaves height to spare
        fit = max((_fit(lines, face, room) for lines in _breaks(text, face, room)), key=lambda fit: fit.size)
    size = max(int(fit.size), 6)
    chosen = font(face, size)
    step = room[1] / len(fit.lines)
    for row, line in enumerate(fit.lines):
        left, top, right, bottom = chosen.getbbox(line)
        x = corner[0] + (room[0] - (right - left)) / 2 - left
        y = corner[1] + step * row + (step - (bottom - top)) / 2 - top
        draw.text((x, y), line, font=chosen, fill=255)


def _breaks(text: str, face: str, room: tuple[float, float]) -> Iterator[tuple[str, ...]]:
    """Yield ways to break a text into lines."""
    words = text.split()
    yield (" ".join(words),)
    for cuts in range(1, min(3, len(words))):
        for places in combinations(range(1, len(words)), cuts):
            ends = (0, *places, len(words))
            yield tuple(" ".join(words[a:b]) for a, b in pairwise(ends))
    if room[1] > room[0] and len(words) == 1 and not text.isascii() and not is_shaped(face):
        yield tuple(text)


def _fit(lines: tuple[str, ...], face: str, room: tuple[float, float]) -> _Fit:
    """Return the size at which lines of text fit a rectangle of pixels."""
    boxes = [font(face, _REFERENCE).getbbox(line) for line in lines]
    wide = max(box[2] - box[0] for box in boxes) or 1
    high = max(box[3] - box[1] for box in boxes) or 1
    gaps = 1.0 if len(lines) == 1 else 1.18
    return _Fit(min(room[0] / wide, room[1] / (high * gaps * len(lines))) * _REFERENCE, wide, lines)
