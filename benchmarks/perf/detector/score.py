"""Tables of how well the detector does in towns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.perf.detector.towns import Scenery, open_ground
from benchmarks.perf.detector.views import SIDE, Floats, Sample, look
from virl.errors import BadInput
from virl.platform.perception.detectors.rendered import CLASSES, NetworkFinds, RenderedDetector
from virl.platform.perception.models import Models
from virl.towns.render.lens import aim_lens

LEAST_SIDE, LEAST_SHARE = 16.0, 0.5
"""Least side of the box, pixels, and least visible share (second) of a thing that should be found.

A find of something that need not be found does not count, nor does one that finds nothing and is smaller.
"""
OVERLAP = 0.5
"""Least intersection over union of a find with the thing that it finds, as in AP50."""
FLOOR = 0.02  # least score of a find; chosen
MAX_OVERLAP = 0.45  # of two finds of one class; as in platform/models/rendered.yaml
FOVS, PITCHES = (90.0, 60.0), (0.0, 10.0)  # of the views; chosen: as virl's agents look
BANDS_M = (0.0, 10.0, 20.0, 40.0, 80.0)
AT_ONCE = 8
SEED = 9  # of the views that scores are measured on
FEWEST = 10  # things of a class, from which on its figure is in the mean


@dataclass(slots=True)
class ClassScore:
    """The finds and the things of one class over all views, for precision and recall."""

    scores: list[float] = field(default_factory=list)
    """Score of each find."""
    right: list[bool] = field(default_factory=list)
    """True for each find that is of a thing."""
    metres: list[float] = field(default_factory=list)
    """Distance of each thing from the camera, metres."""
    best: list[float] = field(default_factory=list)
    """Score of the find of each thing, 0 without one."""

    def average_precision(self) -> float:
        """Return the area under the curve of precision over recall, [0, 1]; NaN without things."""
        if not self.metres:
            return float("nan")
        order = np.argsort(-np.array(self.scores), kind="stable")
        hits = np.cumsum(np.array(self.right, bool)[order])
        precision = np.maximum.accumulate((hits / np.arange(1, len(hits) + 1))[::-1])[::-1]
        recall = hits / len(self.metres)
        return float(np.sum(np.diff(recall, prepend=0.0) * precision))

    def recall(self, least: float, low: float = 0.0, high: float = np.inf) -> tuple[float, int]:
        """Return (share found with score `least`, number) of the things `low` to `high` metres away.

        Args:
            least: score of a find that counts.
            low: metres, included.
            high: metres, not included.
        """
        metres, best = np.array(self.metres), np.array(self.best)
        there = (metres >= low) & (metres < high)
        count = int(there.sum())
        return (float((best[there] >= least).mean()) if count else float("nan")), count

    def precision(self, least: float) -> float:
        """Return the share of finds of at least `least` score that are right, [0, 1]; NaN without any."""
        sure = np.array(self.scores) >= least
        return float(np.array(self.right)[sure].mean()) if sure.any() else float("nan")


def _views_of(ground: Scenery, count: int, seed: int) -> list[Sample]:
    """Return `count` views of a town as agents look, from random panoramas, drawn by `seed`."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        x, y = ground.cameras[rng.integers(len(ground.cameras))].tolist()
        heading, pitch, fov = rng.uniform(0, 360), rng.choice(PITCHES), rng.choice(FOVS)
        samples.append(look(ground, aim_lens(x, y, float(heading), float(pitch), float(fov), (SIDE, SIDE))))
    return samples


def score(detector: RenderedDetector, samples: Sequence[Sample]) -> dict[str, ClassScore]:
    """Return the finds of a detector in views, compared with the truth, by class."""
    scores = {name: ClassScore() for name in CLASSES}
    for first in range(0, len(samples), AT_ONCE):
        some = samples[first : first + AT_ONCE]
        for sample, found in zip(some, detector.find([one.picture for one in some], FLOOR), strict=True):
            _compare(sample, without_doubles(found), scores)
    return scores


def without_doubles(found: NetworkFinds) -> NetworkFinds:
    """Return the finds, best first, without those that overlap a better one of their class too much."""
    if not len(found.scores):
        return found
    corners = found.boxes.astype(np.float64)
    sizes = np.column_stack([corners[:, :2], corners[:, 2:] - corners[:, :2]])
    kept = cv2.dnn.NMSBoxesBatched(
        sizes.tolist(), found.scores.tolist(), found.classes.tolist(), FLOOR, MAX_OVERLAP
    )
    rows = np.array(sorted(np.ravel(kept).tolist(), key=lambda row: -found.scores[row]), np.int64)
    return NetworkFinds(found.boxes[rows], found.scores[rows], found.classes[rows])


def _compare(sample: Sample, found: NetworkFinds, scores: dict[str, ClassScore]) -> None:
    """Add the finds in one view, and the things that it shows, to the scores by class."""
    sides = np.minimum(sample.boxes[:, 2] - sample.boxes[:, 0], sample.boxes[:, 3] - sample.boxes[:, 1])
    wanted = (sides >= LEAST_SIDE) & (sample.shares >= LEAST_SHARE)
    for number, name in enumerate(CLASSES):
        things, finds = sample.classes == number, found.classes == number
        one, counts = scores[name], wanted[things]
        best = np.zeros(int(things.sum()))
        boxes = found.boxes[finds]
        overlaps = _overlaps(boxes, sample.boxes[things])
        large = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) >= LEAST_SIDE
        for score_, is_large, row in zip(found.scores[finds].tolist(), large, overlaps, strict=True):
            free = np.where((best == 0) & counts, row, 0.0)
            if free.size and free.max() >= OVERLAP:
                best[free.argmax()] = score_
                one.scores.append(score_)
                one.right.append(True)
            elif is_large and not (row[~counts] >= OVERLAP).any():
                one.scores.append(score_)
                one.right.append(False)
        one.metres += sample.metres[things][counts].tolist()
        one.best += best[counts].tolist()


def _overlaps(a: Floats, b: Floats) -> NDArray[np.float64]:
    """Return the intersection over union of each pair of boxes (n, 4) and (m, 4), shape (n, m)."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    area_a, area_b = (a[:, 2:] - a[:, :2]).prod(axis=1), (b[:, 2:] - b[:, :2]).prod(axis=1)
    return np.asarray(shared / np.maximum(area_a[:, None] + area_b[None] - shared, 1e-9), float)


def score_towns(model: str, towns: Sequence[str], views: int) -> Iterator[str]:
    """Yield a Markdown table of a detector's scores for each town, from `views` views each.

    Args:
        model: name of a detector of the kind rendered.
        towns: names or extracts.
        views: number for each town.

    Raises:
        BadInput: the model is of another kind, or an extract cannot be read.
    """
    detector = Models().detector(model)
    if not isinstance(detector, RenderedDetector):
        raise BadInput(f"detector {model!r} is of another kind: give one of the kind rendered")
    for town in towns:
        scores = score(detector, _views_of(open_ground(town), views, SEED))
        yield f"Town {town}, {views} views\n\n{table(scores, detector.look_scores.first)}\n"


def table(scores: Mapping[str, ClassScore], least: float) -> str:
    """Return a Markdown table: each class's number of things, AP50, precision, and recall by distance."""
    bands = [f"{low:g} to {high:g} m" for low, high in pairwise(BANDS_M)]
    rows = [
        ["class", "things", "AP50", f"precision at {least:g}", "recall", *bands],
        ["---", *["---:"] * (4 + len(bands))],
    ]
    for name, one in scores.items():
        recalls = [one.recall(least)[0], *(one.recall(least, *band)[0] for band in pairwise(BANDS_M))]
        figures = [one.average_precision(), one.precision(least), *recalls]
        rows.append([name, str(len(one.metres)), *map(_figure, figures)])
    rows.append(["mean", "", _figure(mean_precision(scores)), *[""] * (2 + len(bands))])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def mean_precision(scores: Mapping[str, ClassScore]) -> float:
    """Return the mean AP50 of the classes with at least `FEWEST` things; NaN if there are none."""
    enough = [one.average_precision() for one in scores.values() if len(one.metres) >= FEWEST]
    return float(np.mean(enough)) if enough else float("nan")


def _figure(value: float) -> str:
    """Return a number with two decimals as text; "-" for NaN."""
    return "-" if isnan(value) else f"{value:.2f}"
