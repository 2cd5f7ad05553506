"""The episodes of place localization: one for each panorama that has places near it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pydantic import Field

from virl.bench.benchmark import Benchmark
from virl.bench.city_data import CityOptions, city_data
from virl.bench.episode import Episode, EpisodeResult
from virl.bench.records import jpeg
from virl.bench.resources import Resources
from virl.datasets.collect.dataset import DataSet, PlaceRow
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.place_types import types_20
from virl.platform.city.places import Place
from virl.platform.city.streetview import View
from virl.platform.perception.active import look_closer
from virl.platform.perception.base import Detection, Detector
from virl.platform.perception.cameras import sweep_cameras
from virl.platform.perception.matching import match_place
from virl.registry import first_line

from .published import PUBLISHED
from .score import METRICS, score, show

FOVS = (60.0, 90.0, 120.0)  # V-IRL's configuration: 6 + 4 + 3 views all around
PITCH = 10.0  # V-IRL's configuration
RADIUS_M = 25.0  # V-IRL's configuration


class Options(CityOptions):
    """Options of place localization."""

    models: tuple[str, ...] = ("sign-detector",)
    """Detectors to compare (see `virl models`)."""
    active: bool = False
    """Also look closer at each box, and score the confirmed boxes."""
    recheck: float | None = Field(None, ge=0, le=1)
    """Minimum score at the closer look; by default the one in the detector's file."""
    size: int = Field(640, ge=16, le=2048)
    """Width and height of a view in pixels."""


@dataclass(frozen=True, slots=True)
class LocalizationWorld:
    """The options, cities and detectors that all episodes of a run share."""

    options: Options
    cities: dict[str, City]
    detectors: dict[tuple[str, str], Detector]


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each panorama with places of the 20 types within 25 m, for each model."""
    return [
        Episode(pano_id, name, model, {"places": [_to_payload(place) for place in near]})
        for name in options.cities
        for pano_id, near in _places_near(city_data(options, name, resources)).items()
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> LocalizationWorld:
    """Return the opened detectors and cities."""
    detectors = {
        (model, name): resources.detector(model, name) for model in options.models for name in options.cities
    }
    cities = {name: resources.city(name) for name in options.cities}
    return LocalizationWorld(options, cities, detectors)


def run(episode: Episode, world: LocalizationWorld) -> EpisodeResult:
    """Look all around in three fields of view, and return the places that the detector's boxes hit."""
    city, options = world.cities[episode.city], world.options
    detector = world.detectors[episode.model, episode.city]
    here = city.streetview.panorama(episode.case).position
    places = [_from_payload(data) for data in episode.payload["places"]]
    cameras = [
        camera
        for fov in FOVS
        for camera in sweep_cameras(None, fov=fov, pitch=PITCH, width=options.size, height=options.size)
    ]
    views = [city.streetview.view(episode.case, camera) for camera in cameras]
    hits, confirmed, shown = [], [], []
    for view, found in zip(views, detector.detect(views, types_20()), strict=True):
        boxes = []
        for detection in found:
            place = _match_place(view, detection, here, places)
            boxes.append(_box_data(view, detection, place))
            if place:
                hits.append((place.id, detection.label))
            if options.active:
                seen, label = [(view, detection)], [detection.label]
                (closer,) = look_closer(city.streetview, detector, seen, label, recheck=options.recheck)
                again = _match_place(*closer, here, places) if closer else None
                if closer and again:
                    confirmed.append((again.id, closer[1].label))
        if boxes:
            shown.append((view, boxes))
    if not shown:  # the page of a miss shows what there was to see
        shown = [(view, []) for view in views if view.camera.fov == FOVS[-1]]
    data = {
        "position": [here.lat, here.lng],
        "places": episode.payload["places"],
        "hits": sorted(set(hits)),
        "confirmed": sorted(set(confirmed)) if options.active else None,
        "views": [
            {"heading": view.camera.heading, "fov": view.camera.fov, "boxes": boxes} for view, boxes in shown
        ],
    }
    files = {f"view-{number:02d}.jpg": partial(jpeg, view) for number, (view, _) in enumerate(shown)}
    return EpisodeResult(data, files)


def _places_near(data: DataSet) -> dict[str, list[PlaceRow]]:
    """Return the places of the 20 types within 25 m of each panorama, by its id; only if there are any."""
    places = [place for place in data.places if not set(types_20()).isdisjoint(place.types)]
    lat, lng = np.array([one.lat for one in places]), np.array([one.lng for one in places])
    near: dict[str, list[PlaceRow]] = {}
    for panorama in data.panoramas:
        if not places:
            break
        metres = globe.distances(panorama.lat, panorama.lng, lat, lng)
        close = [places[number] for number in np.flatnonzero(metres <= RADIUS_M).tolist()]
        if close:
            near[panorama.id] = close
    return near


def _to_payload(place: PlaceRow) -> dict[str, Any]:
    """Return a place as the payload of an episode holds it."""
    types = [kind for kind in place.types if kind in types_20()]
    return {"id": place.id, "name": place.name, "types": types, "lat": place.lat, "lng": place.lng}


def _from_payload(data: dict[str, Any]) -> Place:
    """Return the place that an episode's payload holds."""
    return Place(data["id"], data["name"], tuple(data["types"]), LatLng(data["lat"], data["lng"]))


def _match_place(view: View, detection: Detection, here: LatLng, places: Sequence[Place]) -> Place | None:
    """Return the nearest place within 25 m in the box's direction; `None` if there is none."""
    return match_place(view.camera, detection.box, here, places, radius=RADIUS_M, slack=0.0)


def _box_data(view: View, detection: Detection, place: Place | None) -> dict[str, Any]:
    """Return a detection as plain data, its box in shares of the view's width and height."""
    width, height = view.camera.width, view.camera.height
    x0, y0, x1, y1 = detection.box
    return {
        "box": [x0 / width, y0 / height, x1 / width, y1 / height],
        "label": detection.label,
        "score": round(detection.score, 3),
        "text": detection.text,
        "place": place.name if place else None,
        "right": place is not None and detection.label in place.types,
    }


BENCHMARK = Benchmark(
    name="place-localization",
    title="Place localization",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="places",
    bounds=("simulated",),
    published=PUBLISHED,
    typical_s=2.5,
    work="processes",
)
