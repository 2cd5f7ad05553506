"""The command `virl look`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl.cli.completion import complete_detectors
from virl.cli.guard import USER_ERROR, add_guard
from virl.cli.listing import print_json
from virl.cli.options import DeviceOption, DownloadsOption, JsonOption
from virl.console import ACCENT, SafeConsole, as_markup, echo
from virl.errors import BadInput
from virl.plain_text import plain_line

if TYPE_CHECKING:
    from virl.sheets.photographs import Photograph


@add_guard()
def look(
    photos: Annotated[list[Path], typer.Argument(help="Photographs, or folders of them.")],
    detector: Annotated[
        str,
        typer.Option(help="Detector to search with (see `virl models`).", autocompletion=complete_detectors),
    ] = "sign-detector",
    reader: Annotated[str, typer.Option(help="OCR model that reads them.")] = "rapidocr",
    out: Annotated[
        Path | None, typer.Option(help="Write a page with the boxes drawn to this file.", dir_okay=False)
    ] = None,
    device: DeviceOption = "auto",
    allow_downloads: DownloadsOption = False,
    json: JsonOption = False,
) -> None:
    """See what perception models read and find in photographs.

    A file that cannot be read is named and left out; the exit code is then 2.
    """
    from virl.platform.perception.models import ModelOptions, Models  # noqa: PLC0415 - heavy
    from virl.sheets.photographs import (  # noqa: PLC0415 - heavy
        look_at,
        photographs_in,
        write_photographs,
    )

    files = photographs_in(photos)
    models = Models(ModelOptions(device, allow_downloads))
    console, seen = SafeConsole(), []
    words, things = models.reader(reader), models.detector(detector)
    for file in files:
        try:
            one = look_at(file, words, things)
        except BadInput as fault:
            echo(f"virl: left out: {plain_line(str(fault))}", err=True)
            continue
        seen.append(one)
        if not json:
            console.print(f"[bold]{as_markup(str(one.file))}[/]", highlight=False)
            for line in one.lines:
                console.print(f"  {line.score:.2f}  {as_markup(line.text)}", highlight=False)
            for thing in one.detections:
                label = f"{thing.label}: {thing.text}" if thing.text else thing.label
                console.print(f"  {thing.score:.2f}  [{ACCENT}]{as_markup(label)}[/]", highlight=False)
    if out and seen:
        write_photographs(seen, out, reader=reader, detector=detector)
    if json:
        print_json([_photograph_json(one) for one in seen])
    elif out and seen:
        echo(f"page: {out}")
    if len(seen) < len(files):
        raise typer.Exit(USER_ERROR)


def _photograph_json(one: "Photograph") -> dict[str, object]:
    return {
        "file": str(one.file),
        "size": one.size,
        "shown_size": (one.view.camera.width, one.view.camera.height),
        "read_s": round(one.read_s, 3),
        "detect_s": round(one.detect_s, 3),
        "lines": [{"text": line.text, "score": line.score, "box": line.box} for line in one.lines],
        "detections": [
            {"label": thing.label, "score": thing.score, "box": thing.box, "text": thing.text}
            for thing in one.detections
        ],
    }
