"""`virl watch` and `virl gallery`: runs in the browser."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.guard import add_guard
from virl.cli.listing import print_json
from virl.console import SafeConsole, echo
from virl.errors import BadInput
from virl.extras import require

if TYPE_CHECKING:
    from rich.console import Console

    from virl.agent.plan import RunOptions
    from virl.journal.gallery import Card
    from virl.journal.recorded_run import Finished


RUNS = Path("runs")
BROWSER_S = 60.0
"""Most seconds that a run with `--watch` waits for a browser; without a terminal it does not wait. Chosen."""


@add_guard()
def watch(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run folders of agents or benchmarks, or folders that contain some at any depth.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write one file that replays the runs, and serve nothing.",
            dir_okay=False,
        ),
    ] = None,
    play: Annotated[
        str | None,
        typer.Option(
            metavar="BENCHMARK",
            help="Play an episode of a benchmark yourself, such as `vln`, and be scored as its agents are.",
        ),
    ] = None,
    episode: Annotated[
        str, typer.Option(help="With --play: case of the episode, or its number. By default the next one.")
    ] = "",
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="With --play: set a benchmark option. Can be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="With --play: run folder. By default `runs/play-BENCHMARK`.", file_okay=False),
    ] = None,
    port: Annotated[
        int, typer.Option(help="Port on this machine; 0 chooses a free one.", min=0, max=65535)
    ] = 0,
) -> None:
    """Watch runs in the browser, live or replayed. Only this machine can connect."""
    if play is not None:
        if folders or save:
            raise BadInput("--play shows one episode: remove the folders and --save")
        _play(play, fields or (), out or RUNS / f"play-{play}", episode, port)
        return
    if episode or fields or out:
        raise BadInput("--episode, --set and --out need --play")
    from virl.journal.walk_map import town_ground  # noqa: PLC0415 - brings in the cities
    from virl.serve.watch.feed import RunCatalogue  # noqa: PLC0415 - brings in the benchmarks

    if not folders:
        raise BadInput("name a run folder, or a folder that contains runs, such as `virl watch runs`")
    catalogue = RunCatalogue(folders, town_ground)
    if save is not None:
        from virl.pages.numbers import count_noun  # noqa: PLC0415 - loads when asked for
        from virl.serve.watch.pages import save_page  # noqa: PLC0415 - loads when asked for

        path, left = save_page(list(catalogue.feeds.values()), save)
        echo(f"replay: {path}" + (f" ({count_noun(left, 'earlier run')} left out)" if left else ""))
        return
    require("serve", what="serving")
    from virl.serve.watch.server import watch as serve  # noqa: PLC0415 - needs the extra

    serve(catalogue.feeds, catalogue.index, port, lambda url: echo(f"Watch at {url} (end with Ctrl+C)"))


def _play(name: str, fields: Sequence[str], out: Path, episode: str, port: int) -> None:
    """Let a person play an episode of the benchmark `name` in the browser, served until Ctrl+C."""
    require("serve", what="serving")
    from virl.agent.control import Control  # noqa: PLC0415 - loads when asked for
    from virl.bench.benchmark import find_benchmark  # noqa: PLC0415
    from virl.bench.play import played_by_human  # noqa: PLC0415 - brings in the benchmarks
    from virl.cli.bench import set_options  # noqa: PLC0415
    from virl.journal.walk_map import town_ground  # noqa: PLC0415 - brings in the cities
    from virl.serve.watch.playing import PlayFeed, game_for, play_game  # noqa: PLC0415
    from virl.serve.watch.server import serve_page, wait_for_interrupt  # noqa: PLC0415 - needs the extra
    from virl.settings.model import check_settings  # noqa: PLC0415

    asked = played_by_human(name) | set_options(fields)
    options = check_settings(asked, find_benchmark(name).options, source=f"virl watch --play {name}")
    game = game_for(name, options, out, episode)
    feed = PlayFeed(game, Control(), town_ground)
    with serve_page({0: feed}, port=port) as url:
        echo(f"Play {game.case} at {url}")
        play_game(game, feed, SafeConsole())
        card = feed.card()
        echo(f"{card['note']} (score {100 * (card['score'] or 0.0):.0f} of 100)")
        echo("The page stays until you press Ctrl+C.")
        wait_for_interrupt()


def watch_run(options: "RunOptions", console: "Console", tell: "Callable[[Finished], None]") -> None:
    """Run an agent with a page to watch it, served until Ctrl+C; call `tell` with the run when it has ended.

    On a terminal the run waits up to `BROWSER_S` for a browser.

    Args:
        options: of the run.
        console: where the run is told.
        tell: gets how it ended.

    Raises:
        VirlError: as `run_agent`, or the server did not start.
    """
    require("serve", what="serving")
    from virl.agent.start import run_agent  # noqa: PLC0415 - brings in the city and the senses
    from virl.serve.watch.server import serve_live_page, wait_for_interrupt  # noqa: PLC0415 - needs the extra

    with serve_live_page(options) as live_page:
        echo(f"Watch at {live_page.url}", err=True)
        if sys.stdout.isatty() and not live_page.seen.is_set():
            echo(f"The run starts once the page is open, or in {BROWSER_S:.0f} s.", err=True)
            live_page.seen.wait(BROWSER_S)
        failed: Exception | None = None
        try:
            tell(run_agent(live_page.options, console, live_page.control))
        except Exception as fault:  # noqa: BLE001 - raised again once the page is closed
            echo(f"The run failed: {live_page.fail(fault)}", err=True)
            failed = fault
        echo("The page stays until you press Ctrl+C.", err=True)
        wait_for_interrupt()
        if failed:
            raise failed


PAGE = "gallery.html"


@add_guard()
def gallery(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or folders that contain runs at any depth. By default `runs`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"File of the page. By default `{PAGE}` in the first folder.", dir_okay=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the runs on the page as JSON.")] = False,
) -> None:
    """Build an overview page of finished runs."""
    from virl.journal.gallery import write_gallery  # noqa: PLC0415 - brings in the cities
    from virl.pages.numbers import count_noun  # noqa: PLC0415 - loads when asked for

    where = folders or [RUNS]
    pages, cards, left_out = write_gallery(where, out or where[0] / PAGE)
    for one in left_out:
        echo(f"skipped {one.folder}: {one.why}", err=as_json)
    if as_json:
        print_json([_row(card) for card in cards])
    else:
        others = f" and {count_noun(len(pages) - 1, 'page')} beside it" if len(pages) > 1 else ""
        echo(f"{count_noun(len(cards), 'run')}: {pages[0]}{others}")


def _row(card: "Card") -> dict[str, Any]:
    """Return the fields of a run's card that `--json` prints."""
    from virl.journal.report import REPORT  # noqa: PLC0415 - loads when asked for

    start, result = card.start, card.result
    return {
        "folder": str(card.folder),
        "agent": start.agent,
        "name": start.who,
        "city": start.city,
        "mind": start.mind,
        "started": start.started,
        "status": result.status,
        "outcome": card.outcome,
        "steps": result.steps,
        "distance_m": result.distance_m,
        "usd": result.cost.usd,
        "report": str(card.folder / REPORT) if card.has_report else None,
    }
