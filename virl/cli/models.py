"""`virl models` and `virl look`: the perception models by role, and what they find in photographs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.completion import complete_detectors, complete_models
from virl.cli.guard import USER_ERROR, add_guard
from virl.cli.listing import list_console, print_json
from virl.cli.options import Device, DeviceOption, DownloadsOption, JsonOption
from virl.console import ACCENT, SafeConsole, as_markup, echo, say
from virl.errors import BadInput
from virl.plain_text import plain_line

if TYPE_CHECKING:
    from virl.platform.perception.standing import ModelReadiness
    from virl.sheets.photographs import Photograph


@add_guard()
def list_models(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            show_default=False,
            help="Model to describe: what to install, where its weights go, its thresholds.",
            autocompletion=complete_models,
        ),
    ] = None,
    try_name: Annotated[
        str | None,
        typer.Option(
            "--try",
            metavar="NAME",
            help="Load this model, and run it on a view of Virlton.",
            autocompletion=complete_models,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="With --try, what a detector or recognizer looks for. Can be repeated."),
    ] = None,
    device: Annotated[
        Device, typer.Option(help="With --try and --check, device that models run on.")
    ] = "auto",
    allow_downloads: Annotated[
        bool,
        typer.Option(
            "--allow-downloads", help="With --try and --check, download model weights that are missing."
        ),
    ] = False,
    write_views: Annotated[
        Path | None,
        typer.Option(
            "--write-views", metavar="FOLDER", help="Write labelled views of Virlton into this folder."
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FOLDER",
            help="Measure models on these labelled views: speed, memory, precision and recall.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="With --check, a model to measure. Can be repeated. By default all that are ready.",
            autocompletion=complete_models,
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=2, max=10_000, help="With --write-views, number of views.")] = 60,
    city: Annotated[str, typer.Option(help="With --write-views, made town to draw.")] = "virlton",
    seed: Annotated[int, typer.Option(help="With --write-views, random seed of places and things.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List the perception models, what each needs, and whether it is ready."""
    if write_views is not None or check is not None:
        from virl.cli.model_trials import check_models, write_labelled_views  # noqa: PLC0415 - heavy

        if write_views is not None:
            write_labelled_views(write_views, city, count, seed)
        if check is not None:
            check_models(check, model or (), device, allow_downloads=allow_downloads, as_json=as_json)
        return
    if name is not None:
        from virl.cli.model_trials import tell_details  # noqa: PLC0415 - heavy

        tell_details(name, as_json=as_json)
        return
    from virl.cli.model_trials import TRY_LABELS, try_model  # noqa: PLC0415 - heavy
    from virl.platform.perception.models import ModelOptions, model_names  # noqa: PLC0415
    from virl.platform.perception.registry import KINDS, ROLES  # noqa: PLC0415
    from virl.platform.perception.standing import model_readiness  # noqa: PLC0415

    if try_name is None:
        _tell_all([model_readiness(role, name) for role in ROLES for name in model_names(role)], as_json)
        for fault in KINDS.usable()[1]:
            echo(str(fault), err=True)
    else:
        options = ModelOptions(device=device, allow_downloads=allow_downloads)
        _tell_tried(try_model(try_name, options, tuple(label or TRY_LABELS)), as_json)


_NEEDS_FROM = 40
"""Column at which the needs of a model begin, after its name and whether it is ready."""


def _tell_all(all_standings: Sequence["ModelReadiness"], as_json: bool) -> None:
    """Print all models by role with what each needs, and how to get it, as text or JSON."""
    if as_json:
        print_json(
            [
                {
                    "role": one.role,
                    "name": one.name,
                    "kind": one.kind,
                    "paper": one.paper,
                    "ready": one.is_ready,
                    "needs": [
                        {"what": need.what, "ready": not need.lacks, "remedy": need.lacks}
                        for need in one.needs
                    ],
                }
                for one in all_standings
            ]
        )
        return
    from virl.platform.perception.weights import models_home  # noqa: PLC0415 - heavy

    role, console = "", list_console()
    for one in all_standings:
        if one.role != role:
            role = one.role
            say(console, f"[bold]{role}s[/]")
        needs = ", ".join(need.what + (" (missing)" if need.lacks else "") for need in one.needs)
        name, ready = as_markup(one.name), "ready" if one.is_ready else "not ready"
        say(console, f"  {name:26} {ready:10} {as_markup(needs)}".rstrip(), _NEEDS_FROM)
        if one.paper:
            say(console, f"{'':{_NEEDS_FROM}}{as_markup(one.paper)}", _NEEDS_FROM)
    if not all(one.is_ready for one in all_standings):
        echo(
            f"\nPackages: pip install 'virl[vision]'. Weights ID: put the files of https://huggingface.co/ID\n"
            f"into {models_home() / 'ID'}, or allow downloads with --allow-downloads.\n"
            f"See what a model lacks with `virl models NAME`."
        )


def _tell_tried(tried: dict[str, Any], as_json: bool) -> None:
    """Print the result of `try_model`, as text or JSON."""
    if as_json:
        print_json(tried)
        return
    echo(f"{tried['role']} {tried['name']}: loaded and ran in {tried['seconds']} s")
    for thing in tried["result"]:
        echo("  " + ", ".join(f"{key} {_short(value)}" for key, value in thing.items() if value != ""))
    if not tried["result"]:
        echo("  nothing found")


def _short(value: object) -> str:
    """Return a value as short text: two decimals, or a box's whole pixels."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{number:.0f}" for number in value) + ")"
    return str(value)


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
    """Return what models read and found in a photograph as plain data, boxes in pixels."""
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
