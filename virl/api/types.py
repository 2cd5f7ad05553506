"""Types of what the Python API takes and gives."""

from virl.agent.agent import Agent
from virl.journal.recorded_run import Comparison, Finished, RecordedRun
from virl.platform.movers.base import Step
from virl.platform.perception.base import Detection

__all__ = ["Agent", "Comparison", "Detection", "Finished", "RecordedRun", "Step"]
