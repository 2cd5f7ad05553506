"""What is known of one street-level picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from virl.geo import Floats, Ints, LatLng, LocalFrame
from virl.platform.attitude import Attitude
from virl.platform.streetview import Image

FULL_TURN = 360.0


@dataclass(frozen=True, slots=True)
class Picture:
    """One capture of a sequence."""

    id: str
    position: LatLng
    attitude: Attitude
    """The attitude of the camera; its heading is that of the picture's middle column."""
    fov: float
    """Horizontal degrees that it shows; 360 for a panorama."""
    sequence: str
    """The drive or walk that it belongs to."""
    rank: int
    """Its place in the sequence."""
    taken: datetime
    """The time at which it was taken, with its time zone."""
    author: str
    """The name to credit."""
    licence: str
    """SPDX identifier, such as `CC-BY-SA-4.0`."""

    @property
    def is_panorama(self) -> bool:
        """Return whether the picture shows all headings."""
        return self.fov >= FULL_TURN


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """Pictures as arrays, in the order of their sequences: (n,) each unless said otherwise."""

    pictures: tuple[Picture, ...]
    frame: LocalFrame
    xy: Floats
    """Metres east and north of the frame's origin, (n, 2)."""
    sequence: Ints
    """Number of the sequence: 0 for the one that is preferred, that of panoramas and then the newest."""
    taken: Floats
    """Seconds since 1970."""
    panorama: NDArray[np.bool_]


def captures(pictures: Sequence[Picture], as_of: datetime | None = None) -> Captures:
    """Return the captures of pictures: panoramas first, then the newest sequences, each by rank, then time.

    Args:
        pictures: in any order.
        as_of: leaves out what was taken later.
    """
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
        taken=np.array([one.taken.timestamp() for one in kept], float),
        panorama=np.array([one.is_panorama for one in kept], bool),
    )


def whole_panorama(
    pixels: Image, sky: float | None = None, left: float = 0.0, fov: float = FULL_TURN
) -> Image:
    """Return a panorama twice as wide as high, of a picture of a part of it: what it lacks is black.

    Args:
        pixels: RGB.
        sky: share of the whole height that is cut off above it; by default half of what lacks.
        left: share of the whole width that is cut off to the left of it.
        fov: horizontal degrees that it shows.
    """
    height = pixels.shape[0]
    width = round(pixels.shape[1] * FULL_TURN / fov) // 2 * 2
    start = round(left * width)
    pixels = pixels[:, : width - start]
    if pixels.shape[:2] == (width // 2, width):
        return pixels
    whole = np.zeros((width // 2, width, 3), np.uint8)
    top = (width // 2 - height) // 2 if sky is None else round(sky * width / 2)
    first, last = max(top, 0), min(top + height, width // 2)
    whole[first:last, start : start + pixels.shape[1]] = pixels[first - top : last - top]
    return whole
