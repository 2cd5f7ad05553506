"""Sight by embeddings of views and texts for VELMA: landmarks, and the flow of traffic at the start."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, NoImagery
from virl.geo.globe import Floats, signed_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Camera, Image, StreetView, View
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.navigators.velma.verbalizer import Direction, Flow, TrafficFlow, VisibleLandmark
from virl.platform.perception.base import Detector, Embeddings
from virl.platform.perception.embeddings import (
    EmbeddingStore,
    ImageEncoder,
    TextEncoder,
    TextMemory,
    ViewEmbedder,
    read_arrays,
    write_arrays,
)
from virl.platform.perception.images import crop

STATISTICS_FORMAT = 1
"""Version of the format of a statistics file."""
_DEVIATION_FLOOR = 1e-6  # below this all views score alike, and no landmark stands out
OFFSETS = (-90.0, -45.0, 0.0, 45.0, 90.0)
"""Degrees to the right of the heading of each `Direction`, in order (section 5.2)."""
FOV_DEG, WIDTH, HEIGHT = 60.0, 800, 460  # section 5.2
THRESHOLD = 3.5  # section 6: standard deviations above the mean
"""Number of standard deviations above the mean from which a landmark counts as seen (VELMA)."""


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """The mean and covariance of the embeddings of views."""

    mean: Floats
    """Mean embedding, shape (dimension,)."""
    covariance: Floats
    """Covariance of the embeddings, shape (dimension, dimension)."""
    count: int
    """Number of views that were measured."""
    model: str
    """Name of the model that embedded the views, such as `ViT-bigG-14/laion2b_s39b_b160k`."""

    def of_scores(self, captions: NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Return (means, standard deviations) of captions' scores over the views, one for each caption."""
        wide = captions.astype(np.float64)
        # A score is linear in the embedding of a view: their mean and covariance tell those of all scores.
        variance = np.einsum("ni,ij,nj->n", wide, self.covariance, wide, optimize=True)
        return wide @ self.mean, np.sqrt(np.maximum(variance, _DEVIATION_FLOOR**2))


def gather_statistics(batches: Iterable[NDArray[np.float32]], model: str) -> ViewStatistics:
    """Return the mean and covariance of embeddings that come in batches, each of shape (n, dimension).

    Raises:
        BadInput: the batches hold no embedding.
    """
    # Sums in double precision: single loses what thousands of views differ by.
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
    """Write the statistics of view embeddings to a `.npz` file."""
    arrays = {"mean": statistics.mean, "covariance": statistics.covariance}
    write_arrays(
        file,
        "velma-statistics",
        STATISTICS_FORMAT,
        statistics.model,
        arrays | {"count": np.array(statistics.count)},
    )


def read_statistics(file: Path, model: str | None = None) -> ViewStatistics:
    """Read the statistics that `write_statistics` wrote to a file, which must be of `model` if given.

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
    """A source of embeddings of the views at panoramas."""

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """Return one embedding for the view at a panorama in each direction, shape (n, dimension).

        Raises:
            NoImagery: there is no view of the panorama.
        """
        ...


@dataclass(frozen=True, slots=True)
class StreetViews:
    """A source of embeddings of street views; with a store, each view is embedded once."""

    street: StreetView
    encoder: ImageEncoder
    store: EmbeddingStore | None = None

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """Return one embedding for the view in each direction, shape (n, d); new ones are made together."""
        cameras = [landmark_camera(heading) for heading in headings]
        return ViewEmbedder(self.street, self.encoder, self.store).embed(pano_id, cameras)


def landmark_camera(heading: float) -> Camera:
    """Return the camera through which VELMA looks in a direction, degrees (section 5.2)."""
    return Camera(heading, fov=FOV_DEG, width=WIDTH, height=HEIGHT)


@dataclass(frozen=True, slots=True)
class EmbeddingScorer:
    """A scorer that sees a landmark where its best view scores far above the mean of the training area.

    The score of a view is the cosine between it and "picture of X". The best of the five views counts, if
    it lies `threshold` standard deviations or more above the mean over the training area.
    """

    scenes: ViewEmbeddings
    encoder: TextEncoder
    statistics: ViewStatistics
    threshold: float = THRESHOLD
    _captions: TextMemory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Prepare a memory for the embeddings of captions."""
        object.__setattr__(self, "_captions", TextMemory(self.encoder))

    def visible(self, pano_id: str, heading: float, landmarks: Sequence[str]) -> list[VisibleLandmark]:
        """Return the landmarks seen at a panorama by one who faces `heading`, degrees, each at most once."""
        if not landmarks:
            return []
        captions = self._captions.embed_texts([f"picture of {name}" for name in landmarks])
        seen = self.scenes.views(pano_id, [heading + offset for offset in OFFSETS])
        scores = captions @ seen.T
        best = scores.argmax(axis=1)
        mean, deviation = self.statistics.of_scores(captions)
        stands_out = scores.max(axis=1) - mean >= self.threshold * deviation
        directions = tuple(Direction)
        return [
            VisibleLandmark(name, directions[view])
            for name, view, visible in zip(landmarks, best, stands_out, strict=True)
            if visible
        ]


FEATURES_FORMAT = 1
"""Version of the format of a feature file."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureFile:
    """Stored embeddings of views at panoramas in evenly spaced directions, and of captions.

    A view that is asked for is answered by the nearest one kept: with 24 headings it is off by 7.5 degrees
    at most.
    """

    source: str
    headings: Floats
    """Degrees clockwise from north of the views of every panorama, shape (headings,)."""
    embeddings: NDArray[np.float16]
    """Embeddings of unit length, shape (panoramas, headings, dimension)."""
    captions: NDArray[np.float32]
    """Embeddings of captions, of unit length, shape (captions, dimension)."""
    model: str
    numbers: Mapping[str, int]
    """Row in `embeddings` of each panorama, by id."""
    caption_numbers: Mapping[str, int]
    """Row in `captions` of each caption."""

    def views(self, pano_id: str, headings: Sequence[float]) -> NDArray[np.float32]:
        """Return the embedding of the stored view of a panorama nearest to each direction, shape (n, d)."""
        if pano_id not in self.numbers:
            raise NoImagery(
                f"{self.source}: has no panorama {pano_id!r}: write features of every panorama of the graph"
            )
        away = np.abs(signed_turn(np.asarray(headings)[:, None], self.headings[None, :]))
        found: NDArray[np.float16] = self.embeddings[self.numbers[pano_id], np.argmin(away, axis=1)]
        return found.astype(np.float32)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the stored embedding of each text, shape (n, dimension).

        Raises:
            BadInput: a text is not among the stored captions.
        """
        for text in texts:
            if text not in self.caption_numbers:
                raise BadInput(
                    f"{self.source}: has no caption {text!r}: add it, or give a text encoder beside the file"
                )
        found: NDArray[np.float32] = self.captions[[self.caption_numbers[text] for text in texts]]
        return found


def write_features(
    file: Path,
    model: str,
    headings: Sequence[float],
    embeddings: Mapping[str, NDArray[np.float32]],
    captions: Mapping[str, NDArray[np.float32]] | None = None,
) -> None:
    """Write embeddings of views and captions to a `.npz` file.

    Args:
        file: path of the `.npz` file.
        model: name of the model that embedded views and captions.
        headings: directions of the views, degrees, the same at every panorama.
        embeddings: array (headings, dimension) by panorama id.
        captions: embedding by text, such as `picture of a church`; none by default.
    """
    dimension = next(iter(embeddings.values())).shape[-1] if embeddings else 0
    rows = list((captions or {}).values())
    write_arrays(
        file,
        "velma-features",
        FEATURES_FORMAT,
        model,
        {
            "headings": np.asarray(headings, float),
            "panoramas": np.array(list(embeddings), dtype=np.str_),
            "embeddings": np.array(list(embeddings.values()), np.float16),
            "captions": np.array(list(captions or {}), dtype=np.str_),
            "caption_embeddings": np.array(rows, np.float32).reshape(len(rows), dimension),
        },
    )


def read_features(file: Path, model: str | None = None) -> FeatureFile:
    """Read embeddings that `write_features` wrote to a file, which must be of `model` if given.

    Raises:
        BadInput: the file is missing, of another version or model, or its arrays do not fit together.
    """
    names = ("headings", "panoramas", "embeddings", "captions", "caption_embeddings")
    arrays, made_by = read_arrays(file, "velma-features", FEATURES_FORMAT, model, names)
    headings, embeddings = arrays["headings"].astype(np.float64), arrays["embeddings"]
    captions = arrays["caption_embeddings"].astype(np.float32)
    fits = embeddings.ndim == 3 and embeddings.shape[:2] == (len(arrays["panoramas"]), len(headings))
    if not fits or not len(headings) or captions.shape != (len(arrays["captions"]), embeddings.shape[2]):
        raise BadInput(f"{file}: the sizes of the arrays differ: write the features again")
    return FeatureFile(
        source=str(file),
        headings=headings,
        embeddings=embeddings.astype(np.float16, copy=False),
        captions=captions,
        model=made_by,
        numbers={str(pano_id): row for row, pano_id in enumerate(arrays["panoramas"])},
        caption_numbers={str(text): row for row, text in enumerate(arrays["captions"])},
    )


VEHICLES = ("car", "truck", "bus")
"""Kinds of vehicle that tell the flow of traffic."""
SIDES = ("rear", "front", "side")
"""Sides of a vehicle for which pictures are scored, in the order of the scores."""


def yaw_flow(graph: NavigationGraph) -> TrafficFlow:
    """Return a function for the flow of traffic by the yaw of panoramas, the way the camera car drove.

    `None` where the yaw is not known or lies at a right angle. Of the touchdown_unseen dev instructions that
    ask to go with or against the traffic, 93 % (260 of 280) agree with this along the gold path (measured).
    """

    def flow(state: WalkState) -> Flow | None:
        """Return whether a state faces with or against the yaw; `None` if unknown or at a right angle."""
        turn = abs(signed_turn(graph.yaw[state.node], state.heading))
        if np.isnan(turn) or turn == 90:
            return None
        return "with" if turn < 90 else "against"

    return flow


def view_flow(graph: NavigationGraph, views: ViewEmbeddings, texts: TextEncoder) -> TrafficFlow:
    """Return a function for the flow of traffic by the likeness of views ahead and behind to vehicles.

    For each of car, truck and bus, its rear, front and side are scored in the view ahead and in the one
    behind. Where the side is likeliest that vehicle is left aside; rears ahead and fronts behind speak for
    "with", the others for "against", which also wins a draw. VELMA's code scores crops around detected
    vehicles, as `vehicle_flow` does; here the whole view is scored.

    Args:
        graph: links between the panoramas.
        views: source of embeddings of views.
        texts: encoder of captions.
    """
    captions = TextMemory(texts)

    def flow(state: WalkState) -> Flow | None:
        """Return a state's direction relative to the traffic by its two views; `None` if they do not tell."""
        seen = views.views(graph.ids[state.node], _ahead_and_behind(state))
        return _vote(np.stack([_side_scores(captions, kind, seen) for kind in VEHICLES], axis=1))

    return flow


def vehicle_flow(
    graph: NavigationGraph,
    street: StreetView,
    detector: Detector,
    pictures: ImageEncoder,
    texts: TextEncoder,
) -> TrafficFlow:
    """Return a function for the flow of traffic by vehicles that are detected ahead and behind.

    Args:
        graph: street graph of the walks.
        street: street view of the panoramas.
        detector: finds cars, trucks and buses; a kind that it does not find in a view does not count there.
        pictures: embeds the detected vehicles, all in one batch.
        texts: embeds the captions.
    """
    captions = TextMemory(texts)

    def flow(state: WalkState) -> Flow | None:
        """Return a state's direction relative to the traffic by vehicles detected; `None` without any."""
        pano_id = graph.ids[state.node]
        views = [street.view(pano_id, landmark_camera(heading)) for heading in _ahead_and_behind(state)]
        found = _vehicles(views, detector)
        if not found:
            return None
        rows = pictures.embed_images([picture for _, _, picture in found])
        scores = np.full((2, len(VEHICLES), len(SIDES)), np.nan)
        for (view, kind, _), row in zip(found, rows, strict=True):
            scores[view, kind] = _side_scores(captions, VEHICLES[kind], row[None])[0]
        return _vote(scores)

    return flow


def _vehicles(views: Sequence[View], detector: Detector) -> list[tuple[int, int, Image]]:
    """Return (index of view, index of kind, picture) of the surest vehicle of each kind in each view."""
    found = []
    for number, (view, detections) in enumerate(zip(views, detector.detect(views, VEHICLES), strict=True)):
        for kind, name in enumerate(VEHICLES):
            surest = max(
                (detection for detection in detections if detection.label == name),
                key=lambda detection: detection.score,
                default=None,
            )
            if surest:
                found.append((number, kind, crop(view.pixels, surest.box)))
    return found


def _side_scores(texts: TextMemory, kind: str, rows: Embeddings) -> Embeddings:
    """Return the cosines of embedded pictures with a vehicle's rear, front and side, shape (rows, 3)."""
    return rows @ texts.embed_texts([f"{side} view of a {kind}" for side in SIDES]).T


def _ahead_and_behind(state: WalkState) -> tuple[float, float]:
    """Return (heading ahead, heading behind) of a state, degrees."""
    return state.heading, state.heading + 180.0


def _vote(scores: NDArray[np.floating[Any]]) -> Flow | None:
    """Return the direction relative to the traffic by scores (2 views, kinds, sides); `None` if unclear."""
    # A vehicle seen from its side crosses the street, or turns: it says nothing of the flow.
    usable = scores[..., 2] < scores[..., :2].max(axis=-1)  # false for NaN
    if not usable.any():
        return None
    rear, front = np.where(usable, scores[..., 0], 0.0), np.where(usable, scores[..., 1], 0.0)
    ahead, behind = 0, 1
    along = rear[ahead].sum() + front[behind].sum()
    counter = front[ahead].sum() + rear[behind].sum()
    return "with" if along > counter else "against"
