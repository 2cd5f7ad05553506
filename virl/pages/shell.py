"""Pages of one HTML file, made from templates, that contain their style and script and load nothing.

A page's template extends `shell.html.j2` and fills its blocks `title` and `body`. Its style is the theme with
the parts that the page names; its script is in files beside the template. Whatever a template shows is
cleaned, and escaped but in Markdown. A content security policy keeps a page from loading anything else.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jinja2 import BaseLoader, Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from virl.pages.fonts import font_styles
from virl.pages.map_svg import draw_legend, draw_svg, shape_svg
from virl.pages.theme import TEMPLATES
from virl.plain_text import plain_lines, plain_tree, shorten

SERVED_POLICY = (
    "default-src 'none'; img-src 'self' data:; font-src data:; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of a page that is served with its style, script and data beside it."""


def content_policy(style: str, script: str, *, beside: bool = False) -> str:
    """Return the content security policy of a page with this style and script; `beside` adds picture files.

    Args:
        style: the whole text of the page's style element.
        script: the whole text of its script element.
        beside: True if pictures in files beside the page may be shown.
    """
    pictures = "data: 'self'" if beside else "data:"
    return (
        f"default-src 'none'; img-src {pictures}; font-src data:; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def script_json(data: object) -> str:
    """Return plain data as JSON that cannot end the script element it stands in."""
    text = json.dumps(plain_tree(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _digest(text: str) -> str:
    """Return the hash of a text as a content security policy has it, such as "sha256-..."."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


THEME = ("theme.css", "maps.css")
"""File names of the CSS styles that every page includes."""

# What stands for the policy and the style until all words of a page, and so its letters, are known: control
# characters, of which texts are cleaned.
_POLICY, _STYLE = Markup("\x01policy\x01"), Markup("\x01style\x01")

Functions = Mapping[str, Callable[..., object]]
"""Functions for templates, by name."""


def open_templates(
    *folders: Path, filters: Functions | None = None, tests: Functions | None = None
) -> Environment:
    """Return the environment of templates in `folders`, in this order, with further filters and tests."""

    def clean(value: object) -> object:
        """Return a text without control and hidden characters; markup and other values unchanged."""
        return plain_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    templates = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=select_autoescape(enabled_extensions=(), disabled_extensions=("md.j2",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=clean,
    )
    own = {"shorten": shorten, "paragraphs": paragraphs, "shape_svg": shape_svg}
    own |= {"map_svg": draw_svg, "map_legend": draw_legend}
    templates.filters |= {**own, **(filters or {})}
    templates.tests |= tests or {}
    return templates


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
    """Return template `name` as an HTML page that may load only its own styles and scripts, and hold `data`.

    Args:
        templates: the templates, with the page's styles and scripts beside them.
        name: the name of its template.
        context: the template's variables.
        styles: names of its style files, in order, beside those of all pages.
        scripts: names of its script files, in order.
        data: plain data for its script, as JSON in the element `data`; `None` for none.
        beside: True if pictures in files beside the page may be shown.
    """
    style, script = join_files(templates, (*THEME, *styles)), join_files(templates, scripts)
    shell = {
        "csp": _POLICY,
        "style": _STYLE,
        "script": Markup(script),  # noqa: S704 - our own files
        "data": None if data is None else Markup(script_json(data)),  # noqa: S704 - escaped for a script element
    }
    text = templates.get_template(name).render(context, **shell)
    style += font_styles(text)
    policy = str(escape(content_policy(style, script, beside=beside)))
    return text.replace(_POLICY, policy, 1).replace(_STYLE, style, 1)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which are separated by empty lines."""
    return [part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip()]


def join_files(templates: Environment, files: Sequence[str]) -> str:
    """Return the contents of files beside the templates as one text."""
    loader = templates.loader or BaseLoader()
    return "".join(loader.get_source(templates, file)[0] for file in files)
