"""Positions by time: a GPX track."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from virl.errors import BadInput
from virl.geo.globe import LatLng, bearing, distance
from virl.geo.region import position_fault
from virl.platform.providers.pictures.picture import STILL_M

MOST_BYTES = 64_000_000
"""Largest GPX file in bytes; chosen: a day at one point a second has 10 MB."""
LONGEST_S = 60.0
"""Largest time in seconds between two points of a segment; longer gaps have no position. Chosen."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of consecutive points of a track, by time."""

    seconds: tuple[float, ...]
    """Time of each point, seconds since 1970, rising."""
    positions: tuple[LatLng, ...]
    """Position of each point."""

    def at(self, taken: datetime) -> tuple[LatLng, float | None] | None:
        """Return (position, heading in degrees or `None`) at a time; `None` outside the segment."""
        moment = taken.timestamp()
        after = bisect(self.seconds, moment)
        if after == len(self.seconds) and self.seconds and self.seconds[-1] == moment:
            after -= 1
        if not 0 < after < len(self.seconds):
            return None
        start, end = self.seconds[after - 1], self.seconds[after]
        if end - start > LONGEST_S:
            return None
        before, then = self.positions[after - 1], self.positions[after]
        share = (moment - start) / (end - start) if end > start else 0.0
        # The shorter way round, also across longitude 180.
        lng = before.lng + share * ((then.lng - before.lng + 180) % 360 - 180)
        position = LatLng(before.lat + share * (then.lat - before.lat), (lng + 180) % 360 - 180)
        return position, bearing(before, then) if distance(before, then) > STILL_M else None


@dataclass(frozen=True, slots=True)
class GpsTrack:
    """A GPX track, cut into segments at its gaps."""

    segments: tuple[Segment, ...]
    """Segments of the file that have points, in the file's order."""
    left_out: int = 0
    """Number of points without a time or a valid position."""

    def at(self, taken: datetime) -> tuple[LatLng, float | None] | None:
        """Return (position, heading in degrees or `None`) at a time; `None` outside the segments."""
        return next((found for one in self.segments if (found := one.at(taken))), None)


def read_track(file: Path) -> GpsTrack:
    """Return the track in a GPX file: all points with a time and a position.

    Raises:
        BadInput: it cannot be read, or has no point with a time.
    """
    import gpxpy  # noqa: PLC0415 - comes with the extra
    import gpxpy.gpx  # noqa: PLC0415

    try:
        if file.stat().st_size > MOST_BYTES:
            raise BadInput(f"{file}: larger than {MOST_BYTES // 1_000_000} MB: split the track")
        read = gpxpy.parse(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise BadInput(f"{file}: cannot be read ({fault.strerror})") from fault
    except (gpxpy.gpx.GPXException, ValueError) as fault:
        raise BadInput(f"{file}: not a GPX track ({str(fault).splitlines()[0]})") from fault
    parts = [segment.points for track in read.tracks for segment in track.segments]
    segments = tuple(segment for points in parts if (segment := _segment(points)).seconds)
    if not segments:
        raise BadInput(f"{file}: no point has a time: record a track with times")
    return GpsTrack(segments, sum(map(len, parts)) - sum(len(one.seconds) for one in segments))


def _segment(points: Sequence[Any]) -> Segment:
    """Return points with time and position as a segment, sorted by time."""
    timed = sorted(
        (
            point.time.replace(tzinfo=point.time.tzinfo or UTC).timestamp(),
            LatLng(point.latitude, point.longitude),
        )
        for point in points
        if point.time and not position_fault(LatLng(point.latitude, point.longitude))
    )
    return Segment(tuple(time for time, _ in timed), tuple(position for _, position in timed))
