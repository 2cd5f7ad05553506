"""Reading the signs around a walker and far down a street, each view once; signposts among them."""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field

from virl.platform.city.streetview import Camera, Link, StreetView
from virl.platform.navigators.tourist.signs import Sign, signs_of
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.cameras import closer_camera, sweep_cameras
from virl.platform.perception.fronts import pieces_of
from virl.platform.perception.lexicons.sign_lexicon import Lexicon

# A reader takes an "m" for an "n" or "rn" at times.
_DISTANCE = re.compile(r"(?<!\d)(?P<far>\d{1,4})\s?(?P<unit>km|m|rn|n)\W*\Z", re.IGNORECASE)
_KM_M = 1000


@dataclass(frozen=True, slots=True)
class Pointer:
    """A line of a signpost, which names a place and gives the distance to it."""

    name: str
    metres: int
    """Distance to the place in metres, as the signpost says."""


def pointer_in(text: str) -> Pointer | None:
    """Return the pointer in a line such as `Museum of Tides 300 m`; `None` without a name or distance."""
    found = _DISTANCE.search(text)
    name = text[: found.start()].strip(" -\u2013:,.") if found else ""
    if found is None or not name:
        return None
    scale = _KM_M if found["unit"].casefold() == "km" else 1
    return Pointer(name, int(found["far"]) * scale)


def signs_and_pointers(camera: Camera, lines: Sequence[TextLine]) -> Iterator[Sign]:
    """Yield the signs that the text lines of a view make, first the lines of signposts, each as one sign."""
    # Each line of a signpost names another place: joined to one sign they would tell of none.
    pointers = [line for line in lines if pointer_in(line.text)]
    for line in pointers:
        yield from signs_of(camera, [line])
    yield from signs_of(camera, [line for line in lines if line not in pointers])


AROUND = sweep_cameras(None, 360.0, 90.0, pitch=10.0, width=1280, height=560)
"""Cameras of four views that show the whole circle from north on, shared by all walkers.
Chosen at 150 panoramas of Virlton: 640 by 640 pixels read a quarter of the names from 15 to 40 m that
these read, at three quarters of the cost."""
SMALL_AROUND = sweep_cameras(None, 360.0, 90.0, pitch=10.0, width=640, height=640)
"""Cameras of four views around, in pictures as large as Street View Static gives them."""
DOWN_FOV, DOWN_PITCH, DOWN_SIZE = 20.0, 3.0, (640, 480)
"""Field of view and pitch in degrees, and size in pixels, of a view far down a street.
Chosen: letters of 0.3 m facing it are read from 50 m."""
FRONTS_M = (12.0, 20.0, 30.0, 56.0)
"""Distances along a street from a junction, metres, between which its fronts are viewed, piece by piece.
Chosen: at 16 junctions of Virlton, 49 of 64 names within 56 m are read so, 1 in a view of 20 degrees."""
SURE = 0.5
"""Least score, [0, 1], by a lexicon for a sign to count as of a place type. Chosen."""


@dataclass(frozen=True, slots=True)
class KnownSign:
    """A sign that was read, with the place types its words stand for."""

    sign: Sign
    kinds: tuple[str, ...]
    """Place types that the sign's words stand for, the likeliest first."""
    points_to: Pointer | None = None
    """Name and metres of the place that a signpost points to; `None` for other signs."""


Kept = MutableMapping[tuple[str, Camera], tuple[KnownSign, ...]]
"""Signs that were read, by (panorama's id, camera)."""


@dataclass(slots=True)
class SignLooks:
    """A reader of the signs around panoramas, for one walker.

    Args:
        streetview: street view of the walker; it refuses panoramas where the walker was not yet.
        reader: reads the text in views.
        lexicon: tells the place types that words stand for.
        kept: signs that walkers of the same city have read before; no view is read twice.
    """

    streetview: StreetView
    reader: Reader
    lexicon: Lexicon
    kept: Kept = field(default_factory=dict)
    cameras: tuple[Camera, ...] = tuple(AROUND)
    """Cameras that together show the whole circle."""
    views: int = 0
    """Number of views that the walker looked at, those kept from before included."""

    def signs_around(self, pano_id: str) -> tuple[KnownSign, ...]:
        """Return the signs all around a panorama; one that two views show may be there twice.

        Raises:
            NoStreetView, NoImagery: there is no view.
            ModelUnavailable: the reader is missing.
        """
        return tuple(sign for camera in self.cameras for sign in self._read(pano_id, camera))

    def signs_down(self, pano_id: str, link: Link) -> tuple[KnownSign, ...]:
        """Return the signs in a narrow view down the street that a link of a panorama leads into."""
        return self._read(pano_id, Camera(link.heading, DOWN_PITCH, DOWN_FOV, *DOWN_SIZE))

    def fronts(self, pano_id: str, link: Link) -> tuple[KnownSign, ...]:
        """Return the signs on the fronts from 12 to 56 m down the street that a link leads into."""
        pieces = pieces_of(link.heading, FRONTS_M)
        fresh = [piece for piece in pieces if (pano_id, piece.camera) not in self.kept]
        self.views += len(pieces)
        self.streetview.panorama(pano_id)
        views = [self.streetview.view(pano_id, piece.camera) for piece in fresh]
        read = self.reader.read([piece.unroll(view) for piece, view in zip(fresh, views, strict=True)])
        for piece, lines in zip(fresh, read, strict=True):
            self.kept[pano_id, piece.camera] = tuple(
                self._to_known(sign) for sign in signs_of(piece.camera, lines, piece.box)
            )
        return tuple(sign for piece in pieces for sign in self.kept[pano_id, piece.camera])

    def closer(self, pano_id: str, sign: Sign) -> tuple[KnownSign, ...]:
        """Return the signs in a view of a panorama that is narrowed to one of its signs."""
        return self._read(pano_id, closer_camera(sign.camera, sign.box))

    def _read(self, pano_id: str, camera: Camera) -> tuple[KnownSign, ...]:
        """Return the signs that a camera sees at a panorama; each such view is read only once."""
        self.views += 1
        # also for signs that are kept: it refuses where the walker was not yet
        self.streetview.panorama(pano_id)
        key = (pano_id, camera)
        if key not in self.kept:
            view = self.streetview.view(pano_id, camera)
            lines = self.reader.read([view.pixels])[0]
            self.kept[key] = tuple(self._to_known(sign) for sign in signs_and_pointers(camera, lines))
        return self.kept[key]

    def _to_known(self, sign: Sign) -> KnownSign:
        """Return a sign with its place types, and its pointer if it is a signpost's line."""
        pointer = pointer_in(sign.text)
        return KnownSign(sign, self.kinds_of(pointer.name if pointer else sign.text), pointer)

    def kinds_of(self, text: str) -> tuple[str, ...]:
        """Return the place types that the words of a sign stand for, the likeliest first."""
        return tuple(kind for kind, score in self.lexicon.classify(text).items() if score >= SURE)
