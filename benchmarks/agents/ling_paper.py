"""Ling's part in paper mode: the same walks, with V-IRL's hints at the crossings where the route turns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.agents import ling
from benchmarks.agents.measure import Measure, Record
from virl.platform.city import City


def cases(city: City, seed: int) -> list[str]:
    """As in honest mode."""
    return ling.cases(city, seed)


def run(city: City, case: str, seed: int, folder: Path) -> dict[str, Any]:
    """Let Ling go the same way with each kind of senses, in paper mode."""
    return ling.walk_all(city, case, seed, folder, "paper")


def measures(records: Sequence[Record]) -> list[Measure]:
    """As in honest mode; nothing is asked of it."""
    return ling.measures_of(records, "paper", {})
