"""The command `virl watch`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl.cli.options import DebugOption
from virl.console import echo
from virl.errors import BadInput
from virl.guard import guard

if TYPE_CHECKING:
    from rich.console import Console

    from virl.agent.plan import RunOptions
    from virl.agent.start import Finished


def watch(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run folders, of benchmarks, too, or folders that contain some at any depth.",
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
    port: Annotated[
        int, typer.Option(help="Port on this machine; 0 chooses a free one.", min=0, max=65535)
    ] = 0,
    debug: DebugOption = False,
) -> None:
    """Watch runs in the browser, live or replayed. Only this machine can connect."""

    def show() -> None:
        from virl.journal.town_streets import town_streets  # noqa: PLC0415 - brings in the cities
        from virl.serve.watch.shelf import Shelf  # noqa: PLC0415 - brings in the benchmarks

        if not folders:
            raise BadInput("name a run folder, or a folder that contains runs, such as `virl watch runs`")
        shelf = Shelf(folders, town_streets)
        if save is not None:
            from virl.serve.watch.pages import save_page  # noqa: PLC0415 - loads when asked for

            echo(f"replay: {save_page(list(shelf.feeds.values()), save)}")
            return
        from virl.serve.extra import require_extra  # noqa: PLC0415 - names the extra where it is missing

        require_extra()
        from virl.serve.watch.server import watch as serve  # noqa: PLC0415 - needs the extra

        serve(shelf.feeds, shelf.index, port, lambda url: echo(f"Watch at {url} (end with Ctrl+C)"))

    guard(show, debug=debug)


def watch_run(options: "RunOptions", console: "Console", tell: "Callable[[Finished], None]") -> None:
    """Run an agent while somebody may watch and steer it; the page stays until Ctrl+C.

    Args:
        options: of the run.
        console: where the run is told.
        tell: gets how it ended.

    Raises:
        VirlError: as `run_agent`, or the server did not start.
    """
    from virl.serve.extra import require_extra  # noqa: PLC0415 - names the extra where it is missing

    require_extra()
    from virl.agent.start import run_agent  # noqa: PLC0415 - brings in the city and the senses
    from virl.serve.watch.living import seat_at, wait_for_interrupt  # noqa: PLC0415 - needs the extra

    with seat_at(options) as seat:
        echo(f"Watch at {seat.url}", err=True)
        tell(run_agent(seat.options, console, seat.control))
        echo("The page stays until you press Ctrl+C.", err=True)
        wait_for_interrupt()
