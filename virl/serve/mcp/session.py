"""A session: one run, in a thread of its own, in which one call after another is worked on.

Its client is told how far the run is, and the client's user is asked what a routine asks.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic
from typing import TypeVar

from virl.agent.agent import Agent
from virl.agent.plan import RunOptions
from virl.agent.run import Audience
from virl.agent.start import begin
from virl.agent.user import Feedback, Moment, parse_line
from virl.console import SafeConsole
from virl.errors import BadInput, VirlError
from virl.files.writing import write_whole
from virl.journal.records import AnyRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.journal.report import render_report
from virl.serve.mcp.calls import Call
from virl.serve.mcp.map_picture import MAP_FILE, draw_map
from virl.tools.base import short
from virl.tools.body import Body
from virl.tools.use import RecordingExecutor

_LONGEST = 200
"""Characters of a line of progress; chosen."""
_TRIES = 3
"""Times that a readable answer is asked for; chosen."""
T = TypeVar("T")


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
