"""What is told of a way."""

from typing import Literal

from virl.files.json_reading import JsonRecord
from virl.platform.perception.ground import Surface
from virl.routines.preview.settings import Profile
from virl.routines.preview.track import Side

CROSSING, LANDMARK = "crossing", "landmark"


class Fact(JsonRecord):
    """One thing on or beside the way."""

    kind: str
    """`crossing`, `landmark`, or a thing in the detector's words."""
    along_m: float
    """Metres from the start."""
    side: Side
    off_m: float
    """Metres from the line of the panoramas."""
    clock: int
    """The direction on a clock face, as one who comes 12 m before it, [1, 12]."""
    lat: float
    lng: float
    name: str = ""
    """The name of a landmark."""
    place_id: str = ""
    """The place identifier of a landmark."""
    lights: bool = False
    """True if a traffic light is seen at a crossing."""
    over: Literal["your street", "a side street"] | None = None
    """The street that a crossing leads over."""
    looks: int
    """Panoramas that it was seen from."""

    @property
    def is_sure(self) -> bool:
        """Return whether it was seen from two panoramas or more."""
        return self.looks > 1


class SideOfStreet(JsonRecord):
    """One side of a stretch: middle values over its panoramas; `None` for not seen."""

    kerb_m: float | None
    """The metres from the line of the panoramas to the edge of the road."""
    pavement_m: float | None
    surface: Surface | None


class Leg(JsonRecord):
    """A stretch of the way without a turn."""

    turn: str
    """Before it: `left`, `slightly right` and so on; empty at the start."""
    compass: str
    near: str
    """The address nearest to its middle, as the map has it; empty where the map does not say."""
    from_m: float
    to_m: float
    junctions: tuple[float, ...]
    """Metres from the start to each place where ways meet."""
    left: SideOfStreet
    right: SideOfStreet
    facts: tuple[Fact, ...]

    @property
    def length_m(self) -> float:
        """Metres."""
        return self.to_m - self.from_m


class WayPreview(JsonRecord):
    """A way, told before it is walked."""

    start: str
    destination: str
    city: str
    profile: Profile
    length_m: float
    legs: tuple[Leg, ...]
    arrival: str
    """The side on which the destination lies."""
    unknown: tuple[str, ...]
    """Phrases on what no picture and no map tells of any way; first what matters to the profile."""
    credits: str = ""
    """The sources to name for pictures and maps."""
    lacking: str = ""
    """The kind that the town lacks, if the destination is a substitute, as in `No library within 2,000 m`."""
    succeeded: bool = True
    """False for a substitute that does not do as well."""
