"""The `point` navigator: to one or many destinations in order, along sub-goals.

Each step takes the link that leads straightest to the sub-goal, as in V-IRL. There an agent that ran into a
dead end went to and fro until the sub-goal was skipped. Here it remembers where it has been since it set out
for the sub-goal: where the straightest link leads back there, it makes for the end of a link seen but not
taken instead. So no circle is walked twice, and each sub-goal is found that the links lead to at a bearable
distance.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from virl.errors import BadInput
from virl.geo.globe import bearing, distance
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Panorama, Pose, StreetView
from virl.platform.movers.base import Choice, Mover, Step
from virl.platform.navigators.point.plan import PointPlan
from virl.platform.navigators.point.pursuit import DestinationOutcome, Pursuit

ARRIVE_M = 5.0  # V-IRL's
"""Metres from a goal within which it counts as reached."""


class PointNavigator:
    """A navigator to the destinations of a plan, in their order.

    Args:
        streetview: where.
        mover: which links leave a pose.
        plan: where to, by `plan_route` or `plan_path`.
        max_steps: moves after which it stops.
        arrive: metres from a goal within which it counts as reached.

    Raises:
        BadInput: `max_steps` is below 0, or `arrive` not above 0.
    """

    def __init__(
        self,
        streetview: StreetView,
        mover: Mover,
        plan: PointPlan,
        *,
        max_steps: int,
        arrive: float = ARRIVE_M,
    ) -> None:
        if max_steps < 0:
            raise BadInput(f"a limit of {max_steps} steps: must be 0 or more")
        if not arrive > 0:
            raise BadInput(f"arriving within {arrive:g} m: must be above 0")
        self._streetview = streetview
        self._mover = mover
        self._max_steps = max_steps
        self._plan = plan
        self._arrive = arrive
        self._pursuit = Pursuit(plan, arrive)

    @property
    def outcomes(self) -> tuple[DestinationOutcome, ...]:
        """The outcomes of the destinations so far, in their order; those still ahead are left out."""
        return tuple(outcome for _, outcome in sorted(self._pursuit.outcomes.items()))

    def walk(self, start: Pose, trail: Sequence[str] = (), steered: Collection[int] = ()) -> Iterator[Step]:
        """Yield the steps of a walk; `outcomes` grows with it.

        Args:
            start: where the walk begins or goes on.
            trail: ids of the panoramas walked before, the oldest first, where a walk is resumed.
            steered: numbers of the steps of the trail at which somebody else decided.
        """
        pursuit = self._pursuit = Pursuit(self._plan, self._arrive)
        for number, pano_id in enumerate(trail):
            here = self._streetview.panorama(pano_id)
            pursuit.arrive(here)
            if number in steered:
                pursuit.be_led()
            else:
                self._decide(here, pursuit)
        pose = start
        for index in range(len(trail), self._max_steps + 1):
            here = self._streetview.panorama(pose.pano_id)
            metres = pursuit.arrive(here)
            step = Step(
                index,
                pose,
                here,
                metres,
                self._choose(here, index, pursuit),
                ways=partial(self._mover.links, pose),
                steered=lambda _: pursuit.be_led(),
                last=index == self._max_steps,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            pose = self._mover.take(Pose(here.id, link.heading), link)

    def _choose(self, here: Panorama, index: int, pursuit: Pursuit) -> Callable[[], Choice]:
        """Return the function that chooses at a step; at the limit of steps it ends the walk."""

        def choose() -> Choice:
            if index == self._max_steps and pursuit.goal is not None:
                limit = Outcome("limit", limit=self._max_steps, what="steps")
                pursuit.end(limit.sentence)
                return Choice.end(limit.with_detail(pursuit.outcome.sentence))
            return self._decide(here, pursuit)

        return choose

    def _decide(self, here: Panorama, pursuit: Pursuit) -> Choice:
        """Choose the link towards the first goal that one leads to; give up goals that none leads to."""
        while pursuit.goal is not None:
            goal = pursuit.goal
            facing = Pose(here.id, bearing(here.position, goal.position))
            link = pursuit.next_link(goal, facing.heading, self._mover.links(facing))
            if link is not None:
                metres = distance(here.position, goal.position)
                return Choice(link, f"{goal.title} is {metres:.0f} m away")
        return Choice.end(pursuit.outcome)
