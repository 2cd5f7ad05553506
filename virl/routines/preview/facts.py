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
"""Side of a way; `ahead` for what lies on the way itself."""
AHEAD_M = 2.0  # from the line: nearer things are on the way itself; chosen
BEFORE_M = 12.0  # a thing is announced so far before it; chosen: about 16 steps
CROSSING, LANDMARK = "crossing", "landmark"


@dataclass(frozen=True, slots=True)
class Beside:
    """The place of a thing relative to a way: metres along it, metres off it, direction on a clock face."""

    along: float
    """Metres along the way, from its start."""
    off: float
    """Metres to the right of the way; negative to the left."""
    clock: int
    """Direction on a clock face (12 is ahead) for a walker `BEFORE_M` metres before the thing."""

    @property
    def side(self) -> Side:
        """The side of the way on which the thing is."""
        return "ahead" if abs(self.off) < AHEAD_M else "left" if self.off < 0 else "right"


class Track:
    """A line through positions, such as a way, on which places are given in metres from its start."""

    def __init__(self, points: Sequence[LatLng]) -> None:
        """Measure the line through two or more positions, in order."""
        self._frame = LocalFrame(points[0])
        self._points = np.column_stack(
            self._frame.to_metres([point.lat for point in points], [point.lng for point in points])
        )
        steps = np.diff(self._points, axis=0)
        lengths = np.hypot(steps[:, 0], steps[:, 1])
        self._units = steps / np.maximum(lengths, 1e-9)[:, None]
        self._lengths = lengths
        self._before = np.concatenate([[0.0], np.cumsum(lengths)])

    def metres_along(self, index: int) -> float:
        """Return the metres from the start to the point with an index."""
        return float(self._before[index])

    def spot(self, position: LatLng) -> Beside:
        """Return the place of a thing relative to the nearest piece of the line."""
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

    def position(self, along_m: float) -> LatLng:
        """Return the position on the line, `along_m` metres from its start."""
        piece = self._piece_at(along_m)
        x, y = self._points[piece] + self._units[piece] * (along_m - self._before[piece])
        return self._frame.position(float(x), float(y))

    def heading(self, along_m: float) -> float:
        """Return the line's heading in degrees clockwise from north, `along_m` metres from its start."""
        ux, uy = self._units[self._piece_at(along_m)]
        return normalize_heading(float(np.degrees(np.arctan2(ux, uy))))

    def _piece_at(self, along_m: float) -> int:
        """Return the index of the line's piece that is `along_m` metres from its start."""
        piece = np.searchsorted(self._before, along_m, side="right") - 1
        return int(np.clip(piece, 0, len(self._lengths) - 1))


class Fact(JsonRecord):
    """A crossing, landmark or other thing on or beside a way."""

    kind: str
    """Kind of the thing: `crossing`, `landmark`, or a label of the detector."""
    along_m: float
    """Metres along the way, from its start."""
    side: Side
    off_m: float
    """Metres from the line of panoramas, to the side that `side` names."""
    clock: int
    """Direction on a clock face, [1, 12], for a walker 12 m before the thing."""
    lat: float
    lng: float
    name: str = ""
    """Name of a landmark; empty for other things."""
    place_id: str = ""
    """Id of a landmark's place; empty for other things."""
    lights: bool = False
    """True if a crossing has a traffic light."""
    over: Literal["your street", "a side street"] | None = None
    """The street that a crossing crosses; `None` for other things."""
    looks: int
    """Number of panoramas from which the thing was seen."""

    @property
    def is_sure(self) -> bool:
        """Return whether the thing was seen from two panoramas or more."""
        return self.looks > 1


class SideOfStreet(JsonRecord):
    """One side of a stretch of street, by medians over its panoramas."""

    kerb_m: float | None
    """Metres from the line of panoramas to the road's edge; `None` if not seen."""
    pavement_m: float | None
    surface: Surface | None


class Leg(JsonRecord):
    """A stretch of the way between two turns, with its facts."""

    turn: str
    """Turn before the stretch: `left`, `slightly right` and so on; empty at the start."""
    compass: str
    near: str
    """Address nearest to the middle of the stretch; empty if the map has none."""
    from_m: float
    to_m: float
    junctions: tuple[float, ...]
    """Metres from the start of the way to each junction on the stretch."""
    left: SideOfStreet
    right: SideOfStreet
    facts: tuple[Fact, ...]

    @property
    def length_m(self) -> float:
        """Length of the stretch, in metres."""
        return self.to_m - self.from_m


class WayPreview(JsonRecord):
    """A description of a way before it is walked: its stretches, their facts, and what is unknown."""

    start: str
    destination: str
    city: str
    profile: Profile
    length_m: float
    legs: tuple[Leg, ...]
    arrival: str
    """Sentence on the side on which the destination is at the end."""
    unknown: tuple[str, ...]
    """Phrases on what pictures and maps do not tell of any way, the most important to the profile first."""
    credits: str = ""
    """Sources to credit for pictures and maps."""
    lacking: str = ""
    """Beginning of a sentence, such as `No library within 2,000 m`; empty unless the goal is a substitute."""
    succeeded: bool = True
    """True unless the destination is a substitute that does not do as well."""
