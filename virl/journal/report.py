"""The report of a run, one HTML page that needs nothing beside itself, and what it shares with other pages.

Described in `docs/reference/run-folder.md`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TypeGuard
from urllib.parse import quote

from jinja2 import Environment

from virl.files.writing import write_whole
from virl.geo.globe import compass_word
from virl.journal.film import embed_views, is_named, key_files, moments, named_by, shown_views, view_of_end
from virl.journal.journal import RULES, SCRIPTED, booked_cost, paid_by, read_journal, read_result, total_cost
from virl.journal.reading import parts_of
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    NoteRecord,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.journal.share import SHARE, write_share
from virl.journal.signs import sign_crops
from virl.journal.story import (
    Chapter,
    Gap,
    Stretch,
    anchor_of,
    chapters,
    ending_of,
    facts,
    groups_of,
    heading_of,
    headline_of,
    is_eventful,
    is_list,
    is_rows,
    is_structured,
    kind_of,
    moments_of,
    question,
    reason_of,
    scalar,
    seen_in,
    sentences,
    shorten_story,
    steps_in,
    title_of,
    words,
)
from virl.journal.tool_results import told_result
from virl.journal.walk_map import AROUND, ground_of, walk_map
from virl.money.ledger import Ledger, paid_for
from virl.pages.exhibits import Exhibit, MapExhibit, MapPoint
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure, draw_map
from virl.pages.numbers import dollars, megabytes, price, show_duration, show_length
from virl.pages.page import draw_exhibits
from virl.pages.paper import Extent
from virl.pages.shell import html_page, open_templates
from virl.platform.city.city import City
from virl.registry import ROUTINES, import_errors
from virl.resources import data_folder, names_in
from virl.settings.model import read_settings

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
    """Return HTML of a Jinja template in the report's style; `beside` allows pictures in files beside it.

    Args:
        template: its name, in a folder or beside the report's.
        context: what the template shows.
        styles: files of its style beside the theme and that of the report.
        scripts: files of its script.
        data: what its script reads, as JSON; `None` for a page without.
        beside: whether pictures in files beside the page may be shown.
        folder: where templates, styles and scripts are looked for first.
    """
    styles = ("story.css", *styles)
    return html_page(
        _templates(folder), template, context, styles=styles, scripts=scripts, data=data, beside=beside
    )


@cache
def _templates(folder: Path) -> Environment:
    """Return the Jinja environment of a folder's templates and the report's, with the filters for units."""
    return open_templates(
        folder,
        TEMPLATES,
        filters={
            "metres": metres,
            "duration": _duration,
            "dollars": dollars,
            "price": price,
            "megabytes": megabytes,
            "moment": moment,
            "words": words,
            "scalar": scalar,
            "question": question,
            "alt": seen_in,
            "heading_of": heading_of,
            "anchor": anchor_of,
            "moments": moments,
            "moments_of": moments_of,
            "kinds_of": _kinds_of,
            "icon": _icon_of,
            "raw": lambda data: json.dumps(data, ensure_ascii=False, indent=2),
            "told_result": told_result,
            "reason_of": reason_of,
            "compass": compass_word,
            "sentences": sentences,
            "facts": facts,
            "kind": kind_of,
            "title_of": title_of,
            "beside": relative_address,
        },
        tests={
            "named": is_named,
            "note": lambda chapter: isinstance(chapter, NoteRecord),
            "gap": lambda chapter: isinstance(chapter, Gap),
            "stretch": lambda chapter: isinstance(chapter, Stretch),
            "listed": is_list,
            "rows": is_rows,
            "structured": is_structured,
        },
    )


def metres(length: float) -> str:
    """Return a length given in metres as text, such as `80 m`."""
    return show_length(length).replace(" ", "\N{NO-BREAK SPACE}")


def _duration(seconds: float) -> str:
    """Return a duration given in seconds as text, such as `5 min 10 s`."""
    return f"{seconds:.1f} s" if seconds < 10 else show_duration(seconds)


def moment(text: str) -> str:
    """Return an ISO 8601 time as text such as `3 May 2026, 12:30 UTC`; any other text as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    when = when.astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def _kinds_of(told: Sequence[Chapter]) -> list[str]:
    """Return the kinds of entries of a log, by which it is filtered: `step`, and topics of notes."""
    return list(dict.fromkeys(one.topic if isinstance(one, NoteRecord) else "step" for one in told))


@cache
def _icons() -> Mapping[str, tuple[str, str]]:
    """Return (topics of entries of a log, SVG path in a box of 24 by 24) of each icon, by its name."""
    table = json.loads((TEMPLATES / "icons.json").read_text(encoding="utf-8"))
    return {name: (row["topics"], row["path"]) for name, row in table.items()}


def _icon_of(topic: str) -> str:
    """Return the name of the icon for entries of a topic; the last one stands for topics that have none."""
    return next(
        (name for name, (topics, _) in _icons().items() if topic in topics.split()), list(_icons())[-1]
    )


def relative_address(path: str) -> str:
    """Return the URL path of a file in or below the page's folder; empty if the path leads elsewhere."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts:
        return ""
    return "./" + quote(pure.as_posix(), safe="/")


DrawPage = Callable[[Path, Sequence[AnyRecord], City | None], str]
"""A function that returns the HTML page of a run from its folder, its records and its city."""


def routine_page(start: StartRecord) -> DrawPage | None:
    """Return `draw_page` of `showing.py` in the package of a run's routine; `None` if it has none.

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
    """Return the name of a run's routine in the registry; empty for one that lay beside the character's file.

    A journal of an older version names the routine in the character, or an agent whose file does.
    """
    if start.routine is not None:
        return start.routine
    name = str(start.character.get("routine") or start.agent)
    if name in ROUTINES or name not in names_in("agents", ".yaml"):
        return name
    return str(read_settings(data_folder("agents") / f"{name}.yaml").data.get("routine") or name)


REPORT = "report.html"
CONSULTATION = "consultation"
"""Topic of the notes on consulted agents."""
MOST_STORY, MOST_PAGE = 700_000, 1_800_000
"""Most bytes of a report's HTML story, and of its page with all pictures; chosen: a page stays under 2 MB."""
STYLES, SCRIPTS = ("charts.css",), ("report.js", "maps.js", "tables.js")
"""Names of the report's own style sheets and scripts."""
MOST_CONTENTS = 12
"""Most entries of the contents of a page."""
BESIDE = Extent(aspect=1.09)
"""Extent of the map beside a picture, in its page and in the picture of a run. Chosen: as high as that."""
ACROSS = Extent(aspect=2.7)
"""Extent of the map alone in the picture of a run."""


def write_report(folder: Path, city: City | None = None) -> Path:
    """Write a run's `report.html`, finished or not; return its path. Without `city` its map has no streets.

    Raises:
        JournalBroken: the journal is missing or damaged.
        ModelUnavailable: the routine's own page cannot be drawn, since its module cannot be imported.
        CannotWrite: the page cannot be written.
    """
    path, records = folder / REPORT, read_journal(folder)
    page = _render(folder, records, city)
    _write_share_picture(folder, records, city)  # before the page, whose file tells that all is written
    write_whole(path, page.encode("utf-8", "replace"), "write the report again")
    return path


def _write_share_picture(folder: Path, records: Sequence[AnyRecord], city: City | None) -> None:
    """Write the picture that links to a run's page show; raise `CannotWrite` if it cannot be written."""
    start, steps = start_of(records), [one for one in records if isinstance(one, StepRecord)]
    end = end_of(records)
    result = end.result if end else None
    told = [one for one in records if isinstance(one, StepRecord | NoteRecord)]
    view = view_of_end(shown_views(told), result)
    eventful = [step for step in steps if is_eventful(step)]
    figure, _ = run_map(steps, eventful, end, ground_of(city), BESIDE if view else ACROSS)
    about = f"{start.who} in {city.title if city else start.city}"
    headline = headline_of(read_result(folder, result) or result if result else None)[0]
    write_share(folder, headline, about, view.file if view else "", figure)


def render_report(folder: Path, city: City | None = None) -> str:
    """Return the HTML of a run's report, drawn by its routine if that draws its own, without writing it.

    Raises:
        JournalBroken: the journal is missing or damaged.
        ModelUnavailable: the routine's own page cannot be drawn, since its module cannot be imported.
    """
    return _render(folder, read_journal(folder), city)


def _render(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    """Return the HTML of a run's report, drawn by its routine if that draws its own."""
    draw = routine_page(start_of(records)) or _draw
    return draw(folder, records, city)


def _draw(folder: Path, records: Sequence[AnyRecord], city: City | None) -> str:
    """Return the standard report of a run as HTML: result, view, map, filmstrip, reasons, exhibits, log."""
    return page("report.html.j2", story_context(folder, records, city), styles=STYLES, scripts=SCRIPTS)


def story_context(folder: Path, records: Sequence[AnyRecord], city: City | None) -> dict[str, object]:
    """Return the variables of the report's template by name.

    Args:
        folder: of the run.
        records: of its journal.
        city: where it took place; `None` where it is not known.
    """
    steps = [record for record in records if isinstance(record, StepRecord)]
    every = list(chapters([one for one in records if isinstance(one, StepRecord | NoteRecord)]))
    told, size = shorten_story(every, MOST_STORY)
    end = end_of(records)
    end_view = view_of_end(shown_views(every), end.result if end else None)
    views = shown_views(told)
    if end_view and end_view not in views:
        views.append(end_view)
    keys = key_files(views, end_view)
    titles = moments_of(every)
    figure, spots = run_map(steps, told, end, ground_of(city), BESIDE if end_view else AROUND)
    others = [exhibit for exhibit in (end.exhibits if end else ()) if exhibit is not spots]
    context = report_context(folder, records, city, steps, others)
    return context | {
        "map": figure,
        "spots": spots,
        "chapters": told,
        "groups": groups_of(told, max(4, MOST_CONTENTS - len(others))),
        "keys": keys,
        "end_view": end_view,
        "end_at": next((titles[one.seq] for one in every if _has(one, end_view)), ""),
        "pictures": embed_views(folder, views, keys, (MOST_PAGE - size) * 3 // 4),
        "signs": sign_crops(folder, told, end.result if end else None),
    }


def _has(chapter: Chapter, view: ViewRecord | None) -> TypeGuard[StepRecord | NoteRecord]:
    """Return whether a chapter is a step or note with this view."""
    return isinstance(chapter, StepRecord | NoteRecord) and view in chapter.views


def run_map(
    steps: Sequence[StepRecord],
    told: Sequence[Chapter],
    end: EndRecord | None,
    ground: MapGround,
    extent: Extent = AROUND,
) -> tuple[MapFigure | None, MapExhibit | None]:
    """Return (the map of a run, or `None`; the exhibit whose points are drawn on it, or `None`).

    Args:
        steps: of the run; without any, the map is that of its result.
        told: the chapters of its story, whose steps have marks.
        end: the run's last record; `None` for one that has not ended.
        ground: streets and houses of the city.
        extent: how much ground is shown around a walk.
    """
    maps = [one for one in (end.exhibits if end else ()) if isinstance(one, MapExhibit) and one.points]
    spots = maps[0] if len(maps) == 1 else None
    if not steps:
        figure = draw_map(maps[0], ground, extent=extent) if maps else None
        return figure, maps[0] if maps else None
    place = end.result.place if end else None
    known = {one.id for step in steps for one in step.places}
    if place and not spots and place.id not in known:
        pick = MapPoint(lat=place.lat, lng=place.lng, label=place.name, style="pick")
        spots = MapExhibit(title="", points=(pick,))
    marked = [step for one in told for step in steps_in(one)]
    label = "End" if end else "So far"
    return walk_map(steps, ground, spots, end=label, marked=marked, extent=extent), spots


def report_context(
    folder: Path,
    records: Sequence[AnyRecord],
    city: City | None,
    steps: Sequence[StepRecord],
    exhibits: Sequence[Exhibit] | None = None,
) -> dict[str, object]:
    """Return the variables of the report's template by name that do not depend on how its story is told.

    Args:
        folder: the run's.
        records: of its journal.
        city: where it took place.
        steps: the walk that is shown: its own, or that of an agent that it consulted.
        exhibits: that are shown; by default all of the result.
    """
    start = start_of(records)
    own = [record for record in records if isinstance(record, StepRecord)]
    notes = [record for record in records if isinstance(record, NoteRecord)]
    end = end_of(records)
    result = end.result if end else None
    told = read_result(folder, result) if result else None
    shown = exhibits if exhibits is not None else end.exhibits if end else ()
    return {
        "start": start,
        "steps": steps,
        "notes": notes,
        "who": start.who,
        "where": city.title if city else start.city,
        "notice": city.notice if city else result.notice if result else "",
        "left_out": result.left_out if result else city.left_out.omissions() if city else (),
        "character": start.character,
        "result": result,
        "truth": told.truth if told else None,
        "headline": headline_of(told or result),
        "ending": ending_of(told or result),
        "share": SHARE,
        "cost": cost_so_far(folder, records) if result is None else result.cost,
        "by_rules": start.mind == RULES,
        "by_script": start.mind.startswith(SCRIPTED),
        "parts": parts_of(records),
        "moves": own[-1].step if own else 0,
        "walked": sum(step.distance_m for step in steps),
        "consulted": {
            note.key: relative_address(page_of)
            for note in notes
            if note.topic == CONSULTATION
            and relative_address(page_of := f"{note.data.get('folder')}/{REPORT}")
            and (folder / page_of).is_file()
        },
        "spots": None,
        "groups": (),
        "keys": frozenset(),
        "end_view": None,
        "signs": (),
        "said": named_by(result),
        "icons": _icons(),
        "exhibits": draw_exhibits(shown, ground_of(city)),
    }


def cost_so_far(folder: Path, records: Sequence[AnyRecord]) -> CostRecord:
    """Return the cost so far of a run that has not ended, by its records and its book of payments."""
    recorded, book = total_cost(records), Ledger()
    for told in (paid_for(folder), paid_by(recorded)):
        book.catch_up(told)
    return booked_cost(recorded, book.payments())


def start_of(records: Sequence[AnyRecord]) -> StartRecord:
    """Return the start record among a journal's records."""
    return next(record for record in records if isinstance(record, StartRecord))


def end_of(records: Sequence[AnyRecord]) -> EndRecord | None:
    """Return the record of a run's end among a journal's records; `None` if the run has not ended."""
    return next((record for record in records if isinstance(record, EndRecord)), None)
