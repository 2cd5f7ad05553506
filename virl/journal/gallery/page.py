"""The page of the gallery: one file that loads nothing."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from virl.console import SafeConsole, counting_bar
from virl.files.writing import read_bounded, write_whole
from virl.journal.gallery.cards import Card, LeftOut, read_card, runs_in
from virl.journal.page import page
from virl.journal.report import REPORT
from virl.journal.walk_map import town_ground
from virl.pages.maps import MapFigure
from virl.platform.providers.cities import all_cities, name_of_city
from virl.version import __version__

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
