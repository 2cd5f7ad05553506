"""A benchmark: does a detector see the sign of the shop that it faces?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from virl.bench.benchmark import (
    Benchmark,
    BenchOptions,
    Metric,
    Scores,
    Shown,
    ShownBox,
    ShownPoint,
    ShownView,
    Tally,
)
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.records import jpeg
from virl.bench.resources import Resources
from virl.errors import NoStreetView
from virl.geo.globe import LatLng, bearing
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.perception.base import Detector

WIDTH, HEIGHT = 320, 240


class Options(BenchOptions):
    """What `virl bench find-the-sign` takes."""

    cities: tuple[str, ...] = ("crossville",)
    models: tuple[str, ...] = ("coloured-signs",)
    label: str = "shop sign"
    """What the detector is asked for."""
    radius_m: float = 200.0
    """How far from the centre of the city shops are looked up, in metres."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What the episodes of a process share."""

    cities: Mapping[str, City]
    detectors: Mapping[tuple[str, str], Detector]
    """By model and city."""
    label: str


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """One for each shop, city and model."""
    found = []
    for name in options.cities:
        city = resources.city(name)
        for place in city.places.nearby(city.center, options.radius_m):
            payload = {"lat": place.position.lat, "lng": place.position.lng, "type": place.types[0]}
            found += [Episode(place.id, name, model, payload) for model in options.models]
    return found


def prepare(options: Options, resources: Resources) -> Opened:
    """Open the cities and the detectors."""
    return Opened(
        {name: resources.city(name) for name in options.cities},
        {(m, c): resources.detector(m, c) for m in options.models for c in options.cities},
        options.label,
    )


def run(episode: Episode, opened: Opened) -> EpisodeResult:
    """Face the shop from the nearest panorama, and detect.

    Raises:
        NoStreetView: there is no panorama near the shop; the episode fails.
    """
    streetview = opened.cities[episode.city].streetview
    shop = LatLng(episode.payload["lat"], episode.payload["lng"])
    here = streetview.nearest(shop)
    if here is None:
        raise NoStreetView(f"no panorama within 50 m of {shop}")
    view = streetview.view(here.id, Camera(bearing(here.position, shop), 10, 60, WIDTH, HEIGHT))
    signs = opened.detectors[episode.model, episode.city].detect([view], [opened.label])[0]
    boxes = [[x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT] for x0, y0, x1, y1 in (s.box for s in signs)]
    return EpisodeResult(
        {**episode.payload, "found": bool(signs), "boxes": boxes}, {"shop.jpg": jpeg(view.pixels)}
    )


def score(records: Sequence[Record], options: Options) -> Scores:
    """The share of signs that were seen, as a mean over types of shops."""
    return Scores(
        {"found": [Tally(one.case, float(one.data["found"]), group=one.data["type"]) for one in records]}
    )


def show(record: Record) -> Shown:
    """The page of an episode: the view with the boxes, and the shop on the map."""
    data = record.data
    boxes = [ShownBox((x0, y0, x1, y1), "sign", "right") for x0, y0, x1, y1 in data["boxes"]]
    hit = float(data["found"])
    return Shown(
        "found" if data["found"] else "not found",
        score=hit,
        views=[ShownView(file, "the shop", boxes) for file in record.files],
        points=[ShownPoint(LatLng(data["lat"], data["lng"]), hit, record.case)],
    )


BENCHMARK = Benchmark(
    name="find-the-sign",
    title="Find the sign",
    about="Whether a detector sees the sign of the shop that it faces.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=(Metric("found", "found", by_group=True),),
)
