"""Which landmarks are visible: image and text embeddings compared, standardised over a training area."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import Floats
from virl.platform.city.streetview import Camera, StreetView
from virl.platform.navigators.velma.observations import Direction, VisibleLandmark
from virl.platform.perception.arrays import read_arrays, write_arrays
from virl.platform.perception.base import Embeddings
from virl.platform.perception.embeddings import (
    EmbeddingStore,
    ImageEncoder,
    TextEncoder,
    TextMemory,
    ViewEmbedder,
)

STATISTICS_FORMAT = 1
"""Schema version of a statistics file."""

_DEVIATION_FLOOR = 1e-6  # below this all views score alike, and nothing stands out
OFFSETS = (-90.0, -45.0, 0.0, 45.0, 90.0)
"""Degrees from the heading, to the right, of each `Direction` in its order (section 5.2)."""

FOV_DEG, WIDTH, HEIGHT = 60.0, 800, 460  # section 5.2
THRESHOLD = 3.5  # section 6: standard deviations above the mean
"""Standard deviations above the mean from which a landmark counts as seen (VELMA)."""


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """Mean and covariance of the embeddings of views."""

    mean: Floats
    """Mean embedding, shape (dimension,)."""
    covariance: Floats
    """Covariance of the embeddings, shape (dimension, dimension)."""
    count: int
    """Number of views that were measured."""
    model: str
    """The name of the model that embedded them, such as `ViT-bigG-14/laion2b_s39b_b160k`."""

    def of(self, captions: NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each caption's score over the views, shape (captions,)."""
        wide = captions.astype(np.float64)
        variance = np.einsum("ni,ij,nj->n", wide, self.covariance, wide, optimize=True)
        return wide @ self.mean, np.sqrt(np.maximum(variance, _DEVIATION_FLOOR**2))


def gather_statistics(batches: Iterable[NDArray[np.float32]], model: str) -> ViewStatistics:
    """Return mean and covariance over batches of embeddings, each of shape (n, dimension).

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
        file,
        "velma-statistics",
        STATISTICS_FORMAT,
        statistics.model,
        arrays | {"count": np.array(statistics.count)},
    )


def read_statistics(file: Path, model: str | None = None) -> ViewStatistics:
    """Read mean and covariance of view embeddings from a `.npz` file.

    Args:
        file: written by `write_statistics`.
        model: what the embeddings to compare come from; `None` takes any.

    Raises:
        BadInput: the file is missing, of another version or for another model, or its arrays do not fit.
    """
    arrays, made_by = read_arrays(
        file, "velma-statistics", STATISTICS_FORMAT, model, ("mean", "covariance", "count")
    )
    mean, covariance = arrays["mean"].astype(np.float64), arrays["covariance"].astype(np.float64)
    if mean.ndim != 1 or covariance.shape != (len(mean), len(mean)) or not np.isfinite(covariance).all():
        raise BadInput(f"{file}: the sizes of mean and covariance differ: build the statistics again")
    return ViewStatistics(mean, covariance, int(arrays["count"]), made_by)


class ViewEmbeddings(Protocol):
    """Embeddings of the views at panoramas."""

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """Return one row for the view in each direction, degrees clockwise from north.

        Raises:
            NoImagery: there is no view of this panorama.
        """
        ...


@dataclass(frozen=True, slots=True)
class StreetViews:
    """Embeddings of views as a provider of street view shows them; with a store, each is made once."""

    street: StreetView
    encoder: ImageEncoder
    store: EmbeddingStore | None = None

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """Return one row for the view in each direction; new views go through the encoder together."""
        cameras = [landmark_camera(heading) for heading in headings]
        return ViewEmbedder(self.street, self.encoder, self.store).embed(pano_id, cameras)


def landmark_camera(heading: float) -> Camera:
    """Return the camera that VELMA looks through in a direction (section 5.2)."""
    return Camera(heading, fov=FOV_DEG, width=WIDTH, height=HEIGHT)


@dataclass(frozen=True, slots=True)
class EmbeddingScorer:
    """A scorer that sees a landmark where a view's score stands out of those of the training area.

    The score of a view is the cosine between it and "picture of X". The best of the five views counts, if
    it lies `threshold` standard deviations or more above the mean over the training area.
    """

    scenes: ViewEmbeddings
    encoder: TextEncoder
    statistics: ViewStatistics
    threshold: float = THRESHOLD
    _captions: TextMemory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_captions", TextMemory(self.encoder))

    def visible(self, pano_id: str, heading: float, landmarks: Sequence[str]) -> list[VisibleLandmark]:
        """Return the landmarks seen at a panorama by one who faces `heading` (degrees), each at most once."""
        if not landmarks:
            return []
        captions = self._captions.embed_texts([f"picture of {name}" for name in landmarks])
        seen = self.scenes.views(pano_id, [heading + offset for offset in OFFSETS])
        scores = captions @ seen.T
        best = scores.argmax(axis=1)
        mean, deviation = self.statistics.of(captions)
        stands_out = scores.max(axis=1) - mean >= self.threshold * deviation
        directions = tuple(Direction)
        return [
            VisibleLandmark(name, directions[view])
            for name, view, visible in zip(landmarks, best, stands_out, strict=True)
            if visible
        ]
