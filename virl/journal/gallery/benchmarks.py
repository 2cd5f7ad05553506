"""Benchmark runs in the gallery: what stands in their `results.json`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from virl.journal.report import REPORT

RESULTS = "results.json"
LARGEST = 50_000_000
"""Bytes of a file of results that is read; chosen: those of a few thousand episodes have less than one."""


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
    """Of a benchmark's results what the gallery shows."""

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
    """When it was last reported, UTC, ISO 8601."""
    has_report: bool


def benchmark_cards(folders: Sequence[Path]) -> Iterator[BenchmarkCard]:
    """The benchmark runs in some folders; a file of that name that holds something else is none."""
    for file in sorted({path for folder in folders for path in folder.rglob(RESULTS)}):
        if file.stat().st_size > LARGEST:
            continue
        try:
            results = _Results.model_validate_json(file.read_bytes())
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
