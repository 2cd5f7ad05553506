"""The command line: `virl`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from virl import __version__
from virl.cli.agents import list_agents, new
from virl.cli.bench import bench_app
from virl.cli.collect import collect_app
from virl.cli.data import data_app
from virl.cli.doctor import doctor
from virl.cli.gallery import gallery
from virl.cli.models import list_models
from virl.cli.serve import serve_app
from virl.errors import BadInput
from virl.guard import guard
from virl.platform.providers.open import listed_cities, region_line
from virl.resources import cache_home

app = typer.Typer(
    help="Tool-using agents that live in real cities, and in one that needs no key.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

CacheMode = Literal["off", "session", "ttl"]
Device = Literal["auto", "cpu", "cuda"]

app.add_typer(data_app, name="data")
app.add_typer(bench_app, name="bench")
app.add_typer(serve_app, name="serve")
app.add_typer(collect_app, name="collect")
app.command("doctor")(doctor)
app.command("gallery")(gallery)
app.command("models")(list_models)
app.command("agents")(list_agents)
app.command("new")(new)


@app.command()
def run(
    agent: Annotated[str, typer.Argument(help="An agent's name (see `virl agents`) or a character file.")],
    city: Annotated[str | None, typer.Option(help="Live in this city instead of the character's.")] = None,
    mind: Annotated[
        str | None,
        typer.Option(envvar="VIRL_MIND", help="`rules` (the default) or a chat model, say `openai:MODEL`."),
    ] = None,
    mover: Annotated[
        str | None, typer.Option(help="How to get about: `links` (the default), `grid`, `web` or `hybrid`.")
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(help="Detector, instead of the character's; `virl models` lists them."),
    ] = None,
    device: Annotated[Device, typer.Option(help="Where models run.")] = "auto",
    allow_downloads: Annotated[
        bool, typer.Option("--allow-downloads", help="Fetch weights that are not on this machine.")
    ] = False,
    budget_usd: Annotated[
        float | None, typer.Option(help="Stop before a request that would cost more than this in all.")
    ] = None,
    cache: Annotated[
        CacheMode | None, typer.Option(help="What replies of Google's to keep; see docs/reference/google.md.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep all of Google's replies in this folder.", file_okay=False)
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Answer from a recording, with no network.", file_okay=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; by default `runs/AGENT-TIME`.", file_okay=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in `--out`, or with the agent's latest.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of whatever is chosen by chance.", min=0)] = 0,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Set a field of the character, say limits.steps=20."
        ),
    ] = None,
    feedback: Annotated[
        Path | None,
        typer.Option(
            help="What you say to the agent on the way; see docs/how-to/run-agents.md.", dir_okay=False
        ),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Be asked for what you have to say.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only where the report is.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, nothing else.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Log what happens; show tracebacks.")] = False,
) -> None:
    """Let an agent live; writes a journal, the views, a result and a report."""

    def live() -> None:
        if ask and (quiet or as_json):
            raise BadInput("--ask asks on the terminal: leave out --quiet and --json")
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
        typer.echo(finished.result.model_dump_json(indent=2) if as_json else f"report: {finished.report}")

    guard(live, debug=debug)


@app.command()
def cities(
    region: Annotated[
        Path | None,
        typer.Option(help="Check the polygon in this file instead, and say where it lies.", dir_okay=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """List the cities that can be opened: name, provider and place."""

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


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def narrate(
    run: Annotated[
        Path, typer.Argument(help="Folder of an agent's run, or of a benchmark's with --episode.")
    ],
    mind: Annotated[
        str | None,
        typer.Option(envvar="VIRL_MIND", help="`rules` (the default: exact parts only) or a chat model."),
    ] = None,
    episode: Annotated[str | None, typer.Option(help="An episode's id, in a benchmark's run.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the episode's data set; by default the run's.", file_okay=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Tell a finished walk: an instruction that leads along it, and its drawing, exactly and by a model."""

    def tell() -> None:
        from virl.mind.open import open_mind  # noqa: PLC0415 - loads when asked for
        from virl.narrate.run import narrate_episode, narrate_run  # noqa: PLC0415 - brings in the cities

        teller = open_mind(mind or "rules", cache_dir=cache_home() / "replies")
        told = narrate_episode(run, episode, teller, data=data) if episode else narrate_run(run, teller)
        for line in (*told.narration.exact, told.narration.instruction, *told.narration.notes):
            if line:
                typer.echo(line)
        typer.echo(f"narration: {told.page}")

    guard(tell, debug=debug)


def run_module(agent: str) -> None:
    """What `python -m agents.NAME` does: the same as `virl run NAME`."""
    main(["run", agent, *sys.argv[1:]])


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit."""
    app(args=arguments, prog_name="virl")
