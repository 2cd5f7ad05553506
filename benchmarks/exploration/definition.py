"""The episodes of the exploration benchmark: a random start each, for each policy."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from virl.agent.character_file import find_character, load_character
from virl.bench.agent_runs import RUN, EpisodeModels, cost_of_run
from virl.bench.benchmark import BaseOptions, Benchmark
from virl.bench.episode import Episode, EpisodeResult
from virl.bench.metrics.paths import success_weighted_path_length
from virl.bench.resources import Resources
from virl.bench.truth import truth_of
from virl.errors import BadInput, UnknownName
from virl.platform.city import City
from virl.platform.networks import held_street_map

from .policies import POLICIES, ExploredCity, fitting_places, nearest_fitting
from .score import METRICS, score, show


class Options(BaseOptions):
    """What the exploration benchmark is asked."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made cities to run in."""
    policy: tuple[str, ...] = Field(tuple(POLICIES), min_length=1)
    """Policies to compare: `oracle`, `hiro`, `hiro-random-roads`, `random`."""
    starts: int = Field(40, ge=1)
    """Number of random starts."""
    max_steps: int = Field(60, ge=1)
    """Maximum steps of a walk."""
    mind: str = "rules"
    """Who decides for Hiro: `rules`, or a chat model such as `openai:gpt-5-mini`."""


@dataclass(frozen=True, slots=True)
class Explorations:
    """What episodes share."""

    cities: Mapping[str, ExploredCity]
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Every start for every policy."""
    for policy in options.policy:
        if policy not in POLICIES:
            raise UnknownName("policy", policy, list(POLICIES))
    return [
        Episode(f"start-{number:03d}", name, policy, {"number": number, "start": start})
        for name in options.cities
        for number, start in enumerate(choose_starts(resources.city(name), options.starts, options.seed))
        for policy in options.policy
    ]


def choose_starts(city: City, count: int, seed: int) -> list[str]:
    """Panoramas to start from, chosen by chance without repetition.

    Raises:
        BadInput: the city is not a made one, or has fewer panoramas.
    """
    truth_of(city)
    panoramas = list(held_street_map(city).panorama_ids())
    if count > len(panoramas):
        raise BadInput(f"{city.title} has {len(panoramas)} panoramas: give at most --starts {len(panoramas)}")
    return random.Random(seed).sample(panoramas, count)


def prepare(options: Options, resources: Resources) -> Explorations:
    """Opens the cities and looks up which places fit."""
    hiro = load_character(find_character("hiro"))
    resources.mind(options.mind)
    explored = {}
    for name in options.cities:
        city = resources.city(name)
        explored[name] = ExploredCity(
            city,
            hiro,
            partial(resources.mind, options.mind),
            EpisodeModels(resources, name),
            fitting_places(city, hiro),
            options.max_steps,
        )
    return Explorations(explored, resources)


def run(episode: Episode, shared: Explorations) -> EpisodeResult:
    """Walk by the policy from the start, and see whether the place entered fits."""
    explored = shared.cities[episode.city]
    start = explored.city.streetview.panorama(episode.payload["start"])
    folder = shared.resources.folder(episode) / RUN
    walk = POLICIES[episode.model](explored, start, episode.payload["number"], folder)
    nearest, shortest = nearest_fitting(explored, start)
    success = any(place.id == walk.entered for place in explored.fitting)
    data: dict[str, Any] = {
        "start": start.id,
        "entered": walk.entered,
        "success": success,
        "steps": walk.steps,
        "walked_m": walk.walked_m,
        "shortest_m": shortest,
        "spl": success_weighted_path_length(success, walk.walked_m, shortest),
        "nearest": {"id": nearest.id, "name": nearest.name, "position": [*nearest.position]},
        "path": [[*position] for position in walk.path],
    }
    if walk.entered is not None:
        place = explored.city.places.details(walk.entered)
        data |= {"entered_name": place.name, "entered_position": [*place.position]}
    return EpisodeResult(data, cost=cost_of_run(walk.run) if walk.run else {})


BENCHMARK = Benchmark(
    name="exploration",
    title="Exploration: enters a place that truly fits",
    about="Score how well Hiro finds a place, against a random walker and an oracle (V-IRL, section 3.3).",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    typical_s=25.0,
    work="processes",
)
