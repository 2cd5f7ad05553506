"""The page of a report: its tables, bars, maps and confusion matrices, and a page for every episode.

`report.html` needs nothing beside itself but the pages it links to; those show the pictures beside them.
Their only script lets readers pan and zoom maps.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

import numpy as np
from jinja2 import Environment

from virl.bench.benchmark import Confusion, Metric, Shown, ShownPoint
from virl.bench.episode import Record
from virl.bench.plan import CityPlan
from virl.bench.records import FOLDER, slug
from virl.bench.report.results import (
    Results,
    RowResult,
    cost_line,
    shown_metrics,
    shown_number,
    shown_share,
    spent_line,
    split,
)
from virl.bench.report.runs import KeptRun, ReportRuns, reading_data
from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside, is_there, replace_file
from virl.geo.globe import LatLng, LocalFrame
from virl.journal.story import scalar
from virl.pages.ground import ground_of_lines
from virl.pages.maps import MapFigure, MapPath, Mark, map_figure
from virl.pages.paper import Extent, lay_out, on_paper
from virl.pages.shell import html_page, open_templates
from virl.pages.theme import rgb

# The looks of the maps, all chosen.
_EXTENT = Extent(margin_m=40.0, smallest_m=160.0, beyond=0.0, scale=1 / 4)
_RAMP = ("c1", "c5", "c0")
"""Names of the theme's colours for bad, middling and good, which the colour-blind can tell apart."""


_SHADES = 9
PAGE = "report.html"
MOST_PAGES = 300
"""Most episodes of a model in a city that get a page of their own, besides all failed ones. Chosen."""

_STYLES, _SCRIPTS = ("charts.css", "bench.css"), ("maps.js",)


@dataclass(frozen=True, slots=True)
class _Page:
    """One episode in a report: its record, the contents of its page, and the page's path."""

    record: Record
    shown: Shown
    path: str
    """Path of the page relative to the report; empty if the episode has no page."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The episodes of one model in one city, as a section of the report."""

    run: KeptRun
    model: str
    city: str
    pages: tuple[_Page, ...]
    map: MapFigure | None
    left_out: int
    """Number of episodes without a page of their own."""


@cache
def _templates() -> Environment:
    """Return the Jinja environment of the report's templates, made once a process."""
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


def write_page(
    home: Path, gathered: ReportRuns, results: Results, own: Sequence[tuple[str, str]] = ()
) -> Path:
    """Write `report.html`, with links to `own` pages (file, text), and episodes' pages; return its path.

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
        pages, city = section.pages, section.run.plan.cities[section.city]
        for before, page, after in zip((None, *pages), pages, (*pages[1:], None), strict=False):
            context = {
                "results": results,
                "section": section,
                "page": page,
                "before": before,
                "after": after,
                "attribution": city.attribution,
                "map": city_map(city, [(page.shown, "")]),
                "pictures": _pictures(home, section.run, page),
                "links": _links(home, section.run, page),
            }
            text = html_page(
                templates, "episode.html.j2", context, styles=_STYLES, scripts=_SCRIPTS, beside=True
            )
            _write_text(home / page.path, text)
    context = {
        "results": results,
        "sections": sections,
        "attributions": results.attributions,
        "own": own,
        "tables": [(part, shown_metrics(part)) for part in split(results)],
        "charts": _group_charts(results),
        "heats": [(row, _heat(table)) for row in _whole_rows(results) for table in row.confusions],
    }
    _write_text(
        home / PAGE, html_page(templates, "report.html.j2", context, styles=_STYLES, scripts=_SCRIPTS)
    )
    return home / PAGE


def _sections(gathered: ReportRuns, run: KeptRun) -> Iterator[_Section]:
    """Yield a report's section for each model and city of a run."""
    for model, cities in run.plan.episodes.items():
        for city in cities:
            records = [one for one in run.records if (one.model, one.city) == (model, city)]
            pages = tuple(_pages(gathered, run, records))
            shown = [(page.shown, page.path) for page in pages]
            left_out = sum(not page.path for page in pages)
            drawn = city_map(run.plan.cities[city], shown)
            with_page = tuple(page for page in pages if page.path)
            yield _Section(run, model, city, with_page, drawn, left_out)


def _pages(gathered: ReportRuns, run: KeptRun, records: Sequence[Record]) -> Iterator[_Page]:
    """Yield an episode's page for each record; after `MOST_PAGES` scored ones the path is empty."""
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


def _pictures(home: Path, run: KeptRun, page: _Page) -> Mapping[str, tuple[str, int, int]]:
    """Return {file in the record: (name beside the page, width, height in pixels)} of an episode's pictures.

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
            with replace_file(target, "report again") as copy, source.open("rb") as kept:
                shutil.copyfileobj(kept, copy)
        found[file] = (source.name, width, height)
    return found


def _links(home: Path, run: KeptRun, page: _Page) -> list[tuple[str, str]]:
    """Return (title, address relative to the episode's page) of its further files that exist."""
    folder = run.folders[page.record.id].resolve() / FOLDER / slug(page.record.id)
    here = (home / page.path).parent.resolve()
    return [
        (title, quote(Path(os.path.relpath((folder / file), here)).as_posix()))
        for title, file in page.shown.links
        if is_there(folder / file)
    ]


def _write_text(path: Path, text: str) -> None:
    """Write a text to a file as UTF-8, whole or not at all."""
    with replace_file(path, "report again") as file:
        file.write(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart, a model's value in a group: length and interval in percent of the chart's width."""

    series: int
    """Number of the model, from 0, which gives the bar's colour."""
    name: str
    length: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Heat:
    """A confusion matrix as it is drawn, with shaded cells, without rows and columns that are all zero."""

    title: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """(true label, (count as text, shade from 0 to 9) for each label given) of each row."""
    left_out: tuple[str, ...]
    """Labels that were neither true nor given, so that the matrix leaves them out."""


def _whole_rows(results: Results) -> list[RowResult]:
    """Return one row for each run and model: over all its cities, or in its only one."""
    many = {(row.run, row.model) for row in results.rows if not row.city}
    return [row for row in results.rows if not row.city or (row.run, row.model) not in many]


def _group_charts(results: Results) -> list[tuple[str, list[tuple[str, list[Bar]]]]]:
    """Return (heading, [(group, bars)]) per metric with `by_group`; groups best first by the first row."""
    rows = _whole_rows(results)
    charts = []
    for metric in results.metrics:
        values = [row.groups.get(metric.key, {}) for row in rows]
        names = list(dict.fromkeys(name for groups in values for name in groups if name))
        if metric.by_group and names:
            longest = 1.0 if metric.percent else max(one.high for groups in values for one in groups.values())
            names.sort(key=lambda name: (-values[0][name].mean if name in values[0] else 0.0, name))
            bars = [(name, _metric_bars(rows, metric, name, longest or 1.0)) for name in names]
            charts.append((metric.heading, bars))
    return charts


def _heat(table: Confusion) -> Heat:
    """Return a confusion matrix as drawn: labels that occur, cells shaded by their share of the row's sum."""
    rows = []
    columns = [number for number in range(len(table.labels)) if any(row[number] for row in table.counts)]
    for label, every in zip(table.labels, table.counts, strict=True):
        if not any(every):
            continue
        counts = [every[number] for number in columns]
        total = sum(counts) or 1.0
        cells = tuple((f"{count:g}" if count else "", round(_SHADES * count / total)) for count in counts)
        rows.append((label, cells))
    given = tuple(table.labels[number] for number in columns)
    shown = {*given, *(label for label, _ in rows)}
    left_out = tuple(label for label in table.labels if label not in shown)
    return Heat(table.title, given, tuple(rows), left_out)


def _metric_bars(rows: Sequence[RowResult], metric: Metric, group: str, longest: float) -> list[Bar]:
    """Return a metric's bars in one group, one per row with a value; a value of `longest` fills the chart."""
    bars = []
    for number, row in enumerate(rows):
        value = row.groups.get(metric.key, {}).get(group)
        if value is not None:
            length, low, high = (round(100 * max(0.0, part) / longest, 2) for part in value)
            name = f"{row.run}: {row.model}" if row.run else row.model
            bars.append(Bar(number, name, length, low, high, shown_number(value.mean, metric)))
    return bars


def city_map(city: CityPlan, shown: Sequence[tuple[Shown, str]]) -> MapFigure | None:
    """Return the map of episodes in a city, given as (contents, page's path); `None` with nothing to draw."""
    positions = [point.position for one, _ in shown for point in one.points]
    positions += [position for one, _ in shown for position in one.path]
    if not positions:
        return None
    frame = LocalFrame(LatLng(*np.mean(positions, axis=0).tolist()))
    places = [on_paper(frame, *position) for position in positions]
    paper = lay_out(frame, places, ground_of_lines(city.streets), extent=_EXTENT)
    paths = [MapPath([paper.place(position) for position in one.path]) for one, _ in shown if one.path]
    marks = [
        Mark(
            *paper.place(point.position),
            "score",
            point.label or "episode",
            shape="spot",
            href=page,
            colour=color_of(point.score),
        )
        for point, page in _merge_points(shown)
    ]
    return map_figure(f"Map of {city.title}", paper, paths, marks)


def _merge_points(shown: Sequence[tuple[Shown, str]]) -> list[tuple[ShownPoint, str]]:
    """Merge points of equal position and label to (point of mean score, worst episode's page), best first."""
    same: dict[tuple[LatLng, str], list[tuple[float, str]]] = {}
    for one, page in shown:
        for point in one.points:
            same.setdefault((point.position, point.label), []).append((point.score, page))
    points = [
        (ShownPoint(position, fmean(score for score, _ in scored), label), min(scored)[1])
        for (position, label), scored in same.items()
    ]
    return sorted(points, key=lambda dot: -dot[0].score)


def color_of(score: float) -> str:
    """Return the CSS colour of a score in [0, 1], from orange over grey to blue."""
    share = 2 * min(1.0, max(0.0, score))
    first, second = map(rgb, _RAMP[:2] if share <= 1 else _RAMP[1:])
    part = share if share <= 1 else share - 1
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(first, second, strict=True))
