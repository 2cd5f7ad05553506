"""Writing a narration down: `narration.json`, `narration.md`, `trajectory.svg` and `narration.html`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import shapely
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from virl import __version__
from virl.files import write_whole
from virl.geo import Floats, LatLng, LocalFrame
from virl.narrate.narration import Narration

MARGIN, SMALLEST_M = 0.12, 8.0  # chosen: room around the way, as a share; a drawing is no smaller

_TEMPLATES = Path(__file__).parent / "templates"

Lines = Sequence[Sequence[LatLng]]


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


def write_narration(folder: Path, narration: Narration, streets: Lines = ()) -> Path:
    """Write the four files into a folder.

    Args:
        folder: where they go.
        narration: what is told.
        streets: centre lines to draw below the exact way; those far off are left out.

    Returns:
        The path of `narration.html`, one page that needs nothing beside itself.

    Raises:
        CannotWrite: the disk refuses.
    """
    drawing = _render("trajectory.svg.j2", **_layout(narration, streets))
    page = _render("narration.html.j2", told=narration, drawing=Markup(drawing))  # noqa: S704 - escaped above
    data = json.dumps(_as_data(narration), indent=2, ensure_ascii=False, allow_nan=False)
    for name, text in (
        ("narration.json", data),
        ("narration.md", _render("narration.md.j2", told=narration)),
        ("trajectory.svg", drawing),
        ("narration.html", page),
    ):
        write_whole(folder / name, text.encode("utf-8", "replace"), "narrate again")
    return folder / "narration.html"


def _render(template: str, **values: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(enabled_extensions=("html.j2", "svg.j2")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


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
    panels = [_panel("Exactly", points, turns)]
    shown = points
    if narration.drawing:
        drawn = _paper(narration.drawing.points)
        error = f"{narration.drawing.mean_error_m:.1f} m off on average"
        panels.append(_panel(f"As {narration.mind} draws it, {error}", drawn, (), beneath=points))
        shown = np.concatenate([points, drawn])
    low, high = shown.min(axis=0), shown.max(axis=0)
    size = max(float((high - low).max()) * (1 + 2 * MARGIN), SMALLEST_M)
    left, top = ((low + high) / 2 - size / 2).tolist()
    window = shapely.box(left, top, left + size, top + size)
    frame = LocalFrame(narration.walk.stops[0].position)
    return {
        "title": narration.walk.title,
        "panels": panels,
        "left": left,
        "top": top,
        "size": size,
        "streets": list(_streets(frame, streets, window)),
        "scale": _round_length(size / 4),
    }


def _panel(
    title: str,
    points: Floats,
    turns: Iterable[tuple[float, ...]],
    beneath: Floats | None = None,
) -> _Panel:
    (x0, y0), (x1, y1) = points[0].tolist(), points[-1].tolist()
    below = "" if beneath is None else _svg(beneath)
    return _Panel(title, _svg(points), below, tuple((x, y) for x, y in turns), (x0, y0), (x1, y1))


def _paper(points: Floats) -> Floats:
    return np.stack([points[:, 0], -points[:, 1]], axis=1)


def _streets(frame: LocalFrame, streets: Lines, window: shapely.Polygon) -> Iterable[str]:
    for street in streets:
        line = _paper(np.array([frame.point(position) for position in street]))
        if len(line) > 1 and window.intersects(shapely.LineString(line)):
            yield _svg(line)


def _svg(points: Floats) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _round_length(metres: float) -> float:
    """The longest of 1, 2, 5, 10, 20, 50 ... that fits."""
    power = 10.0 ** np.floor(np.log10(metres))
    return float(max(step * power for step in (1, 2, 5) if step * power <= metres))
