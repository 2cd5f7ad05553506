"""Types of what the Python API takes and gives."""

from pathlib import Path
from typing import Literal, TypedDict

from rich.console import Console

from virl.agent.agent import Agent
from virl.journal.recorded_run import Comparison, Finished, RecordedRun
from virl.platform.movers.base import Step
from virl.platform.perception.base import Detection
from virl.platform.perception.models import Device

__all__ = ["Agent", "Comparison", "Detection", "Finished", "RecordedRun", "Step"]


class SharedSettings(TypedDict, total=False):
    """The keyword arguments that runs of agents and of benchmarks have in common."""

    device: Device
    """Device that models run on: `auto`, `cpu` or `cuda`."""
    allow_downloads: bool
    """True if missing model weights may be downloaded."""
    cache: Literal["off", "session", "ttl"]
    """Caching of the city's replies: none, for a session or for a time (`ttl`); by default the provider's."""
    record: str | Path
    """Folder in which the replies of the city's services are recorded."""
    replay: str | Path
    """Folder from which recorded replies are replayed, without a network."""
    budget_usd: float
    """Most US dollars that the run may spend."""
    price: tuple[float, float]
    """US dollars per million (input, output) tokens of minds given as objects; needed for a budget."""
    console: Console
    """Console that progress is printed on; by default none is."""
