"""Data sets on this machine: `virl data` and where code finds what it put there."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from virl.guard import guard
from virl.platform.providers.graph.home import MARKS
from virl.resources import data_home

data_app = typer.Typer(
    help="Data sets: copy yours to where virl finds them, and see what is there.", no_args_is_help=True
)

From = Annotated[
    Path, typer.Option("--from", help="Your copy: a folder in virl's layout, or a clone of a repository.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")]
Debug = Annotated[bool, typer.Option("--debug", help="Log what happens; show tracebacks.")]


@data_app.command()
def touchdown(source: From, force: Force = False, debug: Debug = False) -> None:
    """Copy the street graph and episodes of Touchdown and Map2seq into the data folder."""
    _get("touchdown", source, force=force, debug=debug)


@data_app.command()
def r2r(source: From, force: Force = False, debug: Debug = False) -> None:
    """Copy R2R's episodes and the navigation graphs of its buildings into the data folder."""
    _get("r2r", source, force=force, debug=debug)


@data_app.command("list")
def list_data(debug: Debug = False) -> None:
    """List the data sets, where they are, and whether their checksums still hold."""

    def tell() -> None:
        for name in MARKS:
            typer.echo(f"{name:10} {_state(data_home() / name)}")

    guard(tell, debug=debug)


@data_app.command()
def export(
    out: Annotated[
        Path, typer.Option(help="Folder of the export: new, or one with an earlier export.", file_okay=False)
    ],
    city: Annotated[str, typer.Option(help="A made city.")] = "virlton",
    layout: Annotated[
        Literal["touchdown", "r2r"], typer.Option("--format", help="Whose layout.")
    ] = "touchdown",
    episodes: Annotated[
        int | None, typer.Option(help="Of each split; by default 400, or 100 for r2r.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="What paths and wording are drawn from.", min=0)] = 0,
    radius: Annotated[
        float | None, typer.Option(help="Keep what lies within so many metres of the centre.", min=1)
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a made city in the layout of Touchdown and Map2seq, or of R2R."""

    def write() -> None:
        from virl.datasets.export import r2r, touchdown  # noqa: PLC0415 - brings in the city

        if layout == "r2r":
            count, within = episodes or r2r.EPISODES, radius or r2r.RADIUS_M
            folder = r2r.export_r2r(city, out, episodes=count, seed=seed, radius=within)
        else:
            count = episodes or touchdown.EPISODES
            folder = touchdown.export_touchdown(city, out, episodes=count, seed=seed, radius=radius)
        typer.echo(f"exported to {folder}")

    guard(write, debug=debug)


def _get(name: str, source: Path, *, force: bool, debug: bool) -> None:
    from virl.platform.providers.graph.install import DATA_SETS, find_files, install  # noqa: PLC0415 - heavy

    def copy() -> None:
        files = find_files(name, source)
        with _progress() as progress:
            task = progress.add_task(f"checking and copying {name}", total=2 * len(files))
            install(name, source, data_home(), force=force, tell=lambda _: progress.advance(task))
        known = DATA_SETS[name]
        typer.echo(f"{name}: {known.about}")
        typer.echo(f"{len(files)} files checked and copied to {data_home() / name}")
        typer.echo(f"licence: {known.licence}")
        typer.echo(f"public repositories: {', '.join(known.sources)}")

    guard(copy, debug=debug)


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("[dim]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _state(folder: Path) -> str:
    from virl.platform.providers.graph.install import changed_files, read_manifest  # noqa: PLC0415 - heavy

    if not folder.is_dir():
        return f"not there: `virl data {folder.name} --from DIR` copies yours to {folder}"
    manifest = read_manifest(folder)
    if manifest is None:
        return f"{folder}: no checksums, since `virl data` did not put it there"
    changed = changed_files(folder, manifest)
    if changed:
        return f"{folder}: {len(changed)} of {len(manifest.files)} files have changed: {', '.join(changed)}"
    return f"{folder}: {len(manifest.files)} files, checksums hold"
