"""A walk as it was looked at: what seemed to be there, what was confirmed, and what should have been seen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from virl.platform.city.city import City, Truth
from virl.platform.city.streetview import Pose
from virl.platform.perception.active import Look, Sighting
from virl.platform.perception.cameras import intersection_over_union
from virl.routines.counting.rounds import Counter

from .walks import CountedWalk, poses

REACH_M = 20.0  # V-IRL's limit for a right answer: things farther from every panorama need not be seen
LEAST_SEEN = 0.5  # chosen: share of a thing that some view of a sweep shows
LEAST_PIXELS = 100  # chosen: 10 x 10; a hydrant in plain sight at 20 m has some 200

SHOWN = 0.5  # of PASCAL VOC: least intersection over union of a box with that of the true thing it shows

Sightings = tuple[Sighting, ...]
Eyes = Literal["active", "first look"]
"""Kind of seeing: with active detection, or by the first look alone."""


@dataclass(frozen=True, slots=True)
class SeenTrip:
    """The sightings of one kind of seeing along a walk."""

    looks: tuple[Sightings, ...]
    """Sightings of each look around, in order."""
    shown: tuple[str | None, ...]
    """Id of the true thing that each sighting shows, over all looks in order; `None` for a mistake."""

    @property
    def sighted_ids(self) -> frozenset[str]:
        """Ids of the true things that some sighting shows under their own label."""
        return frozenset(name for name in self.shown if name is not None)


@dataclass(frozen=True, slots=True)
class CountedTrip:
    """One walk that was looked along once, from which each way of counting is computed."""

    poses: tuple[Pose, ...]
    seen: Mapping[Eyes, SeenTrip]
    required: frozenset[str]
    """Ids of the true things that should have been seen on the walk."""


def take_trip(city: City, truth: Truth, counter: Counter, walk: CountedWalk) -> CountedTrip:
    """Look around along a walk with a counter, and return all sightings, and what should be seen.

    Args:
        city: of the walk.
        truth: of the city.
        counter: eyes and memory.
        walk: to take.
    """
    stops: list[Pose] = []
    closer: list[Sightings] = []
    first: list[Sightings] = []
    required: set[str] = set()
    for pose in poses(city, walk):
        look = counter.visit(pose).look
        stops.append(pose)
        closer.append(look.sightings)
        first.append(look.candidates)
        required |= required_things(truth, look, counter.things)
    counter.finish()
    seen: dict[Eyes, SeenTrip] = {
        "active": _make_seeing(truth, closer),
        "first look": _make_seeing(truth, first),
    }
    return CountedTrip(tuple(stops), seen, frozenset(required))


def required_things(truth: Truth, look: Look, kinds: Collection[str]) -> set[str]:
    """Return the ids of things that a look around should find: near, large, at least half visible.

    Args:
        truth: of the city.
        look: its views.
        kinds: of things.
    """
    return {
        thing.id
        for view in look.sweep
        for thing in truth.visible(view.pano_id, view.camera, LEAST_PIXELS, kinds)
        if thing.distance <= REACH_M and thing.visible_fraction >= LEAST_SEEN
    }


def thing_shown(truth: Truth, sighting: Sighting) -> str | None:
    """Return the id of the true thing of its label that a sighting's box is on; `None` if on none."""
    view, kinds = sighting.view, [sighting.label]
    overlaps = [
        (intersection_over_union(thing.box, sighting.box), thing.id)
        for thing in truth.visible(view.pano_id, view.camera, kinds=kinds)
    ]
    share, name = max(overlaps, default=(0.0, ""))
    return name if share >= SHOWN else None


def _make_seeing(truth: Truth, looks: Sequence[Sightings]) -> SeenTrip:
    """Return the sightings of each look around, with the true thing that each shows."""
    shown = (thing_shown(truth, one) for look in looks for one in look)
    return SeenTrip(tuple(looks), tuple(shown))
