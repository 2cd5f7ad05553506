"""Workers that are threads of this process: for episodes that wait for others most of the time."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue

from virl.bench.engine.crew import Ended, Event, Ready, Seat
from virl.bench.engine.work import EpisodeOutcome
from virl.bench.episode import Episode

_NAME = "episodes-"


def episodes_are_running() -> bool:
    """Return whether threads of a crew are left, as an error or a second interruption leaves them."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())


class ThreadCrew:
    """Threads that share one world.

    Args:
        work: runs an episode; raises nothing.
        count: how many threads.
    """

    def __init__(self, work: Callable[[Episode], EpisodeOutcome], count: int) -> None:
        """Start `count` threads, each of which does an episode at a time by `work`."""
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
        """Give an episode to a free seat."""
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
        """Let idle threads end; those that are at an episode end after it, or with the process."""
        for _ in range(self._count):
            self._given.put(None)

    def _serve(self) -> None:
        """Work on the given episodes until None is given."""
        while (given := self._given.get()) is not None:
            seat, episode = given
            self._events.put(Ended(seat, self._work(episode)))
