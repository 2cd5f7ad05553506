"""The page of a report: result, charts, episodes, maps and confusion matrices; and a page for every episode.

`report.html` needs nothing beside itself but the pages it links to; those show the pictures beside them.
Their only script moves and enlarges maps.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, repeat
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

import numpy as np
from jinja2 import Environment

from virl.bench.benchmark import Confusion, Shown, ShownPoint
from virl.bench.episode import Record
from virl.bench.plan import CityPlan
from virl.bench.records import FOLDER, slug
from virl.bench.report.dots import group_plots, interval_words, score_plot, whole_rows
from virl.bench.report.headline import headline, main_metric
from virl.bench.report.results import (
    Results,
    cost_line,
    page_number,
    shown_metrics,
    shown_share,
    spent_line,
    split,
)
from virl.bench.report.runs import KeptRun, ReportRuns, reading_data
from virl.bench.report.tiles import MOST_TILES, STATES, Scene, State, Tile, make_tiles, state_of
from virl.bench.statistics import FEWEST_UNITS
from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside, is_there, replace_file
from virl.geo.globe import LocalFrame
from virl.journal.story import scalar, words
from virl.journal.walk_map import town_ground
from virl.pages.ground import MapGround, ground_of_lines
from virl.pages.maps import WIDE, MapFigure, MapPath, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import ACROSS_PX, Extent, Point, lay_out, on_paper
from virl.pages.shell import html_page, open_templates
from virl.plain_text import capitalize

# The looks of the maps, all chosen.
_WHOLE = Extent(aspect=1.4, margin_m=40.0, smallest_m=160.0, beyond=0.0)
_EPISODE = Extent(margin_m=40.0, smallest_m=160.0, beyond=0.0, scale=1 / 4)
_INDOORS = Extent(margin_m=5.0, smallest_m=20.0, beyond=0.0, scale=1 / 4)
"""Ground shown where no street is known, as in the houses of R2R."""
_TILE = Extent(margin_m=12.0, smallest_m=40.0, beyond=0.0)
_TILE_PX = 200.0
_TOWN_M = 2000.0
"""Widest town that the map of a whole report shows from end to end; chosen."""
_POINTS = {"right": "spot", "partly": "triangle", "wrong": "cross", "goal": "diamond"}
"""Shapes of points by how right an episode was, and of the goal of a walk."""
_ID = re.compile(r"[\w-]{20,}")  # ids of viewpoints and panoramas, which no action is as long as
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHORT_ID = 6
"""Characters of the beginning of an id that stand for it; chosen: they differ within a building."""
_WORDS = {str(state): words for state, words in STATES.items()}
_WORDS |= {"goal": "goal", "from": "start", "walked": "end of the walk"}
"""Words of the legend by the kind of a mark."""
_WALKERS = 6
"""Number of colours and dashes by which a map tells walkers apart."""
_SHADES = 9
PAGE = "report.html"
MOST_PAGES = 300
"""Most episodes of a model in a city that get a page of their own, besides all failed ones. Chosen."""

_STYLES, _SCRIPTS = ("charts.css", "bench.css"), ("maps.js",)


@dataclass(frozen=True, slots=True)
class _Section:
    """The episodes of one model in one city, as a section of the report."""

    run: KeptRun
    model: str
    city: str
    pages: tuple[Scene, ...]
    tiles: tuple[Tile, ...]
    left_out: int
    """Number of episodes without a page of their own."""

    @property
    def name(self) -> str:
        """The model, after the name of its run if there are several."""
        return f"{self.run.name}: {self.model}" if self.run.name else self.model

    @property
    def counts(self) -> list[tuple[State, str]]:
        """Each state that occurs, with words such as "13 wrong", the worst first."""
        states = [page.state for page in self.pages]
        return [
            (state, f"{states.count(state)} {words}") for state, words in STATES.items() if state in states
        ]


@cache
def _templates() -> Environment:
    """Return the Jinja environment of the report's templates, made once a process."""
    return open_templates(
        Path(__file__).parent / "templates",
        filters={
            "number": page_number,
            "share": shown_share,
            "cost": cost_line,
            "spent_line": spent_line,
            "scalar": scalar,
            "interval": interval_words,
            "stretches": merge_steps,
            "capitalized": capitalize,
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
    cells = sum(len(cities) for run in gathered.runs for cities in run.plan.episodes.values())
    most = MOST_TILES // max(1, cells)
    sections = [section for run in gathered.runs for section in _sections(gathered, run, most)]
    for section in sections:
        pages = [page for page in section.pages if page.path]
        city = section.run.plan.cities[section.city]
        for before, page, after in zip((None, *pages), pages, (*pages[1:], None), strict=False):
            context = {
                "results": results,
                "section": section,
                "page": page,
                "before": before,
                "after": after,
                "attribution": city.attribution,
                "map": city_map(city, [(page.shown, "")], ground=ground_below(section.city, city)),
                "pictures": _pictures(home, section.run, page),
                "links": _links(home, section.run, page),
            }
            text = html_page(
                templates, "episode.html.j2", context, styles=_STYLES, scripts=_SCRIPTS, beside=True
            )
            _write_text(home / page.path, text)
    parts = split(results)
    main = [(main_metric(gathered.benchmark, part), part) for part in parts]
    plots = [(metric, score_plot(part, metric)) for metric, part in main if metric]
    context = {
        "results": results,
        "sections": sections,
        "attributions": results.attributions,
        "own": own,
        "headline": headline(gathered.benchmark, results) if len(parts) == 1 else ("", ""),
        "tables": [(part, shown_metrics(part)) for part in parts],
        "plots": plots,
        "by_group": [
            (metric, grouped)
            for metric in results.metrics
            if metric.by_group and (grouped := group_plots(results, metric))
        ],
        "maps": list(_whole_maps(sections)),
        "plotted": [metric.key for metric, _ in plots],
        "few_units": FEWEST_UNITS,
        "units": gathered.benchmark.units,
        "unit_counts": [units for row in results.rows for units in row.units.values()],
        "tile_legend": _whole_legend([tile.map for one in sections for tile in one.tiles if tile.map]),
        "heats": [(row, _heat(table)) for row in whole_rows(results) for table in row.confusions],
    }
    _write_text(
        home / PAGE, html_page(templates, "report.html.j2", context, styles=_STYLES, scripts=_SCRIPTS)
    )
    return home / PAGE


def _sections(gathered: ReportRuns, run: KeptRun, most: int) -> Iterator[_Section]:
    """Yield a report's section for each model and city of a run, each with at most `most` tiles."""
    for model, cities in run.plan.episodes.items():
        for name in cities:
            records = [one for one in run.records if (one.model, one.city) == (model, name)]
            pages = tuple(_pages(gathered, run, records))
            city = run.plan.cities[name]
            ground = replace(ground_below(name, city), places=())

            def draw(shown: Shown, city: CityPlan = city, ground: MapGround = ground) -> MapFigure | None:
                """Return the small map of a walk."""
                return city_map(city, [(shown, "")], extent=_TILE, across=_TILE_PX, ground=ground)

            tiles = make_tiles(pages, draw, most)
            yield _Section(run, model, name, pages, tiles, sum(not one.path for one in pages))


def _whole_maps(sections: Sequence[_Section]) -> Iterator[MapFigure]:
    """Yield the map of each city with the points and paths of all runs and models."""
    for name in dict.fromkeys(section.city for section in sections):
        own = [section for section in sections if section.city == name]
        city = own[0].run.plan.cities[name]
        shown = [(page.shown, page.path) for section in own for page in section.pages]
        walkers = [section.name for section in own for _ in section.pages]
        ground = ground_below(name, city)
        if not ground.ways and any(one.path for one, _ in shown):  # walks tell nothing on blank land
            continue
        drawn = city_map(city, shown, walkers, extent=_WHOLE, across=WIDE, ground=ground)
        if drawn:
            yield drawn


def _whole_legend(maps: Sequence[MapFigure]) -> MapFigure | None:
    """Return a map with the marks and the legends of all maps; `None` without maps."""
    if not maps:
        return None
    lines = dict.fromkeys(line for one in maps for line in one.legend)
    finest = min(maps, key=lambda one: one.paper.pixel)  # which shows houses if any does
    return replace(finest, legend=tuple(lines), marks=tuple(mark for one in maps for mark in one.marks))


def ground_below(name: str, city: CityPlan) -> MapGround:
    """Return what maps of a city show below all: of a town of virl's its ground, else the plan's streets."""
    town = town_ground(name)
    return town if town.ways else ground_of_lines(city.streets)


def _pages(gathered: ReportRuns, run: KeptRun, records: Sequence[Record]) -> Iterator[Scene]:
    """Yield an episode's page for each record; after `MOST_PAGES` scored ones the path is empty."""
    done = 0
    for record in records:
        name = slug(f"{run.name}/{record.id}" if run.name else record.id)
        path = f"{FOLDER}/{name}/index.html"
        if not record.is_scored:
            yield Scene(record, Shown(f"failed: {record.reason}"), path, run.folders[record.id])
            continue
        done += 1
        with reading_data(gathered.benchmark, run):
            shown = gathered.benchmark.show(record)
        yield Scene(record, shown, path if done <= MOST_PAGES else "", run.folders[record.id])


def _pictures(home: Path, run: KeptRun, page: Scene) -> Mapping[str, tuple[str, int, int]]:
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


def _links(home: Path, run: KeptRun, page: Scene) -> list[tuple[str, str]]:
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
class Heat:
    """A confusion matrix as it is drawn, with shaded cells, without rows and columns that are all zero."""

    title: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """(true label, (count as text, shade from 0 to 9) for each label given) of each row."""
    left_out: tuple[str, ...]
    """Labels that were neither true nor given, so that the matrix leaves them out."""


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
        rows.append((words(label), cells))
    given = tuple(words(table.labels[number]) for number in columns)
    shown = {*given, *(label for label, _ in rows)}
    left_out = tuple(label for label in map(words, table.labels) if label not in shown)
    return Heat(table.title, given, tuple(rows), left_out)


def city_map(
    city: CityPlan,
    shown: Sequence[tuple[Shown, str]],
    walkers: Sequence[str] = (),
    *,
    extent: Extent = _EPISODE,
    across: float = ACROSS_PX,
    ground: MapGround | None = None,
) -> MapFigure | None:
    """Return the map of episodes in a city; `None` with nothing to draw.

    Args:
        city: its title and streets.
        shown: (contents, page's path) of each episode.
        walkers: name of each episode's walker, if there may be several.
        extent: how much ground the map shows around the episodes.
        across: width in pixels at which it is shown.
        ground: what lies below; `None` for the streets of `city`.
    """
    positions = [point.position for one, _ in shown for point in one.points]
    positions += [position for one, _ in shown for position in one.path]
    if not positions:
        return None
    frame = LocalFrame(positions[0])
    places = [on_paper(frame, *position) for position in positions]
    if extent is _WHOLE:
        places += _small_town(frame, city)
    below = ground_of_lines(city.streets) if ground is None else ground
    extent = _INDOORS if extent is _EPISODE and not below.ways else extent
    paper = lay_out(frame, places, below, extent=extent, across=across)
    paths = [
        (name, [*map(paper.place, one.path)])
        for (one, _), name in zip(shown, walkers or repeat(""), strict=False)
    ]
    names = [*dict.fromkeys(name for name, points in paths if len(points) > 1)]
    # Each walker has a colour and dashes of its own, so that ways that several walked stay seen.
    kinds = {name: f"c{number % _WALKERS}" if names[1:] else "main" for number, name in enumerate(names)}
    walked = [MapPath(points, kinds[name], name) for name, points in paths if len(points) > 1]
    legend = [(f"line {kind}", name if names[1:] else "way walked") for name, kind in kinds.items()]
    ends = [points for _, points in paths if points] if len(shown) == 1 else []
    marks = []
    for point, page in _merge_points(shown):
        kind = "goal" if ends and point.role == "goal" else state_of(point.score)
        title = point.label or "episode"
        marks.append(Mark(*paper.place(point.position), kind, title, shape=_POINTS[kind], href=page))
        role = f"{point.role}, " if ends and point.role != kind else ""
        legend.append((kind, f"{role}{_WORDS[kind]}".removeprefix(", ")))
    marks += [Mark(*points[0], "from", "start", shape="spot") for points in ends]
    marks += [
        Mark(*points[-1], "walked", "end of the walk", shape="square") for points in ends if len(points) > 1
    ]
    legend += [(mark.kind, _WORDS[mark.kind]) for mark in marks if mark.kind in ("from", "walked")]
    return map_figure(f"Map of {city.title}", paper, walked, marks, legend=legend)


def _small_town(frame: LocalFrame, city: CityPlan) -> list[Point]:
    """Return two opposite corners of a town's streets on paper; nothing if it is large."""
    points = np.array([on_paper(frame, *position) for line in city.streets for position in line])
    if not len(points) or np.ptp(points, axis=0).max() > _TOWN_M:
        return []
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return [(left, top), (right, bottom)]


def merge_steps(decisions: Sequence[tuple[str, str]]) -> list[tuple[int, int, str, str, str]]:
    """Return (first number, last number, decision, ids, reason) of each row of alike decisions, from 1.

    Alike are those that differ only in the id that they lead to, and in numbers; a range stands for these.
    """
    rows, first = [], 1
    for (kind, _), same in groupby(decisions, lambda one: (_ID.sub("", one[0]), _NUMBER.sub("", one[1]))):
        titles, reasons = zip(*same, strict=True)
        last = first + len(titles) - 1
        ids = [one for title in titles for one in _ID.findall(title)]
        ends = " … ".join(dict.fromkeys(one[:SHORT_ID] for one in (*ids[:1], *ids[-1:])))
        title = f"{kind.strip() or 'to'} {ends}" if ids else kind
        rows.append((first, last, title, ", ".join(ids), _with_ranges(reasons)))
        first = last + 1
    return rows


def _with_ranges(texts: Sequence[str]) -> str:
    """Return texts that differ only in numbers as one, with the range of each number that differs."""
    numbers = zip(*map(_NUMBER.findall, texts), strict=True)
    ends = ((min(values, key=float), max(values, key=float)) for values in numbers)
    shown = iter(["\N{EN DASH}".join(dict.fromkeys(pair)) for pair in ends])
    return _NUMBER.sub(lambda _: next(shown), texts[0])


def _merge_points(shown: Sequence[tuple[Shown, str]]) -> list[tuple[ShownPoint, str]]:
    """Merge points that differ in score alone to (point of mean score, worst episode's page), best first."""
    same: dict[ShownPoint, list[tuple[float, str]]] = {}
    for one, page in shown:
        for point in one.points:
            same.setdefault(replace(point, score=0.0), []).append((point.score, page))
    points = [
        (replace(point, score=fmean(score for score, _ in scored)), min(scored)[1])
        for point, scored in same.items()
    ]
    return sorted(points, key=lambda dot: -dot[0].score)
