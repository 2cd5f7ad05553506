"""The command `virl gallery`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.guard import guard

RUNS = Path("runs")
PAGE = "gallery.html"


def gallery(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or folders that contain runs at any depth. By default `runs`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"File of the page. By default `{PAGE}` in the first folder.", dir_okay=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """Build an overview page of finished runs."""

    def build() -> None:
        from virl.drawing.numbers import counted  # noqa: PLC0415 - loads when asked for
        from virl.journal.gallery.page import write_gallery  # noqa: PLC0415 - brings in the cities

        where = folders or [RUNS]
        path, cards, left_out = write_gallery(where, out or where[0] / PAGE)
        for one in left_out:
            typer.echo(f"skipped {one.folder}: {one.why}")
        typer.echo(f"{counted(len(cards), 'run')}: {path}")

    guard(build, debug=debug)
