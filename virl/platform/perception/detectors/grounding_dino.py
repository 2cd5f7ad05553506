"""Grounding DINO: finds what it is asked for in words. Through `transformers` (extra `vision`)."""

from collections.abc import Sequence
from typing import Literal, Protocol

from PIL import Image as Picture
from pydantic import Field

from virl.extras import module
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.images import pixels_of, same_size_batches
from virl.platform.perception.models import DetectorSettings, Models, Needs
from virl.platform.perception.pretrained import EXTRA, PACKAGES, Pretrained, load_pretrained
from virl.platform.perception.registry import Kind
from virl.platform.perception.shared.boxes import Rows, corners, to_detections
from virl.platform.perception.shared.labels import words_of
from virl.platform.perception.shared.phrases import SEPARATORS, Span, label_boxes, tokens_of, write_prompt
from virl.platform.perception.weights import Once, guard_memory

MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")


class GroundingSettings(DetectorSettings):
    """The contents of Grounding DINO's model files, whatever library runs it."""

    weights: str
    """A file or folder, or a hub id."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union of two detections of a label; `None` keeps all."""
    batch: int = Field(ge=1)
    """Views that are looked at at once."""


class GroundingDinoSettings(GroundingSettings):
    """Settings of the detector; `platform/models/grounding-dino.yaml` gives the reasons for the values."""

    kind: Literal["grounding-dino"]

    def needs(self) -> Needs:
        """Return the packages of the extra, and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


class Network(Protocol):
    """Grounding DINO with its weights, as some library runs it."""

    def offsets(self, prompt: str) -> Sequence[Span]:
        """Return the range of characters of each token of a prompt; an empty one for special tokens."""
        ...

    def score(self, batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
        """Return the boxes in pictures of one size, and their scores.

        Returns:
            Scores of boxes and tokens, [0, 1], shape (pictures, boxes, tokens), and the boxes: x and y of the
            middle, width and height, as shares of the picture, shape (pictures, boxes, 4).
        """
        ...


class GroundingDino:
    """A detector of what is asked for in words. Safe to share between threads, which then take turns."""

    def __init__(self, network: Once[Network], settings: GroundingSettings) -> None:
        self._network = network
        self._settings = settings

    @property
    def look_scores(self) -> LookScores:
        """Its own thresholds, from its file."""
        return self._settings.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the things with one of `labels` in each view, best first.

        Raises:
            BadInput: there are no labels, one holds `.` or `?` or is empty, they are too many, or a picture
                is none.
            ModelUnavailable: the packages or the weights are missing, or the GPU's memory is too small.
        """
        words = words_of(labels, self._settings.kind, SEPARATORS)
        pictures = [pixels_of(view) for view in views]
        if not pictures:
            return []
        network = self._network.get()
        prompt, spans = write_prompt(words)
        tokens = tokens_of(spans, network.offsets(prompt))
        found: list[list[Detection]] = [[] for _ in pictures]
        for indices in same_size_batches(pictures, self._settings.batch):
            with guard_memory(self._settings.kind, len(indices)):
                scores, boxes = network.score([pictures[i] for i in indices], prompt)
            for i, of_tokens, shares in zip(indices, scores, boxes, strict=True):
                best, index = label_boxes(of_tokens, tokens)
                asked = list(words.values())
                found[i] = to_detections(
                    corners(shares, pictures[i]),
                    best,
                    [asked[j] for j in index],
                    pictures[i],
                    min_score=self._settings.min_score,
                    max_overlap=self._settings.max_overlap,
                )
        return found


def open_grounding_dino(settings: GroundingDinoSettings, models: Models) -> GroundingDino:
    """Open the detector, without its weights."""

    def load() -> Network:
        auto = "AutoModelForZeroShotObjectDetection"
        return _Network(load_pretrained(settings.weights, models.options, auto=auto, model_types=MODEL_TYPES))

    return GroundingDino(Once(load), settings)


KIND = Kind("detector", GroundingDinoSettings, open_grounding_dino)


class _Network:
    """The network as `transformers` runs it."""

    def __init__(self, loaded: Pretrained) -> None:
        self._loaded = loaded

    def offsets(self, prompt: str) -> Sequence[Span]:
        offsets: list[Span] = self._loaded.processor.tokenizer(prompt, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        return offsets

    def score(self, batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
        pictures = [Picture.fromarray(image) for image in batch]
        with self._loaded.turn, module("torch", extra=EXTRA).inference_mode():
            inputs = self._loaded.processor(
                images=pictures, text=[prompt] * len(batch), return_tensors="pt"
            ).to(self._loaded.device)
            seen = self._loaded.model(**inputs)
            return seen.logits.sigmoid().cpu().numpy(), seen.pred_boxes.cpu().numpy()
