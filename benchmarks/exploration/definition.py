"""The exploration benchmark: its episodes, a random start for each policy, and the policies.

Hiro walks, Hiro on random roads, a random walker, a systematic one without eyes, and an oracle.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from pydantic import Field

from virl.agent.character import Character
from virl.agent.character_file import find_character, load_character
from virl.bench.agent_runs import RUN, EpisodeModels, cost_of_run, failure_of_run, run_in_folder
from virl.bench.benchmark import BaseOptions, Benchmark
from virl.bench.episode import Episode, EpisodeResult
from virl.bench.metrics.paths import success_weighted_path_length
from virl.bench.resources import Resources, truth_of
from virl.errors import BadInput, UnknownName
from virl.geo.globe import LatLng, distance, signed_turn
from virl.journal.journal import read_journal
from virl.journal.records import Result, StepRecord
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.maps import SPEED_M_S
from virl.platform.city.places import Place
from virl.platform.city.starts import liveliest
from virl.platform.city.streetview import Link, Panorama, Pose
from virl.platform.movers.base import LinksMover
from virl.registry import first_line

from .score import BANDS, METRICS, score, show

_PASSING_RADIUS_M = 20.0  # as far as Hiro matches signs to places
_WANTED = "restaurant"
_NEAR_M = 5000.0


@dataclass(frozen=True, slots=True)
class ExploredCity:
    """A city that is explored, with the character, mind and models that explore it."""

    city: City
    character: Character
    """Character of Hiro."""
    mind: Callable[[], Mind]
    """Function that returns a mind for one walk."""
    models: EpisodeModels
    fitting: tuple[Place, ...]
    """Places that truly fit what Hiro looks for."""
    max_steps: int


@dataclass(frozen=True, slots=True)
class Exploration:
    """The walk of a policy, and the place that it entered."""

    entered: str | None
    """Id of the place that was entered; `None` if none was."""
    steps: int
    walked_m: float
    path: Sequence[LatLng]
    run: Result | None = None
    """Result of Hiro's run; `None` for policies that run no agent."""


Policy = Callable[[ExploredCity, Panorama, int, Path], Exploration]
"""A function from a city, a start, a seed and a run's folder to a walk."""


def _hiro(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:
    """Run Hiro from a start as he is."""
    return _explore(explored, start, explored.mind(), seed, folder)


def _hiro_random_roads(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:
    """Run Hiro from a start, with roads chosen at random."""
    if folder.exists():  # the journal does not say how many roads were drawn: the run begins again
        rmtree(folder)
    return _explore(explored, start, RandomRoads(explored.mind(), seed), seed, folder)


def _random_walker(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:  # noqa: ARG001 - writes nothing
    """Take random roads, back only in dead ends, and enter the first restaurant within 20 m."""
    chance, nearby = random.Random(seed), explored.city.places.nearby
    return _wander(
        explored,
        start,
        lambda here: nearby(here, _PASSING_RADIUS_M, [_WANTED]),
        lambda _, ahead: chance.choice(ahead),
    )


def _straight_walker(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:  # noqa: ARG001 - writes nothing
    """Walk straight on by the least walked links; enter the first fitting place within 20 m.

    It has no eyes, but is told for free which places fit: what it does not pass, it does not find.
    """
    visits: Counter[str] = Counter()

    def choose(pose: Pose, ahead: Sequence[Link]) -> Link:
        """Return the link to the least visited panorama, of several the one that turns least."""
        visits[pose.pano_id] += 1
        return min(ahead, key=lambda one: (visits[one.pano_id], abs(signed_turn(pose.heading, one.heading))))

    return _wander(
        explored,
        start,
        lambda here: [one for one in explored.fitting if distance(here, one.position) < _PASSING_RADIUS_M],
        choose,
    )


def _wander(
    explored: ExploredCity,
    start: Panorama,
    pass_by: Callable[[LatLng], Sequence[Place]],
    choose: Callable[[Pose, Sequence[Link]], Link],
) -> Exploration:
    """Walk by links that `choose` takes, back only in dead ends, into the first place of `pass_by`."""
    city, mover = explored.city, LinksMover(explored.city.streetview)
    pose, came_from, walked = Pose(start.id, start.heading), "", 0.0
    path: list[LatLng] = []
    for step in range(explored.max_steps + 1):
        path.append(city.streetview.panorama(pose.pano_id).position)
        if passed := pass_by(path[-1]):
            return Exploration(passed[0].id, step, walked, path)
        links = mover.links(pose)
        ahead = [link for link in links if link.pano_id != came_from] or list(links)
        if not ahead:
            return Exploration(None, step, walked, path)
        link = choose(pose, ahead)
        if step < explored.max_steps:
            came_from, walked, pose = pose.pano_id, walked + link.distance, mover.take(pose, link)
    return Exploration(None, explored.max_steps, walked, path)


def _oracle(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:  # noqa: ARG001 - writes nothing
    """Return the shortest walk to the nearest fitting place, entered if it is within the moves."""
    place, metres = _nearest_fitting(explored.city, explored.fitting, start)
    path = explored.city.maps.route([start.position, place.position]).path
    steps = len(path) - 2
    if steps > explored.max_steps:
        return Exploration(None, explored.max_steps, metres, path[: explored.max_steps + 1])
    return Exploration(place.id, steps, metres, path)


POLICIES: Mapping[str, Policy] = {
    "oracle": _oracle,
    "hiro": _hiro,
    "hiro-random-roads": _hiro_random_roads,
    "straight": _straight_walker,
    "random": _random_walker,
}


class Options(BaseOptions):
    """Options of the exploration benchmark."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made cities to run in."""
    policy: tuple[str, ...] = Field(tuple(POLICIES), min_length=1)
    """Policies to compare: `oracle`, `hiro`, `hiro-random-roads`, `straight`, `random`."""
    starts: int = Field(40, ge=1)
    """Number of random starts."""
    within: float | None = Field(None, gt=0)
    """Metres around the liveliest spot of the town to start in; by default anywhere."""
    band: tuple[str, ...] = ()
    """Metres along the streets from a start to the nearest place that fits: `0-150`, `150-300`, `300-600`.

    Other starts are drawn again. By default any distance."""
    max_steps: int = Field(60, ge=1)
    """Maximum steps of a walk."""
    mind: str = "rules"
    """The mind that decides for Hiro: `rules`, or a chat model such as `openai:gpt-5-mini`."""


@dataclass(frozen=True, slots=True)
class Explorations:
    """The explored cities, and the resources, that all episodes of a run share."""

    cities: Mapping[str, ExploredCity]
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for every start and each policy.

    Raises:
        UnknownName: there is no such policy or band.
    """
    for policy in options.policy:
        if policy not in POLICIES:
            raise UnknownName("policy", policy, list(POLICIES))
    for band in options.band:
        if band not in BANDS:
            raise UnknownName("band", band, list(BANDS))
    return [
        Episode(f"start-{number:03d}", name, policy, {"number": number, "start": start})
        for name in options.cities
        for number, start in enumerate(choose_starts(resources.city(name), options))
        for policy in options.policy
    ]


def choose_starts(city: City, options: Options) -> list[str]:
    """Return the ids of random panoramas to start from, without repetition, by the options.

    Raises:
        BadInput: the city is not a made one, or has fewer panoramas of the part and the bands asked for.
    """
    truth_of(city)
    panoramas = list(held_street_map(city).panorama_ids())
    spot = liveliest(city) if options.within else None
    if spot and options.within:
        middle = spot.panorama.position
        panoramas = [
            one
            for one in panoramas
            if distance(city.streetview.panorama(one).position, middle) <= options.within
        ]
    drawn = random.Random(options.seed).sample(panoramas, len(panoramas) if options.band else 0)
    if options.band:
        fitting = fitting_places(city, load_character(find_character("hiro")))
        fit = (one for one in drawn if band_of(_metres_to_nearest(city, fitting, one)) in options.band)
        panoramas = list(islice(fit, options.starts))
    if options.starts > len(panoramas):
        raise BadInput(f"{city.title} has {len(panoramas)} panoramas: give at most --starts {len(panoramas)}")
    return panoramas if options.band else random.Random(options.seed).sample(panoramas, options.starts)


def band_of(metres: float) -> str:
    """Return the name of the band that a distance in metres is in; empty beyond all bands."""
    return next((name for name, (low, high) in BANDS.items() if low <= metres < high), "")


def prepare(options: Options, resources: Resources) -> Explorations:
    """Return the opened cities with the places that fit, and the models."""
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
    """Walk by the episode's policy from its start, and return whether the place entered fits.

    A walk whose model gives no usable reply enters none.
    """
    explored = shared.cities[episode.city]
    start = explored.city.streetview.panorama(episode.payload["start"])
    folder = shared.resources.folder(episode) / RUN
    walk = POLICIES[episode.model](explored, start, episode.payload["number"], folder)
    nearest, shortest = _nearest_fitting(explored.city, explored.fitting, start)
    success = any(place.id == walk.entered for place in explored.fitting)
    data: dict[str, Any] = {
        "start": start.id,
        "entered": walk.entered,
        "success": success,
        "steps": walk.steps,
        "walked_m": walk.walked_m,
        "shortest_m": shortest,
        "band": band_of(shortest),
        "spl": success_weighted_path_length(success, walk.walked_m, shortest),
        "nearest": {"id": nearest.id, "name": nearest.name, "position": [*nearest.position]},
        "path": [[*position] for position in walk.path],
    }
    if walk.entered is not None:
        place = explored.city.places.details(walk.entered)
        data |= {"entered_name": place.name, "entered_position": [*place.position]}
    if walk.run is None:
        return EpisodeResult(data)
    return EpisodeResult(data, cost=cost_of_run(walk.run), failure=failure_of_run(walk.run))


BENCHMARK = Benchmark(
    name="exploration",
    title="Exploration: enters a place that truly fits",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="searches",
    bounds=("oracle",),
    typical_s=25.0,
    work="processes",
)


class RandomRoads:
    """A mind that takes any road at random, and asks another mind all other questions."""

    def __init__(self, mind: Mind, seed: int) -> None:
        """Draw roads by `seed`, and put all other questions to `mind`."""
        self._mind = mind
        self._random = random.Random(seed)

    @property
    def name(self) -> str:
        """The other mind's name, with "random roads" added."""
        return f"{self._mind.name}, random roads"

    @property
    def ledger(self) -> Ledger:
        """The ledger of the other mind."""
        return self._mind.ledger

    def with_own_ledger(self) -> "RandomRoads":
        """Return such a mind with a ledger of its own, which draws other roads."""
        return RandomRoads(self._mind.with_own_ledger(), self._random.randrange(2**32))

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return a random road if roads are asked for, else the reply of the other mind."""
        roads = inputs.get("roads")
        if prompt.name == "movement/intention-road" and isinstance(roads, Sequence):
            index = self._random.randrange(len(roads))
            return prompt.reply.model_validate({"index": index, "reason": "by chance"})
        return self._mind.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)


def fitting_places(city: City, character: Character) -> tuple[Place, ...]:
    """Return the restaurants that are truly not spicy, nor known to be closed at the character's clock.

    Raises:
        BadInput: there are none, or the truth is not known.
    """
    truth = truth_of(city)
    restaurants = [city.places.details(one.id) for one in city.places.nearby(city.center, _NEAR_M, [_WANTED])]
    fitting = tuple(
        place
        for place in restaurants
        if _WANTED in place.types
        and place.may_be_open_at(*character.day_and_minute)
        and truth.attributes(place.id).get("spicy") is False
    )
    if not fitting:
        raise BadInput(f"{city.title} has no suitable place: choose another city")
    return fitting


def _nearest_fitting(city: City, fitting: Sequence[Place], start: Panorama) -> tuple[Place, float]:
    """Return (nearest fitting place, metres to it along the streets) from a panorama."""
    seconds = city.maps.travel_times([start.position], [place.position for place in fitting])[0]
    nearest = int(np.argmin(seconds))
    return fitting[nearest], float(seconds[nearest]) * SPEED_M_S["walking"]


def _metres_to_nearest(city: City, fitting: Sequence[Place], start: str) -> float:
    """Return the metres on foot from the panorama with id `start` to the nearest fitting place."""
    return _nearest_fitting(city, fitting, city.streetview.panorama(start))[1]


def _explore(explored: ExploredCity, start: Panorama, mind: Mind, seed: int, folder: Path) -> Exploration:
    """Run Hiro from a start with this mind, and return his walk."""
    limits = explored.character.limits.model_dump() | {"steps": explored.max_steps}
    changes = {"start": {"lat": start.position.lat, "lng": start.position.lng}, "limits": limits}
    models = explored.models
    result = run_in_folder(
        "hiro", explored.city, folder, seed=seed, changes=changes, mind=mind, models=models
    )
    steps = [record.pose for record in read_journal(folder) if isinstance(record, StepRecord)]
    return Exploration(
        result.place.id if result.place else None,
        result.steps,
        result.distance_m,
        [LatLng(pose.lat, pose.lng) for pose in steps],
        result,
    )
