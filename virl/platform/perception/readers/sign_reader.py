"""Reading where signs are: a detector finds the signs, and only they are read.

virl's own detector knows the signs of towns that virl draws. In all other cities whole pictures are read.
"""

from collections.abc import Sequence
from threading import Lock
from typing import ClassVar, Literal

from cachetools import LRUCache
from pydantic import Field

from virl.errors import BadInput
from virl.platform.city.streetview import Box, Image, view_of_picture
from virl.platform.perception.base import BoxReader, Detector, Reader, TextLine
from virl.platform.perception.images import Fingerprint, fingerprint, pixels_of
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind, ModelSettings, Needs
from virl.platform.perception.signs import SIGN
from virl.platform.perception.weights import batches

_LEAST_SIDE, _MOST_SIDE = 16, 2048
"""Least and largest length in pixels of a side of a picture that a camera can take."""


class SignReaderSettings(ModelSettings):
    """Settings of the reader; `platform/models/sign-reader.yaml` gives the reasons for the values."""

    sees_pixels_alone: ClassVar[bool] = True

    kind: Literal["sign-reader"]
    reader: str
    """Name of the reader in `platform/models` that reads inside the signs, or whole pictures."""
    detector: str
    """Name of the detector that finds the signs in cities that virl draws."""
    min_score: float = Field(ge=0, le=1)
    """Least score, [0, 1], of a sign that is read."""
    min_side: float = Field(ge=0)
    """Least length in pixels of the shorter side of a sign that is read."""
    batch: int = Field(ge=1)
    """Number of pictures that go through the detector and the reader at once."""
    remember: int = Field(ge=0)
    """Number of recent pictures whose lines are kept in memory; 0 keeps none."""

    def needs(self) -> Needs:
        """Return the requirements: the reader and the detector."""
        return Needs(models=(("reader", self.reader),), drawn=(("detector", self.detector),))


def open_sign_reader(settings: SignReaderSettings, models: Models) -> Reader:
    """Return the reader of signs; in a city that virl does not draw, the one that reads whole pictures.

    Raises:
        BadInput: the latter cannot read inside boxes.
    """
    reader = models.reader(settings.reader)
    if not models.options.is_rendered:
        return reader
    if not isinstance(reader, BoxReader):
        raise BadInput(
            f"reader {settings.reader!r} cannot read inside boxes: use another one, such as rapidocr"
        )
    return SignsFirstReader(reader, models.detector(settings.detector), settings)


KIND = Kind("reader", SignReaderSettings, open_sign_reader)


class SignsFirstReader:
    """A reader of the signs alone in pictures of towns that virl draws; safe to share between threads."""

    def __init__(self, reader: BoxReader, detector: Detector, settings: SignReaderSettings) -> None:
        """Use a detector to find boxes labelled `sign`, and a reader to read inside these boxes."""
        self._reader = reader
        self._detector = detector
        self._settings = settings
        self._known: LRUCache[Fingerprint, tuple[TextLine, ...]] = LRUCache(settings.remember)
        self._lock = Lock()

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text on the signs in each picture, boxes in its pixels, from top to bottom.

        Raises:
            ModelUnavailable: the reader's or the detector's model is missing.
        """
        images = [pixels_of(image) for image in images]
        keys = [fingerprint(image) for image in images]
        with self._lock:
            lines = {key: self._known[key] for key in keys if key in self._known}
        fresh = {key: image for key, image in zip(keys, images, strict=True) if key not in lines}
        for some in batches(list(fresh), self._settings.batch):
            pictures = [fresh[key] for key in some]
            read = self._reader.read_inside(pictures, self._signs(pictures))
            lines |= {key: tuple(one) for key, one in zip(some, read, strict=True)}
        with self._lock:
            # A cache for no pictures raises an error for each that is put in.
            for key in fresh if self._settings.remember else ():
                self._known[key] = lines[key]
        return [list(lines[key]) for key in keys]

    def _signs(self, images: Sequence[Image]) -> list[list[Box]]:
        """Return the boxes of the signs to read in each picture; none in one of a size that no camera has."""
        fitting = [
            number
            for number, image in enumerate(images)
            if all(_LEAST_SIDE <= side <= _MOST_SIDE for side in image.shape[:2])
        ]
        found: list[list[Box]] = [[] for _ in images]
        seen = self._detector.detect([view_of_picture(images[number]) for number in fitting], [SIGN])
        for number, signs in zip(fitting, seen, strict=True):
            found[number] = [
                sign.box
                for sign in signs
                if sign.score >= self._settings.min_score
                and (min(sign.box[2] - sign.box[0], sign.box[3] - sign.box[1]) >= self._settings.min_side)
            ]
        return found
