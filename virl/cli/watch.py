"""The command `virl watch`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.options import DebugOption
from virl.console import echo
from virl.errors import BadInput
from virl.guard import guard


def watch(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or folders that contain runs at any depth.", show_default=False),
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
        from virl.serve.watch.feed import RunFeed  # noqa: PLC0415 - loads when asked for
        from virl.serve.watch.finding import find_runs  # noqa: PLC0415 - loads when asked for

        if not folders:
            raise BadInput("name a run folder, or a folder that contains runs, such as `virl watch runs`")
        feeds = [RunFeed(folder, town_streets) for folder in find_runs(folders)]
        if save is not None:
            from virl.serve.watch.pages import save_page  # noqa: PLC0415 - loads when asked for

            echo(f"replay: {save_page(feeds, save)}")
            return
        from virl.serve.extra import require_extra  # noqa: PLC0415 - names the extra where it is missing

        require_extra()
        from virl.serve.watch.server import watch as serve  # noqa: PLC0415 - needs the extra

        serve(dict(enumerate(feeds)), port, lambda url: echo(f"Watch at {url} (end with Ctrl+C)"))

    guard(show, debug=debug)
