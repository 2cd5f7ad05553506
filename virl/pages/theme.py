"""Colours and looks of maps, read from `templates/theme.css` for pictures made without a browser.

All colours stand in `theme.css` alone, for light and dark: pages, drawings, pictures and web maps take them
from there. The colour of paths is `--route`; `maps.css` says which paths and marks have another one.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
"""The folder of the templates, styles and scripts that pages share."""


@cache
def light_tokens() -> str:
    """Return the CSS rule that sets the theme's tokens to its light colours."""
    rule, _, _ = (TEMPLATES / "theme.css").read_text(encoding="utf-8").partition("\n}\n")
    return f"{rule}\n}}\n"


@cache
def colours() -> Mapping[str, str]:
    """Return the light colours of the theme as `#rrggbb`, by the names of its tokens without their dashes."""
    return dict(re.findall(r"(?<![\w-])--([\w-]+): (#[0-9a-f]{6});", light_tokens()))


def rgb(name: str) -> tuple[int, int, int]:
    """Return the light colour of a token as red, green and blue, each in [0, 255]."""
    red, green, blue = bytes.fromhex(colours()[name][1:])
    return red, green, blue


Shape = float | tuple[tuple[float, float], ...]
"""Radius of a disc, or corners of a polygon around its place, pixels."""
ROADS: Mapping[str, tuple[float, float]] = {"lane": (2.8, 1.2), "street": (4.4, 2.0), "main": (6.9, 3.0)}
"""Width of each kind of road in metres, and the least in pixels: 4.5, 7 and 11 px where 1 m is 1.6 px."""
CASING_PX = 1.0
"""Pixels of the edge of a road."""
HOUSES_UP_TO_M = 2.2
"""Metres a pixel above which houses are not drawn: a scale of 1:8,000."""


@cache
def light_style() -> str:
    """Return the style sheet of maps, with the theme's light colours."""
    return light_tokens() + _map_style()


def _map_style() -> str:
    """Return the style sheet of maps."""
    return (TEMPLATES / "maps.css").read_text(encoding="utf-8")


@cache
def _colours_of_kinds() -> Mapping[str, str]:
    """Return the colour of each kind of path and mark, by the last class of the rules that set it."""
    rules = (rule.rpartition(" { --dot: var(--") for rule in _map_style().split("}"))
    return {
        kind.rpartition(".")[2]: colours()[token.removesuffix("); ")]
        for kinds, found, token in rules
        if found
        for kind in kinds.rpartition("*/")[2].split(", ")
    }


def colour_of(kind: str) -> str:
    """Return the colour of a kind of path or mark by its last word; else a route's."""
    known = _colours_of_kinds()
    return next((known[word] for word in reversed(kind.split()) if word in known), colours()["route"])


@cache
def shapes() -> Mapping[str, Shape]:
    """Return the shape of each mark, by name."""
    script = (TEMPLATES / "maps.js").read_text(encoding="utf-8")
    found = re.search(r"const SHAPES = (\{.*?\});", script, re.DOTALL)
    table = json.loads(found[1]) if found else {}
    return {name: _shape(written) for name, written in table.items()}


def _shape(written: float | str) -> Shape:
    """Return a shape as written in the script: a radius, or pairs of coordinates."""
    if isinstance(written, str):
        corners = [pair.split(",") for pair in written.split()]
        return tuple((float(x), float(y)) for x, y in corners)
    return written
