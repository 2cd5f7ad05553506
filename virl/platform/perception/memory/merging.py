"""Objects whose positions have converged are one: found after the fact, when all views are in."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from virl.platform.perception.memory.fusion import fuse
from virl.platform.perception.memory.objects import Estimate, MemoryObject, Opinion
from virl.platform.perception.memory.rays import ray_of
from virl.platform.perception.memory.rules import by_geometry, by_panorama, by_view
from virl.platform.perception.memory.settings import MemorySettings
from virl.platform.perception.memory.state import State

UNCLEAR = 1  # chosen: panoramas that may show two things touching where there is one


@dataclass(frozen=True, slots=True)
class Pair:
    """Two objects that are likelier one."""

    cost: float
    kept: MemoryObject
    gone: MemoryObject
    opinion: Opinion

    def fused(self, settings: MemorySettings) -> Estimate:
        """Where all views of both together say that the thing is."""
        views = sorted(self.kept.views + self.gone.views, key=lambda seen: seen.number)
        return fuse([ray_of(view, settings) for view in views], settings.position_m)


def next_pairs(state: State, settings: MemorySettings) -> list[Pair]:
    """Pairs to be joined, likeliest first, no object in two of them.

    A pair is left alone if any panorama shows both in different directions, if several show two boxes that
    touch, or if any view has a box of each.
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
        if opinion.says == "same" and not _seen_apart(thing, other, settings):
            yield Pair(cost, thing, other, opinion)


def _seen_apart(one: MemoryObject, other: MemoryObject, settings: MemorySettings) -> bool:
    """Whether what was seen from the panoramas that show both speaks against their being one."""
    unclear: set[str] = set()
    for seen in one.views:
        if seen.pano_id not in other.panoramas:
            continue
        opinion = by_view(seen, other.views)
        if opinion is None and settings.rules.same_panorama:
            opinion = by_panorama(seen, other.views, settings)
        if opinion is not None and opinion.says == "different":
            return True
        if opinion is not None and opinion.says == "no verdict":
            unclear.add(seen.pano_id)
    return len(unclear) > UNCLEAR
