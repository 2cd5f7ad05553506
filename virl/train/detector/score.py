"""Tables of how well the detector does in towns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan

import numpy as np

from virl.errors import BadInput
from virl.platform.perception.detectors.rendered import RenderedDetector
from virl.platform.perception.models import Models
from virl.train.detector.scoring import BANDS_M, ClassScore, score, views_of
from virl.train.detector.towns import open_ground

SEED = 9  # of the views that scores are measured on
FEWEST = 10  # things of a class, from which on its figure is in the mean


def score_towns(model: str, towns: Sequence[str], views: int) -> Iterator[str]:
    """A Markdown table for each town.

    Raises:
        BadInput: the model is of another kind, or an extract cannot be read.
    """
    detector = Models().detector(model)
    if not isinstance(detector, RenderedDetector):
        raise BadInput(f"detector {model!r} is of another kind: give one of the kind rendered")
    for town in towns:
        scores = score(detector, views_of(open_ground(town), views, SEED))
        yield f"Town {town}, {views} views\n\n{table(scores, detector.look_scores.first)}\n"


def table(scores: Mapping[str, ClassScore], least: float) -> str:
    """Rows of classes: things, AP50, precision and recall from a score on, and recall by distance."""
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
    """Mean AP50 of the classes with at least `FEWEST` things; NaN if there are none."""
    enough = [one.average_precision() for one in scores.values() if len(one.metres) >= FEWEST]
    return float(np.mean(enough)) if enough else float("nan")


def _figure(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"
