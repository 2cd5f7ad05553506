"""The result of a report in one sentence: the main metric of the best model, against the best published."""

from virl.bench.benchmark import AnyBenchmark, Metric
from virl.bench.report.dots import interval_words, plain_number, row_name, whole_rows
from virl.bench.report.results import Results, shown_metrics
from virl.bench.statistics import FEWEST_UNITS


def main_metric(benchmark: AnyBenchmark, results: Results) -> Metric | None:
    """Return the main metric if it was measured, else the first one in percent, else the first one."""
    measured = {key for row in results.rows for key in row.values}
    valued = [metric for metric in shown_metrics(results) if metric.key in measured]
    named = [metric for metric in valued if metric.key == benchmark.headline]
    shares = [metric for metric in valued if metric.percent and not metric.aside]
    return next(iter([*named, *shares, *valued]), None)


def headline(benchmark: AnyBenchmark, results: Results) -> tuple[str, str]:
    """Return (result in a sentence, what was measured and published); both empty if nothing was measured.

    Such as "67 % (53 to 87) of 40 walks, against 41 % of the best published model", or "67 % (53 to 87) mean
    accuracy, 40 photos". Models that know the answer are passed over where there are others.
    """
    metric = main_metric(benchmark, results)
    if metric is None:
        return "", ""
    rows = [row for row in whole_rows(results) if metric.key in row.values]
    rivals = [row for row in rows if not row.model.lower().startswith(benchmark.bounds)] or rows
    best = max(rivals, key=lambda row: row.values[metric.key].mean)
    value, units = best.values[metric.key], best.units[metric.key]
    words = interval_words(value, metric, units)
    whose = [row_name(best)] if len(rows) > 1 else []
    number = plain_number(value.mean, metric) if metric.percent else f"{metric.heading} {value.mean:.1f}"
    # A mean over groups is not the share of the units.
    link = f" {metric.heading}," if metric.percent and (metric.by_group or metric.shares) else " of"
    of = f" ({words}){link} {units:,} {benchmark.units}"
    text, line = ": ".join([*whose, number + of]), f"{metric.about or metric.heading}."
    if units < FEWEST_UNITS:
        few = f"Too few {benchmark.units} for a result (n = {units})"
        return few, f"{metric.about or metric.heading}: {': '.join([*whose, number])}."
    valued = [row for row in results.published if metric.key in row.values]
    papers = [row for row in valued if not row.name.lower().startswith(benchmark.bounds)]
    if papers:
        same = [row for row in papers if row.city] or papers
        top = max(same, key=lambda row: row.values[metric.key])
        text += f", against {plain_number(top.values[metric.key], metric)} of the best published model"
        data = "the same data" if top.city else "other cities and data"
        line += f" Best published: {top.name} ({top.source}), on {data}."
    return text, line
