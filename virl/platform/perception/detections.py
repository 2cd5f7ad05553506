"""What open-vocabulary detectors are asked and answer: labels as words, and detections made of boxes."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from virl.errors import BadInput
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, LookScores, plain_label
from virl.platform.perception.cameras import intersection_over_union
from virl.platform.perception.images import clip_box, pixels_of, same_size_batches
from virl.platform.perception.registry import DetectorSettings, Needs
from virl.platform.perception.weights import EXTRA, PACKAGES, guard_memory


def words_of(labels: Sequence[str], model: str, separators: str = "") -> dict[str, str]:
    """Return {label as plain words: label}; raise `BadInput` for no labels, or any of `separators` in one.

    Of labels with the same words the first one counts.

    Args:
        labels: labels to find, such as `"trash bin"` or `"jewelry_store"`.
        model: name of the model, for errors.
        separators: characters that the model would take for the end of a label.

    Raises:
        BadInput: there are no labels, or one is empty or holds a separator.
    """
    if not labels:
        raise BadInput(f"{model} finds only the labels it is given: give one or more")
    words: dict[str, str] = {}
    for label in labels:
        if found := [mark for mark in separators if mark in label]:
            raise BadInput(f"label {label!r}: {model} reads {found[0]!r} as the end of a label: remove it")
        plain = plain_label(label)
        if not plain:
            raise BadInput(f"label {label!r} is empty: {model} needs a word for what it looks for")
        words.setdefault(plain, label)
    return words


SettingsT = TypeVar("SettingsT", bound=DetectorSettings)
"""Type variable of the settings of a kind of detector."""


class SettingsDetector(Generic[SettingsT]):
    """A base of virl's own detectors, which take the least scores that count from their model file."""

    _settings: SettingsT
    """Settings in the detector's model file."""

    @property
    def look_scores(self) -> LookScores:
        """Least scores at which the detector's detections count, from its model file."""
        return self._settings.look_scores


Rows = NDArray[np.float32]
"""Array of numbers, one row for each box."""


def to_detections(
    boxes: Rows,
    scores: Rows,
    labels: Sequence[str],
    image: Image,
    *,
    min_score: float,
    max_overlap: float | None,
) -> list[Detection]:
    """Return boxes that score at least `min_score` as detections, cut at edges, without doubles, best first.

    Args:
        boxes: left, top, right, bottom in pixels, shape (n, 4).
        scores: score of each box, [0, 1], shape (n,).
        labels: label of each box.
        image: the picture, shape (H, W, 3).
        min_score: least score of a returned detection, [0, 1].
        max_overlap: as in `without_doubles`.
    """
    found = []
    for box, score, label in zip(boxes.tolist(), scores.tolist(), labels, strict=True):
        inside = clip_box(tuple(box), image.shape[1], image.shape[0])
        if inside is not None and score >= min_score:
            found.append(Detection(label, min(max(score, 0.0), 1.0), inside))
    return without_doubles(found, max_overlap)


def without_doubles(found: Sequence[Detection], max_overlap: float | None) -> list[Detection]:
    """Return detections, best first, less those that overlap a better one of their label over `max_overlap`.

    `max_overlap` is the largest intersection over union of two that both stay, [0, 1]; `None` keeps all.
    """
    # Ties by box and label, so that the order in which the model reports boxes does not count.
    ranked = sorted(found, key=lambda one: (-one.score, one.box, one.label))
    if max_overlap is None or len(ranked) < 2:
        return ranked
    kept: list[Detection] = []
    for one in ranked:
        rivals = (other for other in kept if other.label == one.label)
        if all(intersection_over_union(one.box, other.box) <= max_overlap for other in rivals):
            kept.append(one)
    return kept


class WordDetectorSettings(DetectorSettings):
    """The settings of detectors by a network that takes labels in any words."""

    weights: str
    """Path of a file or folder with the weights, or a hub id."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection, [0, 1]."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union of two detections of a label; `None` keeps all."""
    batch: int = Field(ge=1)
    """Number of views that go through the network at once."""

    def needs(self) -> Needs:
        """Return the requirements: the packages of the extra, and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


LabelledBoxes = tuple[Rows, Rows, Sequence[int]]
"""(left, top, right, bottom in pixels, shape (n, 4); scores, [0, 1]; indices of labels) of n boxes."""
FindBoxes = Callable[[Sequence[Image]], list[LabelledBoxes]]
"""Function from pictures of one size to the boxes in each."""


class WordDetector(SettingsDetector[WordDetectorSettings]):
    """A detector by a network that takes labels in any words. Safe to share between threads."""

    def __init__(
        self,
        prepare: Callable[[Sequence[str]], FindBoxes],
        settings: WordDetectorSettings,
        separators: str = "",
    ) -> None:
        """Use `prepare`, from plain labels to a function that finds them; no label may hold `separators`."""
        self._prepare = prepare
        self._settings = settings
        self._separators = separators

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first.

        Raises:
            BadInput: there are no labels, one is empty or the network cannot take it, they are too many, or
                an array is no picture.
            ModelUnavailable: the packages or the weights are missing, or the GPU's memory is too small.
        """
        settings = self._settings
        words = words_of(labels, settings.kind, self._separators)
        pictures = [pixels_of(view) for view in views]
        if not pictures:
            return []
        find, asked = self._prepare(list(words)), list(words.values())
        found: list[list[Detection]] = [[] for _ in pictures]
        for indices in same_size_batches(pictures, settings.batch):
            with guard_memory(settings.kind, len(indices)):
                seen = find([pictures[i] for i in indices])
            for i, (boxes, scores, numbers) in zip(indices, seen, strict=True):
                found[i] = to_detections(
                    boxes,
                    scores,
                    [asked[number] for number in numbers],
                    pictures[i],
                    min_score=settings.min_score,
                    max_overlap=settings.max_overlap,
                )
        return found


def share_inside(boxes: Rows, others: Rows) -> Rows:
    """Return the share of each box's area that lies inside each of the others, [0, 1], shape (n, m).

    Boxes are left, top, right, bottom, shapes (n, 4) and (m, 4).
    """
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    return np.asarray(shared / np.maximum(_areas(boxes), 1e-9)[:, None], np.float32)


def area_shares(boxes: Rows, others: Rows) -> Rows:
    """Return the area of each box, (n, 4), divided by that of each of the others, (m, 4), shape (n, m)."""
    return np.asarray(_areas(boxes)[:, None] / np.maximum(_areas(others), 1e-9)[None], np.float32)


def _areas(boxes: Rows) -> Rows:
    """Return the area of each box (left, top, right, bottom), shape (n,)."""
    return np.asarray((boxes[:, 2:] - boxes[:, :2]).prod(axis=1), np.float32)


def corners(boxes: Rows, image: Image) -> Rows:
    """Return boxes of a DETR model (middle and size as shares) as left, top, right, bottom in pixels."""
    height, width = image.shape[:2]
    middle, half = boxes[:, :2], boxes[:, 2:] / 2
    scale = np.array([width, height, width, height], np.float32)
    return np.concatenate([middle - half, middle + half], axis=1) * scale
