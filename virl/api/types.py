"""Types of what the Python API takes and gives."""

from virl.agent.agent import Agent
from virl.agent.start import Finished
from virl.platform.movement.base import Step
from virl.platform.perception.base import Detection

__all__ = ["Agent", "Detection", "Finished", "Step"]
