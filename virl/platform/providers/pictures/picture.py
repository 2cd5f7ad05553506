"""Street-level pictures without their pixels: position, direction, time, author and licence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from virl.geo.globe import Floats, Ints, LatLng, LocalFrame, bearing, distance
from virl.platform.city.streetview import Attitude

FULL_TURN = 360.0
"""Number of degrees in a full turn."""
USUAL_FOV = 70.0
"""Field of view in degrees assumed for a flat picture that does not say: a phone's has 65 to 78."""
STILL_M = 0.5
"""Distance in metres between positions below which no direction is taken from them."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One street-level picture of a sequence, without its pixels."""

    id: str
    """Id of the picture, which is also that of its panorama in a graph."""
    position: LatLng
    attitude: Attitude
    """Attitude of the camera; its heading is that of the picture's middle column."""
    fov: float
    """Horizontal field of view in degrees; 360 for a panorama."""
    sequence: str
    """Name of the drive or walk on which the picture was taken."""
    rank: int
    """Number of the picture in its sequence."""
    taken: datetime
    """Time, with time zone, at which the picture was taken."""
    author: str
    """Name of the author to credit."""
    licence: str
    """SPDX identifier, such as `CC-BY-SA-4.0`."""
    sky: float | None = None
    """Share of a panorama's height cut off above the picture, [0, 1]; `None`: as much as below it."""
    left: float | None = None
    """Share of a full turn cut off to the left of a part of a panorama; `None` for other pictures."""

    @property
    def is_panorama(self) -> bool:
        """Return whether the picture shows all headings."""
        return self.fov >= FULL_TURN

    @property
    def is_flat(self) -> bool:
        """Return whether the picture is neither a panorama nor a part of one."""
        return self.left is None and not self.is_panorama


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """Pictures as arrays of length n, sorted by sequence."""

    pictures: tuple[Picture, ...]
    """Pictures in the order of the arrays."""
    frame: LocalFrame
    """Frame of metres around the mean position of the pictures."""
    xy: Floats
    """Metres east and north of the frame's origin, shape (n, 2)."""
    sequence: Ints
    """Number of each picture's sequence, 0 for the preferred one: panoramas, then the newest."""


def captures(pictures: Sequence[Picture], as_of: datetime | None = None) -> Captures:
    """Return pictures, none taken after `as_of`, as arrays: sequences of panoramas first, then newer ones."""
    kept = [one for one in pictures if as_of is None or one.taken <= as_of]
    newest: dict[str, tuple[bool, float]] = {}
    for one in kept:
        known = newest.get(one.sequence, (False, -np.inf))
        newest[one.sequence] = max(known, (one.is_panorama, one.taken.timestamp()))
    order = sorted(newest, key=lambda name: (*newest[name], name), reverse=True)
    number = {name: index for index, name in enumerate(order)}
    kept.sort(key=lambda one: (number[one.sequence], one.rank, one.taken, one.id))
    lat, lng = np.array([one.position for one in kept], float).reshape(-1, 2).T
    origin = LatLng(float(lat.mean()), float(lng.mean())) if kept else LatLng(0.0, 0.0)
    frame = LocalFrame(origin)
    return Captures(
        pictures=tuple(kept),
        frame=frame,
        xy=np.stack(frame.to_metres(lat, lng), axis=1),
        sequence=np.array([number[one.sequence] for one in kept], np.int64),
    )


def credit_line(pictures: Iterable[Picture], of: str = "Photographs", most: int | None = 5) -> str:
    """Return a line such as "Photographs: Ann and 3 others (CC0-1.0)" of up to `most` authors (`None`: all).

    Args:
        pictures: pictures to credit.
        of: words for the pictures, such as "Photographs".
        most: largest number of authors that are named, in alphabetical order; `None` names all.
    """
    shown = list(pictures)
    names = sorted({one.author for one in shown if one.author})
    licences = sorted({one.licence for one in shown if one.licence})
    left = 0 if most is None else max(len(names) - most, 0)
    authors = ", ".join(names[: len(names) - left]) + (f" and {left} others" if left else "")
    return f"{of}: {authors or 'unnamed'}" + (f" ({', '.join(licences)})" if licences else "")


def course_at(positions: Sequence[LatLng], number: int) -> float:
    """Return the heading, degrees, from position `number` - 1 to `number` + 1; 0 within `STILL_M` metres."""
    before, after = positions[max(number - 1, 0)], positions[min(number + 1, len(positions) - 1)]
    return bearing(before, after) if distance(before, after) > STILL_M else 0.0
