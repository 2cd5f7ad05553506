"""What the counts of all walks come to: the paper's table, and a table of rules for each pose noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.counting.published import published_rows
from benchmarks.counting.score import Tally, differences, metrics
from benchmarks.counting.variants import Case, Condition, cases_under, reference, without_active
from benchmarks.records import Record
from benchmarks.tables import Column, Interval, Row

PAPER_COLUMNS = (
    Column("accuracy", "accuracy"),
    Column("recall", "recall"),
    Column("our_precision", "precision,\n1 to 1"),
    Column("our_recall", "recall,\n1 to 1"),
)
_PAPER_KEYS = {
    "accuracy": "virl_accuracy",
    "recall": "virl_recall",
    "our_precision": "precision",
    "our_recall": "recall",
}
RULE_COLUMNS = (
    Column("precision", "prec."),
    Column("recall", "recall"),
    Column("f1_more", "F1\nmore"),
    Column("count_error", "mis-\ncount %", percent=True, digits=1),
    Column("duplicates", "dupl.\n%", percent=True, digits=1),
    Column("repeats", "rep-\neats %", percent=True, digits=1),
    Column("lost", "lost\n%", percent=True, digits=1),
)


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the report."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


def tallies_of(records: Sequence[Record], case: Case) -> list[Tally]:
    """The tallies of a way of counting, walk by walk."""
    return [Tally(**record["tallies"][case.key]) for record in records]


def sections(records: Sequence[Record], conditions: Sequence[Condition]) -> list[Section]:
    """All tables, the paper's first."""
    rules = (_rules(records, condition, conditions) for condition in conditions)
    return [_like_the_paper(records, conditions[0]), *rules]


def section_data(section: Section) -> dict[str, Any]:
    """A table for `results.json`."""
    return {"title": section.title, "rows": [_row_data(row) for row in section.rows]}


def _row_data(row: Row) -> dict[str, Any]:
    values = {
        key: value._asdict() if isinstance(value, Interval) else value for key, value in row.values.items()
    }
    return {"name": row.name, "note": row.note} | values


def _like_the_paper(records: Sequence[Record], condition: Condition) -> Section:
    pairs = (
        (reference(condition), "with active detection"),
        (without_active(condition), "without active detection"),
    )
    rows = []
    for case, note in pairs:
        found = metrics(tallies_of(records, case))
        values = {column: found[key] for column, key in _PAPER_KEYS.items() if key in found}
        rows.append(Row("virl", values, note))
    return Section(
        "V-IRL's Table 6: accuracy and recall as V-IRL judges", PAPER_COLUMNS, [*rows, *published_rows()]
    )


def _rules(records: Sequence[Record], condition: Condition, conditions: Sequence[Condition]) -> Section:
    first, *others = cases_under(condition, conditions)
    against = tallies_of(records, first)
    rows = [Row(first.title, metrics(against))]
    for case in others:
        tallies = tallies_of(records, case)
        more = {f"{key}_more": gap for key, gap in differences(against, tallies).items()}
        rows.append(Row(case.title, metrics(tallies) | more))
    return Section(f"Rules of visual memory; {condition}", RULE_COLUMNS, rows)
