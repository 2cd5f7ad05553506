"""Giving episodes out: one loop for threads, processes and clusters."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from virl.bench.engine.work import EpisodeOutcome
from virl.bench.episode import Episode

POLL_S = 0.2  # how soon an interruption is noticed; chosen

Seat = Hashable
"""Room for one episode at a time."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A seat is free for the first time."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Ended:
    """A seat's episode has come to its end; the seat is free again."""

    seat: Seat
    outcome: EpisodeOutcome


@dataclass(frozen=True, slots=True)
class Died:
    """A seat is lost, with the episode that was at it; the crew sees to another."""

    seat: Seat
    why: str


Event = Ready | Ended | Died


class Crew(Protocol):
    """Workers that run episodes."""

    def give(self, seat: Seat, episode: Episode) -> None:
        """Begin an episode at a free seat; returns at once."""
        ...

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; waits for one, but no longer than `timeout_s`.

        Raises:
            VirlError: no worker can open the benchmark; says why.
        """
        ...

    def dismiss(self) -> None:
        """End all workers, with whatever they are at."""
        ...


def dispatch(
    crew: Crew, episodes: Sequence[Episode], *, attempts: int, stopped: Callable[[], bool]
) -> Iterator[EpisodeOutcome]:
    """Yield the outcomes of the episodes, each exactly once, as they end.

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
