"""`virl models`: the models by role, what each needs, and whether it would load now."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Annotated, Any, get_args

import typer

from virl.errors import NoStreetView, UnknownName
from virl.geo import bearing
from virl.guard import guard
from virl.platform.city import City
from virl.platform.perception.models import Device, ModelOptions, Models, model_names
from virl.platform.perception.registry import KINDS, Role
from virl.platform.perception.standing import ModelReadiness, standing
from virl.platform.perception.weights import models_home
from virl.platform.streetview import Camera, View

TRY_LABELS = ("restaurant", "cafe", "sign", "tree", "bench", "trash bin")
"""What a detector that is tried looks for: something for every kind of them."""

TRY_CITY = "virlton"
TURN_DEG = 15.0  # between the two views that a matcher is tried on; chosen


def list_models(
    try_name: Annotated[
        str | None,
        typer.Option("--try", metavar="NAME", help="Load this model; run it on a view of Virlton."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="What a detector or recognizer that is tried looks for; repeat it."),
    ] = None,
    device: Annotated[Device, typer.Option(help="Where it runs.")] = "auto",
    allow_downloads: Annotated[
        bool, typer.Option("--allow-downloads", help="Fetch weights that are missing from a model hub.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """List the models of the senses: what each needs, and whether it would load now."""

    def tell() -> None:
        if try_name is None:
            _tell_all(
                [standing(role, name) for role in get_args(Role) for name in model_names(role)], as_json
            )
            for fault in KINDS.usable()[1]:
                typer.echo(str(fault), err=True)
        else:
            options = ModelOptions(device=device, allow_downloads=allow_downloads)
            _tell_tried(try_model(try_name, options, tuple(label or TRY_LABELS)), as_json)

    guard(tell, debug=debug)


def try_model(name: str, options: ModelOptions, labels: Sequence[str] = TRY_LABELS) -> dict[str, Any]:
    """Load a model and run it on a view of a shop in Virlton.

    Args:
        name: as `virl.platform.perception.models.Models` takes it.
        options: device and downloads; the truth is added, which the simulated detector sees.
        labels: what a detector or a recognizer looks for.

    Returns:
        Name, role, seconds with loading, and what came out as `result`.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded.
    """
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    role = _role_of(name)
    city = open_city(TRY_CITY)
    view = _shop_view(city)
    told = ModelOptions(options.device, options.allow_downloads, city.truth, options.seed)
    models = Models(told)
    begun = perf_counter()
    result = _RUNS[role](models, name, view, labels, city)
    return {"name": name, "role": role, "seconds": round(perf_counter() - begun, 2), "result": result}


def _detect(models: Models, name: str, view: View, labels: Sequence[str], _: City) -> object:
    return [asdict(one) for one in models.detector(name).detect([view], labels)[0]]


def _recognize(models: Models, name: str, view: View, labels: Sequence[str], _: City) -> object:
    scores = models.recognizer(name).recognize([view.pixels], labels)[0]
    return [{"label": label, "score": float(score)} for label, score in zip(labels, scores, strict=True)]


def _read(models: Models, name: str, view: View, _: Sequence[str], __: City) -> object:
    return [asdict(line) for line in models.reader(name).read([view.pixels])[0]]


def _match(models: Models, name: str, view: View, _: Sequence[str], city: City) -> object:
    camera = Camera(view.camera.heading + TURN_DEG, view.camera.pitch, view.camera.fov)
    turned = city.streetview.view(view.pano_id, camera)
    return [{"matches": models.matcher(name).match([(view.pixels, turned.pixels)])[0].count}]


def _describe(models: Models, name: str, view: View, _: Sequence[str], __: City) -> object:
    return [{"description": models.describer(name).describe([view])[0]}]


def _classify(models: Models, name: str, _: View, labels: Sequence[str], __: City) -> object:
    lexicon = models.lexicon(name)
    return [{"text": label, "types": lexicon.classify(label)} for label in labels]


_Run = Callable[[Models, str, View, Sequence[str], City], object]
_RUNS: dict[Role, _Run] = {
    "describer": _describe,
    "detector": _detect,
    "lexicon": _classify,
    "matcher": _match,
    "reader": _read,
    "recognizer": _recognize,
}


def _role_of(name: str) -> Role:
    known = {other: role for role in get_args(Role) for other in model_names(role)}
    if name in known:
        role: Role = known[name]
        return role
    for role in get_args(Role):
        if name.endswith(".yaml") and standing(role, name).kind:
            return role
    raise UnknownName("model", name, list(known))


def _shop_view(city: City) -> View:
    """The front of the restaurant nearest to the middle of the city."""
    place = city.places.nearby(city.center, 500, ["restaurant"])[0]
    here = city.streetview.nearest(place.position)
    if here is None:
        raise NoStreetView(f"{city.name}: no panorama near {place.name}")
    return city.streetview.view(here.id, Camera(bearing(here.position, place.position), 5, 60))


def _tell_all(all_standings: Sequence[ModelReadiness], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([_plain(one) for one in all_standings], indent=2))
        return
    role = ""
    for one in all_standings:
        if one.role != role:
            role = one.role
            typer.echo(f"{role}s")
        needs = ", ".join(need.what + (" (missing)" if need.lacks else "") for need in one.needs)
        typer.echo(f"  {one.name:26} {'ready' if one.is_ready else 'not ready':10} {needs}".rstrip())
    if not all(one.is_ready for one in all_standings):
        typer.echo(
            f"\nPackages: pip install 'virl[vision]'. Weights ID: put the files of https://huggingface.co/ID\n"
            f"into {models_home() / 'ID'}, or allow downloads with --allow-downloads.\n"
            f"What each model lacks: virl models --json."
        )


def _plain(one: ModelReadiness) -> dict[str, Any]:
    return {
        "role": one.role,
        "name": one.name,
        "kind": one.kind,
        "ready": one.is_ready,
        "needs": [{"what": need.what, "ready": not need.lacks, "remedy": need.lacks} for need in one.needs],
    }


def _tell_tried(tried: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(tried, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{tried['role']} {tried['name']}: loaded and run in {tried['seconds']} s")
    for thing in tried["result"]:
        typer.echo("  " + ", ".join(f"{key} {_short(value)}" for key, value in thing.items() if value != ""))
    if not tried["result"]:
        typer.echo("  nothing found")


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{number:.0f}" for number in value) + ")"
    return str(value)
