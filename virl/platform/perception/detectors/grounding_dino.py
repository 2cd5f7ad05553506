"""Grounding DINO, which finds objects by labels in words, through `transformers` (extra `vision`).

The model scores each box against each token of the prompt. A label's score is that of its best token, and a
box belongs to the label with the best score. No words are read back from tokens, so that a box never gets
a label that was not asked for, or half of one, or two merged.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from PIL import Image as Picture

from virl.errors import BadInput
from virl.extras import module
from virl.platform.city.streetview import Image
from virl.platform.perception.detections import (
    FindBoxes,
    LabelledBoxes,
    Rows,
    WordDetector,
    WordDetectorSettings,
    corners,
)
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind
from virl.platform.perception.weights import EXTRA, load_once, load_pretrained

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

    Raises:
        BadInput: the prompt is too long for the model, or a label has no tokens.
    """
    if len(offsets) > MAX_TOKENS:
        raise BadInput(
            f"{len(spans)} labels make {len(offsets)} tokens, and Grounding DINO accepts {MAX_TOKENS}: "
            f"ask for fewer at once"
        )
    # The span of a special token is empty.
    tokens = [
        [i for i, (first, last) in enumerate(offsets) if start <= first < last <= end] for start, end in spans
    ]
    if not all(tokens):
        raise BadInput("a label has no word that Grounding DINO's tokenizer knows: use other words")
    return tokens


def label_boxes(scores: Rows, tokens: Sequence[Sequence[int]]) -> tuple[Rows, list[int]]:
    """Return (best label's score, its index) for each box, by the scores of n boxes and t tokens, (n, t).

    `tokens` has the indices of each label's tokens, of which the best counts.
    """
    by_label = np.stack([scores[:, list(own)].max(axis=1) for own in tokens], axis=1)
    best = by_label.argmax(axis=1)
    return by_label[np.arange(len(best)), best], best.tolist()


MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")
"""Allowed values of `model_type` in the `config.json` of a checkpoint."""


class GroundingDinoSettings(WordDetectorSettings):
    """Settings of the detector; `platform/models/grounding-dino.yaml` gives the reasons for the values."""

    kind: Literal["grounding-dino"]


@dataclass(frozen=True, slots=True)
class Network:
    """Grounding DINO with its weights, as one of two libraries runs it."""

    tokenizer: Any
    """Tokenizer of prompts, as `transformers` has it."""
    score: Callable[[Sequence[Image], str], tuple[Rows, Rows]]
    """Function from (pictures of one size, prompt) to (scores by picture, box and token, [0, 1]; boxes).
    Boxes are x and y of the middle, width and height, as shares of the picture, (pictures, boxes, 4)."""


def open_network(load: Callable[[], Network], settings: WordDetectorSettings) -> WordDetector:
    """Return a detector by the network that `load` gives, which is called once, on first use."""
    load = load_once(load)

    def prepare(words: Sequence[str]) -> FindBoxes:
        """Return a function that looks for labels given as plain words."""
        network = load()
        prompt, spans = write_prompt(words)
        offsets = network.tokenizer(prompt, return_offsets_mapping=True)["offset_mapping"]
        tokens = tokens_of(spans, offsets)

        def find(batch: Sequence[Image]) -> list[LabelledBoxes]:
            """Return the boxes in each picture of one size, with scores and indices of labels."""
            seen = zip(batch, *network.score(batch, prompt), strict=True)
            return [
                (corners(shares, picture), *label_boxes(scores, tokens)) for picture, scores, shares in seen
            ]

        return find

    return WordDetector(prepare, settings, SEPARATORS)


def open_grounding_dino(settings: GroundingDinoSettings, models: Models) -> WordDetector:
    """Return the detector, whose weights are loaded on first use."""

    def load() -> Network:
        """Return the network, loaded once in a process."""
        auto = "AutoModelForZeroShotObjectDetection"
        loaded = load_pretrained(settings.weights, models.options, auto=auto, model_types=MODEL_TYPES)

        def score(batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
            """Return scores and boxes by a prompt for pictures of one size, as `Network.score` says."""
            pictures = [Picture.fromarray(image) for image in batch]
            with loaded.turn, module("torch", extra=EXTRA).inference_mode():
                inputs = loaded.processor(images=pictures, text=[prompt] * len(batch), return_tensors="pt")
                seen = loaded.model(**inputs.to(loaded.device))
                return seen.logits.sigmoid().cpu().numpy(), seen.pred_boxes.cpu().numpy()

        return Network(loaded.processor.tokenizer, score)

    return open_network(load, settings)


KIND = Kind("detector", GroundingDinoSettings, open_grounding_dino)
