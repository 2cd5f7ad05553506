"""A session: one run, in a thread of its own, in which one call after another is worked on.

Its client is told how far the run is, and the client's user is asked what a routine asks.
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
from virl.journal.report import render_report
from virl.journal.walk_map import ground_of, walk_map
from virl.pages.map_picture import draw_picture
from virl.tools.base import short
from virl.tools.body import Body
from virl.tools.use import RecordingExecutor

ANSWER_S = 600.0
"""Seconds that a question waits for an answer; chosen."""
MOST_QUESTIONS, FOR_PROPOSALS = 9, 3
"""Questions of one call, and how many of them are kept for what a routine proposes at its end: the SDK's
client answers ten in a row before it gives up."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the work."""

    number: int
    """Number of the report, from 1 on, in one call."""
    message: str
    """A line."""


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """A question for the user of a routine."""

    key: str
    moment: Moment
    fault: str = ""
    """Fault of the last answer."""
    answer: "Future[str | None]" = field(default_factory=Future)
    """Answer of the user; `None` if none, now and later."""

    @property
    def text(self) -> str:
        """The text for the user."""
        return "\n".join(filter(None, [self.fault, self.moment.about, self.moment.question]))


class Finished:
    """The work is done: `Call.result` has what came of it."""


T = TypeVar("T")
Event = Progress | UserQuestion | Finished


class Call(Generic[T]):
    """Work that is handed to a session's thread.

    Args:
        work: what is done there.
        can_ask: whether the client can ask its user.
    """

    def __init__(self, work: Callable[[], T], *, can_ask: bool = False) -> None:
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.result: Future[T] = Future()
        self.waiting: UserQuestion | None = None
        """The question that is not answered yet."""
        self._work = work
        self._can_ask = can_ask
        self._asked = 0
        self._told = 0
        self._loop = asyncio.get_running_loop()

    def do(self) -> None:
        """Work, unless the client has cancelled the call; called in the session's thread."""
        if not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self._work())
        except BaseException as fault:  # noqa: BLE001 - raised where the result is awaited
            self.result.set_exception(fault)
        finally:
            self._tell(Finished())

    def refuse(self, fault: Exception) -> None:
        """End the call with a fault before it has begun."""
        if self.result.set_running_or_notify_cancel():
            self.result.set_exception(fault)
            self._tell(Finished())

    def progress(self, message: str) -> None:
        """Tell the client how far the work is."""
        self._told += 1
        self._tell(Progress(self._told, message))

    def ask(self, moment: Moment, fault: str) -> str | None:
        """Return the user's answer at a moment; `None` if nobody listens any more, or enough was asked."""
        # Some questions are left for what the agent proposes, whatever it asked before.
        most = MOST_QUESTIONS if moment.proposed else MOST_QUESTIONS - FOR_PROPOSALS
        if not self._can_ask or self._asked >= most:
            return None
        self._asked += 1
        self.waiting = question = UserQuestion(f"question-{self._asked}", moment, fault)
        self._tell(question)
        try:
            said = question.answer.result(ANSWER_S)
        except TimeoutError:
            said = None
        self.waiting = None
        # Who did not answer once is not asked again in this call: each question waits for minutes.
        if said is None:
            self._can_ask = False
        return said

    def cancel(self) -> bool:
        """Return whether a call was cancelled before it began; a begun one goes on, without questions."""
        self.dismiss()
        return self.result.cancel()

    def dismiss(self) -> None:
        """Ask nothing more: the client has gone on."""
        self._can_ask = False
        if (question := self.waiting) and not question.answer.done():
            question.answer.set_result(None)

    def _tell(self, event: Event) -> None:
        """Hand an event to the loop that answers the client; called in the session's thread."""
        self._loop.call_soon_threadsafe(self.events.put_nowait, event)


MAP_FILE = "map.png"
"""Name of the file in the run's folder, once the session is over."""
WIDTH = 900
"""Pixels."""


def draw_map(body: Body) -> bytes:
    """Draw the ground, the way walked so far, the places considered, and where the agent stands."""
    run = body.agent.run
    here = StepRecord(
        seq=0,
        step=len(run.steps),
        pose=pose_record(body.pose, body.panorama.position),
        distance_m=0.0,
        decided="",
    )
    steps = run.steps if run.steps and run.steps[-1].next_pano_id is None else [*run.steps, here]
    city = body.agent.city
    figure = walk_map(steps, ground_of(city), end="You", notice=city.notice)
    png = io.BytesIO()
    draw_picture(figure, WIDTH).save(png, "PNG", optimize=True)
    return png.getvalue()


_LONGEST = 200
"""Characters of a line of progress; chosen."""
_TRIES = 3
"""Times that a readable answer is asked for; chosen."""


@dataclass(frozen=True, slots=True)
class Acting:
    """The objects that a call works with, in the session's thread."""

    agent: Agent
    body: Body
    hand: RecordingExecutor


class SetAside(Exception):
    """The end of a session that leaves its run open, to be resumed."""


class CitySession:
    """A run that a client acts in.

    Args:
        id: of the session, the name of the run's folder.
        options: of the run.
        pictures: whether the client is shown pictures; else it is told in words what they show.
    """

    def __init__(self, id: str, options: RunOptions, *, pictures: bool) -> None:  # noqa: A002
        self.id = id
        self.budget_usd = options.access.budget_usd
        self.used = monotonic()
        """Time of the last use."""
        self.unheard: list[str] = []
        """Tools whose calls had begun when their client cancelled them, for the next answer."""
        self._options = options
        self._pictures = pictures
        self._calls: SimpleQueue[Call[object] | None] = SimpleQueue()
        self._current: Call[object] | None = None
        self._acting: Acting | None = None
        self._opened: Future[None] = Future()
        self._lock = threading.Lock()
        self._over: Exception | None = None
        # One thread for the whole run: a journal has one writer, and calls come one after the other.
        self._thread = threading.Thread(target=self._live, name=f"session {id}", daemon=True)

    def open(self) -> None:
        """Open the city and begin the run, or go on with it; blocks until that is done.

        Raises:
            VirlError: it cannot.
        """
        self._thread.start()
        self._opened.result()

    @property
    def is_open(self) -> bool:
        """Return whether calls are taken."""
        return self._over is None

    @property
    def acting(self) -> Acting:
        """Its parts; only for use within a call, or to read what does not change."""
        assert self._acting  # noqa: S101 - once it is open
        return self._acting

    @property
    def current(self) -> Call[object] | None:
        """The call that is worked on."""
        return self._current

    def submit(self, work: Callable[[Acting], T], *, can_ask: bool = False) -> Call[T]:
        """Hand in work; it begins when all that was handed in before is done.

        Args:
            work: what is done.
            can_ask: whether the client can ask its user meanwhile.

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
        """End the thread once it is done, and leave the run open: it can be resumed by its id."""
        if call := self._current:
            call.dismiss()
        self._calls.put(None)
        self._thread.join()

    def wait(self) -> None:
        """Wait until the run that has ended is written down, with its report."""
        self._thread.join()

    def report(self, acting: Acting) -> str:
        """Return the report as it stands, an HTML page; for `submit`."""
        return render_report(acting.agent.run.folder, acting.agent.city)

    def map(self, acting: Acting) -> bytes:
        """Return the map of the walk so far, a PNG; for `submit`."""
        return draw_map(acting.body)

    def _live(self) -> None:
        """Open the run and work on calls until it ends; the whole life of the session's thread."""
        over: Exception = BadInput(f"session {self.id} is set aside: call open_city with resume={self.id!r}")
        audience, user = ClientAudience(lambda: self._current), ClientUser(lambda: self._current)
        try:
            console = SafeConsole(quiet=True)
            with begin(self._options, console, audience=audience, user=user) as agent:
                body = Body(agent, sees=self._pictures, user=user)
                self._acting = Acting(agent, body, RecordingExecutor(body))
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
        self._end(over)

    def _work(self) -> None:
        """Wait for a call and work on it; raise `SetAside` where there are no more."""
        call = self._calls.get()
        if call is None:
            raise SetAside
        self._current = call
        try:
            call.do()
        finally:
            self._current = None
            self.used = monotonic()

    def _end(self, over: Exception) -> None:
        """Refuse all calls that wait, and all that come, with the reason why the session is over."""
        with self._lock:
            self._over = over
            self._acting = None  # the city goes, if no other session has it open
        while not self._calls.empty():
            if call := self._calls.get():
                call.refuse(over)


class ClientAudience:
    """An audience that tells the client of the call that is under way.

    Args:
        current: gives that call.
    """

    def __init__(self, current: Callable[[], Call[object] | None]) -> None:
        self._current = current

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:  # noqa: ARG002 - as `Audience`
        """Tell the client that an agent starts."""
        self._tell(f"{record.agent} starts")

    def progress(self, doing: str, done: int, total: int) -> None:
        """Tell the client of the progress of something."""
        self._tell(f"{doing}: {done} of {total}")

    def step(self, record: StepRecord) -> None:
        """Tell the client of a step."""
        self._tell(f"step {record.step}: {record.decided}")

    def note(self, record: NoteRecord) -> None:
        """Tell the client of a note."""
        self._tell(f"{record.topic} {record.key}: {record.sentence}")

    def end(self, result: Result) -> None:
        """Tell the client of the end of the run."""
        self._tell(f"{result.agent}: {result.status}: {result.reason}")

    def nested_audience(self) -> Audience:
        """Return itself: the client is told of agents that are consulted, too."""
        return self

    def _tell(self, message: str) -> None:
        """Send a line to the client whose call is worked on, if there is one."""
        if call := self._current():
            call.progress(short(message, _LONGEST))


class ClientUser:
    """A user who is asked through the client.

    Args:
        current: gives the call that is under way.
    """

    def __init__(self, current: Callable[[], Call[object] | None]) -> None:
        self._current = current
        self._states: Collection[str] = ()

    def expect(self, states: Collection[str]) -> None:
        """Take other states for a slip of the fingers."""
        self._states = states

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return the user's answer; `None` where the client cannot ask."""
        call, fault = self._current(), ""
        for _ in range(_TRIES):
            said = call.ask(moment, fault) if call else None
            if said is None or not said.strip():
                return None
            try:
                return parse_line(said, self._states)
            except BadInput as wrong:
                fault = str(wrong)
        return None
