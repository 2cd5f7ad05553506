"""Runs a benchmark from its first episode, or from where it was left, to its report."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from virl.bench.benchmark import AnyBenchmark, BaseOptions, find_benchmark
from virl.bench.engine.crew import Crew, ThreadCrew, dispatch, interruptible
from virl.bench.engine.processes import ProcessCrew
from virl.bench.engine.work import FIRST_WAIT_S, Job, open_bench
from virl.bench.episode import Episode
from virl.bench.plan import RunProgress, choose, known_cities, make_plan, outlook, write_plan
from virl.bench.records import RECORDS, Records, keep_files, open_records
from virl.bench.report.write import write_reports
from virl.bench.resources import Resources, Terms
from virl.bench.shared_models import Pace
from virl.console import print_plain
from virl.errors import BadInput, Interrupted, VirlError
from virl.journal.folder import check_unused, removed_if_refused
from virl.money.book import SPENDING
from virl.money.ledger import Ledger
from virl.registry import one_line
from virl.traces.spans import export_traces

EngineName = Literal["threads", "processes", "ray"]

_STOPPING = "stopping after the running episodes; press Ctrl-C again to stop them too"

THREADS = 8
"""Number of episodes side by side in threads unless the user says otherwise. Chosen."""


class Unpaid(VirlError):
    """The error that a run stops before its last episode, since its budget is spent or its model refuses."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The way in which a run's episodes are executed, on which no result depends."""

    name: EngineName | None = None
    """Name of the engine; `None` takes the benchmark's own default."""
    workers: int | None = None
    """Number of episodes side by side; `None` for one per core in processes, a few in threads."""
    address: str = "auto"
    """Address of the Ray cluster; used by the engine `ray` alone."""
    attempts: int = 3
    """Most tries of an episode whose failure may pass."""
    first_wait_s: float = FIRST_WAIT_S
    """Seconds before an episode's second try; doubles with each further try."""
    pictures: bool = True
    """True if the pictures of episodes are kept."""
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a benchmark's episodes that a run executes."""

    limit: int | None = None
    """Most episodes of each model in each city, drawn by the run's seed; `None` for all."""
    shard: tuple[int, int] = (1, 1)
    """(number of the shard from 1, number of shards), see `virl.bench.plan.choose`."""
    case: str | None = None
    """Name of the only case to run, `Episode.case`; `None` for all."""


def run_benchmark(
    name: str,
    options: BaseOptions,
    out: Path,
    console: Console,
    *,
    engine: Engine | None = None,
    part: Part | None = None,
    resume: bool = False,
    objects: Mapping[str, object] | None = None,
) -> None:
    """Run a benchmark's episodes that have no record yet or failed, then write the reports into `out`.

    However it ends, what was done is on the disk and reported.

    Args:
        name: as `virl.bench.benchmark.find_benchmark` takes it.
        options: of the benchmark.
        out: folder of the run.
        console: for the progress and the results.
        engine: how episodes are run.
        part: which of them.
        resume: whether to go on with a run that is in `out`.
        objects: cities, minds and models of a program, by the names that stand for them in the options.

    Raises:
        BadInput: `out` holds another run, or the options fit no episode.
        Unpaid: the budget is spent; what is left can be run with a higher one.
        VirlError: what the benchmark needs is missing.
        KeyboardInterrupt: after the reports of what was done.
    """
    benchmark = find_benchmark(name)
    engine, part = engine or Engine(), part or Part()
    objects = objects or {}
    kind = engine_name(engine, benchmark, objects)
    workers = worker_count(engine, kind)
    terms = terms_of(engine, kind, options.seed, out)
    data = options.model_dump(mode="json")
    job = Job(name, data, terms, engine.attempts, engine.first_wait_s, engine.pictures, objects)
    check_unused(out, own=RECORDS)
    settings = {"benchmark": name, "options": data}
    with export_traces(), removed_if_refused(out), open_records(out, settings, resume) as records:
        if records.cut:
            console.print(records.cut, highlight=False, markup=False)
        pace = Pace(terms.requests_per_second) if terms.requests_per_second else None
        ledger = Ledger(terms.budget_usd, book=out / SPENDING)
        reserve = pace.reserve if pace else None
        with closing(Resources(terms, ledger, reserve, objects=objects)) as resources:
            if not records.done and kind != "ray":
                open_bench(job, resources)  # what is missing is said before data is collected
            left = _plan_episodes(benchmark, options, resources, part, records)
            kept = list(records.done.values())
            for line in outlook(benchmark, len(left), workers, kept, out):
                print_plain(console, line)
            with _crew(kind, job, engine, workers, resources, book=out / SPENDING, wanted=len(left)) as crew:
                ended = _run(crew, left, records, engine, console, title=benchmark.title)
    reports = write_reports([out], console)
    print_plain(console, f"results: {reports.results}\npage: {reports.page}")
    if isinstance(ended, KeyboardInterrupt):
        raise Interrupted(out) from ended
    if ended is not None:
        raise Unpaid(f"{ended}; finished episodes are saved in {out}")


def engine_name(engine: Engine, benchmark: AnyBenchmark, objects: Mapping[str, object]) -> EngineName:
    """Return the engine asked for, else threads for a rate limit or `objects`, else the benchmark's default.

    Args:
        engine: as asked for; its name may be left open.
        benchmark: whose episodes run.
        objects: given in place of names, by option.

    Raises:
        BadInput: it cannot keep the rate, or an object cannot be sent to its workers.
    """
    terms = engine.terms
    is_paced = terms.requests_per_second is not None
    if engine.name is None:
        # Processes share no clock for the rate, and not every object can be sent to them.
        return "threads" if is_paced or objects else benchmark.work
    if engine.name == "processes" and is_paced:
        raise BadInput("--rate does not work with processes: choose --engine threads or ray")
    for name, one in objects.items() if engine.name != "threads" else ():
        try:
            ForkingPickler.dumps(one)
        except Exception as fault:
            raise BadInput(
                f"{name}: cannot be sent to other processes ({one_line(fault)}): choose engine='threads'"
            ) from fault
    return engine.name


def worker_count(engine: Engine, kind: EngineName) -> int:
    """Return the number of episodes that run side by side: as asked for, or the default for `kind`."""
    return engine.workers or (THREADS if kind == "threads" else os.cpu_count() or 1)


def terms_of(engine: Engine, kind: EngineName, seed: int, out: Path) -> Terms:
    """Return the engine's terms for a run, with seed, folder and (if `kind` is threads) workers filled in.

    Args:
        engine: with the terms asked for.
        kind: that runs the episodes.
        seed: of the run.
        out: folder of the run.
    """
    # In a process of its own an episode is alone: models there need not wait for others to fill a batch.
    workers = worker_count(engine, kind) if kind == "threads" else 1
    return replace(engine.terms, seed=seed, workers=workers, out=out.resolve())


def _plan_episodes(
    benchmark: AnyBenchmark, options: BaseOptions, resources: Resources, part: Part, records: Records
) -> list[Episode]:
    """Return the episodes still to run, after writing the plan of all into the run's folder."""
    episodes = benchmark.episodes(options, resources)
    plan = make_plan(episodes, resources.open_cities, known_cities(records.folder))
    write_plan(records.folder, plan)
    return episodes_left(episodes, part, records.done, options.seed)


def episodes_left(
    episodes: Sequence[Episode], part: Part, done: Mapping[str, Mapping[str, Any]], seed: int
) -> list[Episode]:
    """Return the episodes of a part that have no record in `done`, by id, or one of a failure.

    Args:
        episodes: all of them, in their order.
        part: those that the run executes.
        done: the records of the run so far, as they are in the file.
        seed: of the run, by which a limited part is drawn.

    Raises:
        BadInput: episodes outside the part are in `done`, and some of the part are not.
    """
    chosen = choose(episodes, part.limit, part.shard, seed)
    begun = {one.id for one in episodes if one.id in done}
    wanted = {one.id for one in chosen}
    if begun - wanted and wanted - begun:  # as another shard leaves, or a draw of an earlier version
        raise BadInput("--resume: the run has episodes outside --limit and --shard: choose another --out")
    return [
        one
        for one in chosen
        if part.case in (None, one.case)
        if one.id not in done or done[one.id]["status"] == "failed"
    ]


@contextmanager
def _crew(
    kind: EngineName, job: Job, engine: Engine, workers: int, resources: Resources, *, book: Path, wanted: int
) -> Iterator[Crew | None]:
    """Yield a crew that runs `wanted` episodes (`None` for 0), then end it; `book` is the payments file."""
    if not wanted:
        yield None
        return
    count = min(workers, wanted)
    crew: Crew
    if kind == "threads":
        crew = ThreadCrew(open_bench(job, resources).attempt, count)
    elif kind == "processes":
        crew = ProcessCrew(job, count, resources.ledger)
    else:
        from virl.bench.engine.cluster import ClusterCrew  # noqa: PLC0415 - Ray is an extra

        crew = ClusterCrew(job, engine.workers and count, engine.address, book)
    try:
        yield crew
    finally:
        crew.dismiss()


def _run(
    crew: Crew | None,
    episodes: Sequence[Episode],
    records: Records,
    engine: Engine,
    console: Console,
    *,
    title: str,
) -> KeyboardInterrupt | str | None:
    """Run and record episodes; return the Ctrl-C or the budget's sentence that stopped them, else `None`."""
    if crew is None:
        return None
    unpaid: list[str] = []
    models = [episode.model for episode in episodes]
    with RunProgress(console, title, models) as progress, interruptible() as interrupted:

        def is_stopping() -> bool:
            """Return whether the run has to stop: it was interrupted, or its budget is spent."""
            if interrupted():
                progress.tell_stopping(_STOPPING)
            return bool(unpaid) or interrupted()

        try:
            for outcome in dispatch(crew, episodes, attempts=engine.attempts, stopped=is_stopping):
                # No record: with a higher budget the run goes on at this episode.
                if outcome.status == "unpaid":
                    unpaid.append(outcome.reason)
                    continue
                unpaid += [outcome.reason] if outcome.shut else []
                # Pictures first: no record then names a file that a kill kept from being written.
                paths = keep_files(records.folder, outcome.episode, outcome.pictures)
                records.append(asdict(outcome.record(paths)))
                failed = outcome.status == "failed"
                progress.count_episode(outcome.episode.model, outcome.seconds, failed=failed)
        except KeyboardInterrupt as second:
            return second
        if interrupted():
            return KeyboardInterrupt()
    return unpaid[0] if unpaid else None
