"""The pictures that drivers uploaded of a town."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from random import Random

import numpy as np

from servers.options import UploadOptions
from servers.uploads.drives import Drive, drives
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.graph import whole_graph
from virl.platform.city.streetview import Attitude

BEGUN = datetime(2025, 6, 1, 9, tzinfo=UTC)
EARLIER = timedelta(days=1000)
"""Time by which the repeating drives precede the others."""
AUTHORS = ("Ada Driver", "Bo Walker", "Cleo Rider", "Dana Pedals")
FLAT_FOV = 70.0


@dataclass(frozen=True, slots=True)
class Upload:
    """One picture."""

    key: int
    """128 bits, from which each service makes its ids."""
    drive: int
    """128 bits of the sequence."""
    rank: int
    pano_id: str
    """The panorama of the town that it shows."""
    position: LatLng
    """Position as its uploader tells it."""
    heading: float
    """Heading as its uploader tells it, degrees."""
    held: Attitude
    """True attitude of the camera."""
    taken: datetime
    author: int
    """Number in `AUTHORS`."""
    flat: bool


class Uploads:
    """All pictures of a town.

    Args:
        city: whose panoramas they show.
        options: which there are.

    Raises:
        BadInput: the city's panoramas are not known at once.
    """

    def __init__(self, city: City, options: UploadOptions) -> None:
        self.options = options
        made = drives(whole_graph(city), options.seed, options.roughness)
        self.all = tuple(one for number, drive in enumerate(made) for one in _uploads(number, drive, options))
        self.sequences: dict[int, list[Upload]] = {}
        for one in self.all:
            self.sequences.setdefault(one.drive, []).append(one)

    def within(self, west: float, south: float, east: float, north: float) -> list[Upload]:
        """Return those in a box of degrees, in the order of their drives."""
        lat, lng = self._positions
        inside = (lng >= west) & (lng <= east) & (lat >= south) & (lat <= north)
        return [self.all[number] for number in np.flatnonzero(inside).tolist()]

    def has(self, kind: str, upload: Upload) -> bool:
        """Return whether a picture is odd in this way, by the shares in the options."""
        drawn = blake2b(f"{self.options.seed} {kind} {upload.key}".encode(), digest_size=8).digest()
        share: float = getattr(self.options, kind)
        return int.from_bytes(drawn, "big") / 2**64 < share

    @cached_property
    def _positions(self) -> tuple[np.ndarray, np.ndarray]:
        lat, lng = np.array([one.position for one in self.all], float).reshape(-1, 2).T
        return lat, lng


def _uploads(number: int, drive: Drive, options: UploadOptions) -> Iterator[Upload]:
    rng = Random(f"uploads {options.seed} {number}")
    flat = rng.random() < options.flat
    begun = BEGUN + timedelta(days=number) - (EARLIER if drive.again else timedelta())
    author = rng.randrange(len(AUTHORS))
    for rank, one in enumerate(drive.captures):
        pitch, roll = (round(rng.gauss(0, options.tilt), 1) if options.tilt else 0.0 for _ in range(2))
        yield Upload(
            key=_bits(f"picture {options.seed} {number} {rank}"),
            drive=_bits(f"drive {options.seed} {number}"),
            rank=rank,
            pano_id=one.pano_id,
            position=one.position,
            heading=one.heading,
            held=Attitude(one.true_heading, pitch, roll),
            taken=begun + timedelta(seconds=5 * rank),
            author=author,
            flat=flat,
        )


def _bits(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")
