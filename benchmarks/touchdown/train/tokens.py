"""From a transcript to the tokens that are learned: those of the actions, and no others.

A token belongs to an action if it carries any character of the action's word or of the white space before
it, for that is what the model writes when it is asked. Where a tokenizer puts other visible text into such a
token, the token is learned all the same (the action could not be learned without it) and counted as shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from virl.errors import ModelUnavailable

IGNORED = -100
"""The label of a token that is not learned, as torch's cross entropy has it."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as tokens."""

    text: str
    ids: list[int]
    offsets: list[Span]
    """The characters that each token stands for, first and one past the last; empty for special tokens."""


class Encoder:
    """A tokenizer that puts a beginning-of-text token first where it has that habit.

    Args:
        tokenizer: a fast tokenizer of transformers.

    Raises:
        ModelUnavailable: the tokenizer cannot say which characters a token stands for.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Prepare to encode texts; raises ModelUnavailable for a tokenizer without offsets."""
        if not tokenizer.is_fast:
            raise ModelUnavailable("the model's tokenizer gives no offsets: it needs a tokenizer.json")
        self._tokenizer = tokenizer
        begin = tokenizer.bos_token_id
        self._lead = [begin] if begin is not None and tokenizer("")["input_ids"][:1] == [begin] else []
        self.end: int | None = tokenizer.eos_token_id
        """The token that ends a text, if there is one."""

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text; no end-of-text token is added."""
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = [(int(start), int(end)) for start, end in found["offset_mapping"]]
        return Tokens(text, [*self._lead, *found["input_ids"]], [(0, 0)] * len(self._lead) + offsets)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of some tokens, special ones left out."""
        text: str = self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


@dataclass(frozen=True, slots=True)
class Sample:
    """The text that the model reads, and what it should have written."""

    ids: list[int]
    labels: list[int]
    """The token at each place, given all tokens before it; `IGNORED` where nothing is learned."""
    cut: int = 0
    """Actions that were lost because they lie beyond the cutoff."""
    shared: int = 0
    """Learned tokens that carry visible text besides their action."""

    @property
    def learned_tokens(self) -> int:
        """The number of tokens that are learned."""
        return sum(label != IGNORED for label in self.labels)


def action_tokens(tokens: Tokens, spans: Sequence[Span]) -> list[range]:
    """Return the places of each action's tokens."""
    starts, ends = np.array(tokens.offsets, int).reshape(-1, 2).T
    found = []
    for start, end in spans:
        begin = len(tokens.text[:start].rstrip())
        places = np.flatnonzero((starts < end) & (ends > begin))
        found.append(range(int(places[0]), int(places[-1]) + 1))
    return found


def walked_sample(tokens: Tokens, spans: Sequence[Span], cutoff: int) -> Sample:
    """Return a sample that teaches the actions that stand in the transcript.

    Args:
        tokens: of the transcript.
        spans: the characters of each action to learn.
        cutoff: how many tokens are kept; an action is learned if all of it is.
    """
    return corrected_sample(tokens, spans, tokens, spans, cutoff)


def corrected_sample(
    tokens: Tokens, spans: Sequence[Span], better: Tokens, better_spans: Sequence[Span], cutoff: int
) -> Sample:
    """Return a sample that reads one transcript and teaches the actions of another.

    Where the two actions of a decision differ, their first differing token is the last that is learned: what
    would follow it stands in no context.

    Args:
        tokens: of the transcript that is read.
        spans: the characters of each action in it.
        better: tokens of the same transcript with other actions.
        better_spans: the characters of each action in that one.
        cutoff: how many tokens are kept; an action is learned if all that is read of it is.
    """
    labels = [IGNORED] * min(len(tokens.ids), cutoff)
    runs = action_tokens(tokens, spans)
    kept = [run for run in runs if run.stop <= cutoff]
    shared = sum(
        _is_shared(tokens, place, span) for run, span in zip(runs, spans, strict=True) for place in run
    )
    for run, other in zip(kept, action_tokens(better, better_spans), strict=False):
        for place, wanted in zip(run, other, strict=False):
            labels[place] = better.ids[wanted]
            if labels[place] != tokens.ids[place]:
                break
    return Sample(tokens.ids[:cutoff], labels, cut=len(runs) - len(kept), shared=shared)


def _is_shared(tokens: Tokens, place: int, span: Span) -> bool:
    """Return whether a token has letters outside a span of the text."""
    start, end = tokens.offsets[place]
    beside = tokens.text[start : span[0]] + tokens.text[span[1] : end]
    return bool(beside.strip())
