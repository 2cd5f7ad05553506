"""What the benchmark of the agents measures, and the shape of its parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.tables import Interval
from virl.platform.city import City

Record = Mapping[str, Any]
"""What came of one case: plain JSON, with its `id`."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table."""

    agent: str
    """Whose, with what differs: `"ling, oracle senses"`."""
    what: str
    """What is measured, in a few words."""
    value: Interval | float
    cases: int
    """How many it was measured on."""
    target: str = ""
    """What it should be, such as `"at least 0.8"`; empty for what stands beside it to compare."""
    percent: bool = False
    digits: int = 1


class Part(Protocol):
    """One agent's part, a module of `benchmarks.agents`."""

    def cases(self, city: City, seed: int) -> list[str]:
        """Ids of the cases, the same for the same city and seed."""
        ...

    def run(self, city: City, case: str, seed: int, folder: Path) -> dict[str, Any]:
        """Let the agent live one case, in a folder of its own, and hold it against the truth.

        Returns:
            What came of it, as plain JSON.
        """
        ...

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """The lines of the table, from what came of the cases; each record has its case's `id`."""
        ...
