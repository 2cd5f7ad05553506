"""The episodes of VLN: a route each, walked by directions in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from pydantic import Field

from virl.bench.benchmark import Benchmark, Episode, EpisodeResult, Picture
from virl.bench.city_data import CityOptions, city_data
from virl.bench.pictures import jpeg
from virl.bench.resources import Resources, cost_of
from virl.datasets.collect.dataset import RouteRow
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.movement.base import Step
from virl.platform.movement.instruction.human import HUMAN
from virl.platform.movement.instruction.tourist.navigator import MAX_STEPS, TouristNavigator
from virl.platform.movement.open_mover import fit_mover, open_mover

from .published import PUBLISHED
from .score import METRICS, score, show
from .walkers import Walker, check_walker, hints_of, parse_walker, spotter_of


class Options(CityOptions):
    """What VLN is asked."""

    models: tuple[str, ...] = ("oracle", "oracle@paper", "ocr", "ocr@paper")
    """How to recognize landmarks: `oracle` (from the map, as V-IRL), `truth` (from the true signs, in made
    cities), `ocr`, `human` (a person who plays), or a recognizer, describer or reader (see `virl models`).
    Append `@paper` to give the agent V-IRL's hints at crossings."""
    mind: str = "rules"
    """Who decides: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    max_steps: int = Field(MAX_STEPS, ge=1)
    """Maximum actions of a walk."""
    mover: Literal["links", "grid", "hybrid", "web"] | None = None
    """How walkers get about (see the movers of `virl run`). By default, the mover that fits each city."""


@dataclass(frozen=True, slots=True)
class RoutesWorld:
    """What episodes share."""

    options: Options
    cities: Mapping[str, City]
    walkers: Mapping[str, Walker]
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """A route each."""
    return [
        Episode(route.id, name, model, {"route": route.model_dump(mode="json")})
        for name in options.cities
        for route in city_data(options, name, resources, needs="routes").routes
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> RoutesWorld:
    """Opens cities, models and the mind."""
    cities = {name: resources.city(name) for name in options.cities}
    walkers = {model: parse_walker(model) for model in options.models}
    mind = resources.mind(options.mind)
    for walker in walkers.values():
        for city in cities.values():
            check_walker(walker, city, mind, resources)
    return RoutesWorld(options, cities, walkers, resources)


def run(episode: Episode, world: RoutesWorld) -> EpisodeResult:
    """Walk until the walker stops, is lost, or has taken as many steps as it may."""
    route = RouteRow.model_validate(episode.payload["route"])
    city, walker = world.cities[episode.city], world.walkers[episode.model]
    mind = world.resources.mind(world.options.mind)
    instruction = route.instruction if walker.mode == "honest" else route.instruction_paper
    walked: list[dict[str, Any]] = []
    files: dict[str, Picture] = {}
    fit = fit_mover(city, city.streetview.panorama(route.start.pano_id), world.options.mover)
    with open_mover(fit.name, city.streetview) as mover:
        navigator = TouristNavigator(
            city.streetview,
            mover,
            mind,
            spotter_of(walker, city, route, mind, world.resources),
            instruction,
            hints=hints_of(walker, route),
            max_steps=world.options.max_steps,
            landmarks=() if walker.spotter == HUMAN else None,
        )
        for step in navigator.walk(route.start):
            taken, views = _taken(city, navigator, step)
            walked.append(taken)
            files |= views
    outcome = navigator.outcome
    data = {
        "route": episode.payload["route"],
        "instruction": instruction,
        "mover": fit.name,
        "gold": [_position(city, pano_id) for pano_id in route.pano_ids],
        "walked": walked,
        "ending": outcome.ending if outcome else "lost",
        "reason": outcome.reason if outcome else "",
    }
    return EpisodeResult(data, files, cost_of(mind.ledger.take_asked()))


def _taken(city: City, navigator: TouristNavigator, step: Step) -> tuple[dict[str, Any], dict[str, Picture]]:
    """A step as data, and the views in which a landmark was seen."""
    choice = step.choice
    seen: list[dict[str, Any]] = []
    files: dict[str, Picture] = {}
    for number, one in enumerate(navigator.observations[-1].seen):
        shown: dict[str, Any] = {"name": one.name, "where": one.direction(step.pose.heading)}
        if one.camera is not None:
            file = f"{step.index:03d}-{number}.jpg"
            files[file] = partial(jpeg, city.streetview.view(step.pose.pano_id, one.camera))
            box = one.box
            size = (one.camera.width, one.camera.height)
            shown |= {
                "file": file,
                "box": [edge / size[index % 2] for index, edge in enumerate(box)] if box else None,
            }
        seen.append(shown)
    position = step.panorama.position
    taken = {
        "pano_id": step.pose.pano_id,
        "lat": position.lat,
        "lng": position.lng,
        "next": choice.link.pano_id if choice.link else None,
        "observed": navigator.observations[-1].sentence(),
        "decided": choice.reason,
        "refused": list(navigator.transcript[-1].act.refused),
        "seen": seen,
    }
    return taken, files


def _position(city: City, pano_id: str) -> list[float]:
    position: LatLng = city.streetview.panorama(pano_id).position
    return [position.lat, position.lng]


BENCHMARK = Benchmark(
    name="vln",
    title="Vision-and-language navigation",
    about="Follow written directions to a place by sight (V-IRL, section 5.4).",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    published=PUBLISHED,
    typical_s=30.0,
    work="threads",
)
