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
"""Most characters of one message of the user; longer ones are refused; chosen."""
LOOK_WAIT_S = 60.0
"""Most seconds that `look` waits for the current step to end; chosen: a step may ask a slow model."""

RunState = Literal["running", "paused", "yours", "ended"]
TakeView = Callable[[Camera], View]
"""A function that returns the view through a camera from the agent's present position."""
RecordMessage = Callable[[str], None]
"""A function that writes a message of the user into the journal."""


class LinkChoice(BaseModel):
    """A link that the user can take, with its direction in words."""

    model_config = ConfigDict(frozen=True)

    pano_id: str
    """Id of the panorama to which the link leads."""
    heading: float
    """Heading of the link, degrees clockwise from north, [0, 360)."""
    distance: float
    """Length of the link in metres."""
    description: str
    """Direction and distance in words, such as `front left (northeast), 12 m`."""


class Standing(BaseModel):
    """The state of a run at one moment, as shown to people who follow or steer it."""

    model_config = ConfigDict(frozen=True)

    state: RunState
    """State of the run: `running`, `paused`, `yours` while the user steers, or `ended`."""
    pose: PoseRecord | None = None
    """The agent's pose; `None` before the first step."""
    links: tuple[LinkChoice, ...] = ()
    """The links among which the user is to choose, by `go`; empty at other moments."""
    waiting: bool = False
    """True if the run waits for the user's decision or answer."""
    question: str = ""
    """Question that `say` answers, or the task of an episode that the user plays; empty without either."""
    can_finish: bool = False
    """True if the user may now end the walk by `finish`."""
    error: str = ""
    """Error that ended the run, or why the user's last words were not understood or heard; else empty."""


class Control:
    """A thread-safe remote control of one run, which takes the user's commands and reports the run's state.

    Commands return at once, but for `look`. They can be given before the run starts.
    """

    def __init__(self) -> None:
        """Prepare the control of a run that is still to start."""
        self._changed = Condition()
        self._version = 0
        self._state: RunState = "running"
        self._pause_after: int | None = None
        """Number of further steps and notes after which a running run pauses; `None` for no pause."""
        self._stopping = False
        self._pose: PoseRecord | None = None
        self._links: tuple[Link, ...] = ()
        self._chosen: Link | None = None
        self._task: str | None = None
        """Task of the episode that the user plays, while a decision is awaited; `None` otherwise."""
        self.is_finished = False
        """True if the user has ended the walk at the last decision."""
        self._question, self._answered, self._error = "", False, ""
        self._speech: deque[str] = deque()
        self._looks: deque[tuple[Camera, Future[View]]] = deque()
        self._listeners = ""
        self.thinking: Callable[[], str] = str
        """Function that returns a line on the model request in progress; an empty one while none is."""

    def pause(self) -> None:
        """Pause the run after the current step or note."""
        self._set_state("paused")

    def resume(self) -> None:
        """Let the run go on after a pause."""
        self._set_state("running")

    def step(self) -> None:
        """Let the run continue for one step or note, then pause it."""
        self._set_state("running", pause_after=1)

    def take_over(self) -> None:
        """Let the user choose the links from the next decision on, and answer the run's questions.

        Raises:
            BadInput: the run has ended.
        """
        with self._notify_change():
            self._check_running()
            self._set_state("yours")

    def hand_back(self) -> None:
        """Let the agent decide again, from its present pose."""
        with self._notify_change():
            if self._state == "yours":
                self._set_state("running")

    def go(self, pano_id: str) -> None:
        """Make the waiting agent walk the link to the panorama with this id.

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
        """End the walk of a benchmark's episode that the user plays, while it waits for a decision.

        Raises:
            BadInput: no decision is awaited, or this is no such episode.
        """
        with self._notify_change():
            if not self._links or self._task is None:
                raise BadInput(
                    "you cannot end this walk: only an episode that you play, when it waits for you"
                )
            self.is_finished, self._links = True, ()

    def say(self, text: str) -> str:
        """Send a message, or the answer to an open question, and return a sentence on who receives it.

        An empty text is the answer that there is nothing to say.

        Raises:
            BadInput: the run has ended, or the text is too long, or empty where nothing is asked.
        """
        text = text.strip()
        with self._notify_change():
            self._check_running()
            if not text and not self._question:
                raise BadInput("the text is empty: write what you want to say")
            if len(text) > LONGEST_SPEECH:
                raise BadInput(f"the text has {len(text)} characters: say it in at most {LONGEST_SPEECH}")
            self._speech.append(text)
            return "This is your answer." if self._question else self._listeners

    def stop(self) -> None:
        """Interrupt the run after the step or note in progress is recorded; it can be resumed."""
        with self._notify_change():
            self._stopping = True

    def look(self, heading: float, pitch: float = 0.0, fov: float = 90.0, *, size: int = 640) -> View:
        """Return a view from the agent's position, `size` pixels square; the angles are in degrees.

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
        view: Future[View] = Future()
        with self._notify_change():
            if self._state not in ("paused", "yours"):
                raise BadInput("pause the run or take over before you look around")
            self._looks.append((Camera(heading, pitch, fov, size, size), view))
        try:
            return view.result(LOOK_WAIT_S)
        except TimeoutError:
            view.cancel()
            raise BadInput("the agent is taking a step: wait until it stops, then look around") from None

    def snapshot(self) -> Standing:
        """Return the present state of the run."""
        with self._changed:
            return Standing(
                state=self._state,
                pose=self._pose,
                links=tuple(describe_link(link, self._pose) for link in self._links),
                waiting=bool(self._links or self._question),
                question=self._question or (self._task or "" if self._links else ""),
                can_finish=bool(self._links) and self._task is not None,
                error=self._error,
            )

    def wait_change(self, seen: int, timeout: float) -> int:
        """Wait until something changes after version `seen`, at most `timeout` seconds; return the version.

        The version counts the changes: 0 before anything has happened.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen, timeout)
            return self._version

    # What follows is for the run's thread.

    @contextmanager
    def open(self) -> Iterator[None]:
        """Report an error raised in the block as the run's error; after the block, set the state `ended`."""
        try:
            yield
        except VirlError as fault:
            self.report_error(str(fault))
            raise
        finally:
            with self._notify_change():
                self._state = "ended"
                self._links, self._question = (), ""
                if self._speech and not self._error:
                    self._error = "the run ended before the agent heard what you said last"
                for _, view in self._looks:
                    if view.set_running_or_notify_cancel():
                        view.set_exception(BadInput("the run has ended"))
                self._looks.clear()

    @property
    def is_yours(self) -> bool:
        """Return whether the user steers the run."""
        return self._state == "yours"

    def arrive(self, pose: PoseRecord) -> None:
        """Set the agent's pose, which `snapshot` reports."""
        with self._notify_change():
            self._pose = pose

    def report_error(self, error: str) -> None:
        """Set the error that `snapshot` reports."""
        with self._notify_change():
            self._error = error

    def tell_listeners(self, listeners: str) -> None:
        """Set the sentence on who receives messages, which `say` returns while no question is open."""
        self._listeners = listeners

    def rest(self, look: TakeView, hear: RecordMessage) -> None:
        """Hold the run's thread during a pause; meanwhile answer looks by `look`, give messages to `hear`.

        Raises:
            RunStopped: the user interrupts the run.
        """
        self._serve_user(look, hear, lambda: self._state != "paused")

    def pause_if_due(self) -> None:
        """Count a step or note that was recorded; pause the run if `step` asked for no more."""
        with self._notify_change():
            if self._pause_after and self._state == "running":
                self._pause_after -= 1
                if self._pause_after == 0:
                    self._set_state("paused")

    def chosen_link(
        self, links: Sequence[Link], look: TakeView, hear: RecordMessage, *, task: str | None = None
    ) -> Link | None:
        """Wait for the user's choice of a link and return it; `None` if they hand back or finish the `task`.

        Args:
            links: to choose from.
            look: takes the view that the user asks for.
            hear: records what the user says.
            task: what an episode asks of the user; `None` outside of one.

        Raises:
            RunStopped: the user interrupts the run.
        """
        with self._notify_change():
            self._links, self._chosen = tuple(links), None
            self._task, self.is_finished = task, False
        self._serve_user(look, hear, lambda: self._chosen or self.is_finished or not self.is_yours)
        with self._notify_change():
            link, self._chosen, self._links = self._chosen, None, ()
        return link

    def await_answer(
        self, question: str, look: TakeView, hear: RecordMessage, is_needed: Callable[[], bool]
    ) -> None:
        """Show the user a question, and block until it is answered or `is_needed()` is false.

        Args:
            question: shown to the user.
            look: takes the view that the user asks for.
            hear: records what the user says.
            is_needed: says whether an answer is still needed.

        Raises:
            RunStopped: the user interrupts the run.
        """
        with self._notify_change():
            self._question, self._answered = question, False
        self._serve_user(look, hear, lambda: self._answered or not is_needed())
        with self._notify_change():
            self._question = ""

    def _serve_user(self, look: TakeView, hear: RecordMessage, done: Callable[[], object]) -> None:
        """Answer looks by `look` and pass messages to `hear` until `done()`; raise `RunStopped` at a stop."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._looks or self._speech or done())
                if self._stopping and not self._speech:  # what was said before is written down
                    raise RunStopped("the run is stopped: continue it with --resume")
                asked = self._looks.popleft() if self._looks and not self._stopping else None
                said = None if asked or not self._speech else self._speech.popleft()
            # Without the lock: a look may take seconds, in which the user goes on giving commands.
            if asked:
                _take_view(look, *asked)
            elif said is not None:
                if said:
                    hear(said)
                with self._notify_change():
                    self._answered = True
            else:
                return

    def _set_state(self, state: RunState, *, pause_after: int | None = None) -> None:
        """Set the run's state, unless it has ended; pause after `pause_after` steps and notes if given."""
        with self._notify_change():
            self._pause_after = pause_after
            if self._state != "ended":
                self._state = state

    def _check_running(self) -> None:
        """Raise `BadInput` if the run has ended."""
        if self._state == "ended":
            raise BadInput("the run has ended")

    @contextmanager
    def _notify_change(self) -> Iterator[None]:
        """Hold the lock within the block, then wake all threads that wait for a change."""
        with self._changed:
            yield
            self._version += 1
            self._changed.notify_all()


def describe_link(link: Link, pose: PoseRecord | None) -> LinkChoice:
    """Return a link with its direction in words, relative to a pose; without a pose it is straight ahead."""
    facing = pose.heading if pose else link.heading
    where = f"{egocentric_word(facing, link.heading)} ({compass_word(link.heading)}), {link.distance:.0f} m"
    return LinkChoice(pano_id=link.pano_id, heading=link.heading, distance=link.distance, description=where)


def _take_view(look: TakeView, camera: Camera, view: "Future[View]") -> None:
    """Take the view through a camera and set it, or the error, as the result of the future `view`."""
    if not view.set_running_or_notify_cancel():
        return
    try:
        view.set_result(look(camera))
    except BaseException as fault:
        view.set_exception(fault)  # first, so that the user's thread never waits for a run that has broken
        if not isinstance(fault, VirlError):
            raise


USER = "user"
"""Value of `decided_by` in the journal for steps that the steering user decides."""
TO_AGENT = "The agent hears it when it next asks you."
TO_MODEL = "The model hears it with its next question."
TO_NOBODY = "It is written down, but nobody listens: rules decide, and this agent does not ask you."


class ControlBridge:
    """A link between a run and its control: pauses the run, steers its walks, and acts as its user."""

    def __init__(self, control: Control, streetview: StreetView, user: User, *, asks: bool) -> None:
        """Link a control to a run still to begin; with `asks` the run waits wherever it asks its user.

        Args:
            control: gives the commands.
            streetview: where the user looks around.
            user: is asked where nobody spoke through the control.
            asks: whether the run waits for an answer wherever its user is asked.
        """
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
        """Let the control's commands reach the run of an agent within the block."""
        self._run = agent.run
        steps = agent.run.steps
        start = Pose(agent.start.id, agent.start.heading)
        self._arrive(steps[-1].pose if steps else pose_record(start, agent.start.position))
        self._control.tell_listeners(TO_MODEL if isinstance(agent.mind, SteeredMind) else TO_NOBODY)
        with steered_by(self):
            self._rest()
            yield

    def wrap_mind(self, mind: Mind) -> Mind:
        """Return the mind; if it is a model, its questions also carry the messages of the user.

        A routine that asks the user itself gets the messages instead.
        """
        if not isinstance(mind, SteeredMind):
            return mind

        def words() -> tuple[str, ...]:
            """Return all messages of the user so far; none where the routine itself asks the user."""
            if self._asked or self._run is None:
                return ()
            return tuple(str(note.data["say"]) for note in self._run.notes(SAID))

        return mind.with_user_words(words)

    def pause_after(self, record: StepRecord | NoteRecord) -> None:
        """Pause the run after a record was written, if the user wants it."""
        if self._writing:
            return
        if isinstance(record, StepRecord):
            self._arrive(record.pose)
        self._control.pause_if_due()
        self._rest()

    def decide(self, step: Step) -> Choice | None:
        """Return the user's choice of a link at a step; `None` unless the user steers."""
        pose = pose_record(step.pose, step.panorama.position)
        self._arrive(pose)
        self._rest()
        if not self._control.is_yours or not (links := step.links):
            return None
        with self._pause_clock():
            link = self._control.chosen_link(links, self._look, self._hear)
        if link is None:
            return None
        return Choice(link, f"the user goes {describe_link(link, pose).description}", decided_by=USER)

    def expect(self, states: Collection[str]) -> None:
        """Set the names of the feelings that the user may set, by messages at the control or otherwise."""
        self._states, self._asked = states, True
        self._control.tell_listeners(TO_AGENT)
        self._user.expect(states)

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return the user's words and feelings at a moment, waiting for them if need be; `None` for none."""
        self._rest()
        if not self._unheard() and self._waits():
            question = f"{moment.about}\n{moment.question}".strip()
            with self._pause_clock():
                self._control.await_answer(question, self._look, self._hear, self._waits)
        if said := self._unheard():
            try:
                heard = parse_line(said, self._states)
            except BadInput as fault:
                self._control.report_error(str(fault))
                return Feedback(said)
            self._control.report_error("")  # else the fault of an earlier answer would stay on the page
            return heard
        return self._user.feedback(moment)

    def _rest(self) -> None:
        """Hold the run's thread while the user has paused it; the run's clock stands still meanwhile."""
        with self._pause_clock():
            self._control.rest(self._look, self._hear)

    def _pause_clock(self) -> AbstractContextManager[None]:
        """Return a block in which the run's clock stands still; without a run it does nothing."""
        return self._run.pause_clock() if self._run else nullcontext()

    def _waits(self) -> bool:
        """Return whether the run waits for an answer: the user is to be asked, or steers it."""
        return self._asks or self._control.is_yours

    def _unheard(self) -> str:
        """Return the user's messages since a routine last recorded some, joined; empty without any."""
        if self._run is None:
            return ""
        return " ".join(
            str(note.data["say"]) for note in self._run.notes(SAID) if note.seq > self._run.heard_until
        )

    def _arrive(self, pose: PoseRecord) -> None:
        """Set the present pose, from which the user looks around and which the control reports."""
        self._pose = pose
        self._control.arrive(pose)

    def _look(self, camera: Camera) -> View:
        """Return the view through a camera from the agent's present position."""
        if self._pose is None:
            raise BadInput("the agent has no position yet: wait for its first step")
        return self._streetview.view(self._pose.pano_id, camera)

    def _hear(self, said: str) -> None:
        """Write a user's message into the journal as a note; do nothing before the run is connected."""
        if self._run is None:
            return
        self._writing = True
        try:
            number = len(self._run.notes(SAID)) + 1
            self._run.note(SAID, str(number), f"The user: {said}", data={"say": said}, asked=())
        finally:
            self._writing = False


class PausingAudience:
    """An audience that passes all on to another one, and pauses the run after steps and notes."""

    def __init__(self, bridge: ControlBridge, audience: Audience) -> None:
        """Prepare to pass events on to `audience`, and to let `bridge` hold the run after steps and notes."""
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
        """Return the audience for an agent that this run's agent consults, held by the same control."""
        return PausingAudience(self._bridge, self._audience.nested_audience())
