"""Sessions: each is a run with a thread of its own, which works on one call of its client after another.

The client gets reports of progress, and the client's user the questions that the run asks.
"""

import asyncio
import io
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Generic, TypeVar

from virl.agent.agent import Agent
from virl.agent.plan import RunOptions
from virl.agent.run import Audience
from virl.agent.start import begin
from virl.agent.user import Feedback, Moment, parse_line
from virl.console import SafeConsole
from virl.errors import BadInput, VirlError
from virl.files.writing import write_whole
from virl.journal.convert import pose_record
from virl.journal.records import AnyRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.journal.walk_map import ground_of, walk_map
from virl.pages.map_picture import draw_picture
from virl.tools.base import short
from virl.tools.body import Body
from virl.tools.use import RecordingExecutor

ANSWER_S = 600.0
"""Seconds for which a question waits for an answer; chosen."""
MOST_QUESTIONS, FOR_PROPOSALS = 9, 3
"""Most questions of one call, and the number of them reserved for proposals at the end of a run.

The SDK's client answers ten in a row before it gives up."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A report of the progress of a call, as an event for its client."""

    number: int
    """Number of the report within the call, from 1."""
    message: str
    """Text of the progress report, one line."""


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """A question for the client's user, as an event of a call."""

    key: str
    """Name of the question within the call, such as "question-1"."""
    moment: Moment
    """Moment of the run at which the user is asked."""
    fault: str = ""
    """Fault of the user's last answer; empty at the first try."""
    answer: "Future[str | None]" = field(default_factory=Future)
    """Future of the user's answer; it gives `None` if the user answers no more questions of this call."""

    @property
    def text(self) -> str:
        """Text of the question for the user, with the fault of the last answer, if any."""
        return "\n".join(filter(None, [self.fault, self.moment.about, self.moment.question]))


class Finished:
    """The event that a call's work has ended; the outcome is in `Call.result`."""


T = TypeVar("T")
Event = Progress | UserQuestion | Finished


class Call(Generic[T]):
    """A client's call: work for a session's thread, with its events and its result."""

    def __init__(self, work: Callable[[], T], *, can_ask: bool = False) -> None:
        """Keep the work, and whether the client can ask its user; called in the client's event loop."""
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.result: Future[T] = Future()
        self.waiting: UserQuestion | None = None
        """Question that has not been answered yet; `None` if there is none."""
        self._work = work
        self._can_ask = can_ask
        self._question_count = 0
        self._progress_count = 0
        self._loop = asyncio.get_running_loop()

    def do(self) -> None:
        """Do the work, unless the client has cancelled the call; called in the session's thread."""
        if not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self._work())
        except BaseException as fault:  # noqa: BLE001 - raised where the result is awaited
            self.result.set_exception(fault)
        finally:
            self._send(Finished())

    def refuse(self, fault: Exception) -> None:
        """End the call with an error, unless it was cancelled; called before its work has begun."""
        if self.result.set_running_or_notify_cancel():
            self.result.set_exception(fault)
            self._send(Finished())

    def progress(self, message: str) -> None:
        """Report the work's progress to the client, one line."""
        self._progress_count += 1
        self._send(Progress(self._progress_count, message))

    def ask(self, moment: Moment, fault: str) -> str | None:
        """Ask the user and return the answer; `None` if none comes, or the call has no more questions."""
        # Some questions are left for what the agent proposes, whatever it asked before.
        most = MOST_QUESTIONS if moment.proposed else MOST_QUESTIONS - FOR_PROPOSALS
        if not self._can_ask or self._question_count >= most:
            return None
        self._question_count += 1
        self.waiting = question = UserQuestion(f"question-{self._question_count}", moment, fault)
        self._send(question)
        try:
            answer = question.answer.result(ANSWER_S)
        except TimeoutError:
            answer = None
        self.waiting = None
        # Who did not answer once is not asked again in this call: each question waits for minutes.
        if answer is None:
            self._can_ask = False
        return answer

    def cancel(self) -> bool:
        """Return whether the call was cancelled before it began; if not, it goes on and asks nothing more."""
        self.dismiss()
        return self.result.cancel()

    def dismiss(self) -> None:
        """Ask the user nothing more and leave a waiting question unanswered: the client has gone on."""
        self._can_ask = False
        if (question := self.waiting) and not question.answer.done():
            question.answer.set_result(None)

    def _send(self, event: Event) -> None:
        """Put an event into the queue of the loop that answers the client; called in the session's thread."""
        self._loop.call_soon_threadsafe(self.events.put_nowait, event)


MAP_FILE = "map.png"
"""Name of the map's file in the run's folder, written when the session ends."""
WIDTH = 900
"""Width of the map in pixels."""


def draw_map(body: Body) -> bytes:
    """Return a PNG map, 900 pixels wide, of the ground, the walk so far, the places found and the agent."""
    run = body.agent.run
    here = StepRecord(
        seq=0,
        step=len(run.steps),
        pose=pose_record(body.pose, body.panorama.position),
        distance_m=0.0,
        decided="",
    )
    # Unless the last step is where the agent stands, a mark for that is added.
    steps = run.steps if run.steps and run.steps[-1].next_pano_id is None else [*run.steps, here]
    city = body.agent.city
    figure = walk_map(steps, ground_of(city), end="You", notice=city.notice)
    png = io.BytesIO()
    draw_picture(figure, WIDTH).save(png, "PNG", optimize=True)
    return png.getvalue()


_MAX_PROGRESS = 200
"""Most characters of a progress report; a longer one is shortened; chosen."""
_MAX_TRIES = 3
"""Most times that the user is asked for an answer that can be parsed; chosen."""


@dataclass(frozen=True, slots=True)
class ActingAgent:
    """The agent of a session, its body and its executor of tools; used in the session's thread only."""

    agent: Agent
    body: Body
    executor: RecordingExecutor
    """Executor that runs a tool by its name and arguments, and records it."""


class SetAside(Exception):
    """An exception that ends a session's thread and leaves its run open, so that it can be resumed."""


class CitySession:
    """A session: a run in which a client acts, with a thread that works on its calls."""

    def __init__(self, id: str, options: RunOptions, *, pictures: bool) -> None:  # noqa: A002
        """Keep the id, the run's options, and whether the client gets pictures; start nothing yet."""
        self.id = id
        self.budget_usd = options.access.budget_usd
        self.used = monotonic()
        """Time of the last use, seconds of the monotonic clock."""
        self.unheard: list[str] = []
        """Tools whose calls the client cancelled after they had begun; told with the next answer."""
        self.current: Call[object] | None = None
        """Call that is being worked on; `None` if there is none."""
        self._options = options
        self._pictures = pictures
        self._calls: SimpleQueue[Call[object] | None] = SimpleQueue()
        self._acting: ActingAgent | None = None
        self._opened: Future[None] = Future()
        self._lock = threading.Lock()
        self._over: Exception | None = None
        # One thread for the whole run: a journal has one writer, and calls come one after the other.
        self._thread = threading.Thread(target=self._run_thread, name=f"session {id}", daemon=True)

    def open(self) -> None:
        """Start the thread and wait until the run has been opened or resumed.

        Raises:
            VirlError: the run cannot be opened or resumed.
        """
        self._thread.start()
        self._opened.result()

    @property
    def is_open(self) -> bool:
        """Return whether the session takes calls."""
        return self._over is None

    @property
    def acting(self) -> ActingAgent:
        """The session's agent; only for use within a call, or to read what never changes."""
        assert self._acting  # noqa: S101 - once it is open
        return self._acting

    def submit(self, work: Callable[[ActingAgent], T], *, can_ask: bool = False) -> Call[T]:
        """Put work on the agent into the session's queue; return its call, which asks the user if `can_ask`.

        Raises:
            BadInput: the session is over.
        """
        call = Call(lambda: work(self.acting), can_ask=can_ask)
        with self._lock:
            if self._over:
                raise BadInput(str(self._over))
            self.used = monotonic()
            self._calls.put(call)  # type: ignore[arg-type] # who awaits it knows its type
        return call

    def set_aside(self) -> None:
        """End the thread after its current call and leave the run open, so that it can be resumed."""
        if call := self.current:
            call.dismiss()
        self._calls.put(None)
        self._thread.join()

    def wait(self) -> None:
        """Wait until the session's thread has ended; a run that is over then has its report written."""
        self._thread.join()

    def _run_thread(self) -> None:
        """Open the run and work on calls until it ends; the body of the session's thread."""
        over: Exception = BadInput(f"session {self.id} is set aside: call open_city with resume={self.id!r}")
        audience, user = ClientAudience(lambda: self.current), ClientUser(lambda: self.current)
        try:
            console = SafeConsole(quiet=True)
            with begin(self._options, console, audience=audience, user=user) as agent:
                body = Body(agent, sees=self._pictures, user=user)
                self._acting = ActingAgent(agent, body, RecordingExecutor(body))
                self._opened.set_result(None)
                try:
                    while agent.run.result is None:
                        self._work()
                finally:
                    write_whole(agent.run.folder / MAP_FILE, draw_map(body), "resume the session")
            over = BadInput(f"session {self.id} has ended: call open_city for a new one")
        except SetAside:
            pass
        except BaseException as fault:  # noqa: BLE001 - raised by `open`, or told to whoever calls next
            if not self._opened.done():
                self._opened.set_exception(fault)
            over = fault if isinstance(fault, VirlError) else over
        # From here on no call comes in; those that wait are refused.
        with self._lock:
            self._over = over
            self._acting = None  # the city goes, if no other session has it open
        while not self._calls.empty():
            if call := self._calls.get():
                call.refuse(over)

    def _work(self) -> None:
        """Wait for the next call and work on it; raise `SetAside` if the session is to be set aside."""
        call = self._calls.get()
        if call is None:
            raise SetAside
        self.current = call
        try:
            call.do()
        finally:
            self.current = None
            self.used = monotonic()


@dataclass(frozen=True, slots=True)
class ClientAudience:
    """An audience that reports a run's events as progress of the client's call; implements `Audience`."""

    current: Callable[[], Call[object] | None]
    """Function that returns the call that is worked on; `None` if there is none."""

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:  # noqa: ARG002 - as `Audience`
        """Tell the client that an agent starts."""
        self._send(f"{record.agent} starts")

    def progress(self, doing: str, done: int, total: int) -> None:
        """Tell the client that `done` of `total` parts of the activity `doing` are done."""
        self._send(f"{doing}: {done} of {total}")

    def step(self, record: StepRecord) -> None:
        """Tell the client the number and the decision of a step."""
        self._send(f"step {record.step}: {record.decided}")

    def note(self, record: NoteRecord) -> None:
        """Tell the client the topic and sentence of a note."""
        self._send(f"{record.topic} {record.key}: {record.sentence}")

    def end(self, result: Result) -> None:
        """Tell the client the agent's name, the status of the ended run, and the reason."""
        self._send(f"{result.agent}: {result.status}: {result.reason}")

    def nested_audience(self) -> Audience:
        """Return this audience, since the client is told of consulted agents too."""
        return self

    def _send(self, message: str) -> None:
        """Report a line, cut to 200 characters, to the client whose call is worked on, if there is one."""
        if call := self.current():
            call.progress(short(message, _MAX_PROGRESS))


@dataclass(slots=True)
class ClientUser:
    """A user who is asked through the client of the current call; implements `User`."""

    current: Callable[[], Call[object] | None]
    """Function that returns the call that is worked on; `None` if there is none."""
    _states: Collection[str] = ()

    def expect(self, states: Collection[str]) -> None:
        """Set the names of feelings that an answer may set, such as "hunger"; others are typing errors."""
        self._states = states

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return the user's parsed answer; `None` without an answer, or if the client cannot ask."""
        call, fault = self.current(), ""
        for _ in range(_MAX_TRIES):
            answer = call.ask(moment, fault) if call else None
            if answer is None or not answer.strip():
                return None
            try:
                return parse_line(answer, self._states)
            except BadInput as wrong:
                fault = str(wrong)
        return None
