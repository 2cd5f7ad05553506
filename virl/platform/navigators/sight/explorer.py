"""Iris's way of searching: read signs, remember where she was, and go on where something new begins."""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from virl.geo.globe import (
    LatLng,
    bearing,
    compass_word,
    destination,
    distance,
    distances,
    egocentric_word,
    signed_turn,
)
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose
from virl.platform.movers.base import Choice
from virl.platform.navigators.intention.rules import RoadChoice
from virl.platform.navigators.sight.clues import (
    MOST_LETTERS,
    Clues,
    Neighbours,
    address_in_task,
    leads_to_centre,
)
from virl.platform.navigators.sight.goal import SightGoal
from virl.platform.navigators.sight.looking import KnownSign, Pointer, SignLooks
from virl.platform.navigators.sight.rules import DescribedWay, cost
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.perception.road_sight import RoadSight

STRIDE = 2
"""Number of panoramas walked from one reading of signs to the next, away from junctions.
They are 10 m apart, and fronts are read from 20 m. In a street to which a sign led, each one is read at."""
OVER_STREET_DEG = 10.0
"""Largest angle in degrees from a street's direction to a sign that hangs over the street. Chosen."""
MOST_WAYS = 8
"""Largest number of ways offered to a mind, the nearest. Chosen: a question stays within 2,000 tokens."""
MOST_JUNCTIONS = 12
"""Largest number of junctions told in a question: those found last, so that it stays within 2,000 tokens."""
MOST_DEAD_ENDS = 4
"""Largest number of dead ends in a question, the latest ones; chosen with `MOST_JUNCTIONS`."""
MOST_SIGNS = 3
"""Largest number of signs quoted for a way."""
_AHEAD_M, _KNOWN_M = 100.0, 150.0
"""(metres down a way to its assumed end, metres around that end in which visited junctions count).
Chosen in Virlham."""
ELSEWHERE_DEG = 90.0
"""Turn in degrees that is assumed for a way from another panorama. Chosen: a turn to the side."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """A way that was seen and not taken yet, with the route there."""

    pano_id: str
    """Id of the panorama that the way leaves."""
    link: Link
    """First link of the way."""
    first: Link
    """Link to take now, to get to the way."""
    junctions: int
    """Number of junctions on the route to the way, the one it leaves included; 0 if it leaves here."""
    metres: float
    """Metres to the panorama that the way leaves."""
    turn: float
    """Turn in degrees to take the way at once, [0, 180]; `ELSEWHERE_DEG` if it leaves elsewhere."""


@dataclass
class SeenMap:
    """A map of the panoramas visited, the links between them, and the ways that leave them.

    It knows what the walker saw and nothing else.
    """

    _seen: dict[str, Panorama] = field(default_factory=dict)
    _visits: Counter[str] = field(default_factory=Counter)
    _junctions: list[LatLng] = field(default_factory=list)

    def visit(self, panorama: Panorama) -> None:
        """Record a visit of a panorama."""
        if panorama.is_crossing and panorama.id not in self._seen:
            self._junctions.append(panorama.position)
        self._seen[panorama.id] = panorama
        self._visits[panorama.id] += 1

    def visits(self, pano_id: str) -> int:
        """Return the number of times that the walker came to a panorama."""
        return self._visits[pano_id]

    def known_ahead(self, way: Frontier) -> int:
        """Return the number of visited junctions within `_KNOWN_M` of where a way probably leads."""
        if not self._junctions:
            return 0
        there = destination(self._seen[way.pano_id].position, way.link.heading, _AHEAD_M)
        lat, lng = zip(*self._junctions, strict=True)
        return int(np.count_nonzero(distances(lat, lng, *there) < _KNOWN_M))

    @property
    def visited_panoramas(self) -> Iterable[Panorama]:
        """Panoramas visited, in the order of the first visit."""
        return self._seen.values()

    def frontiers(self, pose: Pose, links: Iterable[Link]) -> list[Frontier]:
        """Return the ways not taken yet, over walked streets from a pose with its `links`, nearest first.

        Near means few junctions, then few metres.
        """
        here = tuple(links)
        best: dict[str, tuple[int, float]] = {pose.pano_id: (0, 0.0)}
        queue: list[tuple[int, float, str, Link | None]] = [(0, 0.0, pose.pano_id, None)]
        found: list[Frontier] = []
        while queue:
            junctions, metres, pano_id, first = heapq.heappop(queue)
            # A nearer way there was found after this one was queued.
            if (junctions, metres) > best[pano_id]:
                continue
            is_here = pano_id == pose.pano_id
            # Here the mover says which links there are; elsewhere those of the panorama have to do.
            for link in here if is_here else self._seen[pano_id].links:
                start = first or link
                if link.pano_id not in self._seen:
                    turn = abs(signed_turn(pose.heading, link.heading)) if is_here else ELSEWHERE_DEG
                    found.append(Frontier(pano_id, link, start, junctions, metres, turn))
                    continue
                cost = (junctions + self._seen[link.pano_id].is_crossing, metres + link.distance)
                if link.pano_id not in best or cost < best[link.pano_id]:
                    best[link.pano_id] = cost
                    heapq.heappush(queue, (*cost, link.pano_id, start))
        return found


@dataclass(frozen=True, slots=True)
class Abilities:
    """The abilities of an explorer; each can be switched off to measure its worth."""

    remembers: bool = True
    """True to remember the map; False to choose only among the links here, without going back."""
    looks_far: bool = True
    """True to read signs far down the streets at junctions."""
    reads_fronts: bool = False
    """True to read the fronts of each street from its junction, with six more views a street."""
    goes_back: bool = True
    """True to go back to ways that were seen and not taken."""


class SightExplorer:
    """An explorer that looks for a goal by the signs it reads, without a map or positions of places.

    Args:
        mind: chooses among the ways not taken yet.
        looks: reads the signs around panoramas.
        goal: place that is looked for.
        abilities: what the explorer may do; all that `Abilities` has by default.
        prompts: texts of the questions to the mind.
        far: returns the sight far down a link of a panorama; with `None` all ways look the same.
    """

    def __init__(
        self,
        mind: Mind,
        looks: SignLooks,
        goal: SightGoal,
        abilities: Abilities | None = None,
        prompts: Prompts = OUR_PROMPTS,
        far: Callable[[Panorama, Link], RoadSight] | None = None,
    ) -> None:
        """Begin a search with an empty map; `far` looks down roads for shop fronts, `None` does not."""
        self._mind, self._looks, self._goal = mind, looks, goal
        self._can = abilities or Abilities()
        self._prompt = prompts.load("movement/sight-way", RoadChoice)
        self._map = SeenMap()
        self._clues = Clues()
        self._address = address_in_task(goal.told)
        self._down: dict[tuple[str, str], tuple[KnownSign, ...]] = {}
        self._far = far
        self._sights: dict[tuple[str, str], RoadSight] = {}
        self._plan: tuple[str, str] | None = None
        self._guidance = Guidance(goal)
        self._neighbours = Neighbours(goal) if goal.beside else None
        self._unread = 0
        self._is_led = False

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Read the signs around a pose; return the outcome if a closer look shows the goal, else `None`."""
        here = self._looks.streetview.panorama(pose.pano_id)
        self._map.visit(here)
        self._unread += 1
        is_close = bool(self._neighbours and self._neighbours.fronts_near(here.position))
        stride = 1 if is_close or self._is_led else STRIDE
        # At junctions, on a plan, led by a sign and near a neighbour of the goal every panorama is read.
        if len(links) == 2 and self._unread < stride and self._plan is None:
            return None
        self._unread = 0
        around = self._looks.signs_around(pose.pano_id)
        self._clues.read(here, around)
        self._guidance.see(around)
        # Plates and signposts over the street name what stands elsewhere: they are no fronts.
        fronts = [one for one in around if not (self._guidance.has_signposts and _hangs_over(links, one))]
        for pano_id, hint, unseen in self._hints(here, fronts):
            signs = self._looks.closer(pano_id, hint.sign)
            if shown := self._goal.shown_by(signs):
                text = self._goal.named_by(shown, signs).sign.text
                found = Outcome("found", f"the sign {text!r} shows what is looked for", what=text)
                kinds = " or ".join(sorted(kind.replace("_", " ") for kind in unseen))
                lacks = f"but no sign of a {kinds} was read beside it"
                return replace(found, kind="substituted").with_detail(lacks) if unseen else found
        if self._neighbours:
            fronts = [one.known for one in self._neighbours.fronts_near(here.position)]
        self._guidance.pass_by(fronts)
        return None

    def _hints(
        self, here: Panorama, fronts: Sequence[KnownSign]
    ) -> list[tuple[str, KnownSign, Collection[str]]]:
        """Return (panorama id, sign, place types of neighbours not seen) of fronts that may show the goal."""
        if self._neighbours is None:
            return [(here.id, one, ()) for one in self._goal.hinted_by(fronts)]
        beside = self._neighbours
        beside.read(here, fronts)
        return [(one.pano_id, one.known, beside.unseen(one)) for one in beside.hints(here.position)]

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the choice of a way that signs of the goal tell, else of one a mind picks, or the end."""
        ahead = [link for link in links if link != back] or list(links)
        led = self._follow_signs(pose, ahead, links) if self._can.looks_far else None
        self._is_led = led is not None
        if led:
            self._plan = None
            return led
        if not self._can.remembers:
            return self._ask(pose, [_from_here(pose, link) for link in ahead])
        frontiers = self._map.frontiers(pose, links)
        if not self._can.goes_back:
            here = [one for one in frontiers if one.pano_id == pose.pano_id]
            return self._ask(pose, here or [_from_here(pose, link) for link in ahead])
        if not frontiers:
            return Choice.end(Outcome("not found", "every way that can be reached was walked"))
        planned = [one for one in frontiers if (one.pano_id, one.link.pano_id) == self._plan]
        if planned and planned[0].junctions:
            return Choice(planned[0].first, "on the way to a street not walked yet")
        return self._ask(pose, frontiers)

    def _follow_signs(self, pose: Pose, ahead: Sequence[Link], links: Sequence[Link]) -> Choice | None:
        """Return the choice of a link to a sign of the goal, or where a new signpost points; else `None`."""
        for link in ahead:
            shown = self._goal.shown_by(self._read_down(pose.pano_id, link))
            if shown and not self._map.visits(link.pano_id):
                return Choice(link, f"the sign {shown.sign.text!r} is seen down this street")
        ways = ((link, self._read_down(pose.pano_id, link)) for link in links)
        if found := self._guidance.follow(pose.pano_id, ways):
            link, pointer = found
            return Choice(link, f"a signpost points to {pointer.name!r}, {pointer.metres} m")
        return None

    def _read_down(self, pano_id: str, link: Link) -> tuple[KnownSign, ...]:
        """Return the signs seen far down a link of a panorama, which are read only once."""
        key = (pano_id, link.pano_id)
        if key not in self._down:
            ahead = self._looks.signs_down(pano_id, link)
            fronts = self._looks.fronts(pano_id, link) if self._can.reads_fronts else ()
            self._down[key] = (*ahead, *fronts)
            self._guidance.see(self._down[key])
        return self._down[key]

    def _signs_down(self, way: Frontier) -> tuple[KnownSign, ...]:
        """Return the signs read down a way so far; empty if nobody looked."""
        return self._down.get((way.pano_id, way.link.pano_id), ())

    def _ask(self, pose: Pose, frontiers: Sequence[Frontier]) -> Choice:
        """Return the mind's choice among the best of the ways not taken yet, and plan the route to it."""
        for way in frontiers if self._far else ():
            key = (way.pano_id, way.link.pano_id)
            # Only ways that leave from here can be looked down; what was seen of others is remembered.
            if self._far and way.pano_id == pose.pano_id and key not in self._sights:
                self._sights[key] = self._far(self._looks.streetview.panorama(way.pano_id), way.link)
        nearest = sorted(frontiers, key=lambda one: (one.junctions, one.turn, one.metres))
        weighed = [self._weigh_way(index, way) for index, way in enumerate(nearest)]
        roads = sorted(weighed, key=cost)[:MOST_WAYS]
        inputs = []
        for index, road in enumerate(roads):
            way = nearest[road.index]
            words = way_in_words(way, pose, self._signs_down(way))
            if sight := self._sights.get((way.pano_id, way.link.pano_id)):
                words = f"{words}; {sight}"
            inputs.append(road.model_dump() | {"index": index, "description": words})
        reply = self._mind.ask(
            self._prompt,
            task=self._goal.told,
            seen=map_in_words(self._map, self._clues, pose),
            roads=inputs,
        )
        chosen = nearest[roads[reply.index].index]
        # Only a way beyond a junction needs a plan, lest the next junction changes the mind.
        self._plan = (chosen.pano_id, chosen.link.pano_id) if chosen.junctions else None
        return Choice(chosen.first, reply.reason)

    def _weigh_way(self, index: int, way: Frontier) -> DescribedWay:
        """Return the way numbered `index` with the numbers by which rules compare it with other ways."""
        signs = self._signs_down(way)
        plate = self._address.seen_on(signs)
        pointers = self._guidance.pointers(signs)
        leaves = self._can.remembers and self._guidance.has_signposts
        sight = self._sights.get((way.pano_id, way.link.pano_id), RoadSight())
        return DescribedWay(
            index=index,
            description="",
            junctions=way.junctions,
            turn=way.turn,
            names_street=plate is not None,
            numbers_away=self._address.numbers_away(plate) if plate else None,
            pointed_m=pointers[0].metres if pointers else None,
            known_ahead=self._map.known_ahead(way) if leaves else 0,
            to_centre=leads_to_centre(signs),
            boards=len(sight.fronts),
            town=sight.town,
        )


def _hangs_over(links: Sequence[Link], one: KnownSign) -> bool:
    """Return whether a sign lies within `OVER_STREET_DEG` of a street's direction, as if hung over it."""
    return any(abs(signed_turn(link.heading, one.sign.heading)) < OVER_STREET_DEG for link in links)


def _from_here(pose: Pose, link: Link) -> Frontier:
    """Return a link of the current panorama as a way that can be taken at once."""
    return Frontier(pose.pano_id, link, link, 0, 0.0, abs(signed_turn(pose.heading, link.heading)))


@dataclass
class Guidance:
    """The signposts that a walker has read and followed on the way to a goal."""

    goal: SightGoal
    has_signposts: bool = False
    """True if the walker has read a signpost, so that the city may have more."""
    _followed: set[tuple[str, str]] = field(default_factory=set)
    """(panorama left, panorama led to) of links that were taken because a signpost points down them."""
    _aims: set[str] = field(default_factory=set)
    """Names on the signposts that were followed."""
    _passed: set[str] = field(default_factory=set)
    """Names of places that were reached and are not the goal."""

    def see(self, signs: Sequence[KnownSign]) -> None:
        """Record whether a signpost is among the signs."""
        self.has_signposts = self.has_signposts or any(one.points_to for one in signs)

    def pass_by(self, signs: Sequence[KnownSign]) -> None:
        """Record places reached that are not the goal, so that signposts to them are followed no more."""
        if self.goal.name:
            return
        own = [one.sign.text for one in signs if one.points_to is None]
        self._passed |= {
            name for name in self._aims if any(name_likeness(text, name) >= MIN_RESEMBLANCE for text in own)
        }

    def pointers(self, signs: Sequence[KnownSign]) -> list[Pointer]:
        """Return the lines of signposts that may point to the goal, the nearest place first."""
        return [one for one in self.goal.pointed_by(signs) if one.name not in self._passed]

    def follow(
        self, pano_id: str, ways: Iterable[tuple[Link, Sequence[KnownSign]]]
    ) -> tuple[Link, Pointer] | None:
        """Mark as followed, and return, (new link, nearest pointer down it); `None` if no sign points.

        `ways` are the links that leave the panorama, each with the signs that were read down it.
        """
        found = [
            (pointer.metres, number, link, pointer)
            for number, (link, signs) in enumerate(ways)
            if (pano_id, link.pano_id) not in self._followed
            for pointer in self.pointers(signs)
        ]
        if not found:
            return None
        *_, link, pointer = min(found, key=lambda one: one[:2])
        self._followed.add((pano_id, link.pano_id))
        self._aims.add(pointer.name)
        return link, pointer


def map_in_words(seen: SeenMap, clues: Clues, pose: Pose) -> str:
    """Return lines of text on the junctions visited, the last first, on dead ends and on signs read.

    Args:
        seen: map of what was visited.
        clues: signs read there.
        pose: of the walker, at a junction of the map.
    """
    visited = list(seen.visited_panoramas)
    here = next(one for one in visited if one.id == pose.pano_id)
    junctions = [one for one in visited if one.is_crossing and one.id != here.id]
    told = [f"You face {compass_word(pose.heading)}. You have come by {len(junctions)} other junctions."]
    for one in reversed(junctions[-MOST_JUNCTIONS:]):
        where = compass_word(bearing(here.position, one.position))
        away = distance(here.position, one.position)
        visits = seen.visits(one.id)
        times = "once" if visits == 1 else f"{visits} times"
        told.append(f"A junction of {len(one.links)} ways {away:.0f} m {where}, visited {times}.")
    ends = [one for one in reversed(visited) if len(one.links) == 1 and one.id != here.id]
    told += [
        f"A dead end {distance(here.position, one.position):.0f} m "
        f"{compass_word(bearing(here.position, one.position))}."
        for one in ends[:MOST_DEAD_ENDS]
    ]
    return "\n".join([*told, *clues.in_words(here.position)])


def way_in_words(way: Frontier, pose: Pose, signs: Sequence[KnownSign]) -> str:
    """Return a text on the route to a way, its direction and the signs read down it.

    Args:
        way: way that was not taken yet.
        pose: where the walker stands, and which way it faces.
        signs: signs read down the way.
    """
    if way.junctions or way.pano_id != pose.pano_id:
        begin = (
            f"back over {way.junctions} junctions ({way.metres:.0f} m), then {compass_word(way.link.heading)}"
        )
    else:
        turn = egocentric_word(pose.heading, way.link.heading)
        begin = f"from here, {turn}, {compass_word(way.link.heading)}"
    read = [one.sign.text[:MOST_LETTERS] for one in signs[:MOST_SIGNS]]
    return f"{begin}; " + (f"signs: {', '.join(map(repr, read))}" if read else "no signs read")
