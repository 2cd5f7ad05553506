"""The curves of a training as a picture: one SVG file, drawn from its log."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from virl.errors import BadInput
from virl.pages.theme import colours

WIDTH, HEIGHT = 720.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 16.0, 40.0, 44.0
TOKENS = {"class_loss": "c0", "box_loss": "c1"}
"""Names of the theme's colours by the loss that is drawn in them."""
TICKS = 4


def read_log(path: Path) -> list[Mapping[str, Any]]:
    """Return the lines of a training's log, one object for each step logged.

    Raises:
        BadInput: the file is missing, empty, or no such log.
    """
    try:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    except (OSError, ValueError) as fault:
        raise BadInput(f"{path}: no log of a training ({fault}): give its log.jsonl") from fault
    if not lines or any(not {"step", *TOKENS} <= line.keys() for line in lines):
        raise BadInput(f"{path}: no log of a training (no steps with losses): give its log.jsonl")
    return lines


def draw_curves(log: Sequence[Mapping[str, Any]]) -> str:
    """Return the losses over a training's steps as an SVG chart."""
    shade, last = colours(), log[-1]["step"]
    top = max(line[name] for line in log for name in TOKENS)
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}">',
        f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="{shade["card"]}"/>',
        f'<g font-family="system-ui, sans-serif" font-size="13" fill="{shade["soft"]}">',
    ]
    for tick in range(TICKS + 1):
        x, y = LEFT + wide * tick / TICKS, TOP + high * (1 - tick / TICKS)
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="{shade["line"]}"/>')
        parts.append(
            f'<text x="{LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{top * tick / TICKS:.2f}</text>'
        )
        step, below = f"{last * tick / TICKS:.0f}", HEIGHT - BOTTOM + 18
        parts.append(f'<text x="{x:.1f}" y="{below:g}" text-anchor="middle">{step}</text>')
    parts.append(f'<text x="{WIDTH / 2:g}" y="{HEIGHT - 8:g}" text-anchor="middle">steps</text>')
    for number, (name, token) in enumerate(TOKENS.items()):
        colour = shade[token]
        points = " ".join(
            f"{LEFT + wide * line['step'] / last:.1f},{TOP + high * (1 - line[name] / top):.1f}"
            for line in log
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        label = name.replace("_", " ")
        parts.append(f'<text x="{LEFT + 110 * number:g}" y="22" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])
