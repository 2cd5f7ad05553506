"""The `intention` navigator: walk on until a crossing, look down each road there, let the mind choose."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from virl.geo import signed_turn
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.movement.base import Choice, Mover, Road, Step
from virl.platform.movement.intention.rules import RoadChoice
from virl.platform.movement.memory import StreetMemory
from virl.platform.outcome import Outcome
from virl.platform.perception.base import Senses
from virl.platform.streetview import Camera, Link, Pose, StreetView

ROAD_FOV = 60.0  # the fov of a look down a road (as in V-IRL)


class IntentionNavigator:
    """Chooses roads by what they promise for an intention (paper section 3.3 and appendix D.2).

    It goes straight on between crossings, never turns back unless the road ends, and prefers ways it has
    not walked yet, so that it does not run in circles.
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
        prompts: Prompts = OUR_PROMPTS,
    ) -> None:
        self._streetview = streetview
        self._mover = mover
        self._mind = mind
        self._senses = senses
        self._intention = intention
        self._place_type = place_type
        self._max_steps = max_steps
        self._prompt = prompts.load("movement/intention-road", RoadChoice)

    def walk(self, start: Pose, trail: Sequence[str] = ()) -> Iterator[Step]:
        """The steps of a walk.

        Args:
            start: where the walk begins or goes on.
            trail: ids of the panoramas walked before, the oldest first, where a walk is resumed.
        """
        memory = self._recall(trail, start)
        came_from = trail[-1] if trail else None
        pose = start
        for index in range(len(trail), self._max_steps + 1):
            memory.visit(pose.pano_id, self._mover.links(pose))
            step = self._step(index, pose, came_from, memory)
            yield step
            link = step.choice.link
            if link is None:
                return
            memory.walk(pose.pano_id, link.pano_id)
            came_from = pose.pano_id
            pose = self._mover.take(pose, link)

    def _step(self, index: int, pose: Pose, came_from: str | None, memory: StreetMemory) -> Step:
        def choose() -> Choice:
            if index == self._max_steps:
                return Choice.end(Outcome("limit", limit=self._max_steps, what="steps"))
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

    def _choose(self, pose: Pose, came_from: str | None, memory: StreetMemory) -> Choice:
        links = self._mover.links(pose)
        ahead = [link for link in links if link.pano_id != came_from]
        if not links:
            return Choice.end(Outcome("blocked"))
        if not ahead:
            return Choice(links[0], "the road ends here, so back")
        if len(links) < 3 and came_from is not None:
            straightest = min(ahead, key=lambda link: abs(signed_turn(pose.heading, link.heading)))
            return Choice(straightest, "the road leads on")
        fresh = memory.freshest(pose.pano_id, ahead)
        if len(fresh) == 1:
            reason = "the only way on" if len(ahead) == 1 else "the only road not walked yet"
            return Choice(fresh[0], reason)
        return self._ask(pose, fresh)

    def _ask(self, pose: Pose, links: Sequence[Link]) -> Choice:
        """Ask the mind; roads are numbered by how little they turn, so that rules that see nothing go on."""
        links = sorted(links, key=lambda link: abs(signed_turn(pose.heading, link.heading)))
        views = [self._streetview.view(pose.pano_id, Camera(link.heading, fov=ROAD_FOV)) for link in links]
        descriptions = self._senses.describer.describe(views, self._place_type)
        roads = tuple(Road(*road) for road in zip(links, views, descriptions, strict=True))
        reply = self._mind.ask(
            self._prompt,
            # pixels, not views: a mind that cannot see has the descriptions
            images={f"Road {index}": view.pixels for index, view in enumerate(views)},
            intention=self._intention,
            place_type=self._place_type,
            roads=[{"index": i, "description": road.description} for i, road in enumerate(roads)],
        )
        return Choice(roads[reply.index].link, reply.reason, roads)

    def _recall(self, trail: Sequence[str], start: Pose) -> StreetMemory:
        memory = StreetMemory()
        for pano_id in trail:
            memory.visit(pano_id, self._mover.links(Pose(pano_id, 0.0)))
        for source, target in pairwise([*trail, start.pano_id]):
            memory.walk(source, target)
        return memory
