"""A run that is only checked: options, models, keys and data, and what it would take."""

from contextlib import closing
from pathlib import Path

from rich.console import Console

from virl.bench.benchmark import BaseOptions, find_benchmark
from virl.bench.city_data import Uncollected
from virl.bench.engine.work import Job, open_bench
from virl.bench.plan import make_plan, outlook
from virl.bench.records import RECORDS, read_records
from virl.bench.resources import Resources
from virl.bench.run import Engine, Part, engine_name, episodes_left, terms_of, worker_count
from virl.console import print_plain
from virl.errors import BadInput
from virl.journal.folder import check_unused
from virl.platform.providers.cities import city_settings
from virl.platform.providers.provider import provider_of


def dry_run(
    name: str,
    options: BaseOptions,
    out: Path,
    console: Console,
    *,
    engine: Engine | None = None,
    part: Part | None = None,
    resume: bool = False,
) -> None:
    """Check a run and print how many episodes it would do, how long and at what cost; writes nothing.

    Args:
        name: as `virl.bench.benchmark.find_benchmark` takes it.
        options: of the benchmark.
        out: folder that the run would write.
        console: for what is told.
        engine: how episodes would be run.
        part: which of them.
        resume: whether the run would go on with one that is in `out`.

    Raises:
        VirlError: the run would be refused; as `virl.bench.run.run_benchmark`.
    """
    benchmark = find_benchmark(name)
    engine, part = engine or Engine(), part or Part()
    kind = engine_name(engine, benchmark, {})
    terms = terms_of(engine, kind, options.seed, out)
    check_unused(out, own=RECORDS)
    done = read_records(out / RECORDS) if out.is_dir() else {}
    if done and not resume:
        raise BadInput(f"{out}: already contains a run: continue it with --resume, or choose another --out")
    with closing(Resources(terms, may_collect=False)) as resources:
        open_bench(Job(name, options.model_dump(mode="json"), terms), resources)
        try:
            episodes = benchmark.episodes(options, resources)
        except Uncollected as first:
            print_plain(console, f"{first}; how many episodes there are is known after that")
        else:
            make_plan(episodes, {})
            left = len(episodes_left(episodes, part, done, options.seed))
            for line in outlook(benchmark, left, worker_count(engine, kind), list(done.values()), out):
                print_plain(console, line)
        print_plain(console, _cost(options, resources, terms.budget_usd))
    print_plain(console, "dry run: options, models, keys and data are in order; nothing was run")


def _cost(options: BaseOptions, resources: Resources, budget_usd: float | None) -> str:
    """Return a sentence on the most dollars a run may cost (`None`: no limit) and on who bills it."""
    asked = options.model_dump(mode="json")
    minds = [spec for spec in (asked.get("mind"), *asked.get("models", ())) if spec and ":" in spec]
    cities = [name for name in resources.open_cities if provider_of(city_settings(name)).network]
    billed = [*dict.fromkeys(minds), *(f"the provider of {name}" for name in cities)]
    if not billed:
        return "cost: $0, no paid service is asked"
    limit = f"at most ${budget_usd:.2f}" if budget_usd is not None else "no limit: set one with --budget-usd"
    return f"cost: {limit} ({', '.join(billed)} may bill requests)"
