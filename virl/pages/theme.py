"""The colours of the theme and of maps, for pictures and charts that are made without a browser."""

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
