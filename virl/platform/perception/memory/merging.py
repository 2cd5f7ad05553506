"""Objects whose positions have converged are one: found after the fact, when all views are in."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from virl.geo import distance
from virl.platform.perception.memory.fusion import fuse
from virl.platform.perception.memory.objects import Estimate, MemoryObject
from virl.platform.perception.memory.rays import ray_of
from virl.platform.perception.memory.rules import by_geometry, by_panorama, by_view
from virl.platform.perception.memory.settings import MemorySettings
from virl.platform.perception.memory.state import State

# Cost where no panorama shows both: e^2 to 1; measured, see docs/explanation/visual-memory.md
NEVER_BOTH = -4.0
BESIDE_M = 10.0  # how far apart that tells something: what stands nearer is seldom never seen together


@dataclass(frozen=True, slots=True)
class Pair:
    """Two objects that are likelier one."""

    cost: float
    kept: MemoryObject
    gone: MemoryObject
    reason: str

    def fused(self, settings: MemorySettings) -> Estimate:
        """Where all views of both together say that the thing is."""
        views = sorted(self.kept.views + self.gone.views, key=lambda seen: seen.number)
        return fuse([ray_of(view, settings) for view in views], settings.position_m)


def next_pairs(state: State, settings: MemorySettings) -> list[Pair]:
    """Pairs to be joined, likeliest first, no object in two of them.

    Positions decide, and whether the two were ever seen together: of two things side by side, some panorama
    shows both. A pair is left alone if any panorama shows it as two things, be it that they touch.
    """
    found = chain.from_iterable(_pairs(thing, state, settings) for thing in state.objects.values())
    chosen: list[Pair] = []
    taken: set[str] = set()
    for pair in sorted(found, key=lambda pair: (pair.cost, pair.kept.id, pair.gone.id)):
        if taken.isdisjoint((pair.kept.id, pair.gone.id)):
            chosen.append(pair)
            taken.update((pair.kept.id, pair.gone.id))
    return chosen


def _pairs(thing: MemoryObject, state: State, settings: MemorySettings) -> Iterable[Pair]:
    for other in state.near(thing.label, thing.estimate.position, settings.radius_m):
        if other.views[0].number <= thing.views[0].number:
            continue
        opinion, cost = by_geometry(thing.estimate, other.estimate, settings)
        reason = opinion.reason
        if _are_never_both(thing, other):
            cost += NEVER_BOTH
            reason += ", and no panorama shows both"
        if opinion.says != "different" and cost < 0 and not _seen_apart(thing, other, settings):
            yield Pair(cost, thing, other, reason)


def _are_never_both(one: MemoryObject, other: MemoryObject) -> bool:
    """Whether two so near each other were never seen from one panorama."""
    apart = distance(one.estimate.position, other.estimate.position)
    return apart <= BESIDE_M and one.panoramas.isdisjoint(other.panoramas)


def _seen_apart(one: MemoryObject, other: MemoryObject, settings: MemorySettings) -> bool:
    """Whether some panorama shows both, and not as one thing."""
    for seen in one.views:
        opinion = by_view(seen, other.views)
        if opinion is None and settings.rules.same_panorama:
            opinion = by_panorama(seen, other.views, settings)
        if opinion is not None and opinion.says != "same":
            return True
    return False
