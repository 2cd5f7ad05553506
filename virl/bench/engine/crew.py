"""Giving episodes out: one loop for threads, processes and clusters, the crew of threads, and Ctrl-C.

The book of a run is kept by one process, which workers in others ask.
"""

import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Protocol

from virl.bench.engine.work import EpisodeOutcome
from virl.bench.episode import Episode
from virl.errors import BudgetExceeded, CannotWrite
from virl.money.book import Book, Entry, Paid
from virl.money.ledger import Ledger

POLL_S = 0.2
"""Seconds between two looks at whether Ctrl-C was pressed. Chosen."""

Slot = Hashable
"""The key of one place in a worker, at which one episode runs at a time."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The event that a worker's slot is free for the first time."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class Ended:
    """The event that a slot's episode has ended, with its outcome; the slot is free again."""

    slot: Slot
    outcome: EpisodeOutcome


@dataclass(frozen=True, slots=True)
class Died:
    """The event that a slot, and any episode on it, is lost for a reason `why`; the crew adds another."""

    slot: Slot
    why: str


Event = Ready | Ended | Died


class Crew(Protocol):
    """The workers that run a benchmark's episodes, each worker at one or several slots."""

    def give(self, slot: Slot, episode: Episode) -> None:
        """Start an episode at a free slot; returns at once."""
        ...

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait at most `timeout_s` seconds, then return none.

        Raises:
            VirlError: no worker can open the benchmark; says why.
        """
        ...

    def dismiss(self) -> None:
        """End all workers, and the episodes that they are running."""
        ...


def dispatch(
    crew: Crew, episodes: Sequence[Episode], *, attempts: int, stopped: Callable[[], bool]
) -> Iterator[EpisodeOutcome]:
    """Run episodes until `stopped()`, each at most `attempts` times if workers die; yield their outcomes.

    An episode whose worker died is given out again, `attempts` times in all; then it has failed.

    Args:
        crew: who runs them.
        episodes: with different ids.
        attempts: how often an episode is given out while workers die over it.
        stopped: whether to give out no more; those that run are waited for.

    Raises:
        VirlError: as `Crew.events`.
    """
    todo = deque(episodes)
    running: dict[Slot, Episode] = {}
    free: deque[Slot] = deque()
    lost: Counter[str] = Counter()
    while running or (todo and not stopped()):
        while free and todo and not stopped():
            slot = free.popleft()
            running[slot] = todo.popleft()
            crew.give(slot, running[slot])
        for event in crew.events(POLL_S):
            if isinstance(event, Ready):
                free.append(event.slot)
            elif isinstance(event, Ended):
                episode = running.pop(event.slot)
                free.append(event.slot)
                yield replace(event.outcome, attempts=event.outcome.attempts + lost[episode.id])
            else:
                free = deque(slot for slot in free if slot != event.slot)
                if (fallen := running.pop(event.slot, None)) is None:
                    continue
                lost[fallen.id] += 1
                if lost[fallen.id] < attempts:
                    # First, so that one that kills its workers fails early, not at the end of the run.
                    todo.appendleft(fallen)
                else:
                    yield EpisodeOutcome(
                        fallen, "failed", attempts=attempts, reason=event.why, fault="WorkerLost"
                    )


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """A request to the process that keeps the ledger: enter a payment, or sum up an account."""

    entry: Entry | None = None
    account: str = ""

    def apply_to(self, ledger: Ledger) -> "LedgerReply":
        """Enter the payment, else sum up the account; return sums, `None`, or what refused the payment."""
        if self.entry is None:
            return ledger.payments(self.account)
        try:
            ledger.book.enter(self.entry)
        # As numbers: the error itself cannot be unpickled, which passes only its text to it.
        except BudgetExceeded as fault:
            return fault.limit_usd, fault.spent_usd
        except CannotWrite as fault:
            return str(fault)
        return None


LedgerReply = Paid | tuple[float, float] | str | None
"""Reply: an account's sums or, for a payment, `None`, a write error, or (limit, spent) dollars if refused."""


def remote_ledger(ask: Callable[[LedgerRequest], LedgerReply]) -> Ledger:
    """Return a ledger kept in another process, to which `ask` sends a request and returns its reply."""
    ledger = Ledger()
    ledger.book = _RemoteBook(ask)
    return ledger


class _RemoteBook(Book):
    """A book of payments that another process keeps."""

    def __init__(self, ask: Callable[[LedgerRequest], LedgerReply]) -> None:
        """Prepare a book without a file; `ask` sends a request to the other process, returns its reply."""
        super().__init__()
        self._ask = ask

    def payments(self, account: str = "") -> Paid:
        """Return the sums that an account, or all for "", has paid, asked from the other process."""
        told = self._ask(LedgerRequest(account=account))
        return told if isinstance(told, Paid) else Paid()

    def enter(self, entry: Entry) -> None:
        """Enter a payment into the other process's book; raise `BudgetExceeded` if that refuses it."""
        told = self._ask(LedgerRequest(entry))
        if isinstance(told, tuple):
            raise BudgetExceeded(*told, entry.nano_usd / 1e9, entry.request)
        if isinstance(told, str):
            raise CannotWrite(told)


_NAME = "episodes-"


def episodes_are_running() -> bool:
    """Return whether threads of a `ThreadCrew` still run, as after an error or a second Ctrl-C."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())


class ThreadCrew:
    """A crew of threads of this process, which share the benchmark's open cities and models."""

    def __init__(self, work: Callable[[Episode], EpisodeOutcome], count: int) -> None:
        """Start `count` threads, each of which runs one episode at a time with `work`."""
        self._work = work
        self._given: SimpleQueue[tuple[Slot, Episode] | None] = SimpleQueue()
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._count = count
        for slot in range(count):
            self._events.put(Ready(slot))
            # daemons: a second interruption leaves episodes that hang
            serve = partial(copy_context().run, self._serve)  # traces are known in the context
            threading.Thread(target=serve, name=f"{_NAME}{slot}", daemon=True).start()

    def give(self, slot: Slot, episode: Episode) -> None:
        """Start an episode at a thread's free slot; returns at once."""
        self._given.put((slot, episode))

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait at most `timeout_s` seconds, then return none."""
        try:
            found = [self._events.get(timeout=timeout_s)]
        except Empty:
            return []
        while not self._events.empty():
            found.append(self._events.get())
        return found

    def dismiss(self) -> None:
        """End idle threads at once; busy ones end after their episode, or with the process."""
        for _ in range(self._count):
            self._given.put(None)

    def _serve(self) -> None:
        """Run the episodes in the queue, one after the other, until `None` is in it."""
        while (given := self._given.get()) is not None:
            slot, episode = given
            self._events.put(Ended(slot, self._work(episode)))


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C raises KeyboardInterrupt.

    Elsewhere than in the main thread nothing changes, as signals come to that one alone.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def handle(_: int, __: FrameType | None) -> None:
        """Note the first interruption; raise KeyboardInterrupt at the second."""
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
