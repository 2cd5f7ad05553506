"""One walk counted in every way that is compared: an episode, and what is kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from virl.platform.city.city import City, Thing, Truth
from virl.platform.perception.base import Detector, Matcher
from virl.platform.perception.memory import MemorySettings, VisualMemory
from virl.routines.counting.rounds import Counter

from .matching import RADIUS_M, Reported, match_positions
from .noise import PoseNoise, misplace_views
from .replay import OnceMatcher, remember
from .tally import CountTally, tally, total
from .trip import CountedTrip, take_trip
from .variants import Condition, CountingCase, cases_of
from .walks import CountedWalk


@dataclass(frozen=True, slots=True)
class CountingTask:
    """The settings of a count: labels of things, conditions, draws of noise and seed."""

    things: tuple[str, ...]
    background: tuple[str, ...]
    conditions: tuple[Condition, ...]
    """Conditions (pose noise and memory) under each of which every walk is counted."""
    draws: int
    """Number of times that the noise of poses is drawn for each walk."""
    seed: int


@dataclass(frozen=True, slots=True)
class CountingGround:
    """A city with its true things, and the models and memories to count with."""

    city: City
    truth: Truth
    detector: Detector
    matcher: Matcher
    memories: Mapping[str, MemorySettings]
    """Settings of visual memory, by name."""
    things: tuple[Thing, ...]
    """All things of the counted labels that truly stand in the city."""


def count_walk(task: CountingTask, ground: CountingGround, walk: CountedWalk) -> dict[str, Any]:
    """Look along a walk once, count it in every way, and return the record's data with each tally.

    Args:
        task: conditions and rules.
        ground: city, eyes and memories.
        walk: to count on.
    """
    matcher = OnceMatcher(ground.matcher)
    with TemporaryDirectory(prefix="counting-") as folder:
        first = ground.memories[task.conditions[0].memory]
        memory = VisualMemory.open(Path(folder) / "memory", first, matcher)
        counter = Counter(ground.city.streetview, ground.detector, memory, task.things, task.background)
        trip = take_trip(ground.city, ground.truth, counter, walk)
    counts: dict[str, list[Reported]] = {}
    tallies: dict[str, CountTally] = {}
    for case in cases_of(task.conditions):
        draws = _draws(task, ground, trip, case, matcher)
        counts[case.key] = draws[0]
        sighted = trip.seen[case.eyes].sighted_ids
        tallies[case.key] = total([tally(one, ground.things, trip.required, sighted) for one in draws])
    return _to_record(ground, walk, trip, counts, tallies)


def _draws(
    task: CountingTask, ground: CountingGround, trip: CountedTrip, case: CountingCase, matcher: Matcher
) -> list[list[Reported]]:
    """Return the things reported in one way of counting, a list per draw of noise; one list without noise."""
    noise, settings = case.condition.noise, ground.memories[case.condition.memory]
    seen = trip.seen[case.eyes]
    draws = 1 if noise == PoseNoise() else task.draws
    return [
        remember(misplace_views(seen, noise, task.seed, draw), settings, case.variant.rules, matcher)
        for draw in range(draws)
    ]


def _to_record(
    ground: CountingGround,
    walk: CountedWalk,
    trip: CountedTrip,
    counts: Mapping[str, Sequence[Reported]],
    tallies: Mapping[str, CountTally],
) -> dict[str, Any]:
    """Return a counted walk as plain data: path, sightings, true things, and counts by way of counting."""
    streetview = ground.city.streetview
    shown = {key: _outcomes_of(ground, reported) for key, reported in counts.items()}
    named = trip.required.union(row["thing"] for rows in shown.values() for row in rows)
    return {
        "kind": walk.kind,
        "walked": [[*streetview.panorama(pose.pano_id).position] for pose in trip.poses],
        "panoramas": len({pose.pano_id for pose in trip.poses}),
        "sightings": {eyes: len(seeing.shown) for eyes, seeing in trip.seen.items()},
        "required": sorted(trip.required),
        "things": {one.id: [one.kind, *one.position] for one in ground.things if one.id in named},
        "tallies": {key: asdict(one) for key, one in tallies.items()},
        "reported": shown,
    }


def _outcomes_of(ground: CountingGround, reported: Sequence[Reported]) -> list[dict[str, Any]]:
    """Return each thing reported as plain data, with its outcome and the true thing that it matches."""
    matches = match_positions(reported, ground.things, RADIUS_M)
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
