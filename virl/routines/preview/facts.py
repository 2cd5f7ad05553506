"""Facts that are told of a way, and their place along it: the distance, the side, and metres off the line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, LocalFrame, bearing, normalize_heading
from virl.platform.perception.ground import Surface
from virl.routines.preview.settings import Profile

Side = Literal["left", "right", "ahead"]
AHEAD_M = 2.0  # from the line: nearer things are on the way itself; chosen
BEFORE_M = 12.0  # a thing is announced so far before it; chosen: about 16 steps
CROSSING, LANDMARK = "crossing", "landmark"


@dataclass(frozen=True, slots=True)
class Beside:
    """The place of something beside a way."""

    along: float
    """Metres from the start."""
    off: float
    """Metres to the right of the line, negative to the left."""
    clock: int
    """The direction on a clock face, as one who comes `BEFORE_M` before it: 12 is straight on."""

    @property
    def side(self) -> Side:
        """The side of the way."""
        return "ahead" if abs(self.off) < AHEAD_M else "left" if self.off < 0 else "right"


class Track:
    """A way through positions.

    Args:
        points: two or more, in their order.
    """

    def __init__(self, points: Sequence[LatLng]) -> None:
        """Measure the line through these points, in metres."""
        self._frame = LocalFrame(points[0])
        self._points = np.column_stack(
            self._frame.to_metres([point.lat for point in points], [point.lng for point in points])
        )
        steps = np.diff(self._points, axis=0)
        lengths = np.hypot(steps[:, 0], steps[:, 1])
        self._units = steps / np.maximum(lengths, 1e-9)[:, None]
        self._lengths = lengths
        self._before = np.concatenate([[0.0], np.cumsum(lengths)])

    @property
    def length(self) -> float:
        """Metres."""
        return float(self._before[-1])

    def metres_along(self, index: int) -> float:
        """Return the metres from the start to a point."""
        return float(self._before[index])

    def spot(self, position: LatLng) -> Beside:
        """Return the place of a position beside the nearest piece of the way."""
        x, y = self._frame.to_metres(position.lat, position.lng)
        apart = np.array([float(x), float(y)]) - self._points[:-1]
        on = np.clip((apart * self._units).sum(axis=1), 0.0, self._lengths)
        away = np.linalg.norm(apart - self._units * on[:, None], axis=1)
        piece = int(np.argmin(away))
        ux, uy = self._units[piece]
        off = float(apart[piece, 0] * uy - apart[piece, 1] * ux)
        along = float(self._before[piece] + on[piece])
        # The hour of the clock as one sees it who still comes towards it, 12 straight ahead.
        before = max(0.0, along - BEFORE_M)
        turn = bearing(self.position(before), position) - self.heading(before)
        return Beside(along, off, round(normalize_heading(turn) / 30.0) % 12 or 12)

    def position(self, along: float) -> LatLng:
        """Return the point so many metres from the start."""
        piece = self._piece_at(along)
        x, y = self._points[piece] + self._units[piece] * (along - self._before[piece])
        return self._frame.position(float(x), float(y))

    def heading(self, along: float) -> float:
        """Return the way that it leads there, degrees clockwise from north."""
        ux, uy = self._units[self._piece_at(along)]
        return normalize_heading(float(np.degrees(np.arctan2(ux, uy))))

    def _piece_at(self, along: float) -> int:
        """Return the index of the piece of the line at so many metres along."""
        return int(np.clip(np.searchsorted(self._before, along, side="right") - 1, 0, len(self._lengths) - 1))


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
