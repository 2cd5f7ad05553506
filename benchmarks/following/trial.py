"""A benchmark that is ready to run, and the agents that run in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.rate_limiters import BaseRateLimiter, InMemoryRateLimiter

from virl.mind.base import Mind
from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.base import InstructionNavigator

from ..tables import Column, Row

Scores = dict[str, float | None]
"""The metrics of one walk; `None` where one is not finite, as a distance with no way is."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Episodes to walk, and how walks are scored and shown."""

    title: str
    about: str
    """What the page says it shows."""
    source: str
    """What the data is, for people."""
    graphs: Mapping[str, NavigationGraph]
    """By the `scan` of the episodes; a city's only graph has the name `""`."""
    episodes: Mapping[str, Episode]
    faults: Mapping[str, str]
    """Why an episode cannot be tried, by its id; one that cannot be read goes by its line or entry."""
    start: Callable[[Episode], WalkState]
    score: Callable[[Episode, Sequence[int]], Scores]
    """The metrics of the nodes walked."""
    columns: Sequence[Column]
    success: str
    """The metric that says whether the target was reached."""
    successes: Sequence[str]
    """The metrics that are 0 for a walk that failed, wherever it stood."""
    figures: Callable[[Scores], Mapping[str, str]]
    """What the page shows of an episode's metrics."""
    published: Sequence[Row] = ()

    def graph(self, episode: Episode) -> NavigationGraph:
        """Where an episode plays."""
        return self.graphs[episode.scan]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that is ready to be scored."""

    name: str
    settings: Mapping[str, Any]
    """What its records depend on."""
    open: Callable[[Episode], tuple[InstructionNavigator, Mind | None]]
    """A navigator for one episode, and the mind it asks."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made; none of this changes what a record holds."""

    out: Path
    workers: int = 1
    resume: bool = False


def limiter(rate: float | None) -> BaseRateLimiter | None:
    """Lets so many requests a second through, over all episodes at once; `None` sets no limit."""
    if rate is None:
        return None
    return InMemoryRateLimiter(requests_per_second=rate, check_every_n_seconds=0.01)
