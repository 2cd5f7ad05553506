"""The agent that tools move: where it stands and faces, and how far it has come."""

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
    """The standing of an agent on its way; kept with every note, so that a run can go on from there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pano_id: str
    heading: float
    moves: int = Field(default=0, ge=0)
    """Number of moves from panorama to panorama so far."""
    distance_m: float = 0.0
    """Metres of the latest move."""


class Body:
    """An agent that is moved by tools; every move becomes a step of its run.

    Args:
        agent: stands at its start.
        sees: whether the model is shown pictures; else it is told in words what they show.
        user: who may speak up to agents that are consulted; by default nobody does.
    """

    def __init__(self, agent: Agent, *, sees: bool = False, user: User | None = None) -> None:
        self.agent = agent
        self.sees = sees
        self.user = user
        self.keeps_views = True
        """True if views are kept as files; false while recorded calls are repeated in a resumed run."""
        self.doing = ""
        """Id of the tool call in progress, unique within the run."""
        heading = agent.character.heading
        facing = agent.start.heading if heading is None else heading
        self.standing = BodyState(pano_id=agent.start.id, heading=facing)

    @cached_property
    def eyes(self) -> FarEyes:
        """The describer of what lies far down roads."""
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
        """Number of moves left within the limit of steps, those of consulted agents counted."""
        run = self.agent.run
        others = steps_taken(run) - (run.steps[-1].step if run.steps else 0)
        return self.agent.character.limits.steps - self.standing.moves - others

    def keep(
        self, view: View, purpose: Purpose, detections: Sequence[Detection] = (), caption: str = ""
    ) -> tuple[ViewRecord, ...]:
        """Write a view as a file of the run, and return its record; empty if views are not kept.

        Args:
            view: what was seen.
            purpose: why it was taken.
            detections: boxes to draw on it.
            caption: a line below it.
        """
        if not self.keeps_views:
            return ()
        return self.agent.run.keep(view, purpose, detections, caption)

    def turn(self, heading: float) -> None:
        """Turn the agent to a heading, degrees clockwise from north."""
        self.standing = self.standing.model_copy(update={"heading": heading})

    def go(self, link: Link, why: str) -> None:
        """Move the agent along a link, and write the step that ends here with the reason.

        Raises:
            BadInput: there are no moves left.
            NoStreetView: the link leads nowhere.
        """
        if self.moves_left <= 0:
            raise BadInput("no moves are left: finish with what you know")
        there = self.agent.mover.take(self.pose, link)
        self._write_down(link.pano_id, Choice(link, why))
        self._arrive(there, link.distance)

    def relocate(self, there: Panorama, why: str) -> None:
        """Move the agent to another panorama at once, heading unchanged; counts as a move and is a step.

        Raises:
            BadInput: there are no moves left.
        """
        if self.moves_left <= 0:
            raise BadInput("no moves are left: finish with what you know")
        self._write_down(there.id, Choice(None, why))
        self._arrive(Pose(there.id, self.standing.heading), 0.0)

    def go_on(self, standing: BodyState | None) -> None:
        """Move the agent to where a run was cut off.

        Args:
            standing: as its last note has it, `None` if none has it; moves written down after that count.
        """
        self.standing = standing or self.standing
        for step in self.agent.run.steps[self.standing.moves :]:
            if step.next_pano_id is not None:
                self._follow(Pose(step.pose.pano_id, step.pose.heading), step.next_pano_id)

    def be_led(self, before: float = inf) -> int:
        """Follow the user's decisions as long as the user steers; return the number of moves.

        Args:
            before: `seq` of the first record that came after it; by default nothing came after it.

        Returns:
            How many moves that were.
        """
        gone = self.standing.moves
        while self._is_led(before):
            pass
        return self.standing.moves - gone

    def _is_led(self, before: float) -> bool:
        """Return whether the user at the control moved the agent one step, recorded or now, and follow it."""
        run, index = self.agent.run, self.standing.moves
        if index < len(run.steps):
            written = run.steps[index]
            if not written.decided_by or written.next_pano_id is None or written.seq > before:
                return False
            self._follow(Pose(written.pose.pano_id, written.pose.heading), written.next_pano_id)
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
        """Write the last step, with the run's outcome."""
        self._write_down(None, Choice.end(outcome))

    def _follow(self, pose: Pose, pano_id: str) -> None:
        """Follow a recorded step to a panorama: by the link there, else at once, as it was relocated."""
        mover = self.agent.mover
        link = next((link for link in mover.links(pose) if link.pano_id == pano_id), None)
        if link is None:
            self._arrive(Pose(pano_id, pose.heading), 0.0)
        else:
            self._arrive(mover.take(pose, link), link.distance)

    def _arrive(self, there: Pose, distance_m: float) -> None:
        """Set the agent's pose after a move, and count the move."""
        self.standing = BodyState(
            pano_id=there.pano_id,
            heading=there.heading,
            moves=self.standing.moves + 1,
            distance_m=distance_m,
        )

    def _write_down(self, pano_id: str | None, choice: Choice) -> None:
        """Write a move to the journal as a step, unless it is written already."""
        run, index = self.agent.run, self.standing.moves
        if len(run.steps) > index:
            return  # written down before the run was cut off
        step = Step(index, self.pose, self.panorama, self.standing.distance_m, lambda: choice)
        run.step(
            step, views=(), asked=(), decided=choice.reason, next_pano_id=pano_id, outcome=choice.outcome
        )
