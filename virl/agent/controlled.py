"""The run's side of a `Control`: it is held, asked and steered where its journal is whole."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from virl.agent.agent import Agent
from virl.agent.control import Control, way_of
from virl.agent.run import SAID, Audience, Run
from virl.agent.user import Feedback, Moment, User, parse_line
from virl.errors import BadInput
from virl.journal.convert import pose_record
from virl.journal.records import NoteRecord, PoseRecord, StepRecord
from virl.mind.base import Mind, SteeredMind
from virl.platform.city.streetview import Camera, Pose, StreetView, View
from virl.platform.movers.base import Choice, Step, steered_by

USER = "user"
"""The name in the journal of the user who steers a run."""
TO_AGENT = "The agent hears it when it next asks you."
TO_MODEL = "The model hears it with its next question."
TO_NOBODY = "It is written down, but nobody listens: rules decide, and this agent does not ask you."


class ControlBridge:
    """A link between a run and its control: holds the run, steers its walks, and speaks as its user.

    Args:
        control: the commands.
        streetview: where the user looks around.
        user: who says what those at the control do not.
        asks: whether the run waits for an answer wherever its user is asked.
    """

    def __init__(self, control: Control, streetview: StreetView, user: User, *, asks: bool) -> None:
        self._control = control
        self._streetview = streetview
        self._user = user
        self._asks = asks
        self._states: Collection[str] = ()
        self._run: Run | None = None
        self._pose: PoseRecord | None = None
        self._writing = self._asked = False

    @contextmanager
    def open(self, agent: Agent) -> Iterator[None]:
        """Let the commands reach an agent's run within the block."""
        self._run = agent.run
        steps = agent.run.steps
        start = Pose(agent.start.id, agent.start.heading)
        self._arrive(steps[-1].pose if steps else pose_record(start, agent.start.position))
        self._control.tell_listeners(TO_MODEL if isinstance(agent.mind, SteeredMind) else TO_NOBODY)
        with steered_by(self):
            self._rest()
            yield

    def wrap_mind(self, mind: Mind) -> Mind:
        """Return the mind; a model is told what the user says, unless the agent itself asks the user."""
        if not isinstance(mind, SteeredMind):
            return mind
        return mind.with_user_words(
            lambda: () if self._asked or self._run is None else self._user_words(self._run)
        )

    def _user_words(self, run: Run) -> tuple[str, ...]:
        return tuple(str(note.data["say"]) for note in run.notes(SAID))

    def wrap_audience(self, audience: Audience) -> Audience:
        """Return an audience that tells another one, and then holds the run where that is wanted."""
        return _PausingAudience(self, audience)

    def pause_after(self, record: StepRecord | NoteRecord) -> None:
        """Hold the run after what is written down, where that is wanted."""
        if self._writing:
            return
        if isinstance(record, StepRecord):
            self._arrive(record.pose)
        self._control.pause_if_due()
        self._rest()

    def decide(self, step: Step) -> Choice | None:
        """Return the link that the user chooses; `None` unless they have taken over."""
        pose = pose_record(step.pose, step.panorama.position)
        self._arrive(pose)
        self._rest()
        if not self._control.is_yours or not (links := step.links):
            return None
        with self._pause_clock():
            link = self._control.chosen_link(links, self._look, self._hear)
        if link is None:
            return None
        return Choice(link, f"the user goes {way_of(link, pose).description}", decided_by=USER)

    def expect(self, states: Collection[str]) -> None:
        """Remember the feelings that the user may set, and pass them to the user behind."""
        self._states, self._asked = states, True
        self._control.tell_listeners(TO_AGENT)
        self._user.expect(states)

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return what was said since the agent last asked, or what is answered now."""
        self._rest()
        if not self._unheard() and self._waits():
            question = f"{moment.about}\n{moment.question}".strip()
            with self._pause_clock():
                self._control.await_answer(question, self._look, self._hear, self._waits)
        if said := self._unheard():
            return self._parse_feedback(said)
        return self._user.feedback(moment)

    def _rest(self) -> None:
        with self._pause_clock():
            self._control.rest(self._look, self._hear)

    def _pause_clock(self) -> AbstractContextManager[None]:
        return self._run.pause_clock() if self._run else nullcontext()

    def _waits(self) -> bool:
        return self._asks or self._control.is_yours

    def _parse_feedback(self, said: str) -> Feedback:
        try:
            return parse_line(said, self._states)
        except BadInput as fault:
            self._control.complain(str(fault))
            return Feedback(said)

    def _unheard(self) -> str:
        """Return what was said since the agent last wrote down what it was told, before a kill too."""
        if self._run is None:
            return ""
        return " ".join(
            str(note.data["say"]) for note in self._run.notes(SAID) if note.seq > self._run.heard_until
        )

    def _arrive(self, pose: PoseRecord) -> None:
        self._pose = pose
        self._control.arrive(pose)

    def _look(self, camera: Camera) -> View:
        if self._pose is None:
            raise BadInput("the agent has no position yet: wait for its first step")
        return self._streetview.view(self._pose.pano_id, camera)

    def _hear(self, said: str) -> None:
        if self._run is None:
            return
        self._writing = True
        try:
            number = len(self._run.notes(SAID)) + 1
            self._run.note(SAID, str(number), f"The user: {said}", data={"say": said}, asked=())
        finally:
            self._writing = False


class _PausingAudience:
    """An audience that tells another, and holds the run."""

    def __init__(self, bridge: ControlBridge, audience: Audience) -> None:
        self._bridge = bridge
        self._audience = audience
        self.start, self.progress, self.end = audience.start, audience.progress, audience.end

    def step(self, record: StepRecord) -> None:
        """Pass a step to the audience, and let the control hold the run after it."""
        self._audience.step(record)
        self._bridge.pause_after(record)

    def note(self, record: NoteRecord) -> None:
        """Pass a note to the audience, and let the control hold the run after it."""
        self._audience.note(record)
        self._bridge.pause_after(record)

    def nested_audience(self) -> Audience:
        """Return the audience of an agent that is consulted, held by the same control."""
        return _PausingAudience(self._bridge, self._audience.nested_audience())
