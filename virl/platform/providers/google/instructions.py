"""Street names in Google's instructions, which are asked for in English."""

import html
import re

LANGUAGE = "en"
"""Language that instructions are asked in."""

_ASIDE = re.compile(r"<div.*|\n.*", re.DOTALL)
"""Pattern of remarks after an instruction, such as "Destination will be on the right"."""
_TAG = re.compile(r"<[^<>]*>")
_STREET = re.compile(r"\b(?:onto|on|along) (?!the (?:left|right)\b)(.+?)(?: towards? .*)?$", re.IGNORECASE)
"""Pattern of the street name in an English instruction."""


def street_in(instruction: str) -> str:
    """Return the street name in an English instruction, text or HTML; empty where it has none.

    Args:
        instruction: as text or as HTML, such as `"Turn <b>left</b> onto <b>Camp St</b>"`.
    """
    text = html.unescape(_TAG.sub("", _ASIDE.sub("", instruction)))
    found = _STREET.search(" ".join(text.split()))
    return found[1] if found else ""
