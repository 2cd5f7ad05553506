"""Who walks: Hiro, Hiro on random roads, a random walker, and an oracle."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import numpy as np

from virl.agent.character import Character
from virl.bench.agent_runs import EpisodeModels, run_in_folder
from virl.bench.truth import truth_of
from virl.errors import BadInput
from virl.geo import LatLng
from virl.journal.journal import read_journal
from virl.journal.records import Result, StepRecord
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.money.ledger import Ledger
from virl.platform.city import City
from virl.platform.maps import SPEED_M_S
from virl.platform.movement.links import LinksMover
from virl.platform.places import Place
from virl.platform.streetview import Panorama, Pose

PASSING_RADIUS_M = 20.0  # as far as Hiro matches signs to places
WANTED = "restaurant"
NEAR_M = 5000.0


@dataclass(frozen=True, slots=True)
class ExploredCity:
    """A city, who explores it, and what is to be found there."""

    city: City
    character: Character
    """Hiro's."""
    mind: Callable[[], Mind]
    """A mind for one walk."""
    models: EpisodeModels
    fitting: tuple[Place, ...]
    """The places that truly fit."""
    max_steps: int


@dataclass(frozen=True, slots=True)
class Exploration:
    """Where a policy went."""

    entered: str | None
    """Id of the place that was entered."""
    steps: int
    walked_m: float
    path: Sequence[LatLng]
    run: Result | None = None
    """Of the agent, where the policy is one."""


Policy = Callable[[ExploredCity, Panorama, int, Path], Exploration]
"""A city, a start, a seed and a folder for a run."""


class RandomRoads:
    """A mind that takes any road, and otherwise answers as another does."""

    def __init__(self, mind: Mind, seed: int) -> None:
        self._mind = mind
        self._random = random.Random(seed)

    @property
    def name(self) -> str:
        """The name of the mind behind it, marked."""
        return f"{self._mind.name}, random roads"

    @property
    def ledger(self) -> Ledger:
        """The ledger of the mind behind it."""
        return self._mind.ledger

    def apart(self) -> "RandomRoads":
        """The same with a ledger of its own; it draws roads anew."""
        return RandomRoads(self._mind.apart(), self._random.randrange(2**32))

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Any road; otherwise what the mind behind it says."""
        roads = inputs.get("roads")
        if prompt.name == "movement/intention-road" and isinstance(roads, Sequence):
            index = self._random.randrange(len(roads))
            return prompt.reply.model_validate({"index": index, "reason": "by chance"})
        return self._mind.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)


def hiro(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:
    """Hiro as he is."""
    return _explore(explored, start, explored.mind(), seed, folder)


def hiro_random_roads(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:
    """Hiro, but roads are chosen by chance."""
    if folder.exists():  # the journal does not say how many roads were drawn: the run begins again
        rmtree(folder)
    return _explore(explored, start, RandomRoads(explored.mind(), seed), seed, folder)


def random_walker(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:  # noqa: ARG001 - writes nothing
    """Random roads, never back unless it must; enters the first restaurant it passes."""
    chance = random.Random(seed)
    city = explored.city
    mover = LinksMover(city.streetview)
    pose, came_from, walked = Pose(start.id, start.heading), "", 0.0
    path: list[LatLng] = []
    for step in range(explored.max_steps + 1):
        path.append(city.streetview.panorama(pose.pano_id).position)
        passed = city.places.nearby(path[-1], PASSING_RADIUS_M, [WANTED])
        if passed:
            return Exploration(passed[0].id, step, walked, path)
        links = mover.links(pose)
        link = chance.choice([link for link in links if link.pano_id != came_from] or list(links))
        if step < explored.max_steps:
            came_from, walked, pose = pose.pano_id, walked + link.distance, mover.take(pose, link)
    return Exploration(None, explored.max_steps, walked, path)


def oracle(explored: ExploredCity, start: Panorama, seed: int, folder: Path) -> Exploration:  # noqa: ARG001 - writes nothing
    """The shortest way to the nearest place that fits, if it is within the moves."""
    place, metres = nearest_fitting(explored, start)
    path = explored.city.maps.route([start.position, place.position]).path
    steps = len(path) - 2
    if steps > explored.max_steps:
        return Exploration(None, explored.max_steps, metres, path[: explored.max_steps + 1])
    return Exploration(place.id, steps, metres, path)


POLICIES: Mapping[str, Policy] = {
    "oracle": oracle,
    "hiro": hiro,
    "hiro-random-roads": hiro_random_roads,
    "random": random_walker,
}


def fitting_places(city: City, character: Character) -> tuple[Place, ...]:
    """The places that truly fit: restaurants, not closed at the character's clock, and not spicy.

    Raises:
        BadInput: there are none, or the truth is not known.
    """
    truth = truth_of(city)
    restaurants = [city.places.details(one.id) for one in city.places.nearby(city.center, NEAR_M, [WANTED])]
    fitting = tuple(
        place
        for place in restaurants
        if WANTED in place.types
        and place.may_be_open_at(*character.day_and_minute)
        and truth.attributes(place.id).get("spicy") is False
    )
    if not fitting:
        raise BadInput(f"{city.title} has no suitable place: choose another city")
    return fitting


def nearest_fitting(explored: ExploredCity, start: Panorama) -> tuple[Place, float]:
    """The nearest place that fits, and the metres to it along the streets."""
    positions = [place.position for place in explored.fitting]
    seconds = explored.city.maps.travel_times([start.position], positions)[0]
    nearest = int(np.argmin(seconds))
    return explored.fitting[nearest], float(seconds[nearest]) * SPEED_M_S["walking"]


def _explore(explored: ExploredCity, start: Panorama, mind: Mind, seed: int, folder: Path) -> Exploration:
    limits = explored.character.limits.model_dump() | {"steps": explored.max_steps}
    changes = {"start": {"lat": start.position.lat, "lng": start.position.lng}, "limits": limits}
    result = run_in_folder(
        "hiro",
        explored.city,
        folder,
        seed=seed,
        changes=changes,
        mind=mind,
        models=explored.models,
    )
    steps = [record.pose for record in read_journal(folder) if isinstance(record, StepRecord)]
    return Exploration(
        result.place.id if result.place else None,
        result.steps,
        result.distance_m,
        [LatLng(pose.lat, pose.lng) for pose in steps],
        result,
    )
