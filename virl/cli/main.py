"""The command line: `virl`."""

import gc
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl.cli.agents import list_agents, new, print_wishes
from virl.cli.bench import bench_app
from virl.cli.check import check
from virl.cli.cities import import_app, list_cities, town
from virl.cli.completion import complete_agents, complete_detectors, complete_movers
from virl.cli.data import collect_app, data_app
from virl.cli.doctor import cache, doctor
from virl.cli.film import film
from virl.cli.guard import LOG_DETAILS, HelpfulGroup, add_guard
from virl.cli.models import list_models, look
from virl.cli.options import (
    AroundOption,
    AsOfOption,
    BudgetOption,
    CacheOption,
    DeviceOption,
    DownloadsOption,
    InventedOption,
    RadiusOption,
    RecordOption,
    ReplayOption,
    access_of,
    city_option,
    mind_option,
    part_of,
)
from virl.cli.preview import preview, tell_preview
from virl.cli.serve import serve_app
from virl.cli.watch import gallery, watch, watch_run
from virl.console import SafeConsole, echo, echo_json
from virl.errors import BadInput
from virl.resources import cache_home
from virl.version import __version__

if TYPE_CHECKING:
    from virl.journal.recorded_run import Finished


class _Commands(HelpfulGroup):
    """The group of all commands; without a command it prints which agent does what."""

    def tell_without_command(self, ctx: typer.Context) -> None:
        """Print the table of users' wishes with the commands for them."""
        del ctx
        print_wishes()


app = typer.Typer(cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    """Print virl's version and exit, if `--version` is given."""
    if wanted:
        echo(f"virl {__version__}")
        raise typer.Exit


@app.callback()
def _virl(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Run tool-using agents in street-view cities."""


@add_guard(LOG_DETAILS)
def run(
    agent: Annotated[
        str,
        typer.Argument(
            help="Name of an agent (see `virl agents`), or a character file.", autocompletion=complete_agents
        ),
    ],
    city: Annotated[
        str | None, city_option("Run in this city instead of the character's (see `virl cities`).")
    ] = None,
    around: AroundOption = None,
    radius: RadiusOption = None,
    invented_life: InventedOption = False,
    at: Annotated[
        str | None,
        typer.Option(help="Start at this address or LAT,LNG instead of the character's start."),
    ] = None,
    mind: Annotated[
        str | None, mind_option("Who decides: `rules` (the default), or a chat model such as `openai:MODEL`.")
    ] = None,
    mover: Annotated[
        str | None,
        typer.Option(
            help="How the agent moves: `links` (the default), `grid`, `web` or `hybrid`.",
            autocompletion=complete_movers,
        ),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(
            help="Use this detector instead of the character's (see `virl models`).",
            autocompletion=complete_detectors,
        ),
    ] = None,
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    budget_usd: BudgetOption = None,
    cache: CacheOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    as_of: AsOfOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. By default `runs/AGENT-TIME`.", file_okay=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in `--out`, or the agent's latest run.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Set a field of the character, such as limits.steps=20. Can be repeated.",
        ),
    ] = None,
    feedback: Annotated[
        Path | None,
        typer.Option(
            help="File with feedback for the agent during the run. See docs/how-to/run-agents.md.",
            dir_okay=False,
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Folder of prompts to use instead of the character's.", exists=True, file_okay=False
        ),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask for my feedback during the run.")] = False,
    watch_it: Annotated[
        bool,
        typer.Option("--watch", help="Watch and steer the run in the browser. See docs/how-to/watch.md."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check everything and print what would happen. Writes nothing."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run an agent. Writes a journal, the views, a result and a report to the run folder."""
    if ask and (quiet or as_json):
        raise BadInput("--ask needs the terminal: remove --quiet and --json")
    from virl.agent.character_file import read_fields  # noqa: PLC0415 - brings in the routines
    from virl.agent.plan import RunOptions  # noqa: PLC0415 - brings in the city and the senses
    from virl.agent.start import run_agent  # noqa: PLC0415

    access = access_of(budget_usd=budget_usd, cache=cache, record=record, replay=replay, as_of=as_of)
    options = RunOptions(
        agent=agent,
        city=part_of(city, around, radius, invented=invented_life),
        at=at,
        mind=mind,
        mover=mover,
        detector=detector,
        device=device,
        allow_downloads=allow_downloads,
        out=out,
        resume=resume,
        seed=seed,
        fields=read_fields(fields or ()),
        feedback="terminal" if ask else str(feedback.resolve()) if feedback else None,
        prompts=str(prompts.resolve()) if prompts else "",
        access=access,
    )
    if dry_run:
        tell_preview(options, as_json=as_json)
        return
    console = SafeConsole(quiet=quiet or as_json)

    def tell(finished: "Finished") -> None:
        """Print the finished run: where its report is, or its result as JSON."""
        if finished.had_ended and not (quiet or as_json):
            echo(f"already finished: {finished.result.status}: {finished.result.reason}")
        if as_json:
            echo_json(finished.result.model_dump_json(indent=2))
        else:
            echo(f"report: {finished.report}")

    if watch_it:
        watch_run(options, console, tell)
    else:
        tell(run_agent(options, console))


@add_guard()
def narrate(
    run: Annotated[Path, typer.Argument(help="Run folder of an agent, or of a benchmark with --episode.")],
    mind: Annotated[
        str | None,
        mind_option("Who writes: `rules` (the default: exact descriptions only), or a chat model."),
    ] = None,
    episode: Annotated[str | None, typer.Option(help="Id of an episode in a benchmark's run.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the episode's data set. By default, the run's.", file_okay=False),
    ] = None,
    budget_usd: BudgetOption = None,
) -> None:
    """Describe a finished walk as instructions and as a drawing."""
    from virl.mind.open import open_mind  # noqa: PLC0415 - loads when asked for
    from virl.money.ledger import Ledger  # noqa: PLC0415 - heavy
    from virl.narrate.run import narrate_episode, narrate_run  # noqa: PLC0415 - brings in the cities
    from virl.pages.numbers import dollars  # noqa: PLC0415

    ledger = Ledger(budget_usd, book=run / "narration-spending.jsonl")
    teller = open_mind(mind or "rules", cache_dir=cache_home() / "replies", ledger=ledger)
    told = narrate_episode(run, episode, teller, data=data) if episode else narrate_run(run, teller)
    for line in (*told.narration.exact, told.narration.instruction, *told.narration.notes):
        if line:
            echo(line)
    if ledger.payments().calls:
        echo(f"paid for narrations of this run: {dollars(ledger.spent_usd)}")
    echo(f"narration: {told.page}")


_PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Agents": {
        "run": run,
        "preview": preview,
        "watch": watch,
        "agents": list_agents,
        "new": new,
        "check": check,
        "narrate": narrate,
        "film": film,
        "gallery": gallery,
    },
    "Cities and models": {"cities": list_cities, "town": town, "models": list_models, "look": look},
    "Setup": {"doctor": doctor, "cache": cache},
}
for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_panel)(_command)
app.add_typer(serve_app, name="serve", rich_help_panel="Cities and models")
app.add_typer(import_app, name="import", rich_help_panel="Cities and models")
app.add_typer(bench_app, name="bench", rich_help_panel="Benchmarks")
app.add_typer(collect_app, name="collect", rich_help_panel="Benchmarks")
app.add_typer(data_app, name="data", rich_help_panel="Benchmarks")


def run_module(agent: str) -> None:
    """Run `python -m agents.NAME`, which is the same as `virl run NAME`."""
    sys.argv[1:] = ["run", agent, *sys.argv[1:]]
    main()


_COLLECT_AFTER = 50_000
"""Number of new objects after which Python's garbage collector runs; measured.

At the usual 700, imports make it look so often that an eighth of a first run's seconds go into it."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command line, by default the process's own, and exit."""
    gc.set_threshold(_COLLECT_AFTER)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 ends no run in its middle
    try:
        app(args=arguments, prog_name="virl")
    except SystemExit as end:
        threads = sys.modules.get("virl.bench.engine.crew")  # not there where no benchmark was run
        if arguments is None and end.code and threads and threads.episodes_are_running():
            # Python's own end would abort in the native code of models that these threads are in.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit()  # who reads only the head of the help has read enough
        raise
