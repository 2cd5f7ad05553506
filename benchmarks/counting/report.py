"""What the counts of all walks come to: the paper's table, and a table of rules for each pose noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rich.table import Table

from virl.bench.benchmark import Metric
from virl.bench.episode import Data
from virl.bench.report.table import intervals_table
from virl.bench.statistics import Interval

from .published import PUBLISHED
from .tally import CountTally, differences, metrics
from .variants import Condition, CountingCase, cases_under, reference, without_active

_column = partial(Metric, digits=0)
PAPER_COLUMNS = (
    _column("accuracy", "accuracy %", about="things reported that are right as V-IRL judges"),
    _column("recall", "recall %", about="things to be found that such a report points at"),
    _column("our_precision", "precision,\n1 to 1 %", about="things reported that are matched, one to one"),
    _column("our_recall", "recall,\n1 to 1 %", about="things to be found that are matched, one to one"),
)
_PAPER_KEYS = {
    "accuracy": "virl_accuracy",
    "recall": "virl_recall",
    "our_precision": "precision",
    "our_recall": "recall",
}
RULE_COLUMNS = (
    _column("precision", "prec.\n%", about="things reported that are true things, one to one"),
    _column("recall", "recall\n%", about="things to be found that are reported"),
    _column("f1_more", "F1\nmore", about="F1, the mean of both, less that of the default rules, in points"),
    _column("count_error", "mis-\ncount %", digits=1, about="numbers off, of the things to be found"),
    _column("duplicates", "dupl.\n%", digits=1, about="things reported again beside a right one"),
    _column("repeats", "rep-\neats %", digits=1, about="things reported again, of those sighted"),
    _column("lost", "lost\n%", digits=1, about="things sighted that were taken for others"),
)


@dataclass(frozen=True, slots=True)
class TableRow:
    """The results of one way of counting: intervals where measured here, numbers where published."""

    name: str
    values: Mapping[str, Interval | float]
    """Values by the metric's key, shares in [0, 1]; a missing one is shown as a dash."""
    note: str = ""
    """Words below the name, such as `"with active detection"`; may be empty."""


@dataclass(frozen=True, slots=True)
class CountingTable:
    """A table of the report on counting."""

    title: str
    columns: Sequence[Metric]
    rows: Sequence[TableRow]
    walks: int = 0
    """Number of walks that the rows are of."""
    has_rules: bool = True
    """True if its rows are rules of visual memory, which the page also draws."""


def tallies_of(walks: Sequence[Data], case: CountingCase) -> list[CountTally]:
    """Return the tallies of one way of counting, one for each walk."""
    return [CountTally(**walk["tallies"][case.key]) for walk in walks]


def counting_tables(
    walks: Sequence[Data], conditions: Sequence[Condition], name: str = ""
) -> list[CountingTable]:
    """Return all tables on counted walks, the paper's first, with `name` before each title.

    Args:
        walks: what came of each.
        conditions: they were counted under.
        name: goes before each title.
    """
    rules = (_rules_table(walks, condition, conditions) for condition in conditions)
    found = [_paper_table(walks, conditions[0]), *rules]
    return [replace(one, title=f"{name}{one.title}") for one in found]


def terminal_table(table: CountingTable) -> Table:
    """Return a table for the terminal, with the ends of each interval below its mean."""
    columns = [(column, column.heading) for column in table.columns]
    rows = [(row.name, row.note, row.values) for row in table.rows]
    return intervals_table(table.title, "", columns, rows, table.walks)


def table_data(table: CountingTable) -> dict[str, Any]:
    """Return a table as plain JSON data."""
    return {"title": table.title, "rows": [_row_data(row) for row in table.rows]}


def _row_data(row: TableRow) -> dict[str, Any]:
    """Return a row as plain JSON data, its intervals as objects."""
    values = {
        key: value._asdict() if isinstance(value, Interval) else value for key, value in row.values.items()
    }
    return {"name": row.name, "note": row.note} | values


def _paper_table(walks: Sequence[Data], condition: Condition) -> CountingTable:
    """Return the table that compares counts under a condition with V-IRL's table 6."""
    pairs = (
        (reference(condition), "with active detection"),
        (without_active(condition), "without active detection"),
    )
    rows = []
    for case, note in pairs:
        found = metrics(tallies_of(walks, case))
        values = {column: found[key] for column, key in _PAPER_KEYS.items() if key in found}
        rows.append(TableRow("virl", values, note))
    return CountingTable(
        "V-IRL's Table 6: accuracy and recall as V-IRL judges",
        PAPER_COLUMNS,
        [*rows, *_published_rows()],
        len(walks),
        has_rules=False,
    )


def _published_rows() -> list[TableRow]:
    """Return V-IRL's published rows of accuracy and recall, with and without active detection."""
    return [
        TableRow(
            f"V-IRL, {paper.name}",
            {"accuracy": paper.values[f"{key}_accuracy"], "recall": paper.values[f"{key}_recall"]},
            f"{how} active detection, published",
        )
        for paper in PUBLISHED
        for key, how in (("virl", "with"), ("first", "without"))
    ]


def _rules_table(
    walks: Sequence[Data], condition: Condition, conditions: Sequence[Condition]
) -> CountingTable:
    """Return the table of all ways of counting under a condition, with differences from the first."""
    first, *others = cases_under(condition, conditions)
    against = tallies_of(walks, first)
    rows = [TableRow(first.words, metrics(against))]
    for case in others:
        tallies = tallies_of(walks, case)
        more = {f"{key}_more": gap for key, gap in differences(against, tallies).items()}
        rows.append(TableRow(case.words, metrics(tallies) | more))
    return CountingTable(f"Rules of visual memory; {condition}", RULE_COLUMNS, rows, len(walks))
