"""The table of a report in the terminal, as CSV and as LaTeX, and one of means for scores of no run."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from virl.bench.benchmark import Metric, Published
from virl.bench.report.dots import interval_words
from virl.bench.report.results import (
    Results,
    RowResult,
    published_numbers,
    shown_done,
    shown_metrics,
    shown_number,
    shown_share,
    split,
)
from virl.bench.statistics import FEWEST_UNITS, Interval, mean_with_interval

NamedRow = tuple[str, str, Mapping[str, Interval | float]]
"""A row of a table: its name, words below that, and values by the metric's key."""
_GAP = 2  # letters beside each column
_LEAST = 5  # letters of a column of names; chosen

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


def terminal_table(results: Results, width: int, *, published: bool = False) -> Group:
    """Return results as tables for a terminal `width` characters wide: measured, legend, published.

    Without what is aside. Columns that do not fit beside one another are in a further table.

    Args:
        results: of a run or several.
        width: of the terminal, letters.
        published: whether published results are shown too.
    """
    return Group(*(table for part in split(results) for table in _terminal_tables(part, width, published)))


def _terminal_tables(results: Results, width: int, published: bool) -> Iterator[ConsoleRenderable]:
    """Yield tables of results with metrics in common, `width` characters wide, published results last."""
    metrics = [metric for metric in shown_metrics(results) if not metric.aside]
    rows = [[_cell(row, metric) for metric in metrics] for row in results.rows]
    yield from _wrap_tables(results.title, _measured_columns(results), metrics, rows, width)
    has_values = any(row.values for row in results.rows)
    means = "Episodes that failed or did not run are in no mean, unless a line says so."
    lines = [f"In parentheses: 95 % interval. {means}"] * has_values
    lines += [f"{metric.heading}: {metric.about}" for metric in metrics if metric.about]
    yield Text("\n".join(line.replace("\n", " ") for line in lines), "dim")
    if results.published and published:
        papers = [published_numbers(paper, metrics) for paper in results.published]
        names = ["model", *(paper.name for paper in results.published)]
        sources = ["source", *(paper.source for paper in results.published)]
        title = f"{results.title}: published results, not measured here"
        yield from _wrap_tables(title, [names, sources], metrics, papers, width)


def _wrap_tables(
    title: str, texts: list[list[str]], metrics: list[Metric], cells: list[list[str]], width: int
) -> Iterator[Table]:
    """Yield tables `width` characters wide: each has the columns `texts`, and as many of `cells` as fit."""
    numbers = [[_stack_words(one), *(row[at] for row in cells)] for at, one in enumerate(metrics)]
    wide = [max(cell_len(line) for cell in column for line in cell.split("\n")) + _GAP for column in numbers]
    wished = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in texts]
    folded = sum(min(size, _LEAST) for size in wished)  # long texts fold, numbers do not
    room = width - min(sum(wished), max(width // 3, folded)) - _GAP * len(texts)
    first = 0
    while first < len(metrics) or first == 0:
        last = first + 1
        while last < len(metrics) and sum(wide[first : last + 1]) <= max(room, wide[first]):
            last += 1
        free = width - _GAP * len(texts) - sum(wide[first:last])
        shown = Table(
            title=title if first == 0 else None,
            title_justify="left",
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        for column, size in zip(texts, _fit_widths(wished, free), strict=True):
            shown.add_column(column[0], overflow="fold", width=size)
        for metric in metrics[first:last]:
            shown.add_column(_stack_words(metric), justify="right", no_wrap=True)
        for number, row in enumerate(cells, 1):
            shown.add_row(*(Text(column[number]) for column in texts), *map(Text, row[first:last]))
        yield shown
        first = last


def _measured_columns(results: Results) -> list[list[str]]:
    """Return the text columns beside the numbers (model, city, episodes ...), headings first."""
    rows = results.rows
    columns = [
        ["model", *(row.model for row in rows)],
        ["city", *(results.title_of(row.city) for row in rows)],
        ["episodes", *(shown_done(row.episodes) for row in rows)],
    ]
    if any(row.episodes.failed for row in rows):
        columns.append(["failed", *(str(row.episodes.failed) for row in rows)])
    if len(results.runs) > 1:
        columns.insert(0, ["run", *(row.run for row in rows)])
    return columns


def _fit_widths(wished: list[int], room: int) -> list[int]:
    """Return the columns' widths, in characters, reduced to `room` in sum by narrowing the widest."""
    widths = list(wished)
    while sum(widths) > room and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _stack_words(metric: Metric) -> str:
    """Return a metric's heading with each word on its own line, for a narrow column."""
    return heading_of(metric).replace(" ", "\n").replace("\n%", " %")


def text_tables(results: Results) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield (headings, rows of texts) of each table of measured results."""
    for part in split(results):
        metrics = [metric for metric in shown_metrics(part) if not metric.aside]
        heads, *names = zip(*_measured_columns(part), strict=True)
        cells = [[_cell(row, metric) for metric in metrics] for row in part.rows]
        rows = [[*name, *row] for name, row in zip(names, cells, strict=True)]
        yield [*heads, *map(heading_of, metrics)], rows


def csv_table(results: Results) -> str:
    """Return results as CSV, a line per row and metric; shares in [0, 1], published ones without interval."""
    file = io.StringIO()
    file.write("source,run,model,city,planned,done,failed,missing,metric,mean,low,high\n")
    writer = csv.writer(file, lineterminator="\n")
    for part in split(results):
        for row in part.rows:
            episodes = row.episodes
            counts = episodes.planned, episodes.done, episodes.failed, episodes.missing
            about = ["measured", row.run, row.model, row.city]
            for metric in shown_metrics(part):
                interval = row.values.get(metric.key) or ("", "", "")
                writer.writerow([*map(_inert, about), *counts, metric.key, *interval])
    for paper in results.published:
        for key, value in paper.values.items():
            about = [f"published: {paper.source}", "", paper.name, ""]
            writer.writerow([*map(_inert, about), "", "", "", "", key, value, "", ""])
    return file.getvalue()


def latex_table(results: Results) -> str:
    """Return LaTeX tables that need the package `booktabs`; published rows stand apart and say so."""
    return "\n".join(map(_latex_table, split(results)))


def _latex_table(results: Results) -> str:
    """Return results, whose rows have metrics in common, as one LaTeX table."""
    many = len(results.runs) > 1
    metrics = shown_metrics(results)
    heads = (["Run"] if many else []) + ["Model", "City", "Episodes", *map(heading_of, metrics)]
    lines = [
        rf"\begin{{tabular}}{{{'l' * (len(heads) - len(metrics))}{'r' * len(metrics)}}}",
        r"\toprule",
        " & ".join(map(_escape_tex, heads)) + r" \\",
        r"\midrule",
    ]
    for row in results.rows:
        cells = ([row.run] if many else []) + [
            row.model,
            results.title_of(row.city),
            shown_share(row.episodes),
        ]
        numbers = [_tex_cell(row.values.get(metric.key), metric) for metric in metrics]
        lines.append(" & ".join([*map(_escape_tex, cells), *numbers]) + r" \\")
    if results.published:
        lines.append(r"\midrule")
    for paper in results.published:
        cells = ([""] if many else []) + [paper.name, paper.source, "published"]
        plain = published_numbers(paper, metrics, absent="--")
        lines.append(" & ".join([*map(_escape_tex, cells), *plain]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def heading_of(metric: Metric) -> str:
    """Return the heading of a metric, with a percent sign if it is shown in percent."""
    return f"{metric.heading} %" if metric.percent else metric.heading


def _cell(row: RowResult, metric: Metric) -> str:
    """Return a row's mean and its interval as text, such as `66.7 (0-100)`; a dash without a value.

    Ends of shares in whole percents; of too few units, their number.
    """
    value, units = row.values.get(metric.key), row.units.get(metric.key, 0)
    if value is None:
        return "-"
    if units < FEWEST_UNITS:
        few = interval_words(value, metric, units).replace(" (", "\n(")  # the column stays narrow
        return f"{shown_number(value[0], metric)}\n{few}"
    coarse = replace(metric, digits=0) if metric.percent else metric
    low, high = (shown_number(number, coarse) for number in value[1:])
    return f"{shown_number(value[0], metric)} ({low}\N{EN DASH}{high})"


def _tex_cell(value: Interval | None, metric: Metric) -> str:
    """Return a mean and its interval as LaTeX; a dash for `None`."""
    if value is None:
        return "--"
    mean, low, high = (shown_number(number, metric) for number in value)
    return rf"{mean} {{\scriptsize [{low}, {high}]}}"


def _escape_tex(text: str) -> str:
    """Return a text escaped for LaTeX."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _inert(text: str) -> str:
    """Return a text with `'` before it if a spreadsheet would take it for a formula, else unchanged."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def means_of(scores: Sequence[Mapping[str, float | None]]) -> dict[str, Interval]:
    """Return {metric's key: mean and 95 % interval} over episodes, each given as {key: value or `None`}.

    Args:
        scores: the metrics of each episode, all with the same keys. Where one is `None`, as an infinite
            distance is, the episode is left out of that metric; where all are, so is the metric.
    """
    means = {}
    for key in scores[0] if scores else ():
        values = [value for score in scores if (value := score[key]) is not None]
        if values:
            means[key] = mean_with_interval(values)
    return means


def means_table(
    title: str,
    metrics: Sequence[Metric],
    name: str,
    scores: Sequence[Mapping[str, float | None]],
    published: Sequence[Published] = (),
) -> Table:
    """Return a table of the mean scores of the agent `name`, with intervals, and published rows below.

    Args:
        title: of the table.
        metrics: its columns.
        name: of the agent.
        scores: as for `means_of`.
        published: for comparison.
    """
    rows: list[NamedRow] = [(name, f"{len(scores)} episodes", means_of(scores))]
    rows += [(paper.name, f"published: {paper.source}", paper.values) for paper in published]
    return intervals_table(title, "agent", [(one, _stack_words(one)) for one in metrics], rows, len(scores))


def intervals_table(
    title: str,
    first: str,
    columns: Sequence[tuple[Metric, str]],
    rows: Sequence[NamedRow],
    units: int,
) -> Table:
    """Return a table of numbers with the ends of each interval below it, unless it is of too few units.

    Args:
        title: of the table.
        first: heading of the names.
        columns: metrics, each with its heading.
        rows: of the table; a missing value is a dash.
        units: number of units, such as walks, that the intervals are of.
    """
    few = units < FEWEST_UNITS
    caption = f"too few for intervals (n = {units})" if few else "below a number: its 95 % interval"
    shown = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column(first, overflow="fold")  # names fold, numbers do not
    for _, heading in columns:
        shown.add_column(heading, justify="right", no_wrap=True)
    for name, note, values in rows:
        texts = [_mean_texts(values.get(metric.key), metric)[: 1 if few else None] for metric, _ in columns]
        cells = [Text.assemble(mean, *(("\n" + end, "dim") for end in ends)) for mean, *ends in texts]
        shown.add_row(Text.assemble(name, (f"\n{note}" if note else "", "dim")), *cells)
    return shown


def _mean_texts(value: Interval | float | None, metric: Metric) -> list[str]:
    """Return a number, and the ends of its interval if it has one, as texts; a dash for `None`."""
    if value is None:
        return ["-"]
    return [shown_number(one, metric) for one in (value if isinstance(value, Interval) else (value,))]


def cell_text(value: Interval | float | None, metric: Metric, units: int) -> str:
    """Return a number as text, with words on its interval on a second line; a dash for `None`.

    Args:
        value: the number, with or without an interval.
        metric: says how it is written.
        units: number of units, such as places, that it is of.
    """
    words = [interval_words(value, metric, units)] if isinstance(value, Interval) else []
    return "\n".join([*_mean_texts(value, metric)[:1], *words])
