"""The table of a report in the terminal, as CSV and as LaTeX."""

import csv
import io

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from virl.bench.report.results import MetricHead, Results, shown_metrics, shown_number, shown_share, split
from virl.bench.statistics import Interval

ALL_CITIES = "all cities"
_NUMBER_WIDTH = len("100.0")
_GAP = 2  # letters beside each column
_LEAST = 10  # letters of a column of names; chosen

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\n": " ",
}


def terminal_table(results: Results, width: int) -> Group:
    """The tables as `rich` prints them: below each mean the ends of its 95 % interval.

    Without what is aside, and without the last columns where the terminal is too narrow for them.

    Args:
        results: of a run or several.
        width: of the terminal, letters.
    """
    return Group(*(_terminal_table(part, width) for part in split(results)))


def _terminal_table(results: Results, width: int) -> Table:
    metrics = [metric for metric in shown_metrics(results) if not metric.aside]
    texts = _text_columns(results)
    room = width - _GAP * len(texts) - sum(map(_metric_width, metrics))
    while room < len(texts) * _LEAST and len(metrics) > 1:
        room += _metric_width(metrics.pop())
    caption = (
        "below a mean: its 95 % interval; means do not include missing episodes, nor failed ones "
        "unless a note says so"
    )
    if len(metrics) < len(shown_metrics(results)):
        caption += "; the page has more columns"
    shown = Table(title=results.title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    widths = _fitted([_width_of(column) for column in texts], room)
    for column, wide in zip(texts, widths, strict=True):
        shown.add_column(column[0], overflow="fold", width=wide)
    for metric in metrics:
        shown.add_column(_stacked(metric), justify="right", width=_metric_width(metric) - _GAP)
    numbers = [[_cell(row.values.get(metric.key), metric) for metric in metrics] for row in results.rows] + [
        [
            Text(shown_number(paper.values[metric.key], metric) if metric.key in paper.values else "-", "dim")
            for metric in metrics
        ]
        for paper in results.published
    ]
    for number, (*cells, row) in enumerate(zip(*(column[1:] for column in texts), numbers, strict=True)):
        style = "" if number < len(results.rows) else "dim"
        shown.add_row(*(Text(cell, style) for cell in cells), *row)
    return shown


def _text_columns(results: Results) -> list[list[str]]:
    """The columns before the numbers, each with its heading first."""
    rows, papers = results.rows, results.published
    columns = [
        ["model", *(row.model for row in rows), *(f"{paper.name}\n{paper.source}" for paper in papers)],
        ["city", *(row.city or ALL_CITIES for row in rows), *("" for _ in papers)],
        [
            "episodes",
            *(shown_share(row.episodes).replace(", ", "\n") for row in rows),
            *("published" for _ in papers),
        ],
    ]
    if len(results.runs) > 1:
        columns.insert(0, ["run", *(row.run for row in rows), *("" for _ in papers)])
    return columns


def _width_of(column: list[str]) -> int:
    return max(cell_len(line) for cell in column for line in cell.split("\n"))


def _fitted(wished: list[int], room: int) -> list[int]:
    """Widths of columns that fit in a room: the widest give way first, none below the least."""
    widths = list(wished)
    while sum(widths) > room and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _stacked(metric: MetricHead) -> str:
    """The heading over as many lines as it has words."""
    return _heading(metric).replace(" ", "\n").replace("\n%", " %")


def _metric_width(metric: MetricHead) -> int:
    """Of a column of numbers, the gap beside it included."""
    return max(_NUMBER_WIDTH, *map(cell_len, _stacked(metric).split("\n"))) + _GAP


def csv_table(results: Results) -> str:
    """One line a row and metric; shares in [0, 1]. Published rows have no interval and no episodes."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        [
            "source",
            "run",
            "model",
            "city",
            "planned",
            "done",
            "failed",
            "missing",
            "metric",
            "mean",
            "low",
            "high",
        ]
    )
    for part in split(results):
        for row in part.rows:
            counts = row.episodes
            about = ["measured", row.run, row.model, row.city]
            for metric in shown_metrics(part):
                writer.writerow(
                    [
                        *map(_inert, about),
                        *(counts.planned, counts.done, counts.failed, counts.missing),
                        metric.key,
                        *(row.values.get(metric.key) or ("", "", "")),
                    ]
                )
    for paper in results.published:
        for key, value in paper.values.items():
            about = [f"published: {paper.source}", "", paper.name, ""]
            writer.writerow([*map(_inert, about), "", "", "", "", key, value, "", ""])
    return file.getvalue()


def latex_table(results: Results) -> str:
    """Tables for a paper that loads `booktabs`; published rows stand apart and say so."""
    return "\n".join(map(_latex_table, split(results)))


def _latex_table(results: Results) -> str:
    many = len(results.runs) > 1
    metrics = shown_metrics(results)
    heads = (["Run"] if many else []) + ["Model", "City", "Episodes", *map(_heading, metrics)]
    lines = [
        rf"\begin{{tabular}}{{{'l' * (len(heads) - len(metrics))}{'r' * len(metrics)}}}",
        r"\toprule",
        " & ".join(map(_tex, heads)) + r" \\",
        r"\midrule",
    ]
    for row in results.rows:
        cells = ([row.run] if many else []) + [row.model, row.city or ALL_CITIES, shown_share(row.episodes)]
        numbers = [_tex_cell(row.values.get(metric.key), metric) for metric in metrics]
        lines.append(" & ".join([*map(_tex, cells), *numbers]) + r" \\")
    if results.published:
        lines.append(r"\midrule")
    for paper in results.published:
        cells = ([""] if many else []) + [paper.name, paper.source, "published"]
        plain = [
            shown_number(paper.values[metric.key], metric) if metric.key in paper.values else "--"
            for metric in metrics
        ]
        lines.append(" & ".join([*map(_tex, cells), *plain]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _heading(metric: MetricHead) -> str:
    return f"{metric.heading} %" if metric.percent else metric.heading


def _cell(value: Interval | None, metric: MetricHead) -> Text:
    if value is None:
        return Text("-")
    mean, *ends = (shown_number(number, metric) for number in value)
    return Text.assemble(mean, *(("\n" + end, "dim") for end in ends))


def _tex_cell(value: Interval | None, metric: MetricHead) -> str:
    if value is None:
        return "--"
    mean, low, high = (shown_number(number, metric) for number in value)
    return rf"{mean} {{\scriptsize [{low}, {high}]}}"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
