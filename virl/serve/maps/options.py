"""What can be set about a server of open maps."""

from dataclasses import dataclass, field
from math import inf

from virl.errors import BadInput
from virl.serve.faults import Faults


@dataclass(frozen=True, slots=True)
class MapServeOptions:
    """How the server behaves.

    Raises:
        BadInput: a value is out of its range.
    """

    seed: int = 0
    """Of which requests meet a fault."""
    faults: Faults = field(default_factory=Faults)
    retry_after_s: int | None = None
    """Seconds told in a `Retry-After` header of answers 429 and 503; `None` sends none."""
    latency_ms: float = 0.0
    hang_s: float = 60.0
    """Seconds that a `timeout` fault keeps a client waiting."""
    remark: float = 0.0
    """Share of Overpass queries that are cut off: status 200, no elements, and a remark of a timeout."""
    most_km2: float = inf
    """Square kilometres of a box of Overpass; a query of a larger one is cut off like that."""

    def __post_init__(self) -> None:
        if not 0 <= self.remark <= 1:
            raise BadInput(f"remark {self.remark:g} is outside [0, 1]")
        if self.most_km2 <= 0:
            raise BadInput(f"most_km2 {self.most_km2:g} must be above 0")
