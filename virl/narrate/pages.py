"""Writing a narration down: `narration.json`, `narration.md`, `trajectory.svg` and `narration.html`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from virl.drawing.paper import Extent, lay_out, svg_points
from virl.drawing.shell import html_page, open_templates
from virl.files import write_whole
from virl.geo import Floats, LatLng, LocalFrame
from virl.narrate.narration import Narration
from virl.version import __version__

# The looks of a drawing, all chosen.
MARGIN = 0.12  # room around the way, as a share of its length or width
SMALLEST_M = 8.0
DECIMALS = 2

Lines = Sequence[Sequence[LatLng]]


@cache
def _templates() -> Environment:
    """Compiled once a process."""
    return open_templates(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True)
class _Panel:
    """One drawing, in metres, x to the east and y to the south."""

    title: str
    path: str
    """SVG points."""
    beneath: str
    """SVG points of what is drawn faintly below it; may be empty."""
    turns: tuple[tuple[float, float], ...]
    start: tuple[float, float]
    end: tuple[float, float]


def write_narration(folder: Path, narration: Narration, streets: Lines = (), notice: str = "") -> Path:
    """Write the four files into a folder.

    Args:
        folder: where they go.
        narration: what is told.
        streets: centre lines to draw below the exact way; those far off are left out.
        notice: what the page has to say of the city, as `City.notice` does.

    Returns:
        The path of `narration.html`, one page that needs nothing beside itself.

    Raises:
        CannotWrite: the disk refuses.
    """
    templates = _templates()
    layout = _layout(narration, streets) | {"notice": notice}
    drawing = templates.get_template("trajectory.svg.j2").render(layout)
    page = html_page(
        templates,
        "narration.html.j2",
        {
            "told": narration,
            "drawing": Markup(drawing),  # noqa: S704 - escaped above
            "panels": 2 if narration.drawing else 1,
            "notice": notice,
        },
        styles=("base.css", "maps.css", "narration.css"),
    )
    data = json.dumps(
        _as_data(narration) | ({"notice": notice} if notice else {}),
        indent=2,
        ensure_ascii=False,
        allow_nan=False,
    )
    for name, text in (
        ("narration.json", data),
        ("narration.md", templates.get_template("narration.md.j2").render(told=narration, notice=notice)),
        ("trajectory.svg", drawing),
        ("narration.html", page),
    ):
        write_whole(folder / name, text.encode("utf-8", "replace"), "narrate again")
    return folder / "narration.html"


def _as_data(narration: Narration) -> dict[str, object]:
    walk, drawing = narration.walk, narration.drawing
    return {
        "title": walk.title,
        "virl": __version__,
        "mind": narration.mind,
        "start": {"pano_id": walk.stops[0].pano_id, "heading": walk.heading},
        "metres": sum(stop.walked for stop in walk.stops[1:]),
        "stops": [
            {
                "pano_id": stop.pano_id,
                "lat": stop.position.lat,
                "lng": stop.position.lng,
                "crossing": stop.crossing,
            }
            for stop in walk.stops
        ],
        "exact": {"sentences": list(narration.exact), "legs": [asdict(leg) for leg in narration.legs]},
        "history": [asdict(entry) for entry in narration.entries],
        "model": {
            "instruction": narration.instruction,
            "drawing": None if drawing is None else asdict(drawing) | {"points": drawing.points.tolist()},
        },
        "notes": list(narration.notes),
        "cost": {
            "usd": sum(exchange.usd for exchange in narration.asked),
            "input_tokens": sum(exchange.input_tokens for exchange in narration.asked),
            "output_tokens": sum(exchange.output_tokens for exchange in narration.asked),
        },
    }


def _layout(narration: Narration, streets: Lines) -> dict[str, object]:
    points = _paper(narration.walk.points())
    turns = [tuple(points[leg.first].tolist()) for leg in narration.legs[1:]]
    panels = [_panel("The walk", points, turns)]
    shown = points
    if narration.drawing:
        drawn = _paper(narration.drawing.points)
        error = f"{narration.drawing.mean_error_m:.1f} m off on average"
        panels.append(_panel(f"As {narration.mind} draws it, {error}", drawn, (), beneath=points))
        shown = np.concatenate([points, drawn])
    margin = float(np.ptp(shown, axis=0).max()) * MARGIN
    extent = Extent(aspect=1.0, margin_m=margin, smallest_m=SMALLEST_M, beyond=0.0, scale=1 / 4)
    frame = LocalFrame(narration.walk.stops[0].position)
    paper = lay_out(frame, shown.tolist(), streets, extent=extent, decimals=DECIMALS)
    return {"title": narration.walk.title, "panels": panels, "paper": paper}


def _panel(
    title: str,
    points: Floats,
    turns: Iterable[tuple[float, ...]],
    beneath: Floats | None = None,
) -> _Panel:
    (x0, y0), (x1, y1) = points[0].tolist(), points[-1].tolist()
    below = "" if beneath is None else _line(beneath)
    return _Panel(title, _line(points), below, tuple((x, y) for x, y in turns), (x0, y0), (x1, y1))


def _paper(points: Floats) -> Floats:
    return np.stack([points[:, 0], -points[:, 1]], axis=1)


def _line(points: Floats) -> str:
    return svg_points(points.tolist(), DECIMALS)
