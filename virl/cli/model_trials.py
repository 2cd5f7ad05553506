"""Perception models for `virl models`: told of, tried on a view of Virlton, measured on labelled views."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

from virl.cli.listing import print_json, print_table
from virl.console import echo, echo_json
from virl.doctor.labelled_views import read_labelled, write_labelled
from virl.doctor.model_quality import COLUMNS, MEASURED, ModelMeasurement, measure, rows, write_check
from virl.errors import BadInput, NoStreetView, UnknownName
from virl.geo.globe import bearing
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Role
from virl.platform.perception.models import ModelOptions, Models, model_file, model_names, read_model
from virl.platform.perception.registry import ROLES, DetectorSettings
from virl.platform.perception.standing import model_readiness
from virl.platform.perception.weights import find_checkpoint, models_home

TRY_LABELS = ("restaurant", "cafe", "sign", "tree", "bench", "trash bin")
"""Labels that `virl models --try` looks for by default, some for each kind of detector."""

TRY_CITY = "virlton"
TURN_DEG = 15.0  # between the two views that a matcher is tried on; chosen


def try_model(name: str, options: ModelOptions, labels: Sequence[str] = TRY_LABELS) -> dict[str, Any]:
    """Run a model on a view of a shop in Virlton; return name, role, seconds and result as plain data.

    Args:
        name: as `virl.platform.perception.models.Models` takes it.
        options: device and downloads; the truth is added, which the simulated detector sees.
        labels: what a detector or a recognizer looks for.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded.
    """
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    role = role_of(name)
    city = open_city(TRY_CITY)
    view = _shop_view(city)
    told = ModelOptions(
        options.device, options.allow_downloads, city.truth, city.capabilities.is_drawn, options.seed
    )
    models = Models(told)
    begun = perf_counter()
    result = _result(models, role, name, view, labels, city)
    return {"name": name, "role": role, "seconds": round(perf_counter() - begun, 2), "result": result}


def _result(
    models: Models, role: Role, name: str, view: View, labels: Sequence[str], city: City
) -> list[dict[str, Any]]:
    """Return a model's result on the view as plain data; a matcher compares it with a turned view."""
    match role:
        case "describer":
            return [{"description": models.describer(name).describe([view])[0]}]
        case "detector":
            return [asdict(one) for one in models.detector(name).detect([view], labels)[0]]
        case "lexicon":
            lexicon = models.lexicon(name)
            return [{"text": label, "types": lexicon.classify(label)} for label in labels]
        case "matcher":
            camera = Camera(view.camera.heading + TURN_DEG, view.camera.pitch, view.camera.fov)
            turned = city.streetview.view(view.pano_id, camera)
            return [{"matches": models.matcher(name).match([(view.pixels, turned.pixels)])[0].count}]
        case "reader":
            return [asdict(line) for line in models.reader(name).read([view.pixels])[0]]
        case "recognizer":
            scores = models.recognizer(name).recognize([view.pixels], labels)[0]
            return [{"label": one, "score": float(score)} for one, score in zip(labels, scores, strict=True)]


def role_of(name: str) -> Role:
    """Return the role of a model, given by its name or the path of its file.

    Raises:
        UnknownName: there is no such model.
    """
    known = {other: role for role in ROLES for other in model_names(role)}
    if name in known:
        role: Role = known[name]
        return role
    for role in ROLES:
        if name.endswith(".yaml") and model_readiness(role, name).kind:
            return role
    raise UnknownName("model", name, list(known))


def _shop_view(city: City) -> View:
    """Return a view of the front of the restaurant nearest to a city's centre."""
    place = city.places.nearby(city.center, 500, ["restaurant"])[0]
    here = city.streetview.nearest(place.position)
    if here is None:
        raise NoStreetView(f"{city.name}: no panorama near {place.name}")
    return city.streetview.view(here.id, Camera(bearing(here.position, place.position), 5, 60))


ASKS_A_MIND = "chat-describer"


def write_labelled_views(folder: Path, city: str, count: int, seed: int) -> None:
    """Write `count` labelled views of a made town into a folder, and print how to use them.

    Args:
        folder: where they are written.
        city: name of a made town.
        count: number of views.
        seed: same seed, same views.

    Raises:
        UnknownName: there is no such city.
        BadInput: it is no made town.
        CannotWrite: the disk refuses.
    """
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    written = write_labelled(open_city(city), city, folder, count, seed)
    things = sum(thing.clear for view in written.views for thing in view.things)
    echo(f"{len(written.views)} views with {things} things to find: {folder}")
    echo(f"Measure models with `virl models --check {folder}`.")


def check_models(
    folder: Path, asked: Sequence[str], device: Any, *, allow_downloads: bool, as_json: bool
) -> None:
    """Measure models `asked` (empty: all ready ones) on labelled views; print a table or JSON, write a page.

    Args:
        folder: with labelled views.
        asked: names of models; empty for all that are ready.
        device: such as `cpu`; `None` chooses.
        allow_downloads: whether weights may be fetched.
        as_json: print JSON instead of the table.

    Raises:
        UnknownName: there is no such model.
        BadInput: the folder has no labelled views, or a model is none that can be measured.
        CannotWrite: the disk refuses.
    """
    labelled = read_labelled(folder)
    names = [_parse_model(name) for name in asked] or [
        (role, name)
        for role in MEASURED
        for name in model_names(role)
        if name != ASKS_A_MIND and model_readiness(role, name).is_ready
    ]
    results: list[ModelMeasurement] = []
    for number, done in enumerate(measure(names, folder, ModelOptions(device, allow_downloads)), start=1):
        results.append(done)
        echo(f"{number} of {len(names)}: {done.name}{f': {done.fault}' if done.fault else ''}", err=True)
    page = write_check(folder, labelled, results)
    if as_json:
        plain = [{key: value for key, value in asdict(one).items() if key != "found"} for one in results]
        echo_json(json.dumps(plain, indent=2))
        return
    print_table(COLUMNS, rows(results), f"page: {page}")


def _parse_model(name: str) -> tuple[Role, str]:
    """Return (role, name) of a model that can be measured; raise BadInput for others."""
    role = role_of(name)
    if role not in MEASURED or name == ASKS_A_MIND:
        raise BadInput(f"{name} is a {role} that cannot be measured: name a {', a '.join(MEASURED)}")
    return role, name


def tell_details(name: str, *, as_json: bool) -> None:
    """Print all that is known of the model with this name, as text or JSON.

    Raises:
        UnknownName: there is no such model.
    """
    told = _details(name)
    if as_json:
        print_json(told)
        return
    echo(f"{told['role']} {name}: {'ready' if told['ready'] else 'not ready'}")
    for heading in ("file", "kind", "paper", "install", "first look", "second look"):
        if told[heading] != "":
            echo(f"  {heading:12} {told[heading]}")
    for label, (first, second) in told["by label"].items():
        echo(f"  {'by label':12} {label}: {first}, then {second}")
    for source, path in told["weights"].items():
        echo(f"  {'weights':12} {source}: {path}")
    for lack in told["lacks"]:
        echo(f"  {'missing':12} {lack}")
    echo(f"  {'try it':12} virl models --try {name}")


def _details(name: str) -> dict[str, Any]:
    """Return the details of the model with this name, by heading."""
    role = role_of(name)
    settings, stands = read_model(role, name), model_readiness(role, name)
    needs = settings.needs()
    looks = settings.look_scores if isinstance(settings, DetectorSettings) else None
    return {
        "role": role,
        "name": name,
        "kind": settings.kind,
        "file": str(model_file(name)),
        "paper": settings.paper,
        "ready": stands.is_ready,
        "install": f"pip install {needs.install}" if needs.install else "",
        "first look": looks.first if looks else "",
        "second look": looks.second if looks else "",
        "by label": {label: [one.first, one.second] for label, one in looks.by_label.items()}
        if looks
        else {},
        "weights": {
            source: str(find_checkpoint(source) or models_home() / source) for source in needs.weights
        },
        "lacks": [need.lacks for need in stands.needs if need.lacks],
    }
