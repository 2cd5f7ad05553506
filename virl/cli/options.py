"""Options that several commands share."""

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
RecordOption = Annotated[
    Path | None, typer.Option(help="Record Google's replies in this folder.", file_okay=False)
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(help="Replay replies from this folder, without network access.", file_okay=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")]
