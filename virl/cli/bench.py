"""`virl bench`: run a benchmark, or report on runs."""

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from virl.cli.completion import benchmarks, complete_benchmarks, of_option
from virl.cli.guard import LOG_DETAILS, HelpfulGroup, add_guard, guard
from virl.cli.listing import print_json, print_table
from virl.cli.options import (
    CacheOption,
    DeviceOption,
    DownloadsOption,
    JsonOption,
    RecordOption,
    ReplayOption,
    check_amount,
)
from virl.console import SafeConsole, echo
from virl.errors import BadInput, VirlError, raise_all
from virl.resources import cache_home

EngineChoice = Literal["threads", "processes", "ray"]


class _Benchmarks(HelpfulGroup):
    """The command group of `virl bench`, with one more command for each installed benchmark."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the benchmarks, then of the other commands."""
        from virl.bench.benchmark import benchmark_names  # noqa: PLC0415 - loads when asked for

        return [*benchmark_names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with this name; a name of no command is taken for a benchmark's."""
        return super().get_command(ctx, cmd_name) or _command(cmd_name)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the shell's completions, without help texts, as these would import each benchmark."""
        names = sorted({*benchmarks()}) + super().list_commands(ctx)
        alike = copy(ctx)
        alike.command = TyperGroup(commands={name: TyperCommand(name) for name in names})
        found: list[Any] = alike.command.shell_complete(alike, incomplete)
        return found


bench_app = typer.Typer(
    cls=_Benchmarks,
    help="Run benchmarks, and compare their runs.",
    no_args_is_help=True,
)


@bench_app.command("list")
@add_guard()
def list_benchmarks(
    name: Annotated[
        str | None,
        typer.Argument(help="A benchmark, to list its options.", autocompletion=complete_benchmarks),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the installed benchmarks, or the options of one."""
    from virl.bench.benchmark import BENCHMARKS, lines_on_benchmarks  # noqa: PLC0415

    if name is not None:
        _list_options(name, as_json)
        return
    if as_json:
        found, faults = BENCHMARKS.usable()
        print_json([{"name": one, "title": each.title, "about": each.about} for one, each in found.items()])
    else:
        lines, faults = lines_on_benchmarks()
        print_table(
            ("benchmark", "what it measures"),
            list(lines.items()),
            "List the options of one with `virl bench list BENCHMARK`.",
        )
    for fault in faults:
        echo(str(fault), err=True)


def _list_options(name: str, as_json: bool) -> None:
    """Print the options of the benchmark with this name, as a table or as JSON."""
    from virl.bench.benchmark import find_benchmark  # noqa: PLC0415
    from virl.bench.options import listed_options  # noqa: PLC0415

    benchmark = find_benchmark(name)
    rows = listed_options(benchmark.options)
    if as_json:
        print_json(rows)
        return
    echo(f"{benchmark.name}: {benchmark.about}\n")
    print_table(
        ("option", "default", "what it sets"),
        [(row["option"], _default_text(row["default"]), row["about"]) for row in rows],
    )


def _default_text(value: object) -> str:
    """Return an option's default value as text that could be typed on the command line."""
    if isinstance(value, list):
        return ", ".join(map(_default_text, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value or value == 0 else "none"


@bench_app.command("report")
@add_guard()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders.", file_okay=False)],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report. Required with several runs.", file_okay=False)
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Print published results, for comparison.")
    ] = False,
) -> None:
    """Merge the shards of a run, or compare several runs in one report."""
    from virl.bench.report.write import write_reports  # noqa: PLC0415 - loads when asked for

    reports = write_reports(folders, SafeConsole(), out, published=published)
    echo(f"results: {reports.results}\npage: {reports.page}")


@add_guard(LOG_DETAILS)
def bench(
    name: str,
    own_options: Callable[[], Mapping[str, object]],
    *,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Set an option by its field name. Can be repeated."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. By default `runs/NAME`.", file_okay=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in --out, and retry failed episodes.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(help="Maximum number of episodes for each model in each city, drawn by --seed.", min=1),
    ] = None,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Run shard I of N. Merge shards with `virl bench report`.")
    ] = "1/1",
    engine: Annotated[
        EngineChoice | None,
        typer.Option(help="How to run episodes in parallel. By default the benchmark chooses."),
    ] = None,
    address: Annotated[str, typer.Option(help="Address of the Ray cluster, for `--engine ray`.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Number of episodes to run in parallel.", min=1)] = None,
    attempts: Annotated[
        int, typer.Option(help="Maximum attempts for an episode that fails for a temporary reason.", min=1)
    ] = 3,
    budget_usd: Annotated[
        float | None, typer.Option(help="Budget in US dollars for the whole run.", callback=check_amount)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Maximum requests per second to language models, over all episodes.")
    ] = None,
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    cache: CacheOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Check options, models, keys and data, and print what the run would take."
        ),
    ] = False,
    no_replies: Annotated[
        bool, typer.Option("--no-reply-cache", help="Do not read cached replies of language models.")
    ] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Save the views of episodes.")
    ] = True,
) -> None:
    """Run a benchmark, named or as `MODULE:OBJECT`, with the own options that `own_options()` returns.

    Each episode is saved as it ends.
    """
    from virl.bench.benchmark import find_benchmark  # noqa: PLC0415
    from virl.bench.dry_run import dry_run as check_run  # noqa: PLC0415 - loads when asked for
    from virl.bench.plan import parse_shard  # noqa: PLC0415
    from virl.bench.resources import Terms  # noqa: PLC0415
    from virl.bench.run import Engine, Part, run_benchmark  # noqa: PLC0415
    from virl.settings.model import check_settings  # noqa: PLC0415

    benchmark = find_benchmark(name)
    asked = set_options(fields or ()) | dict(own_options())
    options = check_settings(asked, benchmark.options, source=f"virl bench {name}")
    if rate is not None and rate <= 0:
        raise BadInput(f"--rate {rate}: must be above 0 requests per second")
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
    start = check_run if dry_run else run_benchmark
    start(name, options, folder, SafeConsole(), engine=how, part=part, resume=resume)


def run_module(name: str) -> None:
    """Run `python -m benchmarks.NAME`, which is the same as `virl bench NAME`."""
    arguments = sys.argv[2:] if sys.argv[1:2] == ["run"] else sys.argv[1:]
    sys.argv[1:] = ["bench", name, *arguments]
    bench_app(sys.argv[2:], prog_name="virl bench")


def _command(name: str) -> Any:
    """Return the command of the benchmark with this name, with its own options and further commands."""
    from virl.bench.benchmark import find_benchmark  # noqa: PLC0415
    from virl.bench.options import named_fields, parameters  # noqa: PLC0415

    app = typer.Typer(name=name, add_completion=False, pretty_exceptions_enable=False)
    try:
        benchmark = find_benchmark(name)
    except VirlError as fault:
        # whatever options it was given: what is told is why the benchmark cannot be run
        app.command(name, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
            _refusal(fault)
        )
        return typer.main.get_command(app)

    def run(context: typer.Context, **arguments: Any) -> None:
        """Run the benchmark with the options of the command line, unless a further command is named."""
        if context.invoked_subcommand is None:
            own = {key: arguments.pop(key) for key in list(arguments) if key not in engine}
            bench(name, lambda: named_fields(benchmark.options, own), **arguments)

    engine = {
        key: one for key, one in signature(bench).parameters.items() if key not in {"name", "own_options"}
    }
    context = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    own = parameters(benchmark.options, f"Options of {benchmark.name}", _flags(engine), of_option)
    run.__doc__ = benchmark.about
    taken = [context, *own, *engine.values()]  # what Typer is to read
    vars(run)["__signature__"] = signature(run).replace(parameters=taken)
    run.__annotations__ = {one.name: one.annotation for one in taken}
    if not benchmark.commands:
        app.command(name)(run)
        return typer.main.get_command(app)
    app.callback(invoke_without_command=True)(run)
    for command, function in benchmark.commands.items():
        app.command(command)(function)
    return typer.main.get_command(app)


def _refusal(fault: VirlError) -> Callable[..., None]:
    """Return a command that only prints why its benchmark is not available, and fails."""

    def refuse() -> None:
        """Print the fault, and exit with its code."""
        guard(lambda: raise_all([fault]), debug=False)

    refuse.__doc__ = f"Not available: {fault}"
    return refuse


def _flags(engine: Mapping[str, Parameter]) -> set[str]:
    """Return the command-line flags that all benchmarks have, such as `--out`, from their parameters."""
    named = {name for one in engine.values() for name in one.annotation.__metadata__[0].param_decls or ()}
    return {flag for name in named for flag in name.split("/")} | {
        "--" + key.replace("_", "-") for key in engine
    }


def set_options(fields: Sequence[str]) -> dict[str, object]:
    """Return {field: value} of the texts `FIELD=VALUE` that `--set` was given.

    Raises:
        BadInput: one is not written as a field and its value.
    """
    from virl.settings.model import yaml_value  # noqa: PLC0415

    found: dict[str, object] = {}
    for text in fields:
        key, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"--set {text}: write it as FIELD=VALUE")
        found[key.strip()] = yaml_value(value, source=f"--set {key}")
    return found
