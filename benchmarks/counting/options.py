"""Options of the counting benchmark."""

from pydantic import Field

from virl.bench.benchmark import BaseOptions

from .count import CountingTask
from .noise import PoseNoise, parse_noise
from .variants import Condition


class Options(BaseOptions):
    """Options of the counting benchmark."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made cities to run in."""
    detector: tuple[str, ...] = Field(("rendered",), min_length=1)
    """Detectors to compare (see `virl models`)."""
    matcher: str = "sift"
    """Matcher (see `virl models`)."""
    memory: str = "default"
    """Memory settings in `platform/memory`, for exact poses."""
    noisy_memory: str = "street-view"
    """Memory settings in `platform/memory`, for poses with noise."""
    routes: int = Field(12, ge=0)
    """Number of routes."""
    regions: int = Field(2, ge=0)
    """Number of regions."""
    things: tuple[str, ...] = Field(("trash bin", "fire hydrant", "bench"), min_length=1)
    """Things to count; by default those of V-IRL's Imani."""
    background: tuple[str, ...] = ("mailbox", "planter", "bollard")
    """Further labels for the detector, which are not counted; by default look-alikes."""
    pose_noise: str = "1.5,2"
    """Noise of poses in a second count, in metres and degrees; `0,0` to skip that count."""
    draws: int = Field(2, ge=1)
    """Number of draws of the pose noise for each walk."""

    @property
    def task(self) -> CountingTask:
        """The things that are counted, and under which conditions.

        Raises:
            BadInput: the pose noise is not two numbers.
        """
        noise = parse_noise(self.pose_noise)
        conditions = [Condition(PoseNoise(), self.memory)]
        if noise != PoseNoise():
            conditions.append(Condition(noise, self.noisy_memory))
        things = tuple(dict.fromkeys(self.things))
        background = tuple(name for name in dict.fromkeys(self.background) if name not in things)
        return CountingTask(things, background, tuple(conditions), self.draws, self.seed)
