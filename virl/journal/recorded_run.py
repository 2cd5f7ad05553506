"""Runs read from their folders: steps, path, places, outcome and cost; and comparisons of several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virl.extras import require
from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.journal.journal import read_journal
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    NoteRecord,
    PlaceRecord,
    Result,
    StartRecord,
    StepRecord,
)
from virl.journal.report import REPORT, cost_so_far, page, start_of
from virl.journal.walk_map import town_ground
from virl.pages.exhibits import Cell, MapExhibit, MapLine, MapPoint, TableExhibit
from virl.pages.ground import MapGround
from virl.pages.notebooks import card, table
from virl.pages.page import draw_exhibits
from virl.platform.city.left_out import Omission
from virl.platform.city.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd


class RecordedRun:
    """A finished, running or interrupted run, read from its folder.

    Raises:
        JournalBroken: at first use; the journal is missing or damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        """Prepare to read the run in a folder, at first use."""
        self.folder = Path(folder)
        """Folder of the run."""

    @cached_property
    def records(self) -> tuple[AnyRecord, ...]:
        """All records of the journal, in order."""
        return read_journal(self.folder)

    @property
    def start(self) -> StartRecord:
        """The first record: agent, city, mind, character, and all options of the run."""
        return start_of(self.records)

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """The steps: pose, views with detections, questions and replies, decision, and cost."""
        return tuple(one for one in self.records if isinstance(one, StepRecord))

    @property
    def notes(self) -> tuple[NoteRecord, ...]:
        """The notes on work other than steps: calls of tools, consulted agents."""
        return tuple(one for one in self.records if isinstance(one, NoteRecord))

    @property
    def path(self) -> tuple[LatLng, ...]:
        """Positions of the steps, in order."""
        return tuple(LatLng(step.pose.lat, step.pose.lng) for step in self.steps)

    @property
    def places(self) -> tuple[PlaceRecord, ...]:
        """The places that the agent considered, each once, in their latest record."""
        found = {place.id: place for step in self.steps for place in step.places}
        if self.result and self.result.place:
            found[self.result.place.id] = self.result.place
        return tuple(found.values())

    @property
    def result(self) -> Result | None:
        """The run's result; `None` until the run has ended."""
        return next((one.result for one in self.records if isinstance(one, EndRecord)), None)

    @property
    def outcome(self) -> Outcome | None:
        """The run's status and reason as a typed value; `None` until the run has ended."""
        if self.result is None:
            return None
        return self.result.outcome or Outcome(self.result.status, self.result.reason)

    @property
    def answer(self) -> dict[str, object]:
        """The answer that the agent was to find; empty until the run has ended."""
        return self.result.answer if self.result else {}

    @property
    def cost(self) -> CostRecord:
        """The run's cost so far, interrupted steps included."""
        return self.result.cost if self.result else cost_so_far(self.folder, self.records)

    @property
    def left_out(self) -> tuple[Omission, ...]:
        """Items left out of the city's replies and files; empty until the run has ended."""
        return self.result.left_out if self.result else ()

    @property
    def report(self) -> Path:
        """The path of the run's page `report.html`."""
        return self.folder / REPORT

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas table with a row for each step; units are metres, degrees, seconds and US dollars.

        Raises:
            ModelUnavailable: pandas is missing.
        """
        return to_table(
            [
                {
                    "step": step.step,
                    "pano_id": step.pose.pano_id,
                    "lat": step.pose.lat,
                    "lng": step.pose.lng,
                    "heading": step.pose.heading,
                    "distance_m": step.distance_m,
                    "views": len(step.views),
                    "detections": sum(len(view.detections) for view in step.views),
                    "questions": len(step.asked),
                    "decided": step.decided,
                    "next_pano_id": step.next_pano_id,
                    "usd": sum(exchange.usd for exchange in step.asked) + step.requests.usd,
                    "seconds": step.seconds,
                }
                for step in self.steps
            ]
        )

    def _repr_html_(self) -> str:
        """Return the report as HTML for a notebook."""
        if not self.report.is_file():
            return card(f"{self.start.agent} in {self.start.city}", _row(self).items())
        text = escape(self.report.read_text(encoding="utf-8"))
        return (
            f'<iframe srcdoc="{text}" title="Report" style="width: 100%; height: 40em; border: 0"></iframe>'
        )


class Finished(RecordedRun):
    """A run that has ended, as functions that run an agent return it."""

    def __init__(self, result: Result, report: Path, *, had_ended: bool = False) -> None:
        """Keep the result and the path of the report, which is in the run's folder."""
        super().__init__(report.parent)
        self._result = result
        self.had_ended = had_ended
        """True if the run had ended before this call, so that nothing was run."""

    @property
    def result(self) -> Result:
        """The run's result, as in `result.json`: status, place, answer and cost."""
        return self._result


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of runs side by side."""

    runs: tuple[RecordedRun, ...]
    """The runs, in the order given."""
    page: Path
    """Path of the comparison page: a table with a row for each run, and the map of each walk."""

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas table with a row for each run; units are metres, seconds and US dollars.

        Raises:
            ModelUnavailable: pandas is missing.
        """
        return to_table([_row(run) for run in self.runs])

    def _repr_html_(self) -> str:
        """Return the comparison's table as HTML for a notebook."""
        rows = [_row(run) for run in self.runs]
        return card(
            "Runs", [("page", self.page)], picture=table(list(rows[0]), [list(row.values()) for row in rows])
        )


def compare_runs(runs: Sequence[RecordedRun], page_file: Path) -> Comparison:
    """Write a page with a table of runs and the map of each walk, and return the comparison.

    Raises:
        JournalBroken: a journal is missing or damaged.
        CannotWrite: the page cannot be written.
    """
    rows = [_row(run) for run in runs]
    cells = tuple(tuple(row.values()) for row in rows)
    drawn = draw_exhibits([TableExhibit(title="Runs", columns=tuple(rows[0]), rows=cells)], MapGround())
    for run in runs:
        if run.steps:
            first, last = run.path[0], run.path[-1]
            start = MapPoint(lat=first.lat, lng=first.lng, label="Start", style="start")
            end = MapPoint(lat=last.lat, lng=last.lng, label="End", style="stop")
            way = MapLine(points=tuple((at.lat, at.lng) for at in run.path))
            title = f"{run.start.agent}, {run.folder.name}"
            walk = MapExhibit(title=title, points=(start, end), lines=(way,))
            drawn += draw_exhibits([walk], town_ground(run.start.city))
    shown, scripts = {"exhibits": drawn, "count": len(runs)}, ("maps.js", "tables.js")
    made = page("compare.html.j2", shown, styles=("charts.css",), scripts=scripts)
    write_whole(page_file, made.encode("utf-8", "replace"), "compare them again")
    return Comparison(tuple(runs), page_file)


def _row(run: RecordedRun) -> dict[str, Cell]:
    """Return a run's row of the comparison table: values by column name."""
    cost, outcome, result = run.cost, run.outcome, run.result
    return {
        "run": run.folder.name,
        "agent": run.start.agent,
        "city": run.start.city,
        "mind": run.start.mind,
        "seed": run.start.seed,
        "outcome": outcome.kind if outcome else "on the way",
        "place": result.place.name if result and result.place else None,
        "steps": run.steps[-1].step if run.steps else 0,
        "distance_m": round(sum(step.distance_m for step in run.steps), 1),
        "views": cost.views,
        "llm_calls": cost.llm_calls,
        "tokens": cost.input_tokens + cost.output_tokens,
        "usd": cost.usd,
        "seconds": round(cost.seconds, 1),
    }


def to_table(rows: Sequence[dict[str, Any]]) -> "pd.DataFrame":
    """Return rows, each with its values by column name, as a pandas table; raise if pandas is missing."""
    require("geo", "pandas", what="a table")
    import pandas as pd  # noqa: PLC0415 - an extra, loaded when asked for

    return pd.DataFrame(rows)
