"""The gallery of runs: cards with the picture that says most, on one page that loads nothing."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from virl.console import SafeConsole, counting_bar
from virl.errors import BadInput, VirlError
from virl.files.writing import read_bounded, write_whole
from virl.geo.globe import LatLng, LocalFrame
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, RULES, JournalTail, read_journal
from virl.journal.records import (
    AnyRecord,
    DetectionRecord,
    EndRecord,
    NoteRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.journal.report import REPORT, page
from virl.journal.story import outcome_of, seen_in, words
from virl.journal.walk_map import town_ground
from virl.pages.exhibits import MapExhibit
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure, MapPath, Mark, map_figure
from virl.pages.paper import Extent, lay_out, on_paper
from virl.pages.pictures import Grades, embed
from virl.platform.providers.cities import all_cities, name_of_city
from virl.version import __version__

GRADES: Grades = ((420, 74),)  # width in pixels and JPEG quality; chosen: shown about 340 wide

ALIKE = 0.6
"""Likeness from which a sign is that of a place; chosen."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A view, with what was found in it."""

    data: str
    """Data URI."""
    view: ViewRecord
    found: tuple[DetectionRecord, ...]
    """Boxes that are drawn: of the place entered if one was, else all."""
    alt: str
    """A description of the photo in words."""


def thumbnail(folder: Path, records: Sequence[AnyRecord], ground: MapGround) -> MapFigure | Photo | None:
    """Return the picture of a run; `None` where nothing was drawn, seen or walked.

    Args:
        folder: the run's.
        records: of its journal.
        ground: of the city, for a map; may be empty.

    Raises:
        JournalBroken: the journal of an agent that was consulted is missing or damaged.
    """
    shown = [exhibit for one in records if isinstance(one, EndRecord) for exhibit in one.exhibits]
    for exhibit in shown:
        if isinstance(exhibit, MapExhibit) and (exhibit.points or exhibit.lines):
            points = [(LatLng(point.lat, point.lng), point.style) for point in exhibit.points]
            return _draw_map(
                points, [[LatLng(*position) for position in line.points] for line in exhibit.lines], ground
            )
    return _photo(folder, records) or _way(records, ground) or _of_others(folder, ground)


def _of_others(folder: Path, ground: MapGround) -> MapFigure | Photo | None:
    """Return the picture of a consulted agent, for a run that took no step itself.

    Links that lead out of the folder, or back to it, are not followed: they can go round in a circle.
    """
    for journal in sorted(folder.glob(f"{CONSULTED}/*/{JOURNAL}")):
        if folder.resolve() not in journal.parent.resolve().parents:
            continue
        if picture := thumbnail(journal.parent, read_journal(journal.parent), ground):
            return picture
    return None


def _photo(folder: Path, records: Sequence[AnyRecord]) -> Photo | None:
    """Return the view of the place that was entered, by its sign; else that with the surest detection."""
    views = [
        (_likeness(found, name), found.score, view, found, name, where)
        for one in records
        if isinstance(one, StepRecord | NoteRecord)
        for name in [_entered_place(one)]
        for where in [f"step {one.step}" if isinstance(one, StepRecord) else words(one.topic)]
        for view in one.views
        for found in view.detections
    ]
    for likeness, _, view, found, name, where in sorted(views, key=lambda rated: rated[:2], reverse=True)[:3]:
        data = embed(folder, [view.file], GRADES).get(view.file)
        if data:
            shown = (found,) if likeness >= ALIKE else view.detections if not name else ()
            return Photo(data, view, shown, seen_in(view.model_copy(update={"detections": shown}), where))
    return None


def _entered_place(record: StepRecord | NoteRecord) -> str:
    """Return the place that was entered on a step; empty if none was."""
    places = record.places if isinstance(record, StepRecord) else ()
    return next((place.name for place in places if place.decision == "enter"), "")


def _likeness(found: DetectionRecord, name: str) -> float:
    """Return how like a sign's text is to the name entered, in [0, 1]; -1 where no name is given."""
    return SequenceMatcher(None, found.text.casefold(), name.casefold()).ratio() if name else -1.0


def _way(records: Sequence[AnyRecord], ground: MapGround) -> MapFigure | None:
    """Return the map of the steps of a run; `None` without any."""
    way = [LatLng(step.pose.lat, step.pose.lng) for step in records if isinstance(step, StepRecord)]
    return _draw_map([(way[0], "start"), (way[-1], "stop")], [way], ground) if way else None


def _draw_map(
    points: Sequence[tuple[LatLng, str]], lines: Sequence[Sequence[LatLng]], ground: MapGround
) -> MapFigure:
    positions = [*(position for position, _ in points), *(position for line in lines for position in line)]
    frame = LocalFrame(positions[0])
    places = [on_paper(frame, *one) for one in positions]
    few = MapGround(ground.ways, [area for area in ground.areas if area.kind != "house"])
    paper = replace(lay_out(frame, places, few, extent=Extent(beyond=0.0), across=340.0), names=())
    return map_figure(
        "Map",
        paper,
        [MapPath([paper.place(position) for position in line]) for line in lines if line],
        [Mark(*paper.place(position), f"spot {style}", style, shape="spot") for position, style in points],
    )


@dataclass(frozen=True, slots=True)
class Card:
    """A finished run."""

    folder: Path
    who: str
    start: StartRecord
    result: Result
    outcome: str
    """The outcome of the run, in a sentence or two."""
    by_rules: bool
    has_report: bool
    picture: MapFigure | Photo | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that is not shown."""

    folder: Path
    why: str


def runs_in(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of the runs in some folders, the latest first, those without a start last.

    Args:
        folders: runs, or folders of runs at any depth; runs of agents that were consulted belong to their
            callers and are not shown apart.

    Raises:
        BadInput: one is no folder.
    """
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder: give a folder that contains runs")
    found = {path.parent for folder in folders for path in folder.rglob(JOURNAL)}
    shown = sorted(path for path in found if CONSULTED not in path.parts)
    return sorted(shown, key=_start_time, reverse=True)


def read_card(folder: Path, ground: Callable[[str], MapGround]) -> Card | LeftOut:
    """Read what a card shows of a run, or why there is none.

    Args:
        folder: the run's.
        ground: of a city, by its name.
    """
    try:
        records = read_journal(folder)
        if end := next((record for record in records if isinstance(record, EndRecord)), None):
            return _card(folder, records, end.result, ground)
    except VirlError as fault:
        return LeftOut(folder, str(fault))
    return LeftOut(folder, "has not ended; if it was interrupted, continue it with --resume")


def _start_time(folder: Path) -> str:
    """Return when a run began; empty where its journal does not tell."""
    try:
        first = next(JournalTail(folder).read_new(), None)
    except VirlError:
        return ""
    return first.started if isinstance(first, StartRecord) else ""


def _card(
    folder: Path, records: Sequence[AnyRecord], result: Result, ground: Callable[[str], MapGround]
) -> Card:
    start = next(record for record in records if isinstance(record, StartRecord))
    reason = "" if result.status == "entered" else f" {result.reason[:1].upper()}{result.reason[1:]}"
    return Card(
        folder,
        str(start.character.get("name") or start.agent),
        start,
        result,
        outcome_of(result) + reason,
        start.mind == RULES,
        (folder / REPORT).is_file(),
        thumbnail(folder, records, ground(start.city)),
    )


RESULTS = "results.json"
LARGEST = 50_000_000
"""Bytes of a file of results that is read; chosen: those of a few thousand episodes have less than one."""
CARDS = 100
"""The number of runs on a page; chosen: some 42 kB each, so that a page has less than 5 MB."""
_TEMPLATES = Path(__file__).parent / "templates"


class _Episodes(BaseModel):
    planned: int
    done: int


class _Row(BaseModel):
    model: str
    city: str
    episodes: _Episodes
    values: dict[str, tuple[float, float, float]]


class _Metric(BaseModel):
    key: str
    heading: str
    percent: bool
    digits: int


class _Results(BaseModel):
    """The parts of a benchmark's results that the gallery shows."""

    title: str
    about: str
    metrics: tuple[_Metric, ...]
    rows: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkCard:
    """A run of a benchmark."""

    folder: Path
    title: str
    about: str
    lines: tuple[str, ...]
    """One a model and city: its episodes and first value."""
    when: str
    """The time of the last report, UTC, ISO 8601."""
    has_report: bool


def benchmark_cards(folders: Sequence[Path]) -> Iterator[BenchmarkCard]:
    """Yield the benchmark runs in some folders; a file of that name that holds something else is none."""
    for file in sorted({path for folder in folders for path in folder.rglob(RESULTS)}):
        try:
            results = _Results.model_validate_json(read_bounded(file, LARGEST) or b"")
        except ValidationError:
            continue
        when = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
        lines = tuple(_line(results, row) for row in results.rows)
        has_report = (file.parent / REPORT).is_file()
        yield BenchmarkCard(file.parent, results.title, results.about, lines, when, has_report)


def _line(results: _Results, row: _Row) -> str:
    episodes = f"{row.episodes.done} of {row.episodes.planned} episodes"
    text = f"{row.model}, {row.city or 'all cities'}: {episodes}"
    for metric in results.metrics:
        if metric.key in row.values:
            mean = row.values[metric.key][0]
            shown = f"{100 * mean if metric.percent else mean:.{metric.digits}f}"
            return f"{text}, {metric.heading} {shown}{' %' if metric.percent else ''}"
    return text


def write_gallery(folders: Sequence[Path], out: Path) -> tuple[list[Path], list[Card], list[LeftOut]]:
    """Write the page, and further ones beside it for earlier runs: a hundred runs a page, the latest first.

    Args:
        folders: runs, or folders of runs.
        out: where the first page goes; the second is `NAME-2.html`.

    Returns:
        The pages, the runs that are on them without their pictures, and those left out.

    Raises:
        BadInput: one is no folder.
        CannotWrite: a page cannot be written.
    """
    waiting = runs_in(folders)
    pages: list[Path] = []
    shown: list[Card] = []
    left_out: list[LeftOut] = []
    with counting_bar("reading runs", len(waiting), SafeConsole(stderr=True)) as advance:
        while waiting or not pages:
            cards: list[Card] = []
            skipped: list[LeftOut] = []
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
            shown += (replace(card, picture=None) for card in cards)
            left_out += skipped
    return pages, shown, left_out


def _page_file(out: Path, number: int) -> Path:
    """Return the file of a page of the gallery: the first has its name, others a number after it."""
    return out if number == 1 else out.with_name(f"{out.stem}-{number}{out.suffix}")


def _render(
    out: Path,
    number: int,
    cards: Sequence[Card],
    benchmarks: Sequence[BenchmarkCard],
    left_out: Sequence[LeftOut],
    *,
    is_last: bool,
) -> str:
    beside = {"newer": number - 1, "older": 0 if is_last else number + 1}
    return page(
        "gallery.html.j2",
        {
            "cards": [(card, _link(card, out), isinstance(card.picture, MapFigure)) for card in cards],
            "number": number,
            "beside": {word: "./" + quote(_page_file(out, one).name) for word, one in beside.items() if one},
            "benchmarks": [
                (card, _link(card, out))
                for card in sorted(benchmarks, key=lambda card: card.when, reverse=True)
            ],
            "left_out": left_out,
            "cities": _titles({card.start.city for card in cards}),
            "attributions": sorted({card.result.notice or card.start.attribution for card in cards} - {""}),
            "version": __version__,
        },
        scripts=("gallery.js",) if len(cards) > 1 else (),
        folder=_TEMPLATES,
    )


def _link(card: Card | BenchmarkCard, out: Path) -> str:
    """Return the address of a run's report as seen from the page; empty if it has none."""
    if not card.has_report:
        return ""
    way = os.path.relpath((card.folder / REPORT).resolve(), out.parent.resolve())
    return "./" + quote(Path(way).as_posix())


def _titles(names: Collection[str]) -> dict[str, str]:
    """Return the titles of cities by name; those given by a path have the name of the file."""
    known = all_cities()
    return {name: known[name].title if name in known else name_of_city(name) for name in names}
