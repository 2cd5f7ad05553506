"""`virl import`: cities out of what people have."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.group import HelpfulGroup
from virl.cli.guard import add_guard
from virl.console import echo

import_app = typer.Typer(cls=HelpfulGroup, help="Make a city from your own pictures.", no_args_is_help=True)


@import_app.callback()
def _group() -> None:
    """Make a city from your own pictures."""


@import_app.command()
@add_guard()
def photos(
    folder: Annotated[Path, typer.Argument(help="Folder of JPEG files; the folders in it are read, too.")],
    track: Annotated[
        Path | None,
        typer.Option(metavar="FILE.gpx", help="Track that places photographs without a position, by time."),
    ] = None,
    offset: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Add this to the time of each photograph, such as -7200 for a clock at UTC+2.",
        ),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME.photos.json", help="Index to write; by default beside the folder.", dir_okay=False
        ),
    ] = None,
    author: Annotated[str, typer.Option(help="Author of photographs that name nobody.")] = "",
    licence: Annotated[
        str, typer.Option(metavar="SPDX", help="Licence of the photographs, such as CC-BY-4.0.")
    ] = "",
) -> None:
    """Make a city from a folder of geotagged photographs.

    Reads EXIF and GPano. 360-degree photographs show all headings; flat ones only their own.
    """
    from virl.cli.photo_import import import_folder  # noqa: PLC0415 - loads when asked for

    for line in import_folder(folder, track, offset, out, author, licence):
        echo(line)
