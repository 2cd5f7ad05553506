"""The `intention` navigator: walk on until a crossing, look down each road there, let the mind choose.

It remembers where it was, and what each road promised that it saw and did not walk.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import pairwise
from math import exp, hypot
from types import MappingProxyType
from typing import Protocol

import numpy as np

from virl.geo.globe import LocalFrame, compass_word, signed_turn
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, Link, Panorama, Pose, StreetView, View
from virl.platform.movers.base import Choice, Mover, Road, Step
from virl.platform.navigators.intention.rules import RoadChoice, name_roads
from virl.platform.perception.base import Senses
from virl.platform.perception.cameras import ROAD_FOV
from virl.platform.perception.road_sight import RoadSight, boards_in_words

# Chosen in Helsinki and in four villages of Liechtenstein that no figure is reported of.
UNKNOWN = 0.3
"""Number of unseen shop fronts that the promise of each road assumes at its beginning."""
FADES_M = 60.0
"""Distance in metres over which the promise of a shop front falls by a factor e."""
START_M = 15.0
"""Metres that beginning any road adds to its cost."""
TURN_M = 4.0
"""Metres added to the cost of a road for each turn of 90 degrees."""
PASSED_M = 22.0
"""Radius in metres around visited panoramas in which shop fronts count as passed and promise no more."""
DECLINED = 0.5
"""Share of its promise, 0 to 1, that a road keeps once the walker has turned back at its beginning."""
CROSSING = 3
"""Least number of ways that meet at a crossing."""
STRETCH = 4
"""Number of panoramas after which, each time, the mind may turn back between crossings; chosen: some 40 m."""
WALKED = "back to a road seen before and not walked"
"""Reason given for a step back over walked streets, to a road that was not walked."""

Glimpses = Mapping[tuple[str, str], RoadSight]
"""Sights of roads in views that were taken already, by (id of panorama left, id of panorama led to)."""
NOTHING: Glimpses = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prospect:
    """A road that was seen and not walked, with the route to it and what it promises."""

    pano_id: str
    """Id of the panorama that the road leaves."""
    link: Link
    """First link of the road."""
    first: Link
    """Link to take now, to get to the road."""
    metres: float
    """Metres to the panorama that the road leaves."""
    promise: float
    """Number of shop fronts seen down the road and not passed, each weighed less the farther it is."""
    fronts: int
    """Number of shop fronts seen down the road and not passed."""
    nearest: float | None
    """Metres from the beginning of the road to the nearest of the `fronts`; `None` if there is none."""
    cost: float
    """Metres to get to the road and begin it, with turns counted as metres."""
    sight: RoadSight = field(default_factory=RoadSight)
    """Shop fronts and houses seen down the road."""

    @property
    def worth(self) -> float:
        """Promise of the road for each metre of its cost."""
        return self.promise / self.cost


@dataclass
class Prospects:
    """A memory of one walk: the panoramas visited, the links walked, and the roads seen and not walked."""

    stretch: int = 0
    """Number of panoramas come to since the last crossing."""
    _seen: dict[str, Panorama] = field(default_factory=dict)
    _links: dict[str, tuple[Link, ...]] = field(default_factory=dict)
    _sights: dict[tuple[str, str], RoadSight] = field(default_factory=dict)
    _declined: set[str] = field(default_factory=set)
    """Ids of panoramas where the walker turned back to a visited one; unwalked roads there promise less."""
    _visits: Counter[str] = field(default_factory=Counter)
    _walked: Counter[frozenset[str]] = field(default_factory=Counter)
    """Number of times that the link between two panoramas was walked, in either direction."""

    def visit(self, panorama: Panorama, links: Sequence[Link], look: Callable[[Link], RoadSight]) -> None:
        """Record a panorama, and look down each of its roads that leads where the walker was not.

        Args:
            panorama: where the walker stands.
            links: the ways that leave it.
            look: gives the sight down a link.
        """
        self.stretch = self.stretch + 1 if len(links) < CROSSING else 0
        self._seen[panorama.id] = panorama
        self._visits[panorama.id] += 1
        self._links[panorama.id] = tuple(links)
        for link in self.fresh(panorama.id):
            if (panorama.id, link.pano_id) not in self._sights:
                self._sights[panorama.id, link.pano_id] = look(link)

    def leave(self, source: str, target: str) -> None:
        """Record a step between panoramas; one to a visited panorama declines the new roads from `source`."""
        if target in self._seen and self.fresh(source):
            self._declined.add(source)
        self._walked[frozenset((source, target))] += 1

    def is_new(self, pano_id: str) -> bool:
        """Return whether the walker came to a panorama for the first time."""
        return self._visits[pano_id] == 1

    def fresh(self, pano_id: str) -> tuple[Link, ...]:
        """Return the links of a visited panorama that lead to panoramas not visited yet."""
        return tuple(link for link in self._links[pano_id] if link.pano_id not in self._seen)

    def ways(self, pose: Pose, glimpsed: Glimpses = NOTHING) -> list[Prospect]:
        """Return the roads not walked, sorted by `worth`, from a pose; `glimpsed` sights count this once."""
        known = {**self._sights, **glimpsed}
        frame = LocalFrame(self._seen[pose.pano_id].position)
        stood = np.array([frame.point(one.position) for one in self._seen.values()])
        ways = []
        for pano_id, (metres, first) in self._reach(pose.pano_id).items():
            here = pano_id == pose.pano_id
            for link in self.fresh(pano_id):
                turn = abs(signed_turn(pose.heading, link.heading)) / 90 * TURN_M if here else 0.0
                cost = START_M + metres + link.distance + turn
                lasting = DECLINED if pano_id in self._declined and not here else 1.0
                sight = known.get((pano_id, link.pano_id), RoadSight())
                aims = [frame.point(front.position) for front in sight.fronts]
                left = [aim for aim in aims if np.hypot(*(stood - aim).T).min() >= PASSED_M]
                x, y = frame.point(self._seen[pano_id].position)
                far = [hypot(aim[0] - x, aim[1] - y) for aim in left]
                promise = (UNKNOWN + sum(exp(-one / FADES_M) for one in far)) * lasting
                nearest = min(far, default=None)
                start = first or link
                ways.append(Prospect(pano_id, link, start, metres, promise, len(far), nearest, cost, sight))
        return sorted(ways, key=lambda way: (-way.worth, way.cost, way.link.heading))

    def _reach(self, start: str) -> dict[str, tuple[float, Link | None]]:
        """Return (metres, first link; `None` for the start) of the shortest way to each visited panorama."""
        best: dict[str, tuple[float, Link | None]] = {start: (0.0, None)}
        queue: list[tuple[float, str]] = [(0.0, start)]
        while queue:
            metres, pano_id = heapq.heappop(queue)
            if metres > best[pano_id][0]:
                continue
            for link in self._links[pano_id]:
                there = metres + link.distance
                if link.pano_id in self._seen and there < best.get(link.pano_id, (np.inf, None))[0]:
                    best[link.pano_id] = (there, best[pano_id][1] or link)
                    heapq.heappush(queue, (there, link.pano_id))
        return best

    def freshest(self, here: str, links: Sequence[Link]) -> Link:
        """Return which of `links` from `here` leads soonest to an unwalked link, else the least walked."""

        def rank(link: Link) -> tuple[float, int]:
            """Return (number of links to the next unwalked one, number of times that the link was walked)."""
            return self._hops_to_frontier(here, link), self._walked[frozenset((here, link.pano_id))]

        return min(links, key=rank)

    def _hops_to_frontier(self, here: str, first: Link) -> float:
        """Return the number of links, from link `first` on, before an unwalked one; infinite without one."""
        if not self._walked[frozenset((here, first.pano_id))]:
            return 0
        queue, seen = deque([(first.pano_id, 1)]), {here, first.pano_id}
        while queue:
            pano_id, hops = queue.popleft()
            for link in self._links.get(pano_id, ()):
                if link.pano_id in seen:
                    continue
                if not self._walked[frozenset((pano_id, link.pano_id))]:
                    return hops
                seen.add(link.pano_id)
                queue.append((link.pano_id, hops + 1))
        return float("inf")


class Eyes(Protocol):
    """A source of sights down roads, in views of its own or in views that were taken already."""

    looks_far: bool
    """True if roads may be looked down in views of their own, which cost more."""

    def look_far(self, panorama: Panorama, link: Link) -> RoadSight:
        """Return the sight far down a link of a panorama, in a view of its own."""
        ...

    def glimpse(self, view: View, panorama: Panorama) -> RoadSight:
        """Return the sight down a road in a view that was taken already at a panorama."""
        ...


@dataclass
class IntentionNavigator:
    """A navigator that takes the roads which promise most for an intention (paper section 3.3, appendix D.2).

    It remembers the roads that it saw and did not walk. Between crossings it goes straight on, unless the
    road shows no front for a stretch and another road promised more; it goes back to that one.
    """

    streetview: StreetView
    mover: Mover
    """Mover that says which ways lead on from a pose."""
    mind: Mind
    """Mind that chooses among roads."""
    senses: Senses
    """Senses whose describer puts roads into words."""
    _: KW_ONLY
    intention: str
    """Wish of the walker, as the question to the mind says it."""
    place_type: str
    """Place type that is looked for."""
    max_steps: int
    """Number of moves after which the walk ends."""
    eyes: Eyes | None = None
    """Eyes that look down the roads; with `None` all roads promise the same."""
    prompts: Prompts = OUR_PROMPTS

    def __post_init__(self) -> None:
        """Load the prompt `movement/intention-road`, so that a fault in it shows before the walk."""
        self._prompt = self.prompts.load("movement/intention-road", RoadChoice)

    def walk(self, start: Pose, trail: Sequence[str] = ()) -> Iterator[Step]:
        """Yield a walk's steps, the start first; one resumed goes on after the panoramas (ids) of `trail`."""
        memory = Prospects()
        came_from = trail[-1] if trail else None
        pose = start
        # A walk that is resumed looks again from where it has been, to remember the same roads.
        for pano_id, target in pairwise([*trail, start.pano_id]):
            self._arrive(Pose(pano_id, 0.0), memory)
            memory.leave(pano_id, target)
        for index in range(len(trail), self.max_steps + 1):
            self._arrive(pose, memory)
            back = (link.distance for link in self.mover.links(pose) if link.pano_id == came_from)
            step = Step(
                index,
                pose,
                self.streetview.panorama(pose.pano_id),
                next(back, 0.0),
                partial(self._choose, index, pose, came_from, memory),
                ways=partial(self.mover.links, pose),
                last=index == self.max_steps,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            memory.leave(pose.pano_id, link.pano_id)
            came_from = pose.pano_id
            pose = self.mover.take(pose, link)

    def _choose(self, index: int, pose: Pose, came_from: str | None, memory: Prospects) -> Choice:
        """Return the choice at step `index`: straight on, a road at a crossing, or the end of the walk."""
        ways, links = memory.ways(pose), self.mover.links(pose)
        if index == self.max_steps:
            limit = Outcome("limit", limit=self.max_steps, what="steps")
            return Choice.end(limit.with_detail(left_in_words(ways)) if self.eyes else limit)
        if not links:
            return Choice.end(Outcome("blocked"))
        if not ways:
            return Choice(memory.freshest(pose.pano_id, links), "all roads around were walked")
        return self._take_road(pose, ways, memory, came_from is not None and len(links) < CROSSING)

    def _take_road(self, pose: Pose, ways: Sequence[Prospect], memory: Prospects, is_between: bool) -> Choice:
        """Return the choice among roads not walked, best first, at a crossing or `is_between` crossings."""
        here = [way for way in ways if way.pano_id == pose.pano_id]
        if not here:
            is_end = is_between and len(self.mover.links(pose)) == 1
            return Choice(ways[0].first, "the road ends here, so back" if is_end else WALKED)
        # Between crossings it asks only now and then whether to turn back: a question costs a reply.
        if is_between and (ways[0] is here[0] or memory.stretch % STRETCH):
            return Choice(here[0].link, f"the street to the {compass_word(here[0].link.heading)} leads on")
        if ways[0] is not here[0]:
            # Weighed at the first visit already: the mind is not asked again.
            if not memory.is_new(pose.pano_id):
                return Choice(ways[0].first, WALKED)
            here.append(ways[0])
        if len(here) == 1:
            return Choice(here[0].link, "the only road not walked yet")
        return self._ask(pose, here, memory)

    def _ask(self, pose: Pose, ways: Sequence[Prospect], memory: Prospects) -> Choice:
        """Return the mind's choice among roads, shown by least turn first, those leaving elsewhere last."""
        ways = sorted(
            ways, key=lambda way: (way.metres > 0, abs(signed_turn(pose.heading, way.link.heading)))
        )
        views = [self.streetview.view(way.pano_id, Camera(way.link.heading, fov=ROAD_FOV)) for way in ways]
        if self.eyes and not self.eyes.looks_far:
            glimpsed = {
                (way.pano_id, way.link.pano_id): self.eyes.glimpse(
                    view, self.streetview.panorama(way.pano_id)
                )
                for way, view in zip(ways, views, strict=True)
            }
            # Weighed again by what these views show, which counts for this choice alone.
            fresh = {(way.pano_id, way.link.pano_id): way for way in memory.ways(pose, glimpsed)}
            ways = [fresh[way.pano_id, way.link.pano_id] for way in ways]
        told = self.senses.describer.describe(views, self.place_type)
        roads = tuple(
            Road(way.first, view, f"{text}{in_words(way)}" if self.eyes else text)
            for way, view, text in zip(ways, views, told, strict=True)
        )
        reply = self.mind.ask(
            self._prompt,
            # pixels, not views: a mind that cannot see has the descriptions
            images={f"Road {index}": view.pixels for index, view in enumerate(views)},
            rule_inputs={"outlooks": [outlook(way) for way in ways]},
            intention=self.intention,
            place_type=self.place_type,
            roads=[{"index": i, "description": road.description} for i, road in enumerate(roads)],
        )
        reason = name_roads(reply.reason, [way.link.heading for way in ways])
        return Choice(roads[reply.index].link, reason, roads)

    def _arrive(self, pose: Pose, memory: Prospects) -> None:
        """Record the panorama of a pose, and look down its roads if the eyes look far."""
        panorama, links = self.streetview.panorama(pose.pano_id), self.mover.links(pose)
        looks_far = self.eyes and self.eyes.looks_far
        look = partial(self.eyes.look_far, panorama) if self.eyes and looks_far else lambda _: RoadSight()
        memory.visit(panorama, links, look)


def outlook(way: Prospect) -> dict[str, float]:
    """Return the numbers of a road by which rules choose, by their names in `Outlook`."""
    return {"promise": way.promise, "cost": way.cost, "fronts": way.fronts, "town": way.sight.town}


def in_words(way: Prospect) -> str:
    """Return a text for the mind on what is seen down a road, and how many metres back that road leaves."""
    back = f"it leaves {way.metres:.0f} m back" if way.metres else ""
    told = (boards_in_words(way.fronts, way.nearest), way.sight.look, back)
    return "".join(f"; {one}" for one in told if one)


def left_in_words(ways: Sequence[Prospect]) -> str:
    """Return a text on the distance to the nearest shop board seen and not reached, or that there is none."""
    boards = [way.metres + way.nearest for way in ways if way.nearest is not None]
    if not boards:
        return "no board of a shop that was seen is left to go to"
    return f"the nearest board of a shop that was seen and not reached is {min(boards):.0f} m away"
