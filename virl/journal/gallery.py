"""The gallery of runs: a card with a picture for each run, on pages that load nothing."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from virl.console import SafeConsole, counting_bar
from virl.errors import BadInput, VirlError
from virl.files.writing import read_bounded, write_whole
from virl.journal.film import finds_of_end, shown_views, view_of_end
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, RULES, JournalTail, read_journal, read_result
from virl.journal.records import (
    AnyRecord,
    DetectionRecord,
    NoteRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.journal.report import REPORT, end_of, page, run_map, start_of
from virl.journal.story import ending_of, headline_of, kind_of, moment_of, seen_in
from virl.journal.walk_map import town_ground
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure, at_width
from virl.pages.marks import Mark
from virl.pages.paper import Extent
from virl.pages.pictures import Grades, embed
from virl.pages.theme import EDGES_UP_TO_M
from virl.platform.providers.cities import title_of_city
from virl.version import __version__

GRADES: Grades = ((420, 74),)  # width in pixels and JPEG quality; chosen: shown about 340 pixels wide


@dataclass(frozen=True, slots=True)
class Photo:
    """A picture for a run's card in the gallery: a view with its detections."""

    data: str
    """The picture as a data URI."""
    view: ViewRecord
    found: tuple[DetectionRecord, ...]
    """Detections drawn as boxes: the entered place's sign (none if unread), or all if none was entered."""
    alt: str
    """Description of the photo, for its `alt` text."""


CORNER_PX, ALONE_PX = 96.0, 340.0
"""Width in pixels of a card's map in the corner of a photo, and of one without a photo; chosen."""
NAMED = ("spot start", "spot pick", "pin enter")
"""Kinds of marks that a card's map names beside the ends of a walk; of other marks it has too many."""
CARD = Extent(margin_m=70.0, beyond=0.0)
"""Extent of a card's map; chosen: the pins of a walk of 600 m have room in it, and nobody pans it."""
SMALL_SHAPES = {"pin": "spot", "disc": "spot", "hexagon": "triangle", "lozenge": "diamond"}
"""Shapes of marks in a corner by those on a report's map, for which it has no room; chosen."""


def pictures_of(
    folder: Path, records: Sequence[AnyRecord], ground: MapGround
) -> tuple[Photo | None, MapFigure | None]:
    """Return a run's (photo of its goal, map of its result or else of its walk); `None` for what it lacks.

    Args:
        folder: the run's.
        records: of its journal.
        ground: of the city, for a map; may be empty.

    Raises:
        JournalBroken: the journal of an agent that was consulted is missing or damaged.
    """
    photo = _photo(folder, records)
    if chart := card_map(records, ground, CORNER_PX if photo else ALONE_PX):
        return photo, chart
    for journal in sorted(folder.glob(f"{CONSULTED}/*/{JOURNAL}")) if photo is None else ():
        # Links that lead out of the folder, or back to it, can go round in a circle.
        is_below = folder.resolve() in journal.parent.resolve().parents
        if is_below and any(found := pictures_of(journal.parent, read_journal(journal.parent), ground)):
            return found
    return photo, None


def _photo(folder: Path, records: Sequence[AnyRecord]) -> Photo | None:
    """Return the view that stands large in the run's report, with the signs that its result names, if any."""
    end, told = end_of(records), [one for one in records if isinstance(one, StepRecord | NoteRecord)]
    result, views = end.result if end else None, shown_views(told)
    # Others stand in for a picture that is missing or broken.
    for _ in range(min(3, len(views))):
        if view := view_of_end(views, result):
            shown = finds_of_end(view, result)
            if data := embed(folder, [view.file], GRADES).get(view.file):
                where = next(moment_of(one) for one in told if view in one.views)
                return Photo(data, view, shown, seen_in(view.model_copy(update={"detections": shown}), where))
            views.remove(view)
    return None


def card_map(records: Sequence[AnyRecord], ground: MapGround, across: float = ALONE_PX) -> MapFigure | None:
    """Return the map of a run's report with few marks; `None` if there is none.

    Args:
        records: of its journal.
        ground: of the city; may be empty.
        across: width in pixels at which it is shown.
    """
    steps = [one for one in records if isinstance(one, StepRecord)]
    entered = [step for step in steps if kind_of(step) == "enter"]
    figure, _ = run_map(steps, entered, end_of(records), ground, CARD)
    if figure is None:
        return None
    is_corner = across < ALONE_PX
    marks = [one for one in figure.marks if one.kind != "spot candidate" or not figure.paths]  # they cover it
    shown = tuple(_card_mark(one, is_corner=is_corner) for one in marks)
    return _without_hidden(at_width(replace(figure, marks=shown), across), is_corner=is_corner)


def _card_mark(mark: Mark, *, is_corner: bool) -> Mark:
    """Return a mark of a report's map for a card: without number and link, in a corner small and wordless."""
    shape = SMALL_SHAPES.get(mark.shape, mark.shape) if is_corner else mark.shape
    is_named = not is_corner and (mark.shape == "pin" or mark.kind in NAMED)
    return replace(mark, sign="", href="", shape=shape, label=mark.label if is_named else "")


def _without_hidden(figure: MapFigure, *, is_corner: bool) -> MapFigure:
    """Return a map without what only readers who zoom in would see; in a corner without words, too."""
    paper = figure.paper
    if is_corner or paper.pixel > EDGES_UP_TO_M:
        paper = replace(paper, layers=tuple(one for one in paper.layers if one.kind != "house"))
    if is_corner:
        paths = tuple(replace(path, arrows=()) for path in figure.paths)
        marks = tuple(replace(one, shift=(0.0, 0.0)) for one in figure.marks)
        return replace(figure, paper=replace(paper, places=()), names=(), paths=paths, marks=marks)
    places = tuple((name, x, y) for name, points in figure.symbols.items() for x, y in points)
    names = tuple(one for one in figure.names if one[1])
    paper = replace(paper, places=places, names=tuple(name for name, _ in names))
    return replace(figure, paper=paper, names=names)


@dataclass(frozen=True, slots=True)
class Card:
    """The card of a finished run in the gallery."""

    folder: Path
    start: StartRecord
    result: Result
    outcome: str
    """Result of the run in a few words."""
    ending: tuple[str, str]
    """(How it ended, in a word or two; the kind of its sign: `done`, `warn` or `open`)."""
    has_report: bool
    photo: Photo | None
    map: MapFigure | None


@dataclass(frozen=True, slots=True)
class SkippedRun:
    """A run that the gallery cannot show, with the reason."""

    folder: Path
    why: str


def runs_in(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of runs at any depth in `folders`, latest first, without runs of consulted agents.

    Raises:
        BadInput: one is no folder.
    """
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder: give a folder that contains runs")
    found = {path.parent for folder in folders for path in folder.rglob(JOURNAL)}
    shown = sorted(path for path in found if CONSULTED not in path.parts)
    return sorted(shown, key=_start_time, reverse=True)


def read_card(folder: Path, ground: Callable[[str], MapGround]) -> Card | SkippedRun:
    """Return a run's card, or why it cannot be shown; `ground` gives the map ground of a city by name."""
    try:
        records = read_journal(folder)
        start = start_of(records)
        end = end_of(records)
        if end is None:
            return SkippedRun(folder, "has not ended; if it was interrupted, continue it with --resume")
        photo, chart = pictures_of(folder, records, ground(start.city))
    except VirlError as fault:
        return SkippedRun(folder, str(fault))
    has_report = (folder / REPORT).is_file()
    result = read_result(folder, end.result) or end.result
    outcome, ending = headline_of(result)[0], ending_of(result)
    return Card(folder, start, result, outcome, ending, has_report, photo, chart)


def _start_time(folder: Path) -> str:
    """Return the time when a run began, UTC, ISO 8601; empty if its journal does not tell."""
    try:
        first = next(JournalTail(folder).read_new(), None)
    except VirlError:
        return ""
    return first.started if isinstance(first, StartRecord) else ""


RESULTS = "results.json"
LARGEST = 50_000_000
"""Most bytes of a results file; larger ones are skipped; chosen: thousands of episodes take one megabyte."""
CARDS = 100
"""Most runs on a page of the gallery; chosen: at some 42 kB each, a page stays below 5 MB."""
_TEMPLATES = Path(__file__).parent / "templates"


class _Episodes(BaseModel):
    """Numbers of a benchmark's planned and finished episodes."""

    planned: int
    done: int


class _Row(BaseModel):
    """A row of a benchmark's results: model, city, episodes, and by metric (mean, bounds of its interval)."""

    model: str
    city: str
    episodes: _Episodes
    values: dict[str, tuple[float, float, float]]


class _Metric(BaseModel):
    """A column of a benchmark's results: key, heading, and how its numbers are written."""

    key: str
    heading: str
    percent: bool
    digits: int


class _Results(BaseModel):
    """The parts of a benchmark's results file that the gallery shows."""

    title: str
    about: str
    metrics: tuple[_Metric, ...]
    rows: tuple[_Row, ...]
    cities: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class BenchmarkCard:
    """The card of a benchmark's run in the gallery."""

    folder: Path
    title: str
    about: str
    lines: tuple[str, ...]
    """Lines of text, one for each model and city: finished episodes and the mean of the first metric."""
    when: str
    """Time of the latest report, UTC, ISO 8601."""
    has_report: bool


def benchmark_cards(folders: Sequence[Path]) -> Iterator[BenchmarkCard]:
    """Yield the cards of benchmark runs found in folders; results files with other contents are skipped."""
    for file in sorted({path for folder in folders for path in folder.rglob(RESULTS)}):
        try:
            results = _Results.model_validate_json(read_bounded(file, LARGEST) or b"")
        except ValidationError:
            continue
        when = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
        lines = tuple(_result_line(results, row) for row in results.rows)
        has_report = (file.parent / REPORT).is_file()
        yield BenchmarkCard(file.parent, results.title, results.about, lines, when, has_report)


def _result_line(results: _Results, row: _Row) -> str:
    """Return a row as text: model, city, episodes, and the mean of the first metric it has."""
    episodes = f"{row.episodes.done} of {row.episodes.planned} episodes"
    text = f"{row.model}, {results.cities.get(row.city, row.city) or 'all cities'}: {episodes}"
    for metric in results.metrics:
        if metric.key in row.values:
            mean = row.values[metric.key][0]
            shown = f"{100 * mean if metric.percent else mean:.{metric.digits}f}"
            return f"{text}, {metric.heading} {shown}{' %' if metric.percent else ''}"
    return text


def write_gallery(folders: Sequence[Path], out: Path) -> tuple[list[Path], list[Card], list[SkippedRun]]:
    """Write the gallery's pages, up to `CARDS` runs each, latest first; return (pages, cards, skipped runs).

    The first page is `out`, the second `OUT-2.html`. The cards are returned without their pictures.

    Raises:
        BadInput: one is no folder.
        CannotWrite: a page cannot be written.
    """
    waiting = runs_in(folders)
    pages: list[Path] = []
    shown: list[Card] = []
    left_out: list[SkippedRun] = []
    with counting_bar("reading runs", len(waiting), SafeConsole(stderr=True)) as advance:
        while waiting or not pages:
            cards: list[Card] = []
            skipped: list[SkippedRun] = []
            while waiting and len(cards) < CARDS:
                found = read_card(waiting.pop(0), town_ground)
                advance()
                if isinstance(found, Card):
                    cards.append(found)
                else:
                    skipped.append(found)
            benchmarks = [] if pages else list(benchmark_cards(folders))
            path = _page_file(out, len(pages) + 1)
            html = _render(out, len(pages) + 1, cards, benchmarks, skipped, is_last=not waiting)
            write_whole(path, html.encode("utf-8", "replace"), "choose another --out")
            pages.append(path)
            shown += (replace(card, photo=None, map=None) for card in cards)
            left_out += skipped
    return pages, shown, left_out


def _page_file(out: Path, number: int) -> Path:
    """Return the path of a gallery's page: `out` for page 1; for later ones `out` with the number added."""
    return out if number == 1 else out.with_name(f"{out.stem}-{number}{out.suffix}")


def _render(
    out: Path,
    number: int,
    cards: Sequence[Card],
    benchmarks: Sequence[BenchmarkCard],
    left_out: Sequence[SkippedRun],
    *,
    is_last: bool,
) -> str:
    """Return the gallery's page with this number as HTML, with links to the pages before and after it."""
    latest = sorted(benchmarks, key=lambda card: card.when, reverse=True)
    beside = {"newer": number - 1, "older": 0 if is_last else number + 1}
    return page(
        "gallery.html.j2",
        {
            "cards": [(card, _link(card, out)) for card in cards],
            "rules": RULES,
            "number": number,
            "beside": {word: "./" + quote(_page_file(out, one).name) for word, one in beside.items() if one},
            "benchmarks": [(card, _link(card, out)) for card in latest],
            "left_out": left_out,
            "cities": {card.start.city: title_of_city(card.start.city) for card in cards},
            "attributions": sorted({card.result.notice or card.start.attribution for card in cards} - {""}),
            "version": __version__,
        },
        styles=("gallery.css",),
        scripts=("gallery.js",) if len(cards) > 1 else (),
        folder=_TEMPLATES,
    )


def _link(card: Card | BenchmarkCard, out: Path) -> str:
    """Return the URL of a run's report, relative to the page `out`; empty if the run has no report."""
    if not card.has_report:
        return ""
    way = os.path.relpath((card.folder / REPORT).resolve(), out.parent.resolve())
    return "./" + quote(Path(way).as_posix())
