"""Colours, widths and shapes of maps for pictures made without a browser.

All colours stand in `theme.css` alone, for light and dark: pages, drawings, pictures and web maps take them
from there. The colour of paths is `--route`; `maps.css` says which paths and marks have another one.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
"""Folder of the templates, styles and scripts that pages share."""


@cache
def light_tokens() -> str:
    """Return a CSS rule that sets the theme's variables to the light colours."""
    rule, _, _ = (TEMPLATES / "theme.css").read_text(encoding="utf-8").partition("\n}\n")
    return f"{rule}\n}}\n"


@cache
def colours() -> Mapping[str, str]:
    """Return the light colours of the theme, `#rrggbb`, by variable name without dashes, such as "ink"."""
    return dict(re.findall(r"(?<![\w-])--([\w-]+): (#[0-9a-f]{6});", light_tokens()))


def rgb(name: str) -> tuple[int, int, int]:
    """Return the light colour of a variable, such as "ink", as (red, green, blue), each in [0, 255]."""
    red, green, blue = bytes.fromhex(colours()[name][1:])
    return red, green, blue


Shape = float | tuple[tuple[float, float], ...]
"""A shape of marks: the radius of a disc, or a polygon's corners around its point, in pixels."""
ROADS: Mapping[str, tuple[float, float]] = {"lane": (2.8, 1.2), "street": (4.4, 2.0), "main": (6.9, 3.0)}
"""Width of roads by kind, as (metres of ground, least pixels on the map); the wider of the two is drawn."""
CASING_PX = 1.0
"""Width of a road's edge in pixels."""
EDGES_UP_TO_M = 2.2
"""Most metres per pixel at which maps draw the edges of houses; beyond that, edges alone would show."""


@cache
def light_style() -> str:
    """Return the style sheet of maps, in the theme's light colours."""
    return light_tokens() + (TEMPLATES / "maps.css").read_text(encoding="utf-8")


@cache
def _colours_of_kinds() -> Mapping[str, str]:
    """Return the colour, `#rrggbb`, of each kind of path and mark, by the kind's name, a CSS class."""
    rules = (rule.rpartition(" { --dot: var(--") for rule in light_style().split("}"))
    return {
        kind.rpartition(".")[2]: colours()[token.removesuffix("); ")]
        for kinds, found, token in rules
        if found
        for kind in kinds.rpartition("*/")[2].split(", ")
    }


def colour_of(kind: str) -> str:
    """Return the colour, `#rrggbb`, of the last style class in `kind` that has one, else of the route."""
    known = _colours_of_kinds()
    return next((known[word] for word in reversed(kind.split()) if word in known), colours()["route"])


@cache
def shapes() -> Mapping[str, Shape]:
    """Return the shape of each mark by name, read from `templates/maps.js`."""
    script = (TEMPLATES / "maps.js").read_text(encoding="utf-8")
    found = re.search(r"const SHAPES = (\{.*?\});", script, re.DOTALL)
    table = json.loads(found[1]) if found else {}
    return {
        name: tuple((float(x), float(y)) for x, y in (pair.split(",") for pair in shape.split()))
        if isinstance(shape, str)
        else shape
        for name, shape in table.items()
    }
