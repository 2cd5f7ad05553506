"""The command line: `virl`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from virl import __version__
from virl.budget import Budget
from virl.cli.agents import list_agents, new
from virl.cli.bench import bench_app
from virl.cli.collect import collect_app
from virl.cli.data import data_app
from virl.cli.doctor import doctor
from virl.cli.gallery import gallery
from virl.cli.models import list_models
from virl.cli.options import CacheOption, DeviceOption, DownloadsOption, RecordOption, ReplayOption
from virl.cli.serve import serve_app
from virl.errors import BadInput
from virl.guard import guard
from virl.platform.providers.open import listed_cities, region_line
from virl.resources import cache_home

app = typer.Typer(
    help="Run tool-using agents in street-view cities.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run(
    agent: Annotated[str, typer.Argument(help="Name of an agent (see `virl agents`), or a character file.")],
    city: Annotated[
        str | None, typer.Option(help="Run in this city instead of the character's (see `virl cities`).")
    ] = None,
    mind: Annotated[
        str | None,
        typer.Option(
            envvar="VIRL_MIND",
            help="Who decides: `rules` (the default), or a chat model such as `openai:MODEL`.",
        ),
    ] = None,
    mover: Annotated[
        str | None,
        typer.Option(help="How the agent moves: `links` (the default), `grid`, `web` or `hybrid`."),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(help="Use this detector instead of the character's (see `virl models`)."),
    ] = None,
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    budget_usd: Annotated[
        float | None, typer.Option(help="Budget in US dollars. Stops before a request that would exceed it.")
    ] = None,
    cache: CacheOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
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
    ask: Annotated[bool, typer.Option("--ask", help="Ask for my feedback during the run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Log details, and show full tracebacks.")] = False,
) -> None:
    """Run an agent. Writes a journal, the views, a result and a report to the run folder."""

    def live() -> None:
        if ask and (quiet or as_json):
            raise BadInput("--ask needs the terminal: remove --quiet and --json")
        from virl.agent.start import RunOptions, run_agent  # noqa: PLC0415 - brings in the city and the senses
        from virl.journal.records import AccessRecord  # noqa: PLC0415 - loads when asked for

        access = AccessRecord(
            budget_usd=budget_usd,
            cache=cache,
            record=str(record.resolve()) if record else None,
            replay=str(replay.resolve()) if replay else None,
        )
        options = RunOptions(
            agent=agent,
            city=city,
            mind=mind,
            mover=mover,
            detector=detector,
            device=device,
            allow_downloads=allow_downloads,
            out=out,
            resume=resume,
            seed=seed,
            fields=tuple(fields or ()),
            feedback="terminal" if ask else str(feedback.resolve()) if feedback else None,
            access=access,
        )
        finished = run_agent(options, Console(quiet=quiet or as_json))
        if finished.already:
            typer.echo("this run has already finished: nothing was done", err=True)
        typer.echo(finished.result.model_dump_json(indent=2) if as_json else f"report: {finished.report}")

    guard(live, debug=debug)


def cities(
    region: Annotated[
        Path | None,
        typer.Option(help="Check the polygon in this file instead, and print where it lies.", dir_okay=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """List the available cities with their providers."""

    def tell() -> None:
        if region:
            typer.echo(region_line(region))
            return
        cities, faults = listed_cities()
        for name, settings in cities.items():
            typer.echo(f"{name:20} {settings.provider:8} {settings.place}")
        for fault in faults:
            typer.echo(str(fault), err=True)

    guard(tell, debug=debug)


def version() -> None:
    """Print the version of virl."""
    typer.echo(__version__)


def narrate(
    run: Annotated[Path, typer.Argument(help="Run folder of an agent, or of a benchmark with --episode.")],
    mind: Annotated[
        str | None,
        typer.Option(
            envvar="VIRL_MIND",
            help="Who writes: `rules` (the default: exact descriptions only), or a chat model.",
        ),
    ] = None,
    episode: Annotated[str | None, typer.Option(help="Id of an episode in a benchmark's run.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the episode's data set. By default, the run's.", file_okay=False),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(help="Budget in US dollars. Stops before a request that would exceed it.", min=0),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """Describe a finished walk as instructions and as a drawing."""

    def tell() -> None:
        from virl.mind.open import open_mind  # noqa: PLC0415 - loads when asked for
        from virl.narrate.run import narrate_episode, narrate_run  # noqa: PLC0415 - brings in the cities

        budget = Budget(budget_usd, book=run / "narration-spending.jsonl")
        teller = open_mind(mind or "rules", cache_dir=cache_home() / "replies", budget=budget)
        told = narrate_episode(run, episode, teller, data=data) if episode else narrate_run(run, teller)
        for line in (*told.narration.exact, told.narration.instruction, *told.narration.notes):
            if line:
                typer.echo(line)
        if budget.paid().calls:
            typer.echo(f"paid for narrations of this run: ${budget.spent_usd:.4f}")
        typer.echo(f"narration: {told.page}")

    guard(tell, debug=debug)


_PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Agents": {"run": run, "agents": list_agents, "new": new, "narrate": narrate, "gallery": gallery},
    "Cities and models": {"cities": cities, "models": list_models},
    "Setup": {"doctor": doctor, "version": version},
}
for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_panel)(_command)
app.add_typer(serve_app, name="serve", rich_help_panel="Cities and models")
app.add_typer(bench_app, name="bench", rich_help_panel="Benchmarks")
app.add_typer(collect_app, name="collect", rich_help_panel="Benchmarks")
app.add_typer(data_app, name="data", rich_help_panel="Benchmarks")


def run_module(agent: str) -> None:
    """What `python -m agents.NAME` does: the same as `virl run NAME`."""
    main(["run", agent, *sys.argv[1:]])


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit."""
    app(args=arguments, prog_name="virl")
