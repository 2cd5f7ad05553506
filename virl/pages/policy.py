"""The content security policy of pages that need nothing beside themselves."""

import base64
import hashlib
import json

from virl.plain_text import plain_tree

SERVED_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A policy for a page that is served with its style, its script and its data beside it."""


def content_policy(style: str, script: str, *, beside: bool = False) -> str:
    """Return a policy under which a page runs its own style and script, and loads nothing.

    Args:
        style: all that stands in the page's style element.
        script: all that stands in its script element.
        beside: whether pictures in files beside the page may be shown.
    """
    pictures = "data: 'self'" if beside else "data:"
    return (
        f"default-src 'none'; img-src {pictures}; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def script_json(data: object) -> str:
    """Return plain text as JSON that cannot end the script element it stands in."""
    text = json.dumps(plain_tree(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _digest(text: str) -> str:
    """Return the hash of a text as a content security policy takes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
