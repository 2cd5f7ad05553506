"""The client of a session: it is told how far a run is, and its user is asked what a routine asks."""

from collections.abc import Callable, Collection, Sequence

from virl.agent.run import Audience
from virl.agent.user import Feedback, Moment, parse_line
from virl.errors import BadInput
from virl.journal.records import AnyRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.serve.mcp.calls import Call
from virl.tools.base import short

LONGEST = 200
"""Characters of a line of progress; chosen."""
TRIES = 3
"""How often an answer that cannot be read is asked for; chosen."""


class ClientAudience:
    """An audience that tells the client of the call that is under way.

    Args:
        current: gives that call.
    """

    def __init__(self, current: Callable[[], Call[object] | None]) -> None:
        self._current = current

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:  # noqa: ARG002 - as `Audience`
        """Who sets out."""
        self._tell(f"{record.agent} starts")

    def progress(self, doing: str, done: int, total: int) -> None:
        """How far something is."""
        self._tell(f"{doing}: {done} of {total}")

    def step(self, record: StepRecord) -> None:
        """Where it goes."""
        self._tell(f"step {record.step}: {record.decided}")

    def note(self, record: NoteRecord) -> None:
        """What came of a piece of work."""
        self._tell(f"{record.topic} {record.key}: {record.text}")

    def end(self, result: Result) -> None:
        """How it ended."""
        self._tell(f"{result.agent}: {result.status}: {result.reason}")

    def aside(self) -> Audience:
        """Itself: the client is told of agents that are consulted, too."""
        return self

    def _tell(self, message: str) -> None:
        if call := self._current():
            call.progress(short(message, LONGEST))


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
        """What the user says; nothing where the client cannot ask."""
        call, fault = self._current(), ""
        for _ in range(TRIES):
            said = call.ask(moment, fault) if call else None
            if said is None or not said.strip():
                return None
            try:
                return parse_line(said, self._states)
            except BadInput as wrong:
                fault = str(wrong)
        return None
