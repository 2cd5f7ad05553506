"""The `intention` navigator: walk on until a crossing, look down each road there, let the mind choose."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Protocol

from virl.geo.globe import signed_turn
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, Link, Panorama, Pose, StreetView, View
from virl.platform.movers.base import Choice, Mover, Road, Step
from virl.platform.movers.memory import StreetMemory
from virl.platform.navigators.intention.prospects import Prospect, Prospects
from virl.platform.navigators.intention.rules import RoadChoice
from virl.platform.perception.base import Senses
from virl.platform.perception.cameras import ROAD_FOV
from virl.platform.perception.road_sight import RoadSight, boards_in_words

CROSSING = 3
"""Ways that meet at a crossing at least."""
WALKED = "back to a road seen before and not walked"
"""Reason of a step back over streets already walked to a road that was not."""
STRETCH = 4
"""Panoramas between crossings after which it considers to turn back; chosen: some 40 m."""


class Eyes(Protocol):
    """A source of what is seen down roads: from a view of its own, or from one already taken."""

    looks_far: bool
    """True if roads may be looked down with views of their own, which cost more."""

    def look_far(self, panorama: Panorama, link: Link) -> RoadSight:
        """Return the sight far down a road, in a view of its own."""
        ...

    def glimpse(self, view: View, panorama: Panorama) -> RoadSight:
        """Return the sight in a view that was taken already."""
        ...


class _Memory:
    """The memory of one walk: the roads that it saw, those that it walked, and panoramas since a crossing."""

    def __init__(self) -> None:
        self.prospects = Prospects()
        self.streets = StreetMemory()
        self.stretch = 0

    def arrive(self, panorama: Panorama, links: Sequence[Link], look: Callable[[Link], RoadSight]) -> None:
        """Record a panorama and look down its roads; `stretch` counts panoramas since a crossing."""
        self.stretch = self.stretch + 1 if len(links) < CROSSING else 0
        self.prospects.visit(panorama, links, look)
        self.streets.visit(panorama.id, links)

    def leave(self, source: str, target: str) -> None:
        """Record the walk from a panorama to another."""
        self.prospects.leave(source, target)
        self.streets.walk(source, target)


class IntentionNavigator:
    """A navigator by what roads promise for an intention (paper section 3.3 and appendix D.2).

    It remembers the roads that it saw and did not walk. Between crossings it goes straight on, unless the
    road shows no front for a stretch and another road promised more; it goes back to that one.

    Args:
        streetview: where it looks.
        mover: says which ways lead on.
        mind: chooses among roads.
        senses: puts roads into words.
        intention: what is wanted.
        place_type: what is looked for.
        max_steps: the limit of moves.
        eyes: sees down the roads; with `None` all promise the same.
        prompts: where the prompt is looked for.
    """

    def __init__(
        self,
        streetview: StreetView,
        mover: Mover,
        mind: Mind,
        senses: Senses,
        *,
        intention: str,
        place_type: str,
        max_steps: int,
        eyes: Eyes | None = None,
        prompts: Prompts = OUR_PROMPTS,
    ) -> None:
        self._streetview = streetview
        self._mover = mover
        self._mind = mind
        self._senses = senses
        self._intention = intention
        self._place_type = place_type
        self._max_steps = max_steps
        self._eyes = eyes
        self._prompt = prompts.load("movement/intention-road", RoadChoice)

    def walk(self, start: Pose, trail: Sequence[str] = ()) -> Iterator[Step]:
        """Yield the steps of a walk.

        Args:
            start: where the walk begins or goes on.
            trail: ids of the panoramas walked before, the oldest first, where a walk is resumed.
        """
        memory = _Memory()
        came_from = trail[-1] if trail else None
        pose = start
        # A walk that is resumed looks again from where it has been, to remember the same roads.
        for pano_id, target in pairwise([*trail, start.pano_id]):
            self._arrive(Pose(pano_id, 0.0), memory)
            memory.leave(pano_id, target)
        for index in range(len(trail), self._max_steps + 1):
            self._arrive(pose, memory)
            step = self._step(index, pose, came_from, memory)
            yield step
            link = step.choice.link
            if link is None:
                return
            memory.leave(pose.pano_id, link.pano_id)
            came_from = pose.pano_id
            pose = self._mover.take(pose, link)

    def _step(self, index: int, pose: Pose, came_from: str | None, memory: _Memory) -> Step:
        """Return the step at a pose, the `index`th of the walk."""

        def choose() -> Choice:
            if index == self._max_steps:
                limit = Outcome("limit", limit=self._max_steps, what="steps")
                left = memory.prospects.ways(pose)
                return Choice.end(limit.with_detail(left_in_words(left)) if self._eyes else limit)
            return self._choose(pose, came_from, memory)

        back = (link.distance for link in self._mover.links(pose) if link.pano_id == came_from)
        return Step(
            index,
            pose,
            self._streetview.panorama(pose.pano_id),
            next(back, 0.0),
            choose,
            ways=partial(self._mover.links, pose),
            last=index == self._max_steps,
        )

    def _choose(self, pose: Pose, came_from: str | None, memory: _Memory) -> Choice:
        """Return the choice at a pose: straight on between crossings, a road at a crossing, or the end."""
        links = self._mover.links(pose)
        if not links:
            return Choice.end(Outcome("blocked"))
        ways = memory.prospects.ways(pose)
        if not ways:
            return Choice(memory.streets.freshest(pose.pano_id, links)[0], "all roads around were walked")
        if came_from is not None and len(links) < CROSSING:
            return self._go_on(pose, ways, memory)
        return self._turn(pose, ways, memory)

    def _go_on(self, pose: Pose, ways: Sequence[Prospect], memory: _Memory) -> Choice:
        """Go on between crossings; after a stretch ask whether to turn back to a road that promises more."""
        here = [way for way in ways if way.pano_id == pose.pano_id]
        if not here:
            is_end = len(self._mover.links(pose)) == 1
            return Choice(ways[0].first, "the road ends here, so back" if is_end else WALKED)
        if ways[0] is here[0] or memory.stretch % STRETCH:
            return Choice(here[0].link, "the road leads on")
        if not memory.prospects.is_new(pose.pano_id):
            return Choice(ways[0].first, WALKED)
        return self._ask(pose, [*here, ways[0]], memory)

    def _turn(self, pose: Pose, ways: Sequence[Prospect], memory: _Memory) -> Choice:
        """Take a road at a crossing: one that leaves it, or the best one that leaves elsewhere."""
        here = [way for way in ways if way.pano_id == pose.pano_id]
        if not here or (ways[0] is not here[0] and not memory.prospects.is_new(pose.pano_id)):
            return Choice(ways[0].first, WALKED)
        offered = here if ways[0] is here[0] else [*here, ways[0]]
        if len(offered) == 1:
            return Choice(here[0].link, "the only road not walked yet")
        return self._ask(pose, offered, memory)

    def _ask(self, pose: Pose, ways: Sequence[Prospect], memory: _Memory) -> Choice:
        """Return the mind's choice of a road; roads are numbered from the one of the least turn."""
        ways = sorted(
            ways, key=lambda way: (way.metres > 0, abs(signed_turn(pose.heading, way.link.heading)))
        )
        views = [self._streetview.view(way.pano_id, Camera(way.link.heading, fov=ROAD_FOV)) for way in ways]
        if self._eyes and not self._eyes.looks_far:
            glimpsed = {
                (way.pano_id, way.link.pano_id): self._eyes.glimpse(
                    view, self._streetview.panorama(way.pano_id)
                )
                for way, view in zip(ways, views, strict=True)
            }
            fresh = {(way.pano_id, way.link.pano_id): way for way in memory.prospects.ways(pose, glimpsed)}
            ways = [fresh[way.pano_id, way.link.pano_id] for way in ways]
        told = self._senses.describer.describe(views, self._place_type)
        roads = tuple(
            Road(way.first, view, f"{text}{in_words(way)}" if self._eyes else text)
            for way, view, text in zip(ways, views, told, strict=True)
        )
        reply = self._mind.ask(
            self._prompt,
            # pixels, not views: a mind that cannot see has the descriptions
            images={f"Road {index}": view.pixels for index, view in enumerate(views)},
            rule_inputs={"outlooks": [outlook(way) for way in ways]},
            intention=self._intention,
            place_type=self._place_type,
            roads=[{"index": i, "description": road.description} for i, road in enumerate(roads)],
        )
        return Choice(roads[reply.index].link, reply.reason, roads)

    def _arrive(self, pose: Pose, memory: _Memory) -> None:
        """Record the panorama of a pose and what is seen down its roads."""
        panorama, links = self._streetview.panorama(pose.pano_id), self._mover.links(pose)
        memory.arrive(panorama, links, partial(self._look, panorama))

    def _look(self, panorama: Panorama, link: Link) -> RoadSight:
        """Return what is seen down a link from afar; nothing without eyes that look far."""
        return self._eyes.look_far(panorama, link) if self._eyes and self._eyes.looks_far else RoadSight()


def outlook(way: Prospect) -> dict[str, float]:
    """Return the numbers of a road that rules read, by name."""
    return {"promise": way.promise, "cost": way.cost, "fronts": way.fronts, "town": way.sight.town}


def in_words(way: Prospect) -> str:
    """Return the text on what is seen down a road and how many metres back it begins."""
    back = f"it leaves {way.metres:.0f} m back" if way.metres else ""
    told = (boards_in_words(way.fronts, way.nearest), way.sight.look, back)
    return "".join(f"; {one}" for one in told if one)


def left_in_words(ways: Sequence[Prospect]) -> str:
    """Return the text on the nearest shop boards seen and not reached; empty without any."""
    boards = [way.metres + way.nearest for way in ways if way.nearest is not None]
    if not boards:
        return "no board of a shop that was seen is left to go to"
    return f"the nearest board of a shop that was seen and not reached is {min(boards):.0f} m away"
