"""One walk counted in every way that is compared: the work of one process, and its record."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.counting.matching import RADIUS_M, Reported, match_positions
from benchmarks.counting.noise import PoseNoise, misplaced
from benchmarks.counting.replay import OnceMatcher, remember
from benchmarks.counting.score import Tally, tally, total
from benchmarks.counting.trip import Trip, take_trip
from benchmarks.counting.variants import Case, Condition, cases_of
from benchmarks.counting.walks import Walk
from benchmarks.records import Record
from virl.errors import BadInput
from virl.platform.city import City, Thing, Truth
from virl.platform.perception.base import Detector, Matcher
from virl.platform.perception.memory import MemorySettings, VisualMemory
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers import open_city
from virl.routines.counting.counter import Counter
from virl.routines.counting.rounds import memory_settings_for


@dataclass(frozen=True, slots=True)
class Task:
    """What is counted, and by which eyes."""

    city: str
    detector: str
    matcher: str
    things: tuple[str, ...]
    background: tuple[str, ...]
    conditions: tuple[Condition, ...]
    """Each is counted under."""
    draws: int
    """How often the noise of poses is drawn for each walk."""
    seed: int


@dataclass(frozen=True, slots=True)
class World:
    """What every walk needs; opened once a process."""

    city: City
    truth: Truth
    detector: Detector
    matcher: Matcher
    memories: Mapping[str, MemorySettings]
    """By name."""
    things: tuple[Thing, ...]


@cache
def world_of(task: Task) -> World:
    """The city, the models and the true things of a task.

    Raises:
        BadInput: nobody knows what truly stands in the city.
        UnknownName: there is no such city, model or memory settings.
    """
    city = open_city(task.city)
    if city.truth is None:
        raise BadInput(f"{city.title} has no ground truth: choose a made city")
    models = Models(ModelOptions(truth=city.truth, seed=task.seed))
    return World(
        city,
        city.truth,
        models.detector(task.detector),
        models.matcher(task.matcher),
        {one.memory: memory_settings_for(one.memory, task.matcher) for one in task.conditions},
        tuple(city.truth.things(task.things)),
    )


def count_walk(task: Task, walk: Walk) -> Record:
    """Look at a walk once, count it in every way, and score each."""
    world = world_of(task)
    matcher = OnceMatcher(world.matcher)
    with TemporaryDirectory(prefix="counting-") as folder:
        first = world.memories[task.conditions[0].memory]
        memory = VisualMemory.open(Path(folder) / "memory", first, matcher)
        counter = Counter(world.city.streetview, world.detector, memory, task.things, task.background)
        trip = take_trip(world.city, world.truth, counter, walk)
    counts: dict[str, list[Reported]] = {}
    tallies: dict[str, Tally] = {}
    for case in cases_of(task.conditions):
        draws = _draws(task, world, trip, case, matcher)
        counts[case.key] = draws[0]
        sighted = trip.seen[case.eyes].sighted
        tallies[case.key] = total([tally(one, world.things, trip.required, sighted) for one in draws])
    return _record(world, walk, trip, counts, tallies)


def _draws(task: Task, world: World, trip: Trip, case: Case, matcher: Matcher) -> list[list[Reported]]:
    """What is reported in one way of counting, for each draw of the noise; once where there is none."""
    noise, settings = case.condition.noise, world.memories[case.condition.memory]
    seen = trip.seen[case.eyes]
    draws = 1 if noise == PoseNoise() else task.draws
    return [
        remember(misplaced(seen, noise, task.seed, draw), settings, case.variant.rules, matcher)
        for draw in range(draws)
    ]


def _record(
    world: World,
    walk: Walk,
    trip: Trip,
    counts: Mapping[str, Sequence[Reported]],
    tallies: Mapping[str, Tally],
) -> Record:
    streetview = world.city.streetview
    shown = {key: _shown(world, reported) for key, reported in counts.items()}
    named = trip.required.union(row["thing"] for rows in shown.values() for row in rows)
    return {
        "id": walk.id,
        "kind": walk.kind,
        "walked": [[*streetview.panorama(pose.pano_id).position] for pose in trip.poses],
        "panoramas": len({pose.pano_id for pose in trip.poses}),
        "sightings": {eyes: len(seeing.shown) for eyes, seeing in trip.seen.items()},
        "required": sorted(trip.required),
        "things": {one.id: [one.kind, *one.position] for one in world.things if one.id in named},
        "tallies": {key: asdict(one) for key, one in tallies.items()},
        "reported": shown,
    }


def _shown(world: World, reported: Sequence[Reported]) -> list[Record]:
    """What was reported at the first draw, what became of it, and the true thing that it is or repeats."""
    matches = match_positions(reported, world.things, RADIUS_M)
    return [
        {
            "label": one.label,
            "position": [*one.position],
            "views": len(one.glances),
            "outcome": matches.outcome(number),
            "thing": matches.right.get(number) or matches.duplicates.get(number),
        }
        for number, one in enumerate(reported)
    ]
