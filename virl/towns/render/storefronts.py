"""Signs: meshes of their boards, wires and portals, and the letters on them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from virl.errors import BadInput
from virl.geo.globe import Floats, Ints
from virl.pages.fonts import face_for, font, is_shaped
from virl.towns.plan.town_plan import Point, Rgb, Sign
from virl.towns.render.mesh import Quads, join, outward, quads, upright
from virl.towns.render.textures import TILE_INDEX, TILE_SETS

PIXELS_PER_M = 84
"""Number of texels in a metre of a sign; chosen: a view shows 69 pixels a metre at 8 m."""
MAX_WIDTH = 768

_REFERENCE = 50
"""Font size in pixels at which texts are measured."""
_MARGIN, _LINE_MARGIN = 0.07, 0.16
"""Margin at each edge as a share of a board's shorter side: of a plain board, of a directory's line."""
_TAGLINE_SHARE = 0.30
"""Share of a board's height that the tagline takes."""


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
"""Colour schemes of signs as (board, letters), each RGB."""

_STREET_SCHEME: tuple[Rgb, Rgb] = ((0.05, 0.17, 0.45), (0.99, 0.99, 0.99))
_SIGNPOST_SCHEME: tuple[Rgb, Rgb] = ((0.36, 0.20, 0.09), (0.99, 0.99, 0.97))
_PARK_SCHEME: tuple[Rgb, Rgb] = ((0.09, 0.28, 0.16), (0.99, 0.98, 0.90))


class _Fit(NamedTuple):
    """The font size at which lines of text fill a rectangle, and their width."""

    size: float
    """Font size in pixels."""
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
    """Yield ways to break a text into lines of words, one of them being a single line."""
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
    boxes = [_measure(line, face) for line in lines]
    wide = max(box[2] - box[0] for box in boxes) or 1
    high = max(box[3] - box[1] for box in boxes) or 1
    gaps = 1.0 if len(lines) == 1 else 1.18
    return _Fit(min(room[0] / wide, room[1] / (high * gaps * len(lines))) * _REFERENCE, wide, lines)


@lru_cache(maxsize=4096)  # a shop has the same words on its board and its blade
def _measure(line: str, face: str) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom of a line of text at the reference size, pixels."""
    return font(face, _REFERENCE).getbbox(line)


FRONT_TOP_M = 4.2
"""Height in metres of a shop front's top, just under the string course."""
POST_M = 0.22
BOARD_DEPTH_M = 0.12
WIRE_M = 13.0
"""Length in metres of the wires that plates hang on; chosen: a street with its pavements."""
PORTAL_M = 0.4, 0.75  # how far it reaches beside and above a directory: over the lintel of a window; chosen
PORTAL_DEPTH_M = 0.075
"""Distance in metres from a directory's front back to the stone portal behind."""
PORTAL_DOOR_M = 1.15, 2.1  # width and height
STONE_M = 3.2
"""Side in metres of a tile of the stone's texture."""
PORTAL_PAINT, PORTAL_EDGE = (0.60, 0.58, 0.54), (0.50, 0.48, 0.45)


def sign_mesh(signs: Sequence[Sign], numbers: Ints) -> Quads:
    """Return the quads of signs, and those of their boards and posts, which belong to no sign.

    Args:
        signs: of the town, or some of them.
        numbers: that of each sign among all of the town: its owner, and its texture after the tiles.
    """
    if not signs:
        return join([])
    left, right = np.array([s.left for s in signs]), np.array([s.right for s in signs])
    bottom, top = np.array([s.bottom for s in signs]), np.array([s.top for s in signs])
    kind = np.array([s.kind for s in signs])
    paint, ink = (np.array([colours(s)[i] for s in signs]) for i in range(2))
    texture = len(TILE_SETS) + numbers
    out = outward(left, right)
    blade, board, plate = kind == "blade", kind == "board", kind == "plate"
    hung = plate | (kind == "signpost")
    parts = [
        quads(upright(left, right, bottom, top), texture=texture, paint=paint, ink=ink, owner=numbers)
    ]  # fmt: skip
    back_left, back_right = right - out * BOARD_DEPTH_M, left - out * BOARD_DEPTH_M
    backs = upright(back_left, back_right, bottom, top)
    parts.append(
        quads(backs[blade], texture=texture[blade], paint=paint[blade], ink=ink[blade],
              owner=numbers[blade])
    )  # fmt: skip
    parts.append(quads(backs[board], paint=(0.45, 0.33, 0.22)))
    parts.append(quads(backs[hung], paint=(0.55, 0.56, 0.58)))
    parts.append(_wires(left[plate], right[plate], out[plate], top[plate]))
    rim = paint * 0.7
    parts.append(quads(upright(back_right, left, bottom, top), paint=rim))
    parts.append(quads(upright(right, back_left, bottom, top), paint=rim))
    for z, order in ((bottom, [1, 0, 3, 2]), (top, [0, 1, 2, 3])):
        level = np.stack([left, right, back_left, back_right], axis=1)
        flat = np.concatenate([level, np.broadcast_to(z[:, None, None], (len(z), 4, 1))], axis=2)
        parts.append(quads(flat[:, order], paint=rim))
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    for at in (left + along * 0.25, right - along * 0.25):
        foot = (at - out * BOARD_DEPTH_M / 2)[board]
        for a in (0.0, 90.0, 180.0, 270.0):
            turn = np.radians(a)
            o = out[board] * np.cos(turn) + along[board] * np.sin(turn)
            side = np.stack([-o[:, 1], o[:, 0]], axis=1) * 0.06
            post = upright(foot + o * 0.06 - side, foot + o * 0.06 + side, 0.0, top[board] + 0.1)
            parts.append(quads(post, paint=(0.42, 0.31, 0.20)))
    return join([*parts, _portals(signs)])


def _wires(left: Floats, right: Floats, out: Floats, top: Floats) -> Quads:
    """Return the quads of the wires that plates hang on, across the street from house to house."""
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    middle, reach = (left + right) / 2 - out * BOARD_DEPTH_M / 2, along * WIRE_M / 2
    wires = [upright(middle - side, middle + side, top, top + 0.03) for side in (reach, -reach)]
    return join([quads(wire, paint=(0.12, 0.12, 0.12)) for wire in wires])


def _portals(signs: Sequence[Sign]) -> Quads:
    """Return the quads of the stone portals on which directories hang.

    There is a door where the board leaves room for one.
    """
    boards: dict[tuple[Point, Point], tuple[float, float]] = {}
    for sign in signs:
        if sign.kind == "directory":
            low, high = boards.get((sign.left, sign.right), (sign.bottom, sign.top))
            boards[sign.left, sign.right] = min(low, sign.bottom), max(high, sign.top)
    if not boards:
        return join([])
    left, right = (np.array([ends[i] for ends in boards]) for i in range(2))
    low, high = np.array(list(boards.values())).T
    out = outward(left, right)
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    top = np.minimum(high + PORTAL_M[1], FRONT_TOP_M)

    def panel(a: Floats, b: Floats, height: Floats, ahead: float) -> Floats:
        """Return upright rectangles before the wall, shape (n, 4, 3)."""
        back = out * (ahead - PORTAL_DEPTH_M)
        return upright(a + back, b + back, 0.0, height)

    first, last = left - along * PORTAL_M[0], right + along * PORTAL_M[0]
    wide = np.linalg.norm(last - first, axis=1) / STONE_M
    uv = np.stack([0 * wide, 0 * wide, wide, top / STONE_M], axis=1)
    stone = quads(panel(first, last, top, 0.0), uv=uv, texture=TILE_INDEX["wall/stone"], paint=PORTAL_PAINT)
    edges = [
        quads(panel(a, b, top, 0.03), paint=PORTAL_EDGE)
        for a, b in ((first, first + along * POST_M), (last - along * POST_M, last))
    ]
    middle, has_door = (left + right) / 2, low >= PORTAL_DOOR_M[1]
    half = along * PORTAL_DOOR_M[0] / 2
    doors = panel(middle - half, middle + half, np.full(len(low), PORTAL_DOOR_M[1]), 0.02)[has_door]
    return join([stone, *edges, quads(doors, texture=TILE_INDEX["house door"], paint=PORTAL_EDGE)])
