"""What was found and read in pictures that never change: a run that repeats another looks at none of them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from virl.files.stores import ByteStore, digest_of
from virl.platform.city.place_types import table_file
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, Detector, LookScores, Reader, TextLine
from virl.platform.perception.images import as_view, usual_threads
from virl.resources import data_folder

ModelT = TypeVar("ModelT")
"""Type variable of a model that looks at views."""
FoundT = TypeVar("FoundT", Detection, TextLine)
"""Type variable of what is found in a picture: detections or lines of text."""

FIRST_KEPT, MOST_KEPT = 256, 1024
"""Largest numbers of stored results, some 1 kB each: of one detector or reader, and of all; chosen."""
_FINDS = ByteStore("finds", "look of a detector", MOST_KEPT)
"""Store of results of detectors and readers in the user's cache."""
LIBRARIES = ("numpy", "onnxruntime", "opencv-python", "opencv-python-headless", "rapidfuzz", "rapidocr")
"""Names of packages whose versions can change what is found."""


@dataclass(slots=True)
class _KeptModel(Generic[ModelT, FoundT]):
    """A model with a store of what it found in views with a key.

    Finds of a call are stored together, because a batch's size can change what a network finds.
    """

    model: ModelT
    """Model that looks at views whose finds are not stored."""
    name: str
    """Name of the model, its settings included, that tells it from others in the store."""
    _looked: int = field(default=0, init=False)
    """Number of calls of the model for views with a key."""

    def _look_up(
        self,
        views: Sequence[View],
        labels: Sequence[str],
        made: type[FoundT],
        look: Callable[[], list[list[FoundT]]],
    ) -> list[list[FoundT]]:
        """Return the finds of class `made` in each view for some labels: stored ones, or those of `look`."""
        if not views or not all(view.key for view in views):
            return look()

        def read(file: BinaryIO) -> list[list[FoundT]]:
            """Return the finds in each view from a JSON file."""
            return [
                [made(text, score, tuple(box), *more) for text, score, box, *more in found]
                for found in json.load(file)
            ]

        def look_now() -> list[list[FoundT]]:
            """Return what the model finds, and count the call."""
            self._looked += 1
            return look()

        key = json.dumps([finds_digest(), self.name, [view.key for view in views], list(labels)])
        return _FINDS.get(f"{digest_of(key)}.json", read, look_now, _write, keep=self._looked < FIRST_KEPT)


class KeptFinds(_KeptModel[Detector, Detection]):
    """A detector that stores its detections in views with a key, and looks them up the next time."""

    @property
    def look_scores(self) -> LookScores:
        """Least scores at which the wrapped detector's detections count."""
        return self.model.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the detections of some labels in each view, from the store if all views have a key."""
        views = [as_view(view) for view in views]
        return self._look_up(views, labels, Detection, lambda: self.model.detect(views, labels))


class KeptReadings(_KeptModel[Reader, TextLine]):
    """A reader that stores the lines it reads in views with a key, and looks them up the next time."""

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in pictures, which have no key and are always read."""
        return self.model.read(images)

    def read_views(self, views: Sequence[View]) -> list[list[TextLine]]:
        """Return the lines of text in each view, from the store if the same views were read before."""
        return self._look_up(views, (), TextLine, lambda: self.read([view.pixels for view in views]))


def read_views(reader: Reader, views: Sequence[View]) -> list[list[TextLine]]:
    """Return the lines of text that a reader finds in each view; a `KeptReadings` looks them up.

    Raises:
        ModelUnavailable: the reader's model is missing.
    """
    if isinstance(reader, KeptReadings):
        return reader.read_views(views)
    return reader.read([view.pixels for view in views])


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
