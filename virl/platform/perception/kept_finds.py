"""What detectors found in pictures that never change: a run that repeats another looks at none of them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO

from virl.files.stores import ByteStore, digest_of
from virl.platform.city.place_types import table_file
from virl.platform.city.streetview import View
from virl.platform.perception.base import Detection, Detector, LookScores
from virl.platform.perception.images import as_view, usual_threads
from virl.resources import data_folder

Finds = list[list[Detection]]
"""Detections of each view, in order."""

FIRST_KEPT, MOST_KEPT = 256, 1024
"""Number of looks that a process keeps, and that are kept in all, some 1 kB each. Chosen, as for pictures."""
_FINDS = ByteStore("finds", "look of a detector", MOST_KEPT)
LIBRARIES = ("numpy", "onnxruntime", "opencv-python", "opencv-python-headless", "rapidfuzz", "rapidocr")
"""Packages whose versions can change what is found."""


@dataclass(slots=True)
class KeptFinds:
    """A detector that looks up what it found before in pictures with a key.

    A look is kept as a whole, because the size of a batch can change what a network finds.

    Args:
        detector: looks at what was not looked at before.
        name: tells it from other detectors, and from itself where it looks another way.
    """

    detector: Detector
    name: str
    """Key of the detector, its settings included, among stored finds."""
    _looked: int = field(default=0, init=False)

    @property
    def look_scores(self) -> LookScores:
        """The thresholds of the detector."""
        return self.detector.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> Finds:
        """Return the detector's finds in each view, kept ones where there are."""
        views = [as_view(view) for view in views]
        if not views or not all(view.key for view in views):
            return self.detector.detect(views, labels)
        key = json.dumps([finds_digest(), self.name, [view.key for view in views], list(labels)])
        return _FINDS.get(
            f"{digest_of(key)}.json", _read, self._look(views, labels), _write, keep=self._looked < FIRST_KEPT
        )

    def _look(self, views: Sequence[View], labels: Sequence[str]) -> Callable[[], Finds]:
        """Return a function that runs the detector and counts the look."""

        def look() -> Finds:
            self._looked += 1
            return self.detector.detect(views, labels)

        return look


@cache
def finds_digest() -> str:
    """Return a digest of all that kept finds depend on but pictures: code, weights, files, libraries."""
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
    """Return the installed version of a package, "none" without it."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def _write(file: BinaryIO, finds: Finds) -> None:
    """Write detections as JSON."""
    file.write(json.dumps([[astuple(one) for one in found] for found in finds]).encode())


def _read(file: BinaryIO) -> Finds:
    """Read detections from JSON."""
    return [
        [Detection(label, score, tuple(box), text) for label, score, box, text in found]
        for found in json.load(file)
    ]
