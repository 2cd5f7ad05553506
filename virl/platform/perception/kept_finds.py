"""What was found and read in pictures that never change: a run that repeats another looks at none of them."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO, TypeVar

from virl.files.stores import ByteStore, digest_of
from virl.platform.city.place_types import table_file
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, Detector, LookScores, Reader, TextLine
from virl.platform.perception.images import as_view, usual_threads
from virl.resources import data_folder

FoundT = TypeVar("FoundT", Detection, TextLine)
"""Type variable of what is found in a picture: detections or lines of text."""
Finds = list[list[Detection]]
"""Detections in each view, in the order of the views."""

FIRST_KEPT, MOST_KEPT = 256, 1024
"""Largest numbers of stored results, some 1 kB each: of one detector or reader, and of all; chosen."""
_FINDS = ByteStore("finds", "look of a detector", MOST_KEPT)
"""Store of results of detectors and readers in the user's cache."""
LIBRARIES = ("numpy", "onnxruntime", "opencv-python", "opencv-python-headless", "rapidfuzz", "rapidocr")
"""Names of packages whose versions can change what is found."""


@dataclass(slots=True)
class KeptFinds:
    """A detector that stores its detections in views with a key, and looks them up the next time.

    The detections of a call are stored together, because a batch's size can change what a network finds.
    """

    detector: Detector
    """Detector of what is not stored."""
    name: str
    """Name of the detector, its settings included, that tells it from others in the store."""
    _looked: int = field(default=0, init=False)
    """Number of calls of the detector."""

    @property
    def look_scores(self) -> LookScores:
        """Least scores at which the wrapped detector's detections count."""
        return self.detector.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> Finds:
        """Return the detections of some labels in each view, from the store if all views have a key."""
        views = [as_view(view) for view in views]
        if not views or not all(view.key for view in views):
            return self.detector.detect(views, labels)

        def look() -> Finds:
            """Return the detector's detections, and count the call."""
            self._looked += 1
            return self.detector.detect(views, labels)

        name = _file_name(self.name, views, labels)
        return _FINDS.get(name, _read, look, _write, keep=self._looked < FIRST_KEPT)


@dataclass(slots=True)
class KeptReadings:
    """A reader that stores the lines it reads in views with a key, and looks them up the next time."""

    reader: Reader
    """Reader of what is not stored."""
    name: str
    """Name of the reader, its settings included, that tells it from others in the store."""
    _read: int = field(default=0, init=False)
    """Number of calls of the reader for views."""

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in pictures, which have no key and are always read."""
        return self.reader.read(images)

    def read_views(self, views: Sequence[View]) -> list[list[TextLine]]:
        """Return the lines of text in each view; views whose lines are stored are not drawn."""
        if not views or not all(view.key for view in views):
            return self.read([view.pixels for view in views])

        def read() -> list[list[TextLine]]:
            """Return the lines of text in the views, and count the call."""
            self._read += 1
            return self.read([view.pixels for view in views])

        name = _file_name(self.name, views, ())
        return _FINDS.get(name, _read_lines, read, _write, keep=self._read < FIRST_KEPT)


def read_views(reader: Reader, views: Sequence[View]) -> list[list[TextLine]]:
    """Return the lines of text that a reader finds in each view; a `KeptReadings` looks them up.

    Raises:
        ModelUnavailable: the reader's model is missing.
    """
    if isinstance(reader, KeptReadings):
        return reader.read_views(views)
    return reader.read([view.pixels for view in views])


def _file_name(name: str, views: Sequence[View], labels: Sequence[str]) -> str:
    """Return the name of the file with the results of the model `name` in some views for some labels."""
    key = json.dumps([finds_digest(), name, [view.key for view in views], list(labels)])
    return f"{digest_of(key)}.json"


@cache
def finds_digest() -> str:
    """Return a hexadecimal digest of what results depend on besides pictures: code, data and libraries."""
    here = Path(__file__).parent
    folders = (here, data_folder("platform/models"), data_folder("platform/words"))
    files = (file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file())
    known = [f"{name} {_version(name)}" for name in LIBRARIES]
    digest = sha256(" ".join([*known, f"threads {usual_threads()}"]).encode())
    for file in (*sorted(here.parent.glob("*.py")), table_file(), *files):
        if file.parent.name != "__pycache__":
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(library: str) -> str:
    """Return the installed version of a package; "none" if it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def _write(file: BinaryIO, finds: Sequence[Sequence[FoundT]]) -> None:
    """Write the detections, or lines of text, in each view to a file as JSON."""
    file.write(json.dumps([[astuple(one) for one in found] for found in finds]).encode())


def _read(file: BinaryIO) -> Finds:
    """Return the detections in each view from a JSON file."""
    return [
        [Detection(label, score, tuple(box), text) for label, score, box, text in found]
        for found in json.load(file)
    ]


def _read_lines(file: BinaryIO) -> list[list[TextLine]]:
    """Return the lines of text in each view from a JSON file."""
    return [[TextLine(text, score, tuple(box)) for text, score, box in lines] for lines in json.load(file)]
