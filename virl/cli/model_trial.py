"""A perception model tried on a view of Virlton, for `virl models --try`."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any

from virl.errors import NoStreetView, UnknownName
from virl.geo.globe import bearing
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.models import ModelOptions, Models, model_names
from virl.platform.perception.registry import ROLES, Role
from virl.platform.perception.standing import model_readiness

TRY_LABELS = ("restaurant", "cafe", "sign", "tree", "bench", "trash bin")
"""The labels that a detector is tried with: something for every kind of detector."""

TRY_CITY = "virlton"
TURN_DEG = 15.0  # between the two views that a matcher is tried on; chosen


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

    role = role_of(name)
    city = open_city(TRY_CITY)
    view = _shop_view(city)
    told = ModelOptions(
        options.device, options.allow_downloads, city.truth, city.capabilities.is_drawn, options.seed
    )
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


def role_of(name: str) -> Role:
    """Return the role of a model by its name, or by the path of its file.

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
    """Return the front of the restaurant nearest to the middle of the city."""
    place = city.places.nearby(city.center, 500, ["restaurant"])[0]
    here = city.streetview.nearest(place.position)
    if here is None:
        raise NoStreetView(f"{city.name}: no panorama near {place.name}")
    return city.streetview.view(here.id, Camera(bearing(here.position, place.position), 5, 60))
