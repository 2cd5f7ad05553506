"""How the views of a training area score on average, for any text.

The mean and the deviation of a text's scores over all views follow from the mean and the covariance of the
views' embeddings: with scores `t . v`, they are `t . m` and `sqrt(t C t)`. So two arrays stand for all views,
and no list of texts has to be known beforehand.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo import Floats
from virl.platform.perception.arrays import read_arrays, write_arrays

FORMAT = 1
"""Schema version of a statistics file."""

_DEVIATION_FLOOR = 1e-6  # below this all views score alike, and nothing stands out


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """Mean and covariance of the embeddings of views."""

    mean: Floats
    """Shape (dimension,)."""
    covariance: Floats
    """Shape (dimension, dimension)."""
    count: int
    """How many views they were taken over."""
    model: str
    """What embedded them, such as `ViT-bigG-14/laion2b_s39b_b160k`."""

    def of(self, captions: NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Mean and deviation of each caption's score over the views, shape (captions,)."""
        wide = captions.astype(np.float64)
        variance = np.einsum("ni,ij,nj->n", wide, self.covariance, wide, optimize=True)
        return wide @ self.mean, np.sqrt(np.maximum(variance, _DEVIATION_FLOOR**2))


def gather_statistics(batches: Iterable[NDArray[np.float32]], model: str) -> ViewStatistics:
    """Statistics over batches of embeddings, each of shape (n, dimension), held one at a time.

    Raises:
        BadInput: there is no view.
    """
    count, total, squares = 0, np.zeros(1), np.zeros((1, 1))
    for batch in batches:
        wide = batch.astype(np.float64)
        count += len(wide)
        total = total + wide.sum(axis=0)
        squares = squares + wide.T @ wide
    if not count:
        raise BadInput("no views for the statistics: give the panoramas of the training area")
    mean = total / count
    return ViewStatistics(mean, squares / count - np.outer(mean, mean), count, model)


def write_statistics(statistics: ViewStatistics, file: Path) -> None:
    """Write statistics as a `.npz` file."""
    arrays = {"mean": statistics.mean, "covariance": statistics.covariance}
    write_arrays(
        file, "velma-statistics", FORMAT, statistics.model, arrays | {"count": np.array(statistics.count)}
    )


def read_statistics(file: Path, model: str | None = None) -> ViewStatistics:
    """Read statistics.

    Args:
        file: written by `write_statistics`.
        model: what the embeddings to compare come from; `None` takes any.

    Raises:
        BadInput: the file is missing, of another version or for another model, or its arrays do not fit.
    """
    arrays, made_by = read_arrays(file, "velma-statistics", FORMAT, model, ("mean", "covariance", "count"))
    mean, covariance = arrays["mean"].astype(np.float64), arrays["covariance"].astype(np.float64)
    if mean.ndim != 1 or covariance.shape != (len(mean), len(mean)) or not np.isfinite(covariance).all():
        raise BadInput(f"{file}: the sizes of mean and covariance differ: build the statistics again")
    return ViewStatistics(mean, covariance, int(arrays["count"]), made_by)
