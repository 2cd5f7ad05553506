"""The pages of runs: their shell, how templates write what a journal holds, and pages that routines draw."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from unicodedata import east_asian_width
from urllib.parse import quote

from jinja2 import Environment
from pydantic import ConfigDict

from virl.geo.globe import compass_word
from virl.journal.records import AnyRecord, NoteRecord, StartRecord
from virl.journal.story import (
    Gap,
    Stretch,
    by_weight,
    facts,
    heading_of,
    is_list,
    is_rows,
    is_structured,
    kind_of,
    question,
    scalar,
    seen_in,
    sentences,
    title_of,
    words,
)
from virl.pages.numbers import dollars, megabytes
from virl.pages.shell import html_page, open_templates
from virl.platform.city.city import City
from virl.registry import ROUTINES, import_errors
from virl.resources import data_folder, names_in
from virl.settings.model import Settings, load_settings

TEMPLATES = Path(__file__).parent / "templates"


def page(
    template: str,
    context: Mapping[str, object],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: object = None,
    beside: bool = False,
    folder: Path = TEMPLATES,
) -> str:
    """Return a page as HTML, in the style of the report.

    Args:
        template: its name, in a folder or beside the report's.
        context: what the template shows.
        styles: files of its style beside the theme and that of the report.
        scripts: files of its script.
        data: what its script reads, as JSON; `None` for a page without.
        beside: whether pictures in files beside the page may be shown.
        folder: where templates, styles and scripts are looked for first.
    """
    return html_page(
        _templates(folder),
        template,
        context,
        styles=("story.css", *styles),
        scripts=scripts,
        data=data,
        beside=beside,
    )


@cache
def _templates(folder: Path) -> Environment:
    return open_templates(
        folder,
        TEMPLATES,
        filters={
            "metres": metres,
            "duration": _duration,
            "dollars": dollars,
            "megabytes": megabytes,
            "moment": moment,
            "words": words,
            "scalar": scalar,
            "question": question,
            "alt": seen_in,
            "heading_of": heading_of,
            "ems": _ems,
            "by_weight": by_weight,
            "compass": compass_word,
            "sentences": sentences,
            "facts": facts,
            "kind": kind_of,
            "title_of": title_of,
            "beside": relative_address,
        },
        tests={
            "note": lambda chapter: isinstance(chapter, NoteRecord),
            "gap": lambda chapter: isinstance(chapter, Gap),
            "stretch": lambda chapter: isinstance(chapter, Stretch),
            "listed": is_list,
            "rows": is_rows,
            "structured": is_structured,
        },
    )


def metres(length: float) -> str:
    """Return a length as people write it."""
    return f"{length:.0f}\N{NO-BREAK SPACE}m" if length < 1000 else f"{length / 1000:.2f}\N{NO-BREAK SPACE}km"


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def moment(text: str) -> str:
    """Return an ISO 8601 time as people write it; any other text as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    when = when.astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def _ems(text: str) -> float:
    """Return about how wide a line of text is, with a little room at its ends, in its font's size."""
    return 0.7 + sum(1.0 if east_asian_width(letter) in "WF" else 0.62 for letter in text)


def relative_address(path: str) -> str:
    """Return the address of a file in the page's folder or below; empty if the path leads elsewhere."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts:
        return ""
    return "./" + quote(pure.as_posix(), safe="/")


DrawPage = Callable[[Path, Sequence[AnyRecord], City | None], str]
"""A function that draws the HTML of a run from its folder, its records and its city."""


class _AgentFile(Settings):
    """The field of an agent's file that tells its routine."""

    model_config = ConfigDict(extra="ignore")

    routine: str = ""


def routine_page(start: StartRecord) -> DrawPage | None:
    """Return the function `draw_page` in the `showing.py` of a run's routine; `None` if there is none.

    Raises:
        BadInput: two packages give the routine's name.
        ModelUnavailable: the module cannot be imported; names the fault.
    """
    name = routine_name(start)
    if name not in ROUTINES:
        return None
    package = ROUTINES.module(name).rpartition(".")[0]
    if not package:
        return None
    module = f"{package}.showing"
    with import_errors(f"routine {name!r} of {ROUTINES.giver(name)}"):
        showing = import_module(module) if find_spec(module) else None
    draw: DrawPage | None = getattr(showing, "draw_page", None)
    return draw


def routine_name(start: StartRecord) -> str:
    """Return the routine of a run, as the registry names it.

    Empty for one that lay beside the character's file.

    A journal that does not say it names the routine in the character, or an agent whose file does.
    """
    if start.routine is not None:
        return start.routine
    name = str(start.character.get("routine") or start.agent)
    if name in ROUTINES or name not in names_in("agents", ".yaml"):
        return name
    return load_settings(data_folder("agents") / f"{name}.yaml", _AgentFile).routine or name
