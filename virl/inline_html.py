"""Small pieces of HTML for notebooks: a card of facts, a table, a map.

They need no script, no style sheet and no network, and take the colour of the page's text, light or dark. All
texts are escaped here.
"""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
import shapely

from virl.geo import LatLng, LocalFrame
from virl.plain_text import plain_line

# The looks of a map, in pixels; all chosen.
ACROSS = 560.0
HIGHEST = 420.0
ROOM = 24.0
SMALLEST_M = 120.0
"""Metres that a map shows at least."""
FINE = 0.4
"""Bends smaller than this are not drawn."""
_PATH, _DOT = "#2563eb", "#c2410c"

Line = Sequence[LatLng]


def card(
    title: str, facts: Iterable[tuple[str, object]], *, picture: str = "", notes: Iterable[str] = ()
) -> str:
    """A title, facts by name, a picture and notes below it.

    Args:
        title: text.
        facts: a name and a value each; facts without a value are left out.
        picture: markup, as `map_svg` or `table` gives it.
        notes: texts; empty ones are left out.
    """
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{_text(name)}</th>'
        f'<td style="text-align: left">{_text(value)}</td></tr>'
        for name, value in facts
        if value not in (None, "")
    )
    small = "".join(f"<p><small>{_text(note)}</small></p>" for note in notes if note)
    facts_table = f"<table>{rows}</table>" if rows else ""
    return f"<div><p><strong>{_text(title)}</strong></p>{picture}{facts_table}{small}</div>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts and numbers, as markup."""
    head = "".join(f'<th scope="col">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def map_svg(title: str, *, streets: Sequence[Line] = (), path: Line = (), dots: Sequence[LatLng] = ()) -> str:
    """A map with north up, as SVG markup; empty if there is nothing on it.

    Args:
        title: what it shows, for those who do not see it.
        streets: centre lines; with a path, those far from it are left out.
        path: a way; its start is drawn as a ring, its end as a disc.
        dots: places.
    """
    shown = [*path, *dots] or [position for line in streets for position in line]
    if not shown:
        return ""
    frame = LocalFrame(shown[0])
    points = _flat(frame, shown)
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = np.maximum(high - low, SMALLEST_M)
    pixel = max(wide / (ACROSS - 2 * ROOM), tall / (HIGHEST - 2 * ROOM))
    width, height = wide / pixel + 2 * ROOM, tall / pixel + 2 * ROOM
    corner = (low + high) / 2 - np.array([width, height]) * pixel / 2

    def placed(line: Line) -> shapely.LineString:
        return shapely.LineString((_flat(frame, line) - corner) / pixel)

    sheet = shapely.box(0, 0, width, height)
    near = [way for line in streets if len(line) > 1 and sheet.intersects(way := placed(line))]
    spots = (_flat(frame, dots) - corner) / pixel if dots else ()
    parts = [
        f'<path d="{_data(near)}" stroke="currentColor" stroke-opacity="0.35" stroke-width="2"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_DOT}"/>' for x, y in spots),
    ]
    if path:
        way = placed(path if len(path) > 1 else [*path, *path])
        (x0, y0), (x1, y1) = way.coords[0], way.coords[-1]
        parts += [
            f'<path d="{_data([way])}" stroke="{_PATH}" stroke-width="4" stroke-linejoin="round"/>',
            f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="6" fill="{_PATH}"/>',
            f'<circle cx="{x0:.1f}" cy="{y0:.1f}" r="6" fill="#ffffff" stroke="{_PATH}" stroke-width="3"/>',
        ]
    across = f"{width * pixel:,.0f} m across, north up"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width: 100%; height: auto" fill="none">'
        f"<title>{_text(title)}, {across}</title>{''.join(parts)}</svg><p><small>{across}</small></p>"
    )


def length_m(line: Line) -> float:
    """Metres along a line."""
    return float(np.hypot(*np.diff(_flat(LocalFrame(line[0]), line), axis=0).T).sum()) if line else 0.0


def _flat(frame: LocalFrame, line: Line) -> np.ndarray:
    """Metres to the east and to the south, shape (n, 2)."""
    degrees = np.array(line, float)
    east, north = frame.to_metres(degrees[:, 0], degrees[:, 1])
    return np.column_stack([east, -north])


def _data(ways: Sequence[shapely.LineString]) -> str:
    """Path data, without the smallest bends."""
    simple = shapely.simplify(np.array(ways, object), FINE).tolist() if ways else []
    return "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in way.coords) for way in simple)


def _text(value: object) -> str:
    return escape(plain_line(str(value)))
