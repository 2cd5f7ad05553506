"""The page of a report: its tables, bars, maps and confusion matrices, and a page for every episode.

`report.html` needs nothing beside itself but the pages it links to; those show the pictures beside them. No
page runs a script.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment

from virl.bench.benchmark import Shown
from virl.bench.episode import Record
from virl.bench.files import FOLDER, slug
from virl.bench.report.charts import group_charts, heat, whole_rows
from virl.bench.report.maps import CityMap, city_map, color_of
from virl.bench.report.results import (
    Results,
    cost_line,
    shown_metrics,
    shown_number,
    shown_share,
    spent_line,
    split,
)
from virl.bench.report.runs import Gathered, KeptRun, reading_data
from virl.drawing.shell import html_page, open_templates
from virl.errors import BadInput
from virl.files import is_inside, is_there, replacing
from virl.journal.words import scalar
from virl.picture_reading import PictureFault, open_picture

PAGE = "report.html"
MOST_PAGES = 300
"""Episodes of a model in a city that get a page of their own; failed ones all do. Chosen."""

_STYLES = ("base.css", "bench.css")


@dataclass(frozen=True, slots=True)
class _Page:
    """An episode's page."""

    record: Record
    shown: Shown
    path: str
    """Relative to the report; empty if there is no such page."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The episodes of one model in one city."""

    run: KeptRun
    model: str
    city: str
    pages: tuple[_Page, ...]
    map: CityMap | None
    left_out: int
    """How many episodes have no page."""


@cache
def _templates() -> Environment:
    """Compiled once a process."""
    return open_templates(
        Path(__file__).parent / "templates",
        filters={
            "number": shown_number,
            "share": shown_share,
            "cost": cost_line,
            "spent_line": spent_line,
            "scalar": scalar,
            "color": color_of,
            "p_value": lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}",
        },
    )


def write_page(home: Path, gathered: Gathered, results: Results, own: Sequence[tuple[str, str]] = ()) -> Path:
    """Write `report.html` and the pages of its episodes into a folder, and give the first one's path.

    Args:
        home: the folder.
        gathered: the runs.
        results: what came of them.
        own: pages of the benchmark's own to link to: file beside the report, and text of the link.

    Raises:
        BadInput: a record names a picture that is not below its run's folder.
        CannotWrite: the disk refuses.
    """
    templates = _templates()
    sections = [section for run in gathered.runs for section in _sections(gathered, run)]
    for section in sections:
        for before, page, after in _neighbours(section.pages):
            context = {
                "results": results,
                "section": section,
                "page": page,
                "before": before,
                "after": after,
                "attribution": section.run.plan.cities[section.city].attribution,
                "map": city_map(section.run.plan.cities[section.city], [(page.shown, "")]),
                "pictures": _pictures(home, section.run, page),
                "links": _links(home, section.run, page),
            }
            text = html_page(templates, "episode.html.j2", context, styles=_STYLES, beside=True)
            _write(home / page.path, text)
    context = {
        "results": results,
        "sections": sections,
        "attributions": results.attributions,
        "own": own,
        "tables": [(part, shown_metrics(part)) for part in split(results)],
        "charts": group_charts(results),
        "heats": [(row, heat(table)) for row in whole_rows(results) for table in row.confusions],
    }
    _write(home / PAGE, html_page(templates, "report.html.j2", context, styles=_STYLES))
    return home / PAGE


def _sections(gathered: Gathered, run: KeptRun) -> Iterator[_Section]:
    for model, cities in run.plan.episodes.items():
        for city in cities:
            records = [one for one in run.records if (one.model, one.city) == (model, city)]
            pages = tuple(_pages(gathered, run, records))
            shown = [(page.shown, page.path) for page in pages]
            left_out = sum(not page.path for page in pages)
            drawn = city_map(run.plan.cities[city], shown)
            with_page = tuple(page for page in pages if page.path)
            yield _Section(run, model, city, with_page, drawn, left_out)


def _pages(gathered: Gathered, run: KeptRun, records: Sequence[Record]) -> Iterator[_Page]:
    done = 0
    for record in records:
        name = slug(f"{run.name}/{record.id}" if run.name else record.id)
        path = f"{FOLDER}/{name}/index.html"
        if not record.is_scored:
            yield _Page(record, Shown(f"failed: {record.reason}"), path)
            continue
        done += 1
        with reading_data(gathered.benchmark, run):
            shown = gathered.benchmark.show(record)
        yield _Page(record, shown, path if done <= MOST_PAGES else "")


def _neighbours(pages: Sequence[_Page]) -> Iterator[tuple[_Page | None, _Page, _Page | None]]:
    for number, page in enumerate(pages):
        before = pages[number - 1] if number else None
        after = pages[number + 1] if number + 1 < len(pages) else None
        yield before, page, after


def _pictures(home: Path, run: KeptRun, page: _Page) -> Mapping[str, tuple[str, int, int]]:
    """The pictures of an episode, by the file of the record: name beside its page, width and height.

    Those of runs in other folders are copied; one that is gone or is no picture is left out.
    """
    found = {}
    folder = run.folders[page.record.id].resolve()
    for file in page.record.files:
        source = folder / file
        if not is_inside(folder, file):
            raise BadInput(f"{folder}: {page.record.id} names a picture outside the folder ({file})")
        try:
            with open_picture(source, formats=("JPEG", "PNG")) as picture:
                width, height = picture.size
        except PictureFault:
            continue
        target = (home / page.path).parent / source.name
        if target.resolve() != source.resolve():
            with replacing(target, "report again") as copy, source.open("rb") as kept:
                shutil.copyfileobj(kept, copy)
        found[file] = (source.name, width, height)
    return found


def _links(home: Path, run: KeptRun, page: _Page) -> list[tuple[str, str]]:
    """The files of an episode that are there: title, and address seen from its page."""
    folder = run.folders[page.record.id].resolve() / FOLDER / slug(page.record.id)
    here = (home / page.path).parent.resolve()
    return [
        (title, _address(folder / file, here)) for title, file in page.shown.links if is_there(folder / file)
    ]


def _address(path: Path, here: Path) -> str:
    return quote(Path(os.path.relpath(path, here)).as_posix())


def _write(path: Path, text: str) -> None:
    with replacing(path, "report again") as file:
        file.write(text.encode("utf-8", "replace"))
