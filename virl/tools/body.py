"""The agent as tools move it: its pose, its moves, and the steps that are written for them."""

from collections.abc import Sequence
from functools import cached_property
from math import inf

from pydantic import BaseModel, ConfigDict, Field

from virl.agent.agent import Agent, FarEyes
from virl.agent.consult import steps_taken
from virl.agent.user import User
from virl.errors import BadInput
from virl.journal.records import Purpose, ViewRecord
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose, View
from virl.platform.movers.base import Choice, Step
from virl.platform.perception.base import Detection


class BodyState(BaseModel):
    """Pose and moves of an agent on its way; kept with each tool call's note, so that a run can go on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pano_id: str
    heading: float
    """Heading, degrees clockwise from north, [0, 360)."""
    moves: int = Field(default=0, ge=0)
    """Number of moves from panorama to panorama so far."""
    distance_m: float = 0.0
    """Metres of the latest move."""


class Body:
    """An agent that is moved by tools; every move becomes a step of its run."""

    def __init__(self, agent: Agent, *, sees: bool = False, user: User | None = None) -> None:
        """Place the agent at its start; `sees` is true if the model gets pictures, else words on them."""
        self.agent = agent
        self.sees = sees
        self.user = user
        """User who may advise agents that are consulted; `None` for nobody."""
        self.keeps_views = True
        """True if views are kept as files; false while recorded calls are repeated in a resumed run."""
        self.doing = ""
        """Id of the tool call in progress, unique within the run."""
        self.standing = BodyState(pano_id=agent.start.id, heading=agent.start_pose.heading)

    @cached_property
    def eyes(self) -> FarEyes:
        """The agent's eyes for what lies far down roads."""
        return FarEyes(self.agent)

    @property
    def pose(self) -> Pose:
        """The panorama at which the agent stands, and its heading."""
        return Pose(self.standing.pano_id, self.standing.heading)

    @property
    def panorama(self) -> Panorama:
        """The panorama at which the agent stands."""
        return self.agent.city.streetview.panorama(self.standing.pano_id)

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that leave from the agent's panorama, sorted by heading."""
        return self.agent.mover.links(self.pose)

    @property
    def moves_left(self) -> int:
        """Number of moves left within the limit of steps; those of consulted agents count as the agent's."""
        run = self.agent.run
        others = steps_taken(run) - (run.steps[-1].step if run.steps else 0)
        return self.agent.character.limits.steps - self.standing.moves - others

    def keep(
        self, view: View, purpose: Purpose, detections: Sequence[Detection] = (), caption: str = ""
    ) -> tuple[ViewRecord, ...]:
        """Write a view as a file of the run, and return its record; empty if views are not kept.

        Args:
            view: the view.
            purpose: the purpose for which it was taken.
            detections: detections, whose boxes are drawn on it.
            caption: a line of text below it.
        """
        if not self.keeps_views:
            return ()
        return self.agent.run.keep(view, purpose, detections, caption)

    def turn(self, heading: float) -> None:
        """Turn the agent to a heading, degrees clockwise from north."""
        self.standing = self.standing.model_copy(update={"heading": heading})

    def go(self, link: Link, why: str) -> None:
        """Move the agent along a link, and write the step that ends at its panorama with the reason `why`.

        Raises:
            BadInput: there are no moves left.
            NoStreetView: the link leads nowhere.
        """
        if self.moves_left <= 0:
            raise BadInput("no moves are left: finish with what you know")
        there = self.agent.mover.take(self.pose, link)
        self._record_step(link.pano_id, Choice(link, why))
        self._arrive(there, link.distance)

    def relocate(self, there: Panorama, why: str) -> None:
        """Move the agent to any panorama at once, heading unchanged; this counts as one move and one step.

        Raises:
            BadInput: there are no moves left.
        """
        if self.moves_left <= 0:
            raise BadInput("no moves are left: finish with what you know")
        self._record_step(there.id, Choice(None, why))
        self._arrive(Pose(there.id, self.standing.heading), 0.0)

    def go_on(self, standing: BodyState | None) -> None:
        """Move the agent to the last note's `standing`, or the start, then along the steps written since."""
        self.standing = standing or self.standing
        for step in self.agent.run.steps[self.standing.moves :]:
            if step.next_pano_id is not None:
                self._follow(Pose(step.pose.pano_id, step.pose.heading), step.next_pano_id)

    def be_led(self, before: float = inf) -> int:
        """Make a steering user's moves, those recorded up to record `before` or new; return their number."""
        before_moves = self.standing.moves
        while self._is_led(before):
            pass
        return self.standing.moves - before_moves

    def _is_led(self, before: float) -> bool:
        """Return whether the user led a next move (recorded up to record `before`, or new), and make it."""
        run, index = self.agent.run, self.standing.moves
        if index < len(run.steps):
            recorded = run.steps[index]
            if not recorded.decided_by or recorded.next_pano_id is None or recorded.seq > before:
                return False
            self._follow(Pose(recorded.pose.pano_id, recorded.pose.heading), recorded.next_pano_id)
            return True
        if before != inf or self.moves_left <= 0:
            return False
        step = Step(
            index,
            self.pose,
            self.panorama,
            self.standing.distance_m,
            lambda: Choice(None, "nobody leads"),
            ways=lambda: self.links,
        )
        choice = step.steered_choice()
        if choice is None or choice.link is None:
            return False
        there = self.agent.mover.take(self.pose, choice.link)
        step.settle(choice)
        run.step(step, views=(), asked=(), decided=choice.reason, next_pano_id=choice.link.pano_id)
        self._arrive(there, choice.link.distance)
        return True

    def stop(self, outcome: Outcome) -> None:
        """Write the last step of the run, with its outcome."""
        self._record_step(None, Choice.end(outcome))

    def _follow(self, pose: Pose, pano_id: str) -> None:
        """Replay a recorded step from a pose to a panorama: along the link there, or by a leap if none."""
        mover = self.agent.mover
        link = next((link for link in mover.links(pose) if link.pano_id == pano_id), None)
        if link is None:
            self._arrive(Pose(pano_id, pose.heading), 0.0)
        else:
            self._arrive(mover.take(pose, link), link.distance)

    def _arrive(self, there: Pose, distance_m: float) -> None:
        """Set the agent's pose after a move of `distance_m` metres, and count the move."""
        self.standing = BodyState(
            pano_id=there.pano_id,
            heading=there.heading,
            moves=self.standing.moves + 1,
            distance_m=distance_m,
        )

    def _record_step(self, pano_id: str | None, choice: Choice) -> None:
        """Write a move to panorama `pano_id`, `None` for the end, as a step, unless it is written already."""
        run, index = self.agent.run, self.standing.moves
        if len(run.steps) > index:
            return  # it was written before the run was cut off
        step = Step(index, self.pose, self.panorama, self.standing.distance_m, lambda: choice)
        run.step(
            step, views=(), asked=(), decided=choice.reason, next_pano_id=pano_id, outcome=choice.outcome
        )
