"""Scores of a task: what the benchmark itself computes, a score for each of its metrics, with its error."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from virl.bench.benchmark import AnyBenchmark, BaseOptions, Tally
from virl.bench.episode import Record
from virl.bench.registry import find_benchmark
from virl.bench.report.results import cell_scores
from virl.bench.statistics import Interval, estimate
from virl.settings.model import check_settings

RECORD = "virl_record"
"""Where a sample keeps what came of its episode."""
_WIDTH = 2 * 1.96
"""Standard errors that a 95 % interval of a normal distribution is wide."""


@scorer(metrics=[])
def own_scores(benchmark: str, options: Mapping[str, Any]) -> Scorer:
    """The metrics of each episode, as the benchmark computes them from it alone.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
    """
    own, settings = _opened(benchmark, options)

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001 - as Inspect calls it
        kept = state.store.get(RECORD)
        if kept is None:
            return None
        record = Record(**kept)
        means = {one.key: _estimate(own, settings, one.key, [record]) for one in own.metrics}
        return Score(
            value={key: interval.mean if interval else None for key, interval in means.items()},
            answer=own.show(record).outcome,
            explanation=record.reason or None,
            metadata={RECORD: kept},
        )

    return score


def means_by_metric(benchmark: str, options: Mapping[str, Any]) -> dict[str, list[Metric]]:
    """The metrics of all episodes together, by key: the value of the benchmark's table, and its error.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
    """
    return {
        one.key: [mean(benchmark, options, one.key), stderr(benchmark, options, one.key)]
        for one in find_benchmark(benchmark).metrics
    }


@metric(scores="unreduced")
def mean(benchmark: str, options: Mapping[str, Any], key: str) -> Metric:
    """The value of a metric, as `virl bench` reports it.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
        key: of the metric.
    """
    return _metric(benchmark, options, key, lambda interval: interval.mean)


@metric(scores="unreduced")
def stderr(benchmark: str, options: Mapping[str, Any], key: str) -> Metric:
    """Its standard error, from the 95 % bootstrap interval that `virl bench` reports.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
        key: of the metric.
    """
    return _metric(benchmark, options, key, lambda interval: (interval.high - interval.low) / _WIDTH)


def _metric(benchmark: str, options: Mapping[str, Any], key: str, of: Callable[[Interval], float]) -> Metric:
    own, settings = _opened(benchmark, options)

    def compute(scores: list[SampleScore]) -> Value:
        records = [Record(**kept) for one in scores if (kept := (one.score.metadata or {}).get(RECORD))]
        models = dict.fromkeys(record.model for record in records)
        found = {
            model: _estimate(own, settings, key, [one for one in records if one.model == model])
            for model in models
        }
        values = {model: of(interval) if interval else float("nan") for model, interval in found.items()}
        if len(values) == 1:
            return next(iter(values.values()))
        return dict(values) or float("nan")

    return compute


def _estimate(
    benchmark: AnyBenchmark, options: BaseOptions, key: str, records: Sequence[Record]
) -> Interval | None:
    """A metric over the records of one model, in all cities."""
    tallies: list[Tally] = []
    for city in dict.fromkeys(record.city for record in records):
        own = [record for record in records if record.city == city]
        tallies += cell_scores(benchmark, own, options).tallies.get(key, ())
    return estimate(tallies)


def _opened(name: str, options: Mapping[str, Any]) -> tuple[AnyBenchmark, BaseOptions]:
    benchmark = find_benchmark(name)
    settings: BaseOptions = check_settings(dict(options), benchmark.options, source=f"options of virl/{name}")
    return benchmark, settings
