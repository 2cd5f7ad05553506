"""The table of a report in the terminal, as CSV and as LaTeX."""

import csv
import io

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from virl.bench.report.results import MetricHead, Results, shown_metrics, shown_number, shown_share
from virl.bench.statistics import Interval

ALL_CITIES = "all cities"

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


def terminal_table(results: Results) -> Table:
    """The table as `rich` prints it: below each mean the ends of its 95 % interval; without what is aside."""
    metrics = [metric for metric in shown_metrics(results) if not metric.aside]
    caption = "below a mean: the ends of its 95 % interval; failed and missing episodes are in no mean"
    if len(metrics) < len(shown_metrics(results)):
        caption += "; the page has more columns"
    shown = Table(title=results.title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    run = ["run"] if len(results.runs) > 1 else []
    for heading in (*run, "model", "city", "episodes"):
        shown.add_column(heading, overflow="fold", min_width=14 if heading == "model" else None)
    for metric in metrics:
        shown.add_column(_heading(metric), justify="right")
    for row in results.rows:
        counts = shown_share(row.episodes).replace(", ", "\n")
        cells = [*[row.run] * len(run), row.model, row.city or ALL_CITIES, counts]
        numbers = [_cell(row.values.get(metric.key), metric) for metric in metrics]
        shown.add_row(*map(Text, cells), *numbers)
    for paper in results.published:
        name = Text(f"{paper.name}\n{paper.source}", "dim")
        plain = [
            Text(shown_number(paper.values[metric.key], metric) if metric.key in paper.values else "-", "dim")
            for metric in metrics
        ]
        shown.add_row(*[""] * len(run), name, "", Text("published", "dim"), *plain)
    return shown


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
    for row in results.rows:
        counts = row.episodes
        about = ["measured", row.run, row.model, row.city]
        for metric in shown_metrics(results):
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
    """A table for a paper that loads `booktabs`; published rows stand apart and say so."""
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
