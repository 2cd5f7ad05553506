"""Options of the stand-ins: how a server behaves, and what it serves."""

from dataclasses import dataclass, field
from math import inf

from servers.uploads.drives import Roughness
from virl.errors import BadInput
from virl.serve.faults import Faults

AS_PEOPLE_DRIVE = Roughness(position_m=1.5, heading=3.0, gaps=0.1, again=0.3)


@dataclass(frozen=True, slots=True)
class UploadOptions:
    """Pictures that there are, and behaviour of their server.

    Raises:
        BadInput: a value is out of its range.
    """

    seed: int = 0
    """Random seed of the drives, and of which requests meet a fault."""
    roughness: Roughness = AS_PEOPLE_DRIVE
    flat: float = 0.0
    """Share of the drives with flat pictures instead of panoramas."""
    tilt: float = 0.0
    """Standard deviation of pitch and roll of the camera, degrees."""
    width: int = 4096
    """Pixels of a panorama."""
    deleted: float = 0.0
    """Share of the pictures that are listed, and gone when they are asked for."""
    relicensed: float = 0.0
    """Share of the pictures that have another licence from the second listing on, which allows nothing."""
    most: int = 10_000
    """Pictures of a box at most; a box with more is refused, where the service refuses such."""
    thumb_s: float = 3600.0
    """Seconds that a signed address of a picture lasts, where the service signs them."""
    expired: float = 0.0
    """Share of the pictures whose first signed address has ended already."""
    faults: Faults = field(default_factory=Faults)
    retry_after_s: int | None = None
    """Seconds told in a `Retry-After` header of answers 429 and 503; `None` sends none."""
    latency_ms: float = 0.0
    hang_s: float = 60.0
    """Seconds that a `timeout` fault keeps a client waiting."""

    def __post_init__(self) -> None:
        for name in ("flat", "deleted", "relicensed", "expired"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"{name} {getattr(self, name):g} is outside [0, 1]")
        if self.width not in {512, 1024, 2048, 4096, 8192}:
            raise BadInput(f"width {self.width}: choose 512, 1024, 2048, 4096 or 8192 pixels")


@dataclass(frozen=True, slots=True)
class MapServeOptions:
    """Behaviour of a server of maps.

    Raises:
        BadInput: a value is out of its range.
    """

    seed: int = 0
    """Random seed of which requests meet a fault."""
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
