"""Which landmarks are visible: image and text embeddings compared, standardised over a training area."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from virl.platform.movement.instruction.velma.observations import Direction, VisibleLandmark
from virl.platform.movement.instruction.velma.statistics import ViewStatistics
from virl.platform.perception.base import Embeddings
from virl.platform.perception.embeddings import (
    EmbeddingStore,
    ImageEncoder,
    TextEncoder,
    TextMemory,
    ViewEmbedder,
)
from virl.platform.streetview import Camera, StreetView

OFFSETS = (-90.0, -45.0, 0.0, 45.0, 90.0)
"""Degrees from the heading to each `Direction` (section 5.2)."""

FOV_DEG, WIDTH, HEIGHT = 60.0, 800, 460  # section 5.2
THRESHOLD = 3.5  # section 6: standard deviations above the mean


class ViewEmbeddings(Protocol):
    """Embeddings of the views at panoramas."""

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """One row for the view in each direction, degrees clockwise from north.

        Raises:
            NoImagery: there is no view of this panorama.
        """
        ...


@dataclass(frozen=True, slots=True)
class StreetViews:
    """Embeds views as a provider of street view shows them; with a store, each of them once."""

    street: StreetView
    encoder: ImageEncoder
    store: EmbeddingStore | None = None

    def views(self, pano_id: str, headings: Sequence[float]) -> Embeddings:
        """As `ViewEmbeddings.views`; all views that are new go through the encoder together."""
        cameras = [landmark_camera(heading) for heading in headings]
        return ViewEmbedder(self.street, self.encoder, self.store).embed(pano_id, cameras)


def landmark_camera(heading: float) -> Camera:
    """The camera that VELMA looks through in a direction (section 5.2)."""
    return Camera(heading, fov=FOV_DEG, width=WIDTH, height=HEIGHT)


@dataclass(frozen=True, slots=True)
class EmbeddingScorer:
    """A landmark is visible where a view's score stands out of all views of the training area.

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
        """As `LandmarkScorer.visible`."""
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
