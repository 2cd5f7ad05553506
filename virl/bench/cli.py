"""`virl bench`: run a benchmark, or report on runs."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from typer.core import TyperGroup

from virl.errors import BadInput, VirlError
from virl.guard import guard
from virl.resources import cache_home

CacheMode = Literal["off", "session", "ttl"]
Device = Literal["auto", "cpu", "cuda"]
EngineChoice = Literal["threads", "processes", "ray"]


class _Benchmarks(TyperGroup):
    """The commands of the group, and one for every benchmark that is installed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of benchmarks, then of the other commands."""
        from virl.bench.registry import benchmark_names  # noqa: PLC0415 - loads when asked for

        return [*benchmark_names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; any other name is taken for a benchmark's."""
        return super().get_command(ctx, cmd_name) or _command(cmd_name)


bench_app = typer.Typer(
    cls=_Benchmarks,
    help="Run a benchmark, go on with one, or report on several runs; see docs/how-to/benchmarks.md.",
    no_args_is_help=True,
)


@bench_app.command("list")
def list_benchmarks(debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False) -> None:
    """List the benchmarks that are installed, and their own options."""

    def tell() -> None:
        from virl.bench.registry import benchmark_names, find_benchmark  # noqa: PLC0415

        for name in benchmark_names():
            try:
                benchmark = find_benchmark(name)
            except VirlError as fault:  # one that is broken stands in nobody else's way
                typer.echo(f"{name:20} cannot be used: {fault}")
                continue
            typer.echo(f"{name:20} {benchmark.about}")
            for field, about in benchmark.options.model_fields.items():
                default = benchmark.options.model_construct().model_dump(mode="json").get(field)
                typer.echo(f"    {field}: {default!r}{f'  {about.description}' if about.description else ''}")

    guard(tell, debug=debug)


@bench_app.command("report")
def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of runs.", file_okay=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the report; needed for several runs.", file_okay=False)
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Put runs side by side: parts of one run are merged, different ones are compared."""

    def tell() -> None:
        from virl.bench.report.write import write_reports  # noqa: PLC0415 - loads when asked for

        reports = write_reports(folders, Console(), out)
        typer.echo(f"results: {reports.results}\npage: {reports.page}")

    guard(tell, debug=debug)


def bench(
    name: str,
    city: Annotated[list[str] | None, typer.Option(help="A city; repeat it for several.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A model; repeat it to compare several.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything that is chosen by chance.", min=0)] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Another option of the benchmark; repeat it."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; by default `runs/NAME`.", file_okay=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out; try failed episodes again.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="At most so many episodes of each model in each city.", min=1)
    ] = None,
    shard: Annotated[str, typer.Option(metavar="I/N", help="Run one of N parts; `report` merges.")] = "1/1",
    engine: Annotated[
        EngineChoice | None, typer.Option(help="Where episodes run; by default what suits the benchmark.")
    ] = None,
    address: Annotated[str, typer.Option(help="Of the Ray cluster, with `--engine ray`.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Episodes side by side.", min=1)] = None,
    attempts: Annotated[int, typer.Option(help="Tries while a failure may pass.", min=1)] = 3,
    budget_usd: Annotated[
        float | None, typer.Option(help="Dollars that all episodes may cost together.", min=0)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Requests a second to language models, over all episodes.")
    ] = None,
    device: Annotated[Device, typer.Option(help="Where models run.")] = "auto",
    allow_downloads: Annotated[
        bool, typer.Option("--allow-downloads", help="Fetch weights that are not on this machine.")
    ] = False,
    cache: Annotated[
        CacheMode | None, typer.Option(help="What replies of Google's to keep; see docs/reference/google.md.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep all of Google's replies in this folder.", file_okay=False)
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Answer from a recording, with no network.", file_okay=False)
    ] = None,
    no_replies: Annotated[
        bool, typer.Option("--no-reply-cache", help="Ask language models anew, whatever was kept.")
    ] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Keep the views of episodes.")
    ] = True,
    debug: Annotated[bool, typer.Option("--debug", help="Log what happens; show tracebacks.")] = False,
) -> None:
    """Run a benchmark; what was done is kept as each episode ends."""

    def work() -> None:
        from virl.bench.plan import parse_shard  # noqa: PLC0415 - loads when asked for
        from virl.bench.registry import find_benchmark  # noqa: PLC0415
        from virl.bench.resources import Terms  # noqa: PLC0415
        from virl.bench.run import Engine, Part, run_benchmark  # noqa: PLC0415
        from virl.settings import check_settings  # noqa: PLC0415

        benchmark = find_benchmark(name)
        given = _given(fields or (), city, model, seed)
        options = check_settings(given, benchmark.options, source=f"virl bench {name}")
        if rate is not None and rate <= 0:
            raise BadInput(f"--rate {rate}: give requests a second above 0")
        folder = out or Path("runs") / benchmark.name
        terms = Terms(
            device=device,
            allow_downloads=allow_downloads,
            budget_usd=budget_usd,
            requests_per_second=rate,
            replies=None if no_replies else cache_home() / "replies",
            cache=cache,
            session=str(folder.resolve()),
            record=record,
            replay=replay,
        )
        how = Engine(engine, workers, address, attempts, pictures=pictures, terms=terms)
        part = Part(limit, parse_shard(shard))
        run_benchmark(name, options, folder, Console(), engine=how, part=part, resume=resume)

    guard(work, debug=debug)


def run_module(name: str) -> None:
    """What `python -m benchmarks.NAME` does: the same as `virl bench NAME`."""
    bench_app([name, *sys.argv[1:]], prog_name="virl bench")


def _command(name: str) -> Any:
    """The command that runs a benchmark."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

    def run(*arguments: Any, **options: Any) -> None:
        bench(name, *arguments, **options)

    run.__doc__ = f"Run the benchmark {name}; `virl bench list` tells its own options, for --set."
    run.__annotations__ = {key: kind for key, kind in bench.__annotations__.items() if key != "name"}
    run.__signature__ = _without_name()  # type: ignore[attr-defined]
    app.command(name)(run)
    return typer.main.get_command(app)


def _without_name() -> Any:
    from inspect import signature  # noqa: PLC0415

    whole = signature(bench)
    return whole.replace(parameters=[one for key, one in whole.parameters.items() if key != "name"])


def _given(
    fields: Sequence[str], cities: list[str] | None, models: list[str] | None, seed: int | None
) -> Mapping[str, object]:
    """What the command line says of the benchmark's options."""
    from virl.settings import yaml_value  # noqa: PLC0415

    given: dict[str, object] = {}
    for text in fields:
        key, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"--set {text}: give FIELD=VALUE")
        given[key.strip()] = yaml_value(value, source=f"--set {key}")
    asked = {"cities": cities, "models": models, "seed": seed}
    return given | {key: value for key, value in asked.items() if value is not None}
