"""The colours of the theme, for pictures and charts that are made without a browser."""

import re
from collections.abc import Mapping
from functools import cache

from virl.pages.shell import TEMPLATES


@cache
def colours() -> Mapping[str, str]:
    """Return the light colours of the theme as `#rrggbb`, by the names of its tokens without their dashes."""
    light, _, _ = (TEMPLATES / "theme.css").read_text(encoding="utf-8").partition("@media")
    return dict(re.findall(r"(?<![\w-])--([\w-]+): (#[0-9a-f]{6});", light))


def rgb(name: str) -> tuple[int, int, int]:
    """Return the light colour of a token as red, green and blue, each in [0, 255]."""
    red, green, blue = bytes.fromhex(colours()[name][1:])
    return red, green, blue
