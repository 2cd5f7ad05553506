"""A table of means, for scores that come from no run."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from virl.bench.benchmark import Metric, Published
from virl.bench.statistics import Interval, mean_with_interval


def means_of(scores: Sequence[Mapping[str, float | None]]) -> dict[str, Interval]:
    """Return the mean and the interval of every metric over the scores of the episodes.

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
    """Return the means of one agent, and published rows below.

    Args:
        title: of the table.
        metrics: its columns.
        name: of the agent.
        scores: as for `means_of`.
        published: for comparison.
    """
    caption = "below a mean: its 95 % interval"
    shown = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("agent")
    for metric in metrics:
        shown.add_column(f"{metric.heading}{' %' * metric.percent}", justify="right")
    means = means_of(scores)
    shown.add_row(
        Text.assemble(name, "\n", (f"{len(scores)} episodes", "dim")),
        *(_cell(means.get(metric.key), metric) for metric in metrics),
    )
    for paper in published:
        shown.add_row(
            Text.assemble(paper.name, "\n", (f"published: {paper.source}", "dim")),
            *(_cell(paper.values.get(metric.key), metric) for metric in metrics),
        )
    return shown


def _cell(value: Interval | float | None, metric: Metric) -> Text:
    """Return a number and, below it, the ends of its interval: narrow enough for many columns."""
    if value is None:
        return Text("-")
    scale = 100.0 if metric.percent else 1.0
    numbers = value if isinstance(value, Interval) else (value,)
    mean, *ends = (f"{scale * number:.{metric.digits}f}" for number in numbers)
    return Text.assemble(mean, *(("\n" + end, "dim") for end in ends))
