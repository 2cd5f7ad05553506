"""The shell of a page: one HTML file from templates, with its style and script in it, that loads nothing.

A page's template extends `shell.html.j2` and fills its blocks `title` and `body`. Its style is the theme with
the parts that the page names; its script is in files beside the template. Whatever a template shows is
cleaned, and escaped but in Markdown. A content security policy holds a page to what it has.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jinja2 import BaseLoader, Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from virl.pages.map_svg import draw_svg, shape_svg
from virl.pages.theme import TEMPLATES
from virl.plain_text import plain_lines, plain_tree, shorten

SERVED_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of a page that is served with its style, script and data beside it."""


def content_policy(style: str, script: str, *, beside: bool = False) -> str:
    """Return a content security policy that allows a page its own style and script, and no other loads.

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
    """Return the hash of a text in the form of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


THEME = ("theme.css", "maps.css")
"""Names of the style files that all pages have."""

Functions = Mapping[str, Callable[..., object]]
"""Functions of templates by name."""


def open_templates(
    *folders: Path, filters: Functions | None = None, tests: Functions | None = None
) -> Environment:
    """Return the templates in some folders, with those that all pages share.

    Args:
        folders: where templates, styles and scripts are looked for, in this order.
        filters: what templates may use beside those of all pages, by name.
        tests: likewise, after `is`.
    """
    templates = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=select_autoescape(enabled_extensions=(), disabled_extensions=("md.j2",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    own = {"shorten": shorten, "paragraphs": paragraphs, "map_svg": draw_svg, "shape_svg": shape_svg}
    templates.filters |= {**own, **(filters or {})}
    templates.tests |= tests or {}
    return templates


def _plain(value: object) -> object:
    """Return a value for a template: texts without control and hidden characters, markup unchanged."""
    return plain_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def html_page(
    templates: Environment,
    name: str,
    context: Mapping[str, object],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: object = None,
    beside: bool = False,
) -> str:
    """Return a page as HTML with a content security policy that allows only its own style and script.

    Args:
        templates: where all its files are.
        name: of its template.
        context: what the template shows.
        styles: files of its style beside the theme and the style of maps, in their order.
        scripts: files of its script, put together.
        data: what its script reads, as JSON, in the element `data`; `None` for a page without.
        beside: whether pictures in files beside the page may be shown.
    """
    style, script = join_files(templates, (*THEME, *styles)), join_files(templates, scripts)
    shell = {
        "csp": content_policy(style, script, beside=beside),
        "style": Markup(style),  # noqa: S704 - our own files
        "script": Markup(script),  # noqa: S704 - our own files
        "data": None if data is None else Markup(script_json(data)),  # noqa: S704 - escaped for a script element
    }
    return templates.get_template(name).render(context, **shell)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which are separated by empty lines."""
    return [part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip()]


def join_files(templates: Environment, files: Sequence[str]) -> str:
    """Return the contents of files beside the templates as one text."""
    loader = templates.loader or BaseLoader()
    return "".join(loader.get_source(templates, file)[0] for file in files)
