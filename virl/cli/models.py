"""`virl models`: the models by role, what each needs, and whether it would load now."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virl.cli.completion import complete_models
from virl.cli.listing import print_json
from virl.cli.options import DebugOption, Device, JsonOption
from virl.console import echo, echo_json
from virl.guard import guard

if TYPE_CHECKING:
    from virl.platform.perception.standing import ModelReadiness


def list_models(
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
    device: Annotated[Device, typer.Option(help="With --try, device that the model runs on.")] = "auto",
    allow_downloads: Annotated[
        bool, typer.Option("--allow-downloads", help="With --try, download model weights that are missing.")
    ] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the perception models, what each needs, and whether it is ready."""

    def tell() -> None:
        from virl.cli.model_trial import TRY_LABELS, try_model  # noqa: PLC0415 - heavy
        from virl.platform.perception.models import ModelOptions, model_names  # noqa: PLC0415
        from virl.platform.perception.registry import KINDS, ROLES  # noqa: PLC0415
        from virl.platform.perception.standing import standing  # noqa: PLC0415

        if try_name is None:
            _tell_all([standing(role, name) for role in ROLES for name in model_names(role)], as_json)
            for fault in KINDS.usable()[1]:
                echo(str(fault), err=True)
        else:
            options = ModelOptions(device=device, allow_downloads=allow_downloads)
            _tell_tried(try_model(try_name, options, tuple(label or TRY_LABELS)), as_json)

    guard(tell, debug=debug)


def _tell_all(all_standings: Sequence["ModelReadiness"], as_json: bool) -> None:
    if as_json:
        print_json([_plain(one) for one in all_standings])
        return
    from virl.platform.perception.weights import models_home  # noqa: PLC0415 - heavy

    role = ""
    for one in all_standings:
        if one.role != role:
            role = one.role
            echo(f"{role}s")
        needs = ", ".join(need.what + (" (missing)" if need.lacks else "") for need in one.needs)
        echo(f"  {one.name:26} {'ready' if one.is_ready else 'not ready':10} {needs}".rstrip())
    if not all(one.is_ready for one in all_standings):
        echo(
            f"\nPackages: pip install 'virl[vision]'. Weights ID: put the files of https://huggingface.co/ID\n"
            f"into {models_home() / 'ID'}, or allow downloads with --allow-downloads.\n"
            f"See what each model lacks with `virl models --json`."
        )


def _plain(one: "ModelReadiness") -> dict[str, Any]:
    return {
        "role": one.role,
        "name": one.name,
        "kind": one.kind,
        "ready": one.is_ready,
        "needs": [{"what": need.what, "ready": not need.lacks, "remedy": need.lacks} for need in one.needs],
    }


def _tell_tried(tried: dict[str, Any], as_json: bool) -> None:
    if as_json:
        echo_json(json.dumps(tried, indent=2, ensure_ascii=False))
        return
    echo(f"{tried['role']} {tried['name']}: loaded and ran in {tried['seconds']} s")
    for thing in tried["result"]:
        echo("  " + ", ".join(f"{key} {_short(value)}" for key, value in thing.items() if value != ""))
    if not tried["result"]:
        echo("  nothing found")


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{number:.0f}" for number in value) + ")"
    return str(value)
