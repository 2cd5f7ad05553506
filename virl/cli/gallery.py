"""The command `virl gallery`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.guard import guard

RUNS = Path("runs")
PAGE = "gallery.html"


def gallery(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Runs, or folders of runs at any depth; by default `runs`.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"The page; by default `{PAGE}` in the first folder.", dir_okay=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Build one page of finished runs, each with a picture and a link to its report."""

    def build() -> None:
        from virl.journal.gallery.page import write_gallery  # noqa: PLC0415 - brings in the cities

        where = folders or [RUNS]
        path, cards, left_out = write_gallery(where, out or where[0] / PAGE)
        for one in left_out:
            typer.echo(f"left out: {one.folder}: {one.why}")
        typer.echo(f"{len(cards)} runs: {path}")

    guard(build, debug=debug)
