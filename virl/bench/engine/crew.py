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

POLL_S = 0.2  # how soon an interruption is noticed; chosen

Seat = Hashable
"""A slot of a worker, in which one episode runs at a time."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The event that a seat is free for the first time."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Ended:
    """The event that a seat's episode has ended, with its outcome; the seat is free again."""

    seat: Seat
    outcome: EpisodeOutcome


@dataclass(frozen=True, slots=True)
class Died:
    """The event that a seat is lost with its episode, if any; the crew adds another seat."""

    seat: Seat
    why: str


Event = Ready | Ended | Died


class Crew(Protocol):
    """The workers that run episodes, each at one or several seats."""

    def give(self, seat: Seat, episode: Episode) -> None:
        """Start an episode at a free seat; returns at once."""
        ...

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; waits for one, but no longer than `timeout_s`.

        Raises:
            VirlError: no worker can open the benchmark; says why.
        """
        ...

    def dismiss(self) -> None:
        """End all workers, whatever they are running."""
        ...


def dispatch(
    crew: Crew, episodes: Sequence[Episode], *, attempts: int, stopped: Callable[[], bool]
) -> Iterator[EpisodeOutcome]:
    """Yield the outcome of each episode exactly once, as they end; gives the next ones to free seats.

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
    running: dict[Seat, Episode] = {}
    free: deque[Seat] = deque()
    lost: Counter[str] = Counter()
    while running or (todo and not stopped()):
        while free and todo and not stopped():
            seat = free.popleft()
            running[seat] = todo.popleft()
            crew.give(seat, running[seat])
        for event in crew.events(POLL_S):
            if isinstance(event, Ready):
                free.append(event.seat)
            elif isinstance(event, Ended):
                episode = running.pop(event.seat)
                free.append(event.seat)
                yield replace(event.outcome, attempts=event.outcome.attempts + lost[episode.id])
            else:
                free = deque(seat for seat in free if seat != event.seat)
                if (fallen := running.pop(event.seat, None)) is None:
                    continue
                lost[fallen.id] += 1
                if lost[fallen.id] < attempts:
                    todo.appendleft(fallen)
                else:
                    yield EpisodeOutcome(
                        fallen, "failed", attempts=attempts, reason=event.why, fault="WorkerLost"
                    )


@dataclass(frozen=True, slots=True)
class Charge:
    """A request to the process that keeps the ledger: to enter a payment, or to sum up an account."""

    entry: Entry | None = None
    account: str = ""

    def made_to(self, ledger: Ledger) -> "Charged":
        """Enter the payment in a ledger, or sum up its account; return the reply."""
        if self.entry is None:
            return ledger.payments(self.account)
        try:
            ledger.book.enter(self.entry)
        except BudgetExceeded as fault:
            return fault.limit_usd, fault.spent_usd
        except CannotWrite as fault:
            return str(fault)
        return None


Charged = Paid | tuple[float, float] | str | None
"""Reply to a charge: an account's sums, (limit, spent) in dollars if too much, a write error, or `None`."""


class FarLedger(Ledger):
    """A ledger whose file of payments another process keeps.

    Args:
        ask: hands a charge to that process, and waits for what comes of it.
    """

    def __init__(self, ask: Callable[[Charge], Charged]) -> None:
        """Prepare a ledger whose book is in another process; `ask` sends a charge and returns its reply."""
        super().__init__()
        self.book = _FarBook(ask)


class _FarBook(Book):
    """A file of payments that another process keeps."""

    def __init__(self, ask: Callable[[Charge], Charged]) -> None:
        super().__init__()
        self._ask = ask

    def payments(self, account: str = "") -> Paid:
        """Return what an account has paid, as `Book.payments` does."""
        told = self._ask(Charge(account=account))
        return told if isinstance(told, Paid) else Paid()

    def enter(self, entry: Entry) -> None:
        """Enter a charge into the book, as `Book.enter` does."""
        told = self._ask(Charge(entry))
        if isinstance(told, tuple):
            raise BudgetExceeded(*told, entry.nano_usd / 1e9, entry.request)
        if isinstance(told, str):
            raise CannotWrite(told)


_NAME = "episodes-"


def episodes_are_running() -> bool:
    """Return whether threads of a crew still run, as after an error or a second interruption."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())


class ThreadCrew:
    """A crew of threads that share one world.

    Args:
        work: runs an episode; raises nothing.
        count: how many threads.
    """

    def __init__(self, work: Callable[[Episode], EpisodeOutcome], count: int) -> None:
        """Start `count` threads, each of which runs an episode at a time by `work`."""
        self._work = work
        self._given: SimpleQueue[tuple[Seat, Episode] | None] = SimpleQueue()
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._count = count
        for seat in range(count):
            self._events.put(Ready(seat))
            # daemons: a second interruption leaves episodes that hang
            serve = partial(copy_context().run, self._serve)  # traces are known in the context
            threading.Thread(target=serve, name=f"{_NAME}{seat}", daemon=True).start()

    def give(self, seat: Seat, episode: Episode) -> None:
        """Start an episode at a free seat; returns at once."""
        self._given.put((seat, episode))

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait for one, but no longer than `timeout_s`."""
        try:
            found = [self._events.get(timeout=timeout_s)]
        except Empty:
            return []
        while not self._events.empty():
            found.append(self._events.get())
        return found

    def dismiss(self) -> None:
        """End idle threads; the others end after their episode, or with the process."""
        for _ in range(self._count):
            self._given.put(None)

    def _serve(self) -> None:
        """Run the episodes that are given to a thread until `None` is given."""
        while (given := self._given.get()) is not None:
            seat, episode = given
            self._events.put(Ended(seat, self._work(episode)))


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C raises.

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
