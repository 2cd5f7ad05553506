"""One call of a tool while it is worked on: what comes of it, and what it asks its user meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from virl.agent.user import Moment

ANSWER_S = 600.0
"""Seconds that a question waits for an answer; chosen."""
MOST_QUESTIONS, FOR_PROPOSALS = 9, 3
"""Questions of one call, and how many of them are kept for what a routine proposes at its end: the SDK's
client answers ten in a row before it gives up."""

T = TypeVar("T")


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
        self._loop.call_soon_threadsafe(self.events.put_nowait, event)
