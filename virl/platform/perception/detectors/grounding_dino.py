"""Grounding DINO, which finds objects by labels in words, through `transformers` (extra `vision`).

The model scores each box against each token of the prompt. A label's score is that of its best token, and a
box belongs to the label with the best score. No words are read back from tokens, so that a box never gets
a label that was not asked for, or half of one, or two merged.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from pydantic import Field

from virl.errors import BadInput
from virl.extras import module
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection
from virl.platform.perception.detections import (
    Rows,
    SettingsDetector,
    corners,
    to_detections,
    words_of,
)
from virl.platform.perception.images import pixels_of, same_size_batches
from virl.platform.perception.models import DetectorSettings, Models, Needs
from virl.platform.perception.registry import Kind
from virl.platform.perception.weights import EXTRA, PACKAGES, Once, Pretrained, guard_memory, load_pretrained

SEPARATORS = ".?"
"""Characters that end a label in a prompt of Grounding DINO."""

MAX_TOKENS = 256
"""Largest number of tokens in a prompt of Grounding DINO; it silently ignores all further ones."""

Span = tuple[int, int]
"""(start, end) of a part of a prompt in characters; the end is behind the last one."""


def write_prompt(words: Iterable[str]) -> tuple[str, list[Span]]:
    """Return (prompt such as `"trash bin . bench ."`, span of each label in it) for labels in lower case."""
    prompt, spans = "", []
    for word in words:
        start = len(prompt) + bool(prompt)
        prompt = f"{prompt} {word} ." if prompt else f"{word} ."
        spans.append((start, start + len(word)))
    return prompt, spans


def tokens_of(spans: Sequence[Span], offsets: Sequence[Span]) -> list[list[int]]:
    """Return the indices of each label's tokens, by the spans of labels and those of tokens in a prompt.

    The span of a special token is empty.

    Raises:
        BadInput: the prompt is too long for the model, or a label has no tokens.
    """
    if len(offsets) > MAX_TOKENS:
        raise BadInput(
            f"{len(spans)} labels make {len(offsets)} tokens, and Grounding DINO accepts {MAX_TOKENS}: "
            f"ask for fewer at once"
        )
    tokens = [
        [i for i, (first, last) in enumerate(offsets) if start <= first < last <= end] for start, end in spans
    ]
    if not all(tokens):
        raise BadInput("a label has no word that Grounding DINO's tokenizer knows: use other words")
    return tokens


def label_boxes(
    scores: NDArray[np.float32], tokens: Sequence[Sequence[int]]
) -> tuple[NDArray[np.float32], list[int]]:
    """Return (best label's score, its index) for each box, by the scores of n boxes and t tokens, (n, t).

    `tokens` has the indices of each label's tokens, of which the best counts.
    """
    by_label = np.stack([scores[:, list(own)].max(axis=1) for own in tokens], axis=1)
    best = by_label.argmax(axis=1)
    return by_label[np.arange(len(best)), best], best.tolist()


MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")
"""Allowed values of `model_type` in the `config.json` of a checkpoint."""


class GroundingSettings(DetectorSettings):
    """The settings of Grounding DINO that do not depend on the library that runs it."""

    weights: str
    """Path of a file or folder with the weights, or a hub id."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection, [0, 1]."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union of two detections of a label; `None` keeps all."""
    batch: int = Field(ge=1)
    """Number of views that go through the network at once."""


class GroundingDinoSettings(GroundingSettings):
    """Settings of the detector; `platform/models/grounding-dino.yaml` gives the reasons for the values."""

    kind: Literal["grounding-dino"]

    def needs(self) -> Needs:
        """Return the requirements: the packages of the extra, and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


class Network(Protocol):
    """Grounding DINO with its weights, as one of two libraries runs it."""

    def offsets(self, prompt: str) -> Sequence[Span]:
        """Return the span of each token of a prompt, in characters; an empty one for special tokens."""
        ...

    def score(self, batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
        """Return (scores by picture, box and token; boxes as shares) by a prompt for pictures of one size.

        Returns:
            Scores, [0, 1], shape (pictures, boxes, tokens), and the boxes: x and y of the middle, width and
            height, as shares of the picture, shape (pictures, boxes, 4).
        """
        ...


class GroundingDino(SettingsDetector[GroundingSettings]):
    """A detector of objects by labels in any words. Safe to share between threads, which take turns."""

    def __init__(self, network: Once[Network], settings: GroundingSettings) -> None:
        """Use a network that is loaded when first needed, with the settings of its file."""
        self._network = network
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first.

        Raises:
            BadInput: there are no labels, one holds `.` or `?` or is empty, they are too many, or an array is
                no picture.
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
    """Return the detector, whose weights are loaded on first use."""

    def load() -> Network:
        """Return the network, loaded once in a process."""
        auto = "AutoModelForZeroShotObjectDetection"
        return _Network(load_pretrained(settings.weights, models.options, auto=auto, model_types=MODEL_TYPES))

    return GroundingDino(Once(load), settings)


KIND = Kind("detector", GroundingDinoSettings, open_grounding_dino)


class _Network:
    """Grounding DINO as `transformers` runs it."""

    def __init__(self, loaded: Pretrained) -> None:
        self._loaded = loaded

    def offsets(self, prompt: str) -> Sequence[Span]:
        """Return the span of each token of a prompt, in characters; an empty one for special tokens."""
        tokens = self._loaded.processor.tokenizer(prompt, return_offsets_mapping=True)
        offsets: list[Span] = tokens["offset_mapping"]
        return offsets

    def score(self, batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
        """Return (scores by picture, box and token; boxes as shares) by a prompt for pictures of one size."""
        pictures = [Picture.fromarray(image) for image in batch]
        with self._loaded.turn, module("torch", extra=EXTRA).inference_mode():
            inputs = self._loaded.processor(
                images=pictures, text=[prompt] * len(batch), return_tensors="pt"
            ).to(self._loaded.device)
            seen = self._loaded.model(**inputs)
            return seen.logits.sigmoid().cpu().numpy(), seen.pred_boxes.cpu().numpy()
