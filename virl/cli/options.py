"""Options that several commands share."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

CacheMode = Literal["off", "session", "ttl"]
Device = Literal["auto", "cpu", "cuda"]

DeviceOption = Annotated[Device, typer.Option(help="Device that models run on.")]
DownloadsOption = Annotated[
    bool, typer.Option("--allow-downloads", help="Download model weights that are missing.")
]
CacheOption = Annotated[
    CacheMode | None, typer.Option(help="How long to cache Google's replies. See docs/reference/google.md.")
]
AroundOption = Annotated[
    str | None,
    typer.Option(metavar="LAT,LNG", help="Read only the part of the OpenStreetMap extract around here."),
]
RadiusOption = Annotated[
    float | None, typer.Option(help="Half the side of that part in metres; 600 by default.", min=50)
]
InventedOption = Annotated[
    bool,
    typer.Option(
        "--invented-life",
        help="Add invented reviews, ratings, prices and homes to the OpenStreetMap extract.",
    ),
]
RecordOption = Annotated[
    Path | None, typer.Option(help="Record Google's replies in this folder.", file_okay=False)
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(help="Replay replies from this folder, without network access.", file_okay=False),
]
AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        metavar="DATE",
        help="Leave out street pictures taken after this day, in cities of open imagery or photographs.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")]


def part_of(
    city: str | None, around: str | None, radius: float | None, *, invented: bool = False
) -> str | None:
    """What `--city` names, with the part of it and the life that the other options choose.

    Raises:
        BadInput: the city is no OpenStreetMap extract, or the part is no position with a radius.
    """
    from virl.platform.providers.osm.city_file import with_part  # noqa: PLC0415 - loads when asked for

    return with_part(city or "", around, radius, invented=invented) or None
