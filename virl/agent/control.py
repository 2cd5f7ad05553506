"""Take part in a run while it goes on: pause it, step it, speak to it, look around, and steer it.

One thread runs the agent, others give commands. A command only says what is wanted: the run's thread does it
where its journal is whole, after a step or a note is written down and before a walk decides where to go.

    control = Control()
    Thread(target=run_agent, args=(options, console, control)).start()
    control.take_over()
    ...
    control.go(control.snapshot().links[0].pano_id)
    control.hand_back()

`ControlBridge` is the run's side of it.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Condition
from typing import Literal

from pydantic import BaseModel, ConfigDict

from virl.agent.agent import Agent
from virl.agent.run import SAID, Audience, Run
from virl.agent.user import Feedback, Moment, User, parse_line
from virl.errors import BadInput, RunStopped, VirlError
from virl.geo.globe import compass_word, egocentric_word
from virl.journal.convert import pose_record
from virl.journal.records import NoteRecord, PoseRecord, StepRecord
from virl.mind.base import Mind, SteeredMind
from virl.platform.city.streetview import Camera, Link, Pose, StreetView, View
from virl.platform.movers.base import Choice, Step, steered_by

LONGEST_SPEECH = 2000
"""Characters that the user may say at once; chosen."""
LOOK_WAIT_S = 60.0
"""Seconds that a look around waits for the step under way; chosen: a step that asks a model may be long."""

State = Literal["running", "paused", "yours", "ended"]
Look = Callable[[Camera], View]
Hear = Callable[[str], None]


class Way(BaseModel):
    """A link that can be taken."""

    model_config = ConfigDict(frozen=True)

    pano_id: str
    heading: float
    """Degrees clockwise from north, [0, 360)."""
    distance: float
    """Metres."""
    description: str
    """Such as `front left (northeast), 12 m`."""


class Standing(BaseModel):
    """The state of a run, for those who watch it."""

    model_config = ConfigDict(frozen=True)

    state: State
    """`running` or `paused`, `yours` while the user has taken over, `ended`."""
    pose: PoseRecord | None = None
    """The agent's pose; `None` before it starts."""
    links: tuple[Way, ...] = ()
    """The ways that `go` can take; empty unless a decision on the way is awaited."""
    waiting: bool = False
    """True if a decision or an answer of the user is awaited."""
    question: str = ""
    """The question to the user, which `say` answers, or the task of an episode that they play; else empty."""
    can_finish: bool = False
    """True if `finish` may end the walk here."""
    error: str = ""
    """The reason why the run was cut short, or the fault in an answer."""


class Control:
    """The commands to one run, and how it stands. Safe for several threads.

    Commands return at once, but for `look`. They can be given before the run starts.
    """

    def __init__(self) -> None:
        """Prepare the control of a run that is still to start."""
        self._changed = Condition()
        self._version = 0
        self._state: State = "running"
        self._pause_after: int | None = None
        """Steps and notes after which it is paused, `None` to go on."""
        self._stopping = False
        self._pose: PoseRecord | None = None
        self._links: tuple[Link, ...] = ()
        self._chosen: Link | None = None
        self._task: str | None = None
        """The task of an episode that the user plays, at a decision."""
        self._finished = False
        self._question, self._answered, self._error = "", False, ""
        self._speech: deque[str] = deque()
        self._looks: deque[tuple[Camera, Future[View]]] = deque()
        self._listeners = ""

    def pause(self) -> None:
        """Hold the run after the step or note under way."""
        with self._notify_change():
            self._set("paused")
            self._pause_after = 0

    def resume(self) -> None:
        """Go on after a pause."""
        with self._notify_change():
            self._set("running")
            self._pause_after = None

    def step(self) -> None:
        """Go on for one more step or note, then pause."""
        with self._notify_change():
            self._set("running")
            self._pause_after = 1

    def take_over(self) -> None:
        """Decide where to go from the next decision of a walk on, and answer what the user is asked.

        Raises:
            BadInput: the run has ended.
        """
        with self._notify_change():
            self._must_go_on()
            self._set("yours")
            self._pause_after = None

    def hand_back(self) -> None:
        """Let the agent decide again, from where it stands."""
        with self._notify_change():
            if self._state == "yours":
                self._set("running")

    def go(self, pano_id: str) -> None:
        """Take a link.

        Raises:
            BadInput: no decision is awaited, or no such link leaves from here.
        """
        with self._notify_change():
            if not self._links:
                raise BadInput("the agent waits for no decision: take over, and wait until it arrives")
            link = next((link for link in self._links if link.pano_id == pano_id), None)
            if link is None:
                raise BadInput(f"no link leads from here to panorama {pano_id!r}: choose one of the links")
            self._chosen, self._links = link, ()

    def finish(self) -> None:
        """Say that the walk ends here: the last decision of an episode that the user plays.

        Raises:
            BadInput: no decision is awaited, or this is no such episode.
        """
        with self._notify_change():
            if not self._links or self._task is None:
                raise BadInput(
                    "you cannot end this walk: only an episode that you play, when it waits for you"
                )
            self._finished, self._links = True, ()

    def say(self, text: str) -> str:
        """Say something to the agent, or answer its question: with an empty text, that there is nothing.

        Returns:
            Who hears it, in a sentence.

        Raises:
            BadInput: the run has ended, or the text is too long, or empty where nothing is asked.
        """
        text = text.strip()
        with self._notify_change():
            self._must_go_on()
            if not text and not self._question:
                raise BadInput("the text is empty: write what you want to say")
            if len(text) > LONGEST_SPEECH:
                raise BadInput(f"the text has {len(text)} characters: say it in at most {LONGEST_SPEECH}")
            self._speech.append(text)
            return "This is your answer." if self._question else self._listeners

    def stop(self) -> None:
        """Interrupt the run where its journal is whole. It can be resumed."""
        with self._notify_change():
            self._stopping = True

    def look(self, heading: float, pitch: float = 0.0, fov: float = 90.0, *, size: int = 640) -> View:
        """Return a view from where the agent stands, paid as any view. Waits for a step under way.

        Args:
            heading: degrees clockwise from north.
            pitch: degrees above the horizon, [-90, 90].
            fov: horizontal field of view in degrees, [10, 120].
            size: width and height in pixels, [16, 2048].

        Raises:
            BadInput: the run is neither paused nor yours, it did not rest in time, or a value is out of its
                range.
            NoImagery: there is no picture of this place.
            VirlError: whatever else the provider raises.
        """
        wanted: Future[View] = Future()
        with self._notify_change():
            if self._state not in ("paused", "yours"):
                raise BadInput("pause the run or take over before you look around")
            self._looks.append((Camera(heading, pitch, fov, size, size), wanted))
        try:
            return wanted.result(LOOK_WAIT_S)
        except TimeoutError:
            wanted.cancel()
            raise BadInput("the agent is taking a step: wait until it stops, then look around") from None

    def snapshot(self) -> Standing:
        """Return the present state of the run."""
        with self._changed:
            return Standing(
                state=self._state,
                pose=self._pose,
                links=tuple(way_of(link, self._pose) for link in self._links),
                waiting=bool(self._links or self._question),
                question=self._question or (self._task or "" if self._links else ""),
                can_finish=bool(self._links) and self._task is not None,
                error=self._error,
            )

    def wait_change(self, seen: int, timeout: float) -> int:
        """Wait until the standing is newer than version `seen`, or for `timeout` seconds.

        Returns:
            The version now; 0 before anything has happened.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen, timeout)
            return self._version

    # What follows is for the run's thread.

    @contextmanager
    def open(self) -> Iterator[None]:
        """Hold the run open, from its start to its end."""
        try:
            yield
        except VirlError as fault:
            self.complain(str(fault))
            raise
        finally:
            with self._notify_change():
                self._state = "ended"
                self._links, self._question = (), ""
                if self._speech and not self._error:
                    self._error = "the run ended before the agent heard what you said last"
                for _, wanted in self._looks:
                    if wanted.set_running_or_notify_cancel():
                        wanted.set_exception(BadInput("the run has ended"))
                self._looks.clear()

    @property
    def is_yours(self) -> bool:
        """Return whether the user has taken over."""
        return self._state == "yours"

    @property
    def is_finished(self) -> bool:
        """Return whether the user has ended the walk at the last decision."""
        return self._finished

    def arrive(self, pose: PoseRecord) -> None:
        """Say where the agent is."""
        with self._notify_change():
            self._pose = pose

    def complain(self, error: str) -> None:
        """Say what is wrong."""
        with self._notify_change():
            self._error = error

    def tell_listeners(self, listeners: str) -> None:
        """Say who hears what the user says, in a sentence."""
        self._listeners = listeners

    def rest(self, look: Look, hear: Hear) -> None:
        """Hold the run while it is paused, and do what is wanted of its thread.

        Args:
            look: makes a view for the user.
            hear: takes down what the user says.

        Raises:
            RunStopped: the user interrupts the run.
        """
        self._attend(look, hear, lambda: self._state != "paused")

    def pause_if_due(self) -> None:
        """Pause where as many steps and notes are done as were asked for."""
        with self._notify_change():
            if self._pause_after and self._state == "running":
                self._pause_after -= 1
                if not self._pause_after:
                    self._set("paused")

    def chosen_link(
        self, links: Sequence[Link], look: Look, hear: Hear, *, task: str | None = None
    ) -> Link | None:
        """Return the link that the user takes; `None` once they hand back or finish a `task`.

        Args:
            links: to choose from.
            look: takes the view that the user asks for.
            hear: takes what the user says.
            task: what an episode asks of the user; `None` outside of one.

        Raises:
            RunStopped: the user interrupts the run.
        """
        with self._notify_change():
            self._links, self._chosen = tuple(links), None
            self._task, self._finished = task, False
        self._attend(look, hear, lambda: self._chosen or self._finished or not self.is_yours)
        with self._notify_change():
            link, self._chosen, self._links = self._chosen, None, ()
        return link

    def await_answer(self, question: str, look: Look, hear: Hear, wanted: Callable[[], bool]) -> None:
        """Ask the user something, until `hear` has taken an answer down or none is `wanted` any more.

        Args:
            question: shown to the user.
            look: takes the view that the user asks for.
            hear: takes what the user says.
            wanted: false once no answer is needed any more.

        Raises:
            RunStopped: the user interrupts the run.
        """
        with self._notify_change():
            self._question, self._answered = question, False
        self._attend(look, hear, lambda: self._answered or not wanted())
        with self._notify_change():
            self._question = ""

    def _attend(self, look: Look, hear: Hear, done: Callable[[], object]) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._looks or self._speech or done())
                if self._stopping and not self._speech:  # what was said before is written down
                    raise RunStopped("the run is stopped: continue it with --resume")
                wanted = self._looks.popleft() if self._looks and not self._stopping else None
                said = None if wanted or not self._speech else self._speech.popleft()
            if wanted:
                _show(look, *wanted)
            elif said is not None:
                if said:
                    hear(said)
                with self._notify_change():
                    self._answered = True
            else:
                return

    def _set(self, state: State) -> None:
        if self._state != "ended":
            self._state = state

    def _must_go_on(self) -> None:
        """Check that the run has not ended."""
        if self._state == "ended":
            raise BadInput("the run has ended")

    @contextmanager
    def _notify_change(self) -> Iterator[None]:
        """Tell all who wait for a change, once the block has made one."""
        with self._changed:
            yield
            self._version += 1
            self._changed.notify_all()


def way_of(link: Link, pose: PoseRecord | None) -> Way:
    """Return a link as it is told to one who stands at a pose."""
    facing = pose.heading if pose else link.heading
    where = f"{egocentric_word(facing, link.heading)} ({compass_word(link.heading)}), {link.distance:.0f} m"
    return Way(pano_id=link.pano_id, heading=link.heading, distance=link.distance, description=where)


def _show(look: Look, camera: Camera, wanted: "Future[View]") -> None:
    if not wanted.set_running_or_notify_cancel():
        return
    try:
        wanted.set_result(look(camera))
    except VirlError as fault:
        wanted.set_exception(fault)
    except BaseException as fault:
        wanted.set_exception(fault)
        raise


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

        def words() -> tuple[str, ...]:
            """Return what the user said so far; nothing while a question of the routine is open."""
            if self._asked or self._run is None:
                return ()
            return tuple(str(note.data["say"]) for note in self._run.notes(SAID))

        return mind.with_user_words(words)

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
            try:
                return parse_line(said, self._states)
            except BadInput as fault:
                self._control.complain(str(fault))
                return Feedback(said)
        return self._user.feedback(moment)

    def _rest(self) -> None:
        """Hold the run for as long as that is wanted; its clock stands still."""
        with self._pause_clock():
            self._control.rest(self._look, self._hear)

    def _pause_clock(self) -> AbstractContextManager[None]:
        return self._run.pause_clock() if self._run else nullcontext()

    def _waits(self) -> bool:
        """Return whether a question waits for an answer: the user is to be asked, or steers the run."""
        return self._asks or self._control.is_yours

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
        """Return the view through a camera where the agent stands."""
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
