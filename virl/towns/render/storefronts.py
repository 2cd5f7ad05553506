"""Signs: meshes of their boards, wires and portals, and the letters on them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import hypot
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from virl.errors import BadInput
from virl.geo.flat import line_strings
from virl.geo.globe import Floats, Ints
from virl.pages.fonts import face_for, font, is_shaped
from virl.towns.plan.town_plan import Point, Rgb, Sign, StreetPlan
from virl.towns.render.mesh import Quads, join, level, outward, quads, repeats, unit, upright
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
BRONZE: tuple[Rgb, Rgb] = ((0.19, 0.15, 0.10), (0.98, 0.93, 0.76))
"""Colour scheme of the signs of institutions."""

_SCHEME_OF: dict[str, tuple[Rgb, Rgb]] = {
    "plate": ((0.05, 0.17, 0.45), (0.99, 0.99, 0.99)),
    "signpost": ((0.36, 0.20, 0.09), (0.99, 0.99, 0.97)),
    "board": ((0.09, 0.28, 0.16), (0.99, 0.98, 0.90)),
}
"""Colour scheme of each kind of sign that always has the same."""


class _Fit(NamedTuple):
    """The font size at which lines of text fill a rectangle, and their width."""

    size: float
    """Font size in pixels."""
    width: float
    """Width of the widest line at the reference size, pixels."""
    lines: tuple[str, ...]


def colours(sign: Sign, *, is_bronze: bool = False) -> tuple[Rgb, Rgb]:
    """Return the colours of board and letters of a sign, each RGB in [0, 1]."""
    usual = BRONZE if is_bronze and sign.kind != "directory" else SCHEMES[sign.variant // 5 % len(SCHEMES)]
    return _SCHEME_OF.get(sign.kind, usual)


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
WIRE_M = 8.0
"""Largest length in metres of the wire from a plate to a house; where none is so near, there is a pole."""
KERB_M = 0.5
"""Distance in metres from the carriageway to a pole."""
POLE_M, POLE_PAINT = 0.07, (0.36, 0.37, 0.38)
"""Half the width of a pole, metres, and its paint."""
PORTAL_M = 0.4, 0.75  # how far it reaches beside and above a directory: over the lintel of a window; chosen
PORTAL_DEPTH_M = 0.075
"""Distance in metres from a directory's front back to the stone portal behind."""
PORTAL_DOOR_M = 1.15, 2.1  # width and height
STONE_M = 3.2
"""Side in metres of a tile of the stone's texture."""
PORTAL_PAINT, PORTAL_EDGE = (0.60, 0.58, 0.54), (0.50, 0.48, 0.45)


class Span(NamedTuple):
    """A wire with signs: height, ends and whether a pole stands at each, (east, north) in metres."""

    height: float
    ends: tuple[Point, Point]
    poles: tuple[bool, bool]


def spans_of(signs: Sequence[Sign], layout: StreetPlan) -> dict[str, Span]:
    """Return the wires of signs over streets, from house to house or pole, by the id of the highest sign."""
    top: dict[Point, Sign] = {}
    for one in signs:
        if one.kind in {"plate", "signpost"}:
            x, y = ((one.left[i] + one.right[i]) / 2 for i in range(2))
            spot = round(x, 1), round(y, 1)
            top[spot] = max(top.get(spot, one), one, key=lambda sign: sign.top)
    if not top:
        return {}
    hung = list(top.values())
    left, right = np.array([one.left for one in hung]), np.array([one.right for one in hung])
    middle = (left + right) / 2 - outward(left, right) * BOARD_DEPTH_M / 2
    high, along = np.array([one.top for one in hung]), unit(right - left)
    houses = [house for house in layout.buildings if house.base == 0]
    footprints = np.array([one.footprint for one in houses], object)
    heights = np.array([one.height for one in houses])
    lines = shapely.STRtree(line_strings(street.line for street in layout.streets))
    street = np.asarray(lines.nearest(shapely.points(middle)))
    pole = np.array([layout.streets[one].road / 2 + KERB_M for one in street.tolist()])
    ends, poles = [], []
    for side in (-along, along):
        reach = np.full(len(hung), np.inf)
        wires = np.asarray(shapely.linestrings(np.stack([middle, middle + side * WIRE_M], axis=1)))
        wire, house = shapely.STRtree(footprints).query(wires, predicate="intersects")
        wire, house = (part[heights[house] > high[wire]] for part in (wire, house))
        metres = shapely.distance(
            shapely.points(middle[wire]), shapely.intersection(wires[wire], footprints[house])
        )
        np.minimum.at(reach, wire, metres)
        poles.append(np.isinf(reach))
        ends.append(middle + side * np.where(np.isinf(reach), pole, reach)[:, None])
    return {
        one.id: Span(one.top, (tuple(a), tuple(b)), (c, d))
        for one, a, b, c, d in zip(
            hung, *(end.tolist() for end in ends), *(one.tolist() for one in poles), strict=True
        )
    }


def sign_mesh(
    signs: Sequence[Sign], numbers: Ints, spans: Mapping[str, Span], institutions: Collection[str] = ()
) -> Quads:
    """Return the quads of signs, and those of their boards and posts, which belong to no sign.

    Args:
        signs: of the town, or some of them.
        numbers: that of each sign among all of the town: its owner, and its texture after the tiles.
        spans: wires by the id of the highest sign on each.
        institutions: ids of the places whose signs are of bronze.
    """
    if not signs:
        return join([])
    left, right = np.array([s.left for s in signs]), np.array([s.right for s in signs])
    bottom, top = np.array([s.bottom for s in signs]), np.array([s.top for s in signs])
    kind = np.array([s.kind for s in signs])
    schemes = [colours(one, is_bronze=one.place_id in institutions) for one in signs]
    paint, ink = (np.array([scheme[i] for scheme in schemes]) for i in range(2))
    texture = len(TILE_SETS) + numbers
    out = outward(left, right)
    blade, board = kind == "blade", kind == "board"
    hung = (kind == "plate") | (kind == "signpost")
    front = upright(left, right, bottom, top)
    parts = [quads(front, texture=texture, paint=paint, ink=ink, owner=numbers)]
    back_left, back_right = right - out * BOARD_DEPTH_M, left - out * BOARD_DEPTH_M
    backs = upright(back_left, back_right, bottom, top)
    parts.append(
        quads(backs[blade], texture=texture[blade], paint=paint[blade], ink=ink[blade],
              owner=numbers[blade])
    )  # fmt: skip
    parts.append(quads(backs[board], paint=(0.45, 0.33, 0.22)))
    parts.append(quads(backs[hung], paint=(0.55, 0.56, 0.58)))
    parts.append(_wires([spans[one.id] for one in signs if one.id in spans]))
    rim = paint * 0.7
    parts.append(quads(upright(back_right, left, bottom, top), paint=rim))
    parts.append(quads(upright(right, back_left, bottom, top), paint=rim))
    outline = np.stack([left, right, back_left, back_right], axis=1)
    parts.append(quads(level(outline, bottom)[:, [1, 0, 3, 2]], paint=rim))
    parts.append(quads(level(outline, top), paint=rim))
    along = unit(right - left)
    for at in (left + along * 0.25, right - along * 0.25):
        foot = (at - out * BOARD_DEPTH_M / 2)[board]
        for a in (0.0, 90.0, 180.0, 270.0):
            turn = np.radians(a)
            o = out[board] * np.cos(turn) + along[board] * np.sin(turn)
            side = np.stack([-o[:, 1], o[:, 0]], axis=1) * 0.06
            post = upright(foot + o * 0.06 - side, foot + o * 0.06 + side, 0.0, top[board] + 0.1)
            parts.append(quads(post, paint=(0.42, 0.31, 0.20)))
    return join([*parts, _portals(signs)])


def _wires(spans: Sequence[Span]) -> Quads:
    """Return the quads of wires over streets and of their poles."""
    if not spans:
        return join([])
    a, b = (np.array([span.ends[i] for span in spans]) for i in range(2))
    high = np.array([span.height for span in spans])
    feet = np.array([end for span in spans for end, pole in zip(span.ends, span.poles, strict=True) if pole])
    tall = np.array([span.height + 0.15 for span in spans for pole in span.poles if pole])
    sides = upright(a, b, high - 0.05, high), upright(b, a, high - 0.05, high)
    parts = [quads(side, paint=(0.12, 0.12, 0.12)) for side in sides]
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * POLE_M
    faces = [(ring[k], ring[(k + 1) % 4]) for k in range(4 * bool(len(feet)))]
    parts += [quads(upright(feet + one, feet + other, 0.0, tall), paint=POLE_PAINT) for one, other in faces]
    return join(parts)


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
    out, along = outward(left, right), unit(right - left)
    top = np.minimum(high + PORTAL_M[1], FRONT_TOP_M)

    def panel(a: Floats, b: Floats, height: Floats, ahead: float) -> Floats:
        """Return upright rectangles before the wall, shape (n, 4, 3)."""
        back = out * (ahead - PORTAL_DEPTH_M)
        return upright(a + back, b + back, 0.0, height)

    first, last = left - along * PORTAL_M[0], right + along * PORTAL_M[0]
    uv = repeats(np.linalg.norm(last - first, axis=1) / STONE_M, top / STONE_M)
    stone = quads(panel(first, last, top, 0.0), uv=uv, texture=TILE_INDEX["wall/stone"], paint=PORTAL_PAINT)
    posts = (first, first + along * POST_M), (last - along * POST_M, last)
    edges = [quads(panel(a, b, top, 0.03), paint=PORTAL_EDGE) for a, b in posts]
    middle, has_door = (left + right) / 2, low >= PORTAL_DOOR_M[1]
    half = along * PORTAL_DOOR_M[0] / 2
    doors = panel(middle - half, middle + half, np.full(len(low), PORTAL_DOOR_M[1]), 0.02)[has_door]
    return join([stone, *edges, quads(doors, texture=TILE_INDEX["house door"], paint=PORTAL_EDGE)])
