"""`virl film`: the film of a recorded run."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import add_guard
from virl.console import SafeConsole, counting_bar, echo


@add_guard()
def film(
    run: Annotated[Path, typer.Argument(help="Run folder of an agent.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File, ending in .webm or .webp (an animated picture). By default `film.webm` in RUN.",
            dir_okay=False,
        ),
    ] = None,
    seconds: Annotated[int, typer.Option(help="Greatest length in seconds.", min=5, max=600)] = 30,
    width: Annotated[int, typer.Option(help="Width in pixels.", min=320, max=1920)] = 960,
    height: Annotated[int, typer.Option(help="Height in pixels.", min=240, max=1920)] = 720,
    megabytes: Annotated[
        float, typer.Option(help="Greatest size of the file in MB.", min=0.1, max=1000)
    ] = 8.0,
) -> None:
    """Write a run as a film: what the agent saw, its path on the map, and words."""
    from virl.film.write import open_sheet, write_film  # noqa: PLC0415 - brings in the cities

    made = write_film(
        open_sheet(run, (width, height)),
        out or run / "film.webm",
        seconds=seconds,
        most_bytes=round(megabytes * 1e6),
        bar=lambda count: counting_bar("drawing", count, SafeConsole(stderr=True)),
    )
    echo(f"film: {made.path} ({made.seconds:.0f} s, {made.size / 1e6:.1f} MB)")
