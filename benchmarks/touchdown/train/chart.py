"""The loss curve of a training as a picture: one SVG file, drawn from its metrics."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from virl.pages.theme import colours

_WIDTH, _HEIGHT = 720.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 56.0, 40.0, 44.0
_LOSS, _TC = "c0", "c1"  # colours of the theme

Point = tuple[float, float]


def draw_curves(metrics: Sequence[Mapping[str, Any]], title: str) -> str:
    """Return an SVG chart of the loss by optimizer step, and of the dev split's task completion by epoch."""
    losses = [(line["step"], line["loss"]) for line in metrics if line["kind"] == "update"]
    scores = [(line["step"], 100 * line["tc"]) for line in metrics if line["kind"] == "dev"]
    last = max((step for step, _ in [*losses, *scores]), default=1)
    top = max((loss for _, loss in losses), default=1.0) or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">',
        f'<rect width="{_WIDTH:g}" height="{_HEIGHT:g}" fill="{colours()["card"]}"/>',
        '<g font-family="system-ui, sans-serif" font-size="13">',
        _draw_text(_WIDTH / 2, 22, title, "ink", "middle"),
        *_draw_axes(last, top),
        _draw_line([_to_point(step, loss, last, top) for step, loss in losses], _LOSS),
        _draw_line([_to_point(step, score, last, 100) for step, score in scores], _TC),
    ]
    parts += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours()[_TC]}"/>'
        for x, y in (_to_point(step, score, last, 100) for step, score in scores)
    ]
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _draw_axes(last: float, top: float) -> list[str]:
    """Return the SVG of the axes, for steps to `last` and losses to `top`."""
    parts = []
    for part in range(5):
        y = _to_point(0, part, last, 4)[1]
        parts.append(f'<path d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}" stroke="{colours()["line"]}"/>')
        parts.append(_draw_text(_LEFT - 6, y + 4, f"{top * part / 4:.3g}", _LOSS, "end"))
        parts.append(_draw_text(_WIDTH - _RIGHT + 6, y + 4, f"{25 * part}", _TC, "start"))
        x = _to_point(part, 0, 4, 1)[0]
        parts.append(_draw_text(x, _HEIGHT - _BOTTOM + 18, f"{last * part / 4:.4g}", "soft", "middle"))
    parts.append(_draw_text(_WIDTH / 2, _HEIGHT - 8, "optimizer steps", "soft", "middle"))
    parts.append(_draw_text(8, _TOP - 12, "loss", _LOSS, "start"))
    parts.append(_draw_text(_WIDTH - 8, _TOP - 12, "TC %", _TC, "end"))
    return parts


def _to_point(step: float, value: float, last: float, top: float) -> Point:
    """Return (x, y) on the chart of a step and a value, on axes that end at `last` and `top`."""
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / last
    return x, _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top


def _draw_line(points: Sequence[Point], colour: str) -> str:
    """Return the SVG of a line through points, in a named colour of the theme."""
    shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{shown}" fill="none" stroke="{colours()[colour]}" stroke-width="1.5"/>'


def _draw_text(x: float, y: float, words: str, colour: str, anchor: str) -> str:
    """Return the SVG of a text at (x, y), in a named colour of the theme."""
    where = f'x="{x:.1f}" y="{y:.1f}" fill="{colours()[colour]}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(words)}</text>"
