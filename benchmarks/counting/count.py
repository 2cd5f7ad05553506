"""One walk counted in every way that is compared: the work of one process, and its record."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.counting.matching import RADIUS_M, Reported, match_positions
from benchmarks.counting.noise import PoseNoise, misplaced
from benchmarks.counting.replay import OnceMatcher, remember
from benchmarks.counting.score import Tally, tally
from benchmarks.counting.trip import Trip, take_trip
from benchmarks.counting.variants import cases_of
from benchmarks.counting.walks import Walk
from benchmarks.records import Record
from virl.counting.counter import Counter
from virl.errors import BadInput
from virl.platform.city import City, Thing, Truth
from virl.platform.perception.base import Detector, Matcher
from virl.platform.perception.memory import MemorySettings, VisualMemory, memory_settings
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers import open_city


@dataclass(frozen=True, slots=True)
class Task:
    """What is counted, and by which eyes."""

    city: str
    detector: str
    matcher: str
    memory: str
    things: tuple[str, ...]
    background: tuple[str, ...]
    noises: tuple[PoseNoise, ...]
    """Of panoramas' poses; each is counted with."""
    seed: int


@dataclass(frozen=True, slots=True)
class World:
    """What every walk needs; opened once a process."""

    city: City
    truth: Truth
    detector: Detector
    matcher: Matcher
    memory: MemorySettings
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
        memory_settings(task.memory),
        tuple(city.truth.things(task.things)),
    )


def count_walk(task: Task, walk: Walk) -> Record:
    """Look at a walk once, count it in every way, and score each."""
    world = world_of(task)
    matcher = OnceMatcher(world.matcher)
    with TemporaryDirectory(prefix="counting-") as folder:
        memory = VisualMemory.open(Path(folder) / "memory", world.memory, matcher)
        counter = Counter(world.city.streetview, world.detector, memory, task.things, task.background)
        trip = take_trip(world.city, world.truth, counter, walk)
    counts: dict[str, list[Reported]] = {}
    tallies: dict[str, Tally] = {}
    for case in cases_of(task.noises):
        seeing = misplaced(trip.seen[case.eyes], case.noise, task.seed)
        settings = settings_for(world.memory, case.noise) if case.told else world.memory
        reported = remember(seeing, settings, case.variant.rules, matcher)
        counts[case.key] = reported
        tallies[case.key] = tally(reported, world.things, trip.required, seeing.sighted)
    return _record(world, walk, trip, counts, tallies)


def settings_for(memory: MemorySettings, noise: PoseNoise) -> MemorySettings:
    """The settings of a memory that is told how far off poses are, where it expects less."""
    return memory.model_copy(
        update={
            "position_m": max(memory.position_m, noise.metres),
            "heading_error_deg": max(memory.heading_error_deg, noise.degrees),
        }
    )


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
    """What was reported, with what became of it and the true thing that it is or repeats."""
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
