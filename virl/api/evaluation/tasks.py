"""Tasks of Inspect, one for each benchmark that is installed: `inspect eval virl/vln`.

Inspect finds this module by the entry point `virl` of the group `inspect_ai`. Benchmarks of other packages
become tasks in the same way. None of them is imported before its task is asked for.
"""

import base64
import shutil
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, get_origin

import anyio.to_thread
from anyio.lowlevel import current_token
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ContentImage, ContentText, ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from virl.api.evaluation.model import MIND, Halted, InspectChatModel, ask_in_loop
from virl.bench.benchmark import AnyBenchmark, BaseOptions, Shown, Tally, benchmark_names, find_benchmark
from virl.bench.engine.work import Bench, EpisodeOutcome, Job, open_bench
from virl.bench.episode import Episode, Record
from virl.bench.report.results import cell_scores
from virl.bench.resources import Resources, Terms
from virl.bench.statistics import Interval, estimate
from virl.console import as_markup
from virl.errors import VirlError, going_on_by
from virl.mind.llm import LLMMind
from virl.settings.model import check_settings

_RECORD = "virl_record"
"""Key under which a sample's store and its score's metadata hold the episode's record."""
_WIDTH = 2 * 1.96
"""Width of a 95 % interval of a normal distribution, in standard errors."""
_MODEL = "model"  # argument that Inspect passes to every task, besides those of the user


class EpisodeFailed(VirlError):
    """Error that an episode failed, so that it is not scored."""


def benchmark_task(name: str, asked: Mapping[str, object]) -> Task:
    """Return a task of Inspect with a benchmark's episodes as samples, by the options that the user gave.

    Where the benchmark asks a mind, that is the model that Inspect evaluates, unless `asked` names another.

    Raises:
        VirlError: something the user can mend.
    """
    benchmark = find_benchmark(name)
    options = _options(benchmark, asked)
    work = _TaskResources.begin(name, options)
    episodes: Sequence[Episode] = benchmark.episodes(options, work.resources)
    data = options.model_dump(mode="json")
    return Task(
        dataset=MemoryDataset([_to_sample(benchmark, one) for one in episodes], name=name),
        solver=run_episode(benchmark, {one.id: one for one in episodes}, work),
        scorer=own_scores(name, data),
        metrics={  # of all episodes together: the value of the benchmark's table, and its error
            one.key: [mean(name, data, one.key), stderr(name, data, one.key)]
            for one in find_benchmark(name).metrics
        },
        fail_on_error=False,  # episodes that fail are counted apart, as in every benchmark of virl
        metadata={"benchmark": benchmark.title, "about": benchmark.about, "options": data},
    )


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _TaskResources:
    """The resources that a task's episodes share; closed, and their folder removed, with the task."""

    job: Job
    """The benchmark's name, its options, and the terms of its run, such as seed and folder."""
    resources: Resources
    shut: list[str] = field(default_factory=list)
    """Reasons why no further episode can succeed, such as a bad key; none is started once there is one."""

    @classmethod
    def begin(cls, name: str, options: BaseOptions) -> "_TaskResources":
        """Open a benchmark's resources in a temporary folder, which is removed with them."""
        out = Path(mkdtemp(prefix="virl-inspect-"))
        terms = Terms(seed=options.seed, workers=2, out=out)
        resources = Resources(
            terms, own_minds={MIND: lambda ledger: LLMMind(InspectChatModel(), MIND, ledger=ledger)}
        )
        work = cls(Job(name, options.model_dump(mode="json"), terms), resources)
        closing = ExitStack()
        closing.callback(shutil.rmtree, out, ignore_errors=True)
        closing.callback(resources.close)  # before its folder is removed
        weakref.finalize(work, closing.close)
        return work

    def bench(self) -> Bench:
        """Return the benchmark ready to run episodes; it is opened at the first call."""
        key = ("inspect", self.job.benchmark)
        return self.resources.make_once(key, lambda: open_bench(self.job, self.resources))


@solver
def run_episode(benchmark: AnyBenchmark, episodes: Mapping[str, Episode], work: _TaskResources) -> Solver:
    """Return a solver that runs a sample's episode (of `episodes`, by sample id) in a thread beside Inspect.

    Args:
        benchmark: of the episodes.
        episodes: by the id of their sample.
        work: resources that the samples share.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - as Inspect calls it
        """Run the sample's episode, put its record and page into the sample's state, and return the state."""
        episode = episodes[str(state.sample_id)]
        if work.shut:
            raise EpisodeFailed(f"not started, because an earlier episode failed: {work.shut[0]}")
        with ask_in_loop(current_token()):
            outcome, halted = await anyio.to_thread.run_sync(_run_once, work, episode, abandon_on_cancel=True)
        if halted:
            raise halted.cause
        files = tuple(outcome.pictures)
        record = outcome.record(files)
        if not record.is_scored:
            work.shut.extend([record.reason] if outcome.shut else [])
            raise EpisodeFailed(record.reason)
        state.store.set(_RECORD, asdict(record))
        shown = benchmark.show(record)
        state.messages.append(_page_message(shown, outcome.pictures, files))
        state.output = ModelOutput.from_content(str(state.model), shown.outcome)
        return state

    return solve


def _run_once(work: _TaskResources, episode: Episode) -> tuple[EpisodeOutcome, Halted | None]:
    """Run an episode, and return (outcome, stop); the stop is `None` unless Inspect stopped the sample."""
    try:
        with going_on_by("inspect eval-retry"):
            return work.bench().attempt(episode), None
    except Halted as halted:
        return EpisodeOutcome(episode, "failed"), halted


def _to_sample(benchmark: AnyBenchmark, episode: Episode) -> Sample:
    """Return an episode as a sample of Inspect."""
    return Sample(
        input=f"{benchmark.about}\n\n{episode.city}: {episode.case}",
        id=episode.id,
        metadata={
            "case": episode.case,
            "city": episode.city,
            "compared": episode.model,
            "episode": dict(episode.payload),
            "attribution": episode.attribution,
        },
    )


def _page_message(shown: Shown, pictures: Mapping[str, bytes], files: Sequence[str]) -> ChatMessageAssistant:
    """Return an Inspect message with an episode's text and those of `pictures` (JPEG) that `files` names."""
    said = [f"{name}: {value}" for name, value in (*shown.facts, *shown.decisions)]
    lines = [shown.text, *said, shown.outcome]
    content: list[ContentText | ContentImage] = [ContentText(text="\n".join(filter(None, lines)))]
    named = {view.file: view.caption for view in shown.views}
    for file in files:
        if named.get(file):
            content.append(ContentText(text=named[file]))
        data = base64.b64encode(pictures[file]).decode()
        content.append(ContentImage(image=f"data:image/jpeg;base64,{data}"))
    return ChatMessageAssistant(content=list(content), source="generate")


def _options(benchmark: AnyBenchmark, asked: Mapping[str, object]) -> BaseOptions:
    """Return a benchmark's checked options, with Inspect's model as mind unless another is named."""
    fields = benchmark.options.model_fields
    given = {name: value for name, value in asked.items() if name != _MODEL or name in fields}
    if "city" in given and "city" not in fields and "cities" in fields:
        given["cities"] = given.pop("city")
    if benchmark.mind_option in fields:
        given.setdefault(benchmark.mind_option, MIND)
    for name, value in given.items():
        if name in fields and get_origin(fields[name].annotation) is tuple and isinstance(value, str):
            given[name] = (value,)
    options: BaseOptions = check_settings(
        dict[str, Any](given), benchmark.options, source=f"options of virl/{benchmark.name}"
    )
    return options


@scorer(metrics=[])
def own_scores(benchmark: str, options: Mapping[str, Any]) -> Scorer:
    """Return a scorer that gives each sample the metrics of its episode alone, by the benchmark's options."""
    own, settings = _open_task(benchmark, options)

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001 - as Inspect calls it
        """Return the metrics of a sample's episode; `None` if the episode left no record."""
        kept = state.store.get(_RECORD)
        if kept is None:
            return None
        record = Record(**kept)
        means = {one.key: _estimate(own, settings, one.key, [record]) for one in own.metrics}
        return Score(
            value={key: interval.mean if interval else None for key, interval in means.items()},
            answer=own.show(record).outcome,
            explanation=record.reason or None,
            metadata={_RECORD: kept},
        )

    return score


@metric(scores="unreduced")
def mean(benchmark: str, options: Mapping[str, Any], key: str) -> Metric:
    """Return an Inspect metric with the value that `virl bench` reports for a metric.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
        key: of the metric.
    """
    return _make_metric(benchmark, options, key, lambda interval: interval.mean)


@metric(scores="unreduced")
def stderr(benchmark: str, options: Mapping[str, Any], key: str) -> Metric:
    """Return an Inspect metric with the standard error of a metric, from its 95 % interval.

    Args:
        benchmark: its name.
        options: of the run, as JSON.
        key: of the metric.
    """
    return _make_metric(benchmark, options, key, lambda interval: (interval.high - interval.low) / _WIDTH)


def _make_metric(
    benchmark: str, options: Mapping[str, Any], key: str, of: Callable[[Interval], float]
) -> Metric:
    """Return an Inspect metric: what `of` takes from the interval of the metric `key` over all episodes."""
    own, settings = _open_task(benchmark, options)

    def compute(scores: list[SampleScore]) -> Value:
        """Return the value over all samples: by model if there are several, NaN if there is none."""
        records = [Record(**kept) for one in scores if (kept := (one.score.metadata or {}).get(_RECORD))]
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
    """Return a metric's mean with its interval over records of one model; `None` if it has no value."""
    tallies: list[Tally] = []
    for city in dict.fromkeys(record.city for record in records):
        own = [record for record in records if record.city == city]
        tallies += cell_scores(benchmark, own, options).tallies.get(key, ())
    [is_share] = [one.percent for one in benchmark.metrics if one.key == key]
    return estimate(tallies, is_share=is_share)


def _open_task(name: str, options: Mapping[str, Any]) -> tuple[AnyBenchmark, BaseOptions]:
    """Return (benchmark of this name, its checked options)."""
    benchmark = find_benchmark(name)
    settings: BaseOptions = check_settings(dict(options), benchmark.options, source=f"options of virl/{name}")
    return benchmark, settings


def _register(name: str) -> Callable[..., Task]:
    """Return the function that makes a benchmark's task, after registering it with Inspect by name."""

    def make_task(**options: object) -> Task:
        """Return the task of Inspect with these options of the benchmark."""
        try:
            return benchmark_task(name, options)
        except VirlError as fault:  # Inspect prints such errors without a traceback
            raise PrerequisiteError(as_markup(str(fault))) from fault

    make_task.__doc__ = f"The benchmark `{name}`; arguments are its options (see `virl bench {name} --help`)."
    return task(name=name)(make_task)


TASKS = {name: _register(name) for name in benchmark_names()}
