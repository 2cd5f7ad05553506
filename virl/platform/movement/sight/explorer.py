"""Iris's way of searching: read signs, remember where she was, and go on where something new begins."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.geo import signed_turn
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.movement.base import Choice
from virl.platform.movement.intention.replies import RoadChoice
from virl.platform.movement.sight.clues import Clues, leads_to_centre, told_address
from virl.platform.movement.sight.goal import SightGoal
from virl.platform.movement.sight.guidance import Guidance
from virl.platform.movement.sight.looking import KnownSign, SignLooks
from virl.platform.movement.sight.neighbours import Neighbours
from virl.platform.movement.sight.rules import ToldWay, cost
from virl.platform.movement.sight.seen import Frontier, SeenMap
from virl.platform.movement.sight.words import map_in_words, way_in_words
from virl.platform.outcome import Outcome
from virl.platform.streetview import Link, Panorama, Pose

STRIDE = 2
"""Between junctions she reads at every second panorama: they are 10 m apart, fronts are read from 20 m. In a
street to which a sign led her she reads at each."""
OVER_STREET_DEG = 10.0
"""Degrees from where a street leads to what hangs over it. Chosen: a board of 2 m is seen so from 6 m."""
MOST_WAYS = 8
"""Ways that a mind is offered at once, the nearest. Chosen: a question stays within 2,000 tokens."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a searcher may use; switched off to measure what each is worth."""

    remembers: bool = True
    """Knows where it was: without, each way is as good as another."""
    looks_far: bool = True
    """Reads signs far down the streets at junctions."""
    reads_fronts: bool = False
    """Reads the fronts of each street from its junction, which takes six views more a street."""
    goes_back: bool = True
    """Goes back to ways that it saw and did not take."""


class SightExplorer:
    """Looks for a goal by the signs it reads; it knows no map, no places and no positions.

    Args:
        mind: chooses among the ways not taken yet.
        looks: reads the signs.
        goal: what is looked for.
        abilities: what it may use.
        prompts: where its prompts are looked for.
    """

    def __init__(
        self,
        mind: Mind,
        looks: SignLooks,
        goal: SightGoal,
        abilities: Abilities | None = None,
        prompts: Prompts = OUR_PROMPTS,
    ) -> None:
        self._mind, self._looks, self._goal = mind, looks, goal
        self._can = abilities or Abilities()
        self._prompt = prompts.load("movement/sight-way", RoadChoice)
        self._map = SeenMap()
        self._clues = Clues()
        self._address = told_address(goal.told)
        self._down: dict[tuple[str, str], tuple[KnownSign, ...]] = {}
        self._plan: tuple[str, str] | None = None
        self._guidance = Guidance(goal)
        self._neighbours = Neighbours(goal) if goal.beside else None
        self._unread = 0
        self._is_led = False

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Read the signs around; the walk ends where a closer look confirms the goal."""
        here = self._looks.streetview.panorama(pose.pano_id)
        self._map.visit(here)
        self._unread += 1
        is_close = bool(self._neighbours and self._neighbours.near(here.position))
        stride = 1 if is_close or self._is_led else STRIDE
        if len(links) == 2 and self._unread < stride and self._plan is None:
            return None
        self._unread = 0
        around = self._looks.around(pose.pano_id)
        self._clues.read(here, around)
        self._guidance.see(around)
        fronts = [one for one in around if not (self._guidance.has_signposts and _hangs_over(links, one))]
        for pano_id, hint in self._hints(here, fronts):
            if shown := self._goal.shown_by(self._looks.closer(pano_id, hint.sign)):
                text = shown.sign.text
                return Outcome("found", f"the sign {text!r} shows what is looked for", what=text)
        if self._neighbours:
            fronts = [one.known for one in self._neighbours.near(here.position)]
        self._guidance.pass_by(fronts)
        return None

    def _hints(self, here: Panorama, fronts: Sequence[KnownSign]) -> list[tuple[str, KnownSign]]:
        """The fronts that may be the goal's, each with the panorama where it was read."""
        if self._neighbours is None:
            return [(here.id, one) for one in self._goal.hinted_by(fronts)]
        self._neighbours.read(here, fronts)
        return [(one.pano_id, one.known) for one in self._neighbours.hints(here.position)]

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Where its goal was seen, else to a way not taken yet, as the mind chooses."""
        ahead = [link for link in links if link != back] or list(links)
        led = self._led(pose, links, ahead) if self._can.looks_far else None
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

    def _led(self, pose: Pose, links: Sequence[Link], ahead: Sequence[Link]) -> Choice | None:
        """The way down which a sign shows the goal, or to which a signpost points."""
        return self._seen_down(pose, ahead) or self._pointed_down(pose, links)

    def _seen_down(self, pose: Pose, links: Sequence[Link]) -> Choice | None:
        """The way in which the goal is seen from afar, unless it was walked and was not it."""
        for link in links:
            shown = self._goal.shown_by(self._looks_down(pose.pano_id, link))
            if shown and not self._map.visits(link.pano_id):
                return Choice(link, f"the sign {shown.sign.text!r} is seen down this street")
        return None

    def _pointed_down(self, pose: Pose, links: Sequence[Link]) -> Choice | None:
        """The way to which a signpost points, the one that it came by too."""
        ways = ((link, self._looks_down(pose.pano_id, link)) for link in links)
        if found := self._guidance.follow(pose.pano_id, ways):
            link, pointer = found
            return Choice(link, f"a signpost points to {pointer.name!r}, {pointer.metres} m")
        return None

    def _looks_down(self, pano_id: str, link: Link) -> tuple[KnownSign, ...]:
        key = (pano_id, link.pano_id)
        if key not in self._down:
            ahead = self._looks.down(pano_id, link)
            fronts = self._looks.fronts(pano_id, link) if self._can.reads_fronts else ()
            self._down[key] = (*ahead, *fronts)
            self._guidance.see(self._down[key])
        return self._down[key]

    def _signs_down(self, way: Frontier) -> tuple[KnownSign, ...]:
        return self._down.get((way.pano_id, way.link.pano_id), ())

    def _ask(self, pose: Pose, frontiers: Sequence[Frontier]) -> Choice:
        nearest = sorted(frontiers, key=lambda one: (one.junctions, one.turn, one.metres))
        weighed = [self._weighed(index, way) for index, way in enumerate(nearest)]
        roads = sorted(weighed, key=cost)[:MOST_WAYS]
        reply = self._mind.ask(
            self._prompt,
            task=self._goal.told,
            seen=map_in_words(self._map, self._clues, pose),
            roads=[self._told(index, nearest[road.index], road, pose) for index, road in enumerate(roads)],
        )
        chosen = nearest[roads[reply.index].index]
        self._plan = (chosen.pano_id, chosen.link.pano_id) if chosen.junctions else None
        return Choice(chosen.first, reply.reason)

    def _told(self, index: int, way: Frontier, road: ToldWay, pose: Pose) -> dict[str, object]:
        words = way_in_words(way, pose, self._signs_down(way))
        return road.model_dump() | {"index": index, "description": words}

    def _weighed(self, index: int, way: Frontier) -> ToldWay:
        signs = self._signs_down(way)
        plate = self._address.seen_on(signs)
        pointers = self._guidance.pointers(signs)
        leaves = self._can.remembers and self._guidance.has_signposts
        return ToldWay(
            index=index,
            description="",
            junctions=way.junctions,
            turn=way.turn,
            names_street=plate is not None,
            numbers_away=self._address.numbers_away(plate) if plate else None,
            pointed_m=pointers[0].metres if pointers else None,
            known_ahead=self._map.known_ahead(way) if leaves else 0,
            to_centre=leads_to_centre(signs),
        )


def _hangs_over(links: Sequence[Link], one: KnownSign) -> bool:
    """Whether a sign is seen where a street leads, as plates and signposts are, and not at its side."""
    return any(abs(signed_turn(link.heading, one.sign.heading)) < OVER_STREET_DEG for link in links)


def _from_here(pose: Pose, link: Link) -> Frontier:
    return Frontier(pose.pano_id, link, link, 0, 0.0, abs(signed_turn(pose.heading, link.heading)))
