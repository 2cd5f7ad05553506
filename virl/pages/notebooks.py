"""Small pieces of HTML for notebooks: a card of facts, a table, a map.

They need no script, no style sheet and no network. Cards and tables take the colour of the page's text, light
or dark. All texts are escaped here.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence

import numpy as np

from virl.geo.globe import LatLng, LocalFrame
from virl.pages.ground import ground_of_lines
from virl.pages.map_svg import draw_whole
from virl.pages.maps import MapPath, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Extent, lay_out, on_paper
from virl.plain_text import html_line


def card(
    title: str, facts: Iterable[tuple[str, object]], *, picture: str = "", notes: Iterable[str] = ()
) -> str:
    """Return an HTML card with a title, facts by name, a picture and notes.

    Args:
        title: the title.
        facts: (name, value) of each fact; facts without a value are left out.
        picture: HTML, as `map_image` or `table` returns it; may be empty.
        notes: texts in small print; empty ones are left out.
    """
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{html_line(name)}</th>'
        f'<td style="text-align: left">{html_line(value)}</td></tr>'
        for name, value in facts
        if value not in (None, "")
    )
    small = "".join(f"<p><small>{html_line(note)}</small></p>" for note in notes if note)
    facts_table = f"<table>{rows}</table>" if rows else ""
    return f"<div><p><strong>{html_line(title)}</strong></p>{picture}{facts_table}{small}</div>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the HTML of a table with column headings and rows of texts and numbers."""
    head = "".join(f'<th scope="col">{html_line(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{html_line(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def length_m(line: Sequence[LatLng]) -> float:
    """Return the length of a line of positions, metres."""
    if not line:
        return 0.0
    degrees = np.array(line, float)
    x, y = LocalFrame(line[0]).to_metres(degrees[:, 0], degrees[:, 1])
    return float(np.hypot(np.diff(x), np.diff(y)).sum())


# The looks of a map, all chosen.
ACROSS = 560.0
"""Width of a map in pixels."""
ASPECTS = (4 / 3, 2.5)  # least and greatest ratio of width to height
ROOM = 0.1  # margin as a share of the longer side of the lines shown
SMALLEST_M = 130.0
"""Least width of a map in metres."""

Line = Sequence[LatLng]
"""A line, as positions in degrees."""


def map_image(title: str, *, streets: Sequence[Line] = (), path: Line = ()) -> str:
    """Return a map of streets and a path as an HTML `img` element; empty if there is nothing to draw.

    Args:
        title: the title, for those who do not see the map.
        streets: centre lines of streets; with a path, those far from it are left out.
        path: positions of the path, with marks at its ends; may be empty.
    """
    shown = path or [position for line in streets for position in line]
    if not shown:
        return ""
    frame = LocalFrame(shown[0])
    points = [on_paper(frame, *position) for position in shown]
    wide, tall = np.ptp(points, axis=0).tolist()
    aspect = float(np.clip(wide / max(tall, 1.0), *ASPECTS))
    extent = Extent(aspect, margin_m=ROOM * max(wide, tall), smallest_m=SMALLEST_M, beyond=0.0)
    paper = lay_out(frame, points, ground_of_lines(streets), extent=extent, across=ACROSS)
    ends = [(points[0], "from"), (points[-1], "to")] if path else []
    marks = [Mark(*at, kind, kind, shape="pin") for at, kind in ends]
    figure = map_figure(title, paper, [MapPath(points)] if path else [], marks)
    data = b64encode(draw_whole([figure]).encode()).decode()
    words = f"{html_line(title)}, {paper.width:,.0f} m across, north up"
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{words}" style="max-width: 100%"/>'
