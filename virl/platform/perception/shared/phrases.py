"""Grounding DINO's prompt, and which label a box belongs to.

The model scores each box against each token of the prompt. A label's score is that of its best token, and a
box belongs to the label with the best score. No words are read back from tokens, so that a box never gets
a label that was not asked for, or half of one, or two merged.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput

SEPARATORS = ".?"
"""Tokens that end a label, for Grounding DINO."""

MAX_TOKENS = 256
"""Longest prompt of Grounding DINO, in tokens; what is longer would be cut off unsaid."""

Span = tuple[int, int]


def write_prompt(words: Iterable[str]) -> tuple[str, list[Span]]:
    """Return the prompt, such as `"trash bin . bench ."`, and the range of characters of each label.

    Args:
        words: of each label, in lower case.

    Returns:
        The prompt, and for each label the characters from the first to behind the last.
    """
    prompt, spans = "", []
    for word in words:
        start = len(prompt) + bool(prompt)
        prompt = f"{prompt} {word} ." if prompt else f"{word} ."
        spans.append((start, start + len(word)))
    return prompt, spans


def tokens_of(spans: Sequence[Span], offsets: Sequence[Span]) -> list[list[int]]:
    """Return the numbers of each label's tokens.

    Args:
        spans: of the labels, as `write_prompt` gives them.
        offsets: characters of each token, first to behind the last; empty for special tokens.

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
    """Return the best label's score, shape (n,), and index for each box.

    Args:
        scores: of boxes and tokens, [0, 1], shape (n, t).
        tokens: of each label.

    Returns:
        The best label's score, shape (n,), and its index.
    """
    by_label = np.stack([scores[:, list(own)].max(axis=1) for own in tokens], axis=1)
    best = by_label.argmax(axis=1)
    return by_label[np.arange(len(best)), best], best.tolist()
