"""Small pieces of HTML for notebooks: a card of facts, a table.

They need no script, no style sheet and no network, and take the colour of the page's text, light or dark. All
texts are escaped here.
"""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from virl.geo.globe import LatLng, LocalFrame
from virl.plain_text import plain_line


def card(
    title: str, facts: Iterable[tuple[str, object]], *, picture: str = "", notes: Iterable[str] = ()
) -> str:
    """Return the HTML of a title, facts by name, a picture and notes.

    Args:
        title: text.
        facts: a name and a value each; facts without a value are left out.
        picture: markup, as `map_image` or `table` gives it.
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
    """Return the HTML of a table of texts and numbers."""
    head = "".join(f'<th scope="col">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def length_m(line: Sequence[LatLng]) -> float:
    """Return the length of a line of positions, metres."""
    if not line:
        return 0.0
    degrees = np.array(line, float)
    x, y = LocalFrame(line[0]).to_metres(degrees[:, 0], degrees[:, 1])
    return float(np.hypot(np.diff(x), np.diff(y)).sum())


def _text(value: object) -> str:
    """Return a value as escaped HTML text on one line."""
    return escape(plain_line(str(value)))
