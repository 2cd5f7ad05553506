"""A way as a line: how far along it and on which side something lies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from virl.geo.globe import LatLng, LocalFrame, bearing, normalize_heading

Side = Literal["left", "right", "ahead"]

AHEAD_M = 2.0  # from the line: nearer things are on the way itself; chosen
BEFORE_M = 12.0  # a thing is announced so far before it; chosen: about 16 steps


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
        return Beside(along, off, self._clock_hour(along, position))

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

    def _clock_hour(self, along: float, position: LatLng) -> int:
        """Return the hour of the clock at which a position is seen from the track, 12 straight ahead."""
        before = max(0.0, along - BEFORE_M)
        turn = bearing(self.position(before), position) - self.heading(before)
        return round(normalize_heading(turn) / 30.0) % 12 or 12
