"""Which sightings of one look around are of which objects: all of them are assigned together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log

import numpy as np
from scipy.optimize import linear_sum_assignment

from virl.geo.globe import distance, signed_turn
from virl.platform.perception.cameras import intersection_over_union
from virl.platform.perception.memory.log import State
from virl.platform.perception.memory.objects import Comparison, Estimate, MemoryObject, Opinion, Seen
from virl.platform.perception.memory.positions import (
    Ray,
    Span,
    fuse,
    place,
    ray_of,
    separation,
    span_of,
    surprise,
)
from virl.platform.perception.memory.settings import MemorySettings

CountMatches = Callable[[Sequence[tuple[Seen, Seen]]], list[int]]
"""Function from (new sighting, remembered sighting) pairs to the number of points each has in common."""

CERTAIN = -1000.0
"""Cost of a comparison in which boxes from one panorama prove that both are one object."""
# Cost of a match of crops that just suffices: -2 ln 2; measured, see docs/explanation/visual-memory.md
MATCHED = -1.4
"""Cost added where the crops of a sighting and an object have just enough points in common."""
FORBIDDEN = 1e6
"""Cost of a sighting and an object that cannot be the same."""
KEPT_COMPARISONS = 4
"""Largest number of comparisons that a verdict lists; chosen."""

Groups = list[list[Seen]]
"""Sightings from one panorama, grouped by the object that they show."""

# e^2 to 1; measured, see docs/explanation/visual-memory.md
_NEVER_BOTH = -4.0
"""Cost added for two objects if no panorama shows both."""
_BESIDE_M = 10.0
"""Largest distance in metres between objects to which `_NEVER_BOTH` applies: both should be in sight."""

_SAME_BOX = 0.9
"""Least intersection over union of two boxes of one view that are one box added twice; chosen."""
_SEAM_DEG = 1.0
"""Largest gap in degrees between the parts of an object that the edge between two views cuts; chosen."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """Sightings of one object in one look around, with the remembered object that they show."""

    seen: list[Seen]
    """The sightings, the best one first."""
    object_id: str | None
    """Id of the remembered object; `None` for a new one."""
    comparisons: tuple[Comparison, ...]
    """Comparisons with remembered objects, the likeliest first, at most `KEPT_COMPARISONS`."""


def associate(
    sightings: Sequence[Seen], state: State, settings: MemorySettings, count_matches: CountMatches
) -> list[Assigned]:
    """Return sightings from one panorama grouped by object, each known or new, at the least total cost.

    Each remembered object takes one group of sightings at most, and the whole is the likeliest choice.

    Args:
        sightings: of one label, from one panorama.
        state: of the memory.
        settings: of the memory.
        count_matches: function that counts the points that crops have in common.
    """
    groups = group_views(sightings, settings)
    compared = [_compare(group, state, settings) for group in groups]
    if settings.rules.features:
        compared = _match(groups, compared, state, settings, count_matches)
    ranked = [sorted(found, key=lambda one: (not one.is_same, one.cost, one.object_id)) for found in compared]
    return [
        Assigned(group, name, tuple(found[:KEPT_COMPARISONS]))
        for group, name, found in zip(groups, _assign(compared), ranked, strict=True)
    ]


def group_views(sightings: Sequence[Seen], settings: MemorySettings) -> Groups:
    """Return the sightings of one panorama grouped by the object they show, the best of each first."""
    groups: Groups = []
    # Whole boxes before cut ones, then by score: the first of a group speaks for it.
    for seen in sorted(
        sightings, key=lambda one: (span_of(one, settings.jitter).cut.anywhere, -one.score, one.number)
    ):
        for group in groups if settings.rules.same_panorama else ():
            opinion = None if by_view(seen, group) else by_panorama(seen, group, settings)
            if opinion and opinion.says == "same":
                group.append(seen)
                break
        else:
            groups.append([seen])
    return sorted(groups, key=lambda group: group[0].number)


def _compare(group: list[Seen], state: State, settings: MemorySettings) -> list[Comparison]:
    """Return comparisons of a group with the objects near its best sighting, or seen from its panorama."""
    best = group[0]
    ray = ray_of(best, settings)
    here = place(ray, settings.position_m)
    # The sighting's own error widens the search: far things are placed badly.
    radius = settings.radius_m + min(3 * here.sigma, settings.reach_m)
    near = state.objects_near(best.label, here.position, radius)
    known = {thing.id for thing in near}
    # What this panorama showed before is compared however far off: directions may decide it.
    near += [thing for thing in state.seen_from(best.label, best.pano_id) if thing.id not in known]
    return [_compare_with(group, ray, thing, settings) for thing in near]


def _compare_with(group: list[Seen], ray: Ray, thing: MemoryObject, settings: MemorySettings) -> Comparison:
    """Return a group's comparison with an object by all rules but the matcher's; `ray`: its best view's."""
    for seen in group:
        # Before all else, and without a switch: boxes of one view are two things, or one added twice.
        if opinion := by_view(seen, thing.views):
            return Comparison(thing.id, (opinion,), CERTAIN if opinion.says == "same" else 0.0)
    opinions: list[Opinion] = []
    if settings.rules.same_panorama and (opinion := by_panorama(group[0], thing.views, settings)):
        if opinion.says != "no verdict":
            return Comparison(thing.id, (opinion,), CERTAIN if opinion.says == "same" else 0.0)
        opinions.append(opinion)
    if not settings.rules.geometry:
        return Comparison(thing.id, tuple(opinions), 0.0)
    opinion, cost = by_geometry(place(ray, settings.position_m), thing.estimate, settings)
    return Comparison(thing.id, (*opinions, opinion), cost)


def _match(
    groups: Groups,
    compared: list[list[Comparison]],
    state: State,
    settings: MemorySettings,
    count_matches: CountMatches,
) -> list[list[Comparison]]:
    """Return each group's comparisons, with the matcher's opinion where the other rules are undecided."""
    asked: list[tuple[int, int]] = []
    pairs: list[tuple[Seen, Seen]] = []
    for row, (group, found) in enumerate(zip(groups, compared, strict=True)):
        for column, comparison in enumerate(found):
            if all(opinion.says == "no verdict" for opinion in comparison.opinions):
                views = _most_alike(group[0], state.objects[comparison.object_id], settings)
                pairs += [(group[0], view) for view in views]
                asked += [(row, column)] * len(views)
    if not pairs:
        return compared
    most: dict[tuple[int, int], int] = {}
    # Of several views of an object, the one that matches best speaks for it.
    for key, count in zip(asked, count_matches(pairs), strict=True):
        most[key] = max(count, most.get(key, 0))
    answered = [list(found) for found in compared]
    for (row, column), count in most.items():
        before, opinion = compared[row][column], by_features(count, settings)
        gain = MATCHED * (1 + log(count / settings.min_matches)) if opinion.says == "same" else 0.0
        answered[row][column] = replace(before, opinions=(*before.opinions, opinion), cost=before.cost + gain)
    return answered


def _most_alike(seen: Seen, thing: MemoryObject, settings: MemorySettings) -> list[Seen]:
    """Return the `compared_views` of an object whose headings are nearest to a sighting's, nearest first."""
    heading = ray_of(seen, settings).heading
    by_turn = sorted(
        thing.views,
        key=lambda view: (abs(signed_turn(heading, ray_of(view, settings).heading)), -view.number),
    )
    return by_turn[: settings.compared_views]


def _assign(compared: list[list[Comparison]]) -> list[str | None]:
    """Return the object id of each group, `None` for a new one, so that the sum of costs is least."""
    names = sorted({comparison.object_id for found in compared for comparison in found if comparison.is_same})
    # Sorted names give the same columns, and so the same choice among equal costs, in every run.
    column = {name: i for i, name in enumerate(names)}
    rows = len(compared)
    costs = np.full((rows, len(names) + rows), FORBIDDEN)
    # Each row has a column of its own for "new", at no cost: only what lowers the sum is matched.
    costs[np.arange(rows), len(names) + np.arange(rows)] = 0.0
    for row, found in enumerate(compared):
        for comparison in found:
            if comparison.is_same:
                costs[row, column[comparison.object_id]] = comparison.cost
    chosen = linear_sum_assignment(costs)[1]
    return [names[i] if i < len(names) else None for i in chosen.tolist()]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two remembered objects that are likely one, to be joined."""

    cost: float
    """Minus twice the logarithm of how much likelier they are one object than two."""
    kept: MemoryObject
    """Object that stays after the joining."""
    gone: MemoryObject
    """Object whose views the other one takes over."""
    reason: str
    """Reason for the joining, in words."""

    def fuse(self, settings: MemorySettings) -> Estimate:
        """Return the position, with its error, estimated from all views of both objects."""
        views = sorted(self.kept.views + self.gone.views, key=lambda seen: seen.number)
        return fuse([ray_of(view, settings) for view in views], settings.position_m)


def next_pairs(state: State, settings: MemorySettings) -> list[Pair]:
    """Return the pairs of objects to be joined, likeliest first, no object in two of them.

    Positions decide, and whether the two were ever seen together: of two objects side by side, some panorama
    shows both. A pair is left alone if any panorama shows it as two objects, be it that they touch.
    """
    found = chain.from_iterable(_pairs(thing, state, settings) for thing in state.objects.values())
    chosen: list[Pair] = []
    taken: set[str] = set()
    # Ids break ties, so that the order of a dictionary decides nothing.
    for pair in sorted(found, key=lambda pair: (pair.cost, pair.kept.id, pair.gone.id)):
        # An object that has just been joined has another position: it is compared anew in the next round.
        if taken.isdisjoint((pair.kept.id, pair.gone.id)):
            chosen.append(pair)
            taken.update((pair.kept.id, pair.gone.id))
    return chosen


def _pairs(thing: MemoryObject, state: State, settings: MemorySettings) -> Iterable[Pair]:
    """Yield the pairs of an object with later ones near it that are likely the same object."""
    for other in state.objects_near(thing.label, thing.estimate.position, settings.radius_m):
        # Each pair once; the one that was seen first is kept.
        if other.views[0].number <= thing.views[0].number:
            continue
        opinion, cost = by_geometry(thing.estimate, other.estimate, settings)
        reason = opinion.reason
        apart = distance(thing.estimate.position, other.estimate.position)
        if apart <= _BESIDE_M and thing.panoramas.isdisjoint(other.panoramas):
            cost += _NEVER_BOTH
            reason += ", and no panorama shows both"
        if opinion.says != "different" and cost < 0 and not _seen_apart(thing, other, settings):
            yield Pair(cost, thing, other, reason)


def _seen_apart(one: MemoryObject, other: MemoryObject, settings: MemorySettings) -> bool:
    """Return whether some panorama shows two remembered objects as two."""
    for seen in one.views:
        opinion = by_view(seen, other.views)
        if opinion is None and settings.rules.same_panorama:
            opinion = by_panorama(seen, other.views, settings)
        # Without a verdict, too: boxes that touch in one panorama are left two things.
        if opinion is not None and opinion.says != "same":
            return True
    return False


def by_view(seen: Seen, views: Sequence[Seen]) -> Opinion | None:
    """Return the opinion whether a sighting's box is in `views`; `None` if none of these is of its view."""
    boxes = [view.box for view in views if (view.pano_id, view.camera) == (seen.pano_id, seen.camera)]
    if not boxes:
        return None
    shared = max(intersection_over_union(seen.box, box) for box in boxes)
    if shared >= _SAME_BOX:
        return Opinion("same view", "same", f"the same box of the same view ({shared:.0%} shared)")
    return Opinion("same view", "different", f"another box of the same view ({shared:.0%} shared)")


def by_panorama(seen: Seen, views: Sequence[Seen], settings: MemorySettings) -> Opinion | None:
    """Return the opinion by directions on whether all show one object; `None` without a common panorama.

    Args:
        seen: the new sighting.
        views: sightings of an object.
        settings: of the memory.
    """
    opinions = [
        _in_panorama(span_of(seen, settings.jitter), span_of(view, settings.jitter), settings)
        for view in views
        if view.pano_id == seen.pano_id
    ]
    order = ("same", "no verdict", "different")
    return min(opinions, key=lambda opinion: order.index(opinion.says), default=None)


def by_geometry(one: Estimate, other: Estimate, settings: MemorySettings) -> tuple[Opinion, float]:
    """Return (opinion on whether two positions are of one object, cost as in `Comparison.cost`).

    There is no verdict where the uncertainty is so large that it may well cover several objects: the
    parallax is too small, and the boxes tell the distance too badly.

    Args:
        one: position with its error.
        other: position with its error.
        settings: of the memory.
    """
    metres, square, area = separation(one, other)
    cost = surprise(square, area, settings.density_per_m2)
    how = f"{metres:.1f} m apart, {square**0.5:.1f} standard deviations"
    if square > settings.gate:
        return Opinion("geometry", "different", how), cost
    if cost < 0:
        return Opinion("geometry", "same", how), cost
    return Opinion("geometry", "no verdict", f"{how}, but that may be anywhere in {area:.0f} m2"), cost


def by_features(matches: int, settings: MemorySettings) -> Opinion:
    """Return the opinion by the number of points in common of two crops: "same" if many, else no verdict."""
    how = f"{matches} matched points of {settings.min_matches} needed"
    return Opinion("features", "same" if matches >= settings.min_matches else "no verdict", how)


def _in_panorama(one: Span, other: Span, settings: MemorySettings) -> Opinion:
    """Return the opinion on whether two boxes from one panorama show one object, by their directions."""
    turn = abs(signed_turn(one.heading, other.heading))
    shared = _overlap(one, other)
    how = f"{turn:.1f} degrees apart from one panorama, {shared:.0%} shared"
    if shared >= settings.overlap and turn <= settings.heading_deg:
        return Opinion("same panorama", "same", how)
    if _is_seam(one, other, settings.jitter) or _is_seam(other, one, settings.jitter):
        return Opinion("same panorama", "same", f"{how}, cut by the edges of two views side by side")
    if turn > settings.heading_deg or shared == 0:
        return Opinion("same panorama", "different", how)
    return Opinion("same panorama", "no verdict", how)


def _overlap(one: Span, other: Span) -> float:
    """Return the share, [0, 1], of two ranges of directions that both cover; of the smaller if one is cut."""
    turn = signed_turn(one.heading, other.heading)
    wide = min(one.width / 2, turn + other.width / 2) - max(-one.width / 2, turn - other.width / 2)
    high = min(one.high, other.high) - max(one.low, other.low)
    both = max(wide, 0.0) * max(high, 0.0)
    areas = [span.width * (span.high - span.low) for span in (one, other)]
    whole = min(areas) if one.cut.anywhere or other.cut.anywhere else sum(areas) - both
    return both / whole if whole > 0 else 0.0


def _is_seam(left: Span, right: Span, jitter: float) -> bool:
    """Return whether `right` goes on where a picture's edge cuts `left`; `jitter`, a share, allows a gap."""
    if not (left.cut.right and right.cut.left):
        return False
    widths = left.width + right.width
    gap = signed_turn(left.heading, right.heading) - widths / 2
    beside = min(left.high, right.high) - max(left.low, right.low)
    return (
        abs(gap) <= _SEAM_DEG + jitter * widths
        and beside >= min(left.high - left.low, right.high - right.low) / 2
    )
