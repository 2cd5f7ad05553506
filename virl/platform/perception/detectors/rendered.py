"""The detector that virl trains itself, on views of made towns: signs, shop doors and street furniture.

It sees pixels and nothing else. It knows how towns look that virl draws, and is no detector of real streets.
`benchmarks.perf.detector` trains it; docs/explanation/training.md says on what, and how well it does.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from virl.errors import ModelUnavailable, first_line
from virl.extras import Late
from virl.geo.globe import Ints
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, plain_label
from virl.platform.perception.detections import (
    SettingsDetector,
    area_shares,
    share_inside,
    to_detections,
    words_of,
)
from virl.platform.perception.images import as_view, cores, look_at_each, pixels_of, usual_threads
from virl.platform.perception.registry import DetectorSettings, Kind, Needs
from virl.platform.perception.signs import SIGN
from virl.platform.perception.weights import batches, load_once

cv2 = Late("cv2", extra="eyes")
onnxruntime = Late("onnxruntime", extra="eyes")

NAME = "rendered"
"""Name of the detector."""
WEIGHTS = Path(__file__).parent / "rendered.onnx"
"""File of weights that comes with virl."""
INPUT_SIDE = 640
"""Length in pixels that a view's longer side is scaled to for the network."""
CLASSES = (
    "sign", "directory", "shop door", "trash bin", "fire hydrant", "bench", "mailbox", "bollard", "planter",
    "tree", "street lamp", "traffic light", "parked car", "bicycle stand", "bus stop",
)  # fmt: skip
"""Names of the network's classes, in the order of its outputs; a directory board is labelled a sign."""

NOT_DRAWN = (
    "the detector `rendered` knows only towns that virl draws, and this city is none: choose another with "
    "--detector, such as grounding-dino, owlv2 or recorded (see `virl models`)"
)
"""Error text for a city that virl does not draw."""

_LABELS = tuple(SIGN if one == "directory" else one for one in CLASSES)
"""Label of each class of the network, in the order of `CLASSES`."""
_GREY = 114
"""Level, of 255, of the grey around pictures that are not square; as YOLO's."""


class RenderedSettings(DetectorSettings):
    """Settings of the detector; `platform/models/rendered.yaml` gives the reasons for the values."""

    sees_pixels_alone: ClassVar[bool] = True

    kind: Literal["rendered"]
    weights: str | None = None
    """Path of an ONNX file that `benchmarks.perf.detector` made; `None` for the one that comes with virl."""
    synonyms: dict[str, str] = Field(default_factory=dict)
    """Labels that the network knows, by other words for the same: {synonym: label}."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection, [0, 1]."""
    max_overlap: float = Field(gt=0, le=1)
    """Largest intersection over union, [0, 1], of two boxes of one label; the better one stays."""
    parts: dict[str, str] = Field(default_factory=dict)
    """Labels {part: whole}: a find of the first label that lies inside one of the second is dropped."""
    part_inside: float = Field(0.8, gt=0, le=1)
    """Least share of a part's area, [0, 1], inside the whole object, for the part to be dropped."""
    part_area: float = Field(0.7, gt=0, le=1)
    """Largest area of a part that is dropped, as a share of the whole object's."""
    whole_score: float = Field(0.7, ge=0)
    """Least score of the whole object for a part to be dropped, as a share of the part's score."""
    only_drawn: bool
    """True to refuse the detector in cities that virl does not draw."""
    batch: int = Field(ge=1)
    """Number of views that go through the network at once, where only one thread is used."""
    threads: int | None = Field(ge=1)
    """Number of views looked at side by side; `None` for `OMP_NUM_THREADS`, else one a core."""

    def needs(self) -> Needs:
        """Return the requirements: the packages, the file of weights, and a town that virl draws."""
        truth = NOT_DRAWN if self.only_drawn else ""
        return Needs(("cv2", "onnxruntime"), "eyes", files=(self.file,), truth=truth)

    def unknown(self, labels: Sequence[str]) -> list[str]:
        """Return those of `labels` that mean none of the network's classes, not even as synonyms."""
        return [one for one in labels if plain_label(one) not in {*_LABELS, *self.synonyms}]

    @property
    def file(self) -> Path:
        """Path of the file of weights."""
        return WEIGHTS if self.weights is None else Path(self.weights).expanduser()


class NetworkFinds(NamedTuple):
    """The n objects that the network finds in a picture, some of them more than once."""

    boxes: NDArray[np.float32]
    """Left, top, right and bottom in pixels of the picture, shape (n, 4)."""
    scores: NDArray[np.float32]
    """Confidence, [0, 1], shape (n,)."""
    classes: Ints
    """Indices in `CLASSES`, shape (n,)."""


class RenderedDetector(SettingsDetector[RenderedSettings]):
    """A detector of signs, shop doors and street furniture in views of towns that virl draws.

    Equal views give equal boxes. The weights are loaded with the first view. Safe to share between threads.
    """

    def __init__(self, settings: RenderedSettings) -> None:
        self._settings = settings
        self._threads = cores(settings.threads or usual_threads())
        self._load = partial(_session, str(settings.file))

    def detect(self, views: Sequence[View], labels: Sequence[str] = ()) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first.

        Labels may be synonyms; case does not count, and underscores are spaces. `"sign"` finds directories
        too. None asks for all known labels. Others are never found.

        Raises:
            BadInput: a label is empty.
            ModelUnavailable: the weights are missing, or are not those of this detector.
        """
        asked = self._class_labels(labels)
        if not asked:
            return [[] for _ in views]
        settings, found = self._settings, []
        views = [as_view(view) for view in views]
        if min(len(views), self._threads) < 2:
            seen = self.find([pixels_of(view) for view in views])
        else:
            seen = look_at_each(views, self._threads, lambda picture: self.find([picture])[0])
        for view, one in zip(views, seen, strict=True):
            wanted = np.isin(one.classes, list(asked))
            names = [asked[kind] for kind in one.classes[wanted].tolist()]
            found.append(
                to_detections(
                    one.boxes[wanted],
                    one.scores[wanted],
                    names,
                    view.pixels,
                    min_score=settings.min_score,
                    max_overlap=settings.max_overlap,
                )
            )
        return found

    def find(self, pictures: Sequence[Image], min_score: float | None = None) -> list[NetworkFinds]:
        """Return each picture's finds from a score of `min_score` on; doubles stay, parts of other finds go.

        `min_score` is the least score, [0, 1]; `None` takes that of the settings.

        Raises:
            ModelUnavailable: the weights are missing, or are not those of this detector.
        """
        least = self._settings.min_score if min_score is None else min_score
        found: list[NetworkFinds] = []
        for some in batches(pictures, self._settings.batch):
            fitted = np.stack([_fit_picture(one) for one in some])
            scores, boxes = self._load().run(None, {"pictures": fitted})
            read = (_read(*one, least) for one in zip(some, scores, boxes, strict=True))
            found += (self._without_parts(one) for one in read)
        return found

    def _without_parts(self, found: NetworkFinds) -> NetworkFinds:
        """Return the finds less those that, by the settings, are only a part of another find."""
        settings, kept = self._settings, np.ones(len(found.scores), bool)
        for part, whole in settings.parts.items():
            parts = np.isin(found.classes, list(_numbers(part)))
            wholes = np.isin(found.classes, list(_numbers(whole)))
            is_part = share_inside(found.boxes[parts], found.boxes[wholes]) >= settings.part_inside
            is_part &= area_shares(found.boxes[parts], found.boxes[wholes]) <= settings.part_area
            is_part &= found.scores[wholes] >= settings.whole_score * found.scores[parts][:, None]
            kept[parts] = ~is_part.any(axis=1)
        return NetworkFinds(found.boxes[kept], found.scores[kept], found.classes[kept])

    def _class_labels(self, labels: Sequence[str]) -> dict[int, str]:
        """Return {index of class: first label that means the class} for all classes asked for."""
        if not labels:
            return dict(enumerate(_LABELS))
        asked: dict[int, str] = {}
        for words, label in words_of(labels, NAME).items():
            kind = self._settings.synonyms.get(words, words)
            for number in _numbers(kind):
                asked.setdefault(number, label)
        return asked


def _numbers(kind: str) -> Iterable[int]:
    """Return the indices of the classes whose label is `kind`."""
    return (number for number, label in enumerate(_LABELS) if label == kind)


def _fit_picture(picture: Image) -> Image:
    """Return a picture scaled to the network's input size, padded with grey below or on the right."""
    height, width = picture.shape[:2]
    scale = INPUT_SIDE / max(height, width)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    fitted = np.full((INPUT_SIDE, INPUT_SIDE, 3), _GREY, np.uint8)
    fitted[: size[1], : size[0]] = cv2.resize(picture, size, interpolation=way)
    return fitted


def _read(
    picture: Image, scores: NDArray[np.float32], boxes: NDArray[np.float32], least: float
) -> NetworkFinds:
    """Return the boxes with a score of `least` or more, in pixels of the picture.

    The network gives scores by cell and class, and boxes by cell in pixels of its input.
    """
    cells, kinds = np.nonzero(scores >= least)
    scale = max(picture.shape[:2]) / INPUT_SIDE
    return NetworkFinds(boxes[cells] * np.float32(scale), scores[cells, kinds], kinds)


@load_once
def _session(file: str) -> Any:
    """Return the network of an ONNX file as a session; raise `ModelUnavailable` for no or another network."""
    if not Path(file).is_file():
        raise ModelUnavailable(
            f"weights {file} are missing: set `weights` in the model's file to an ONNX file"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # views are looked at side by side, which keeps cores busier
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as fault:
        raise ModelUnavailable(
            f"weights {file} cannot be read ({first_line(fault)}): export them again"
        ) from fault
    # Classes are numbers to the network: in another order every find would get a wrong name.
    if session.get_modelmeta().custom_metadata_map.get("classes") != ",".join(CLASSES):
        raise ModelUnavailable(
            f"weights {file} are not of this version's detector: export them with `benchmarks.perf.detector`"
        )
    return session


KIND = Kind("detector", RenderedSettings, lambda settings, _: RenderedDetector(settings))
