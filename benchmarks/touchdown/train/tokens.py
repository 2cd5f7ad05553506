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
"""Label of a token that is not learned, as in torch's cross entropy."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as a tokenizer's token ids."""

    text: str
    ids: list[int]
    offsets: list[Span]
    """Characters of each token, (first, one past the last); (0, 0) for special tokens."""


class Encoder:
    """A tokenizer that puts a beginning-of-text token first if the model's tokenizer does.

    Raises:
        ModelUnavailable: the tokenizer cannot say which characters a token stands for.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Take a fast tokenizer of transformers; raise ModelUnavailable if it gives no offsets."""
        if not tokenizer.is_fast:
            raise ModelUnavailable("the model's tokenizer gives no offsets: it needs a tokenizer.json")
        self._tokenizer = tokenizer
        begin = tokenizer.bos_token_id
        self._lead = [begin] if begin is not None and tokenizer("")["input_ids"][:1] == [begin] else []
        self.end: int | None = tokenizer.eos_token_id
        """The token that ends a text, if there is one."""

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text, without an end-of-text token."""
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = [(int(start), int(end)) for start, end in found["offset_mapping"]]
        return Tokens(text, [*self._lead, *found["input_ids"]], [(0, 0)] * len(self._lead) + offsets)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids, special tokens left out."""
        text: str = self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


@dataclass(frozen=True, slots=True)
class Sample:
    """A text for training: the tokens that the model reads, and those it should write."""

    ids: list[int]
    labels: list[int]
    """Token to learn at each place, given all before it; `IGNORED` where nothing is learned."""
    cut: int = 0
    """Number of actions lost beyond the cutoff."""
    shared: int = 0
    """Number of learned tokens that hold visible text beside their action."""

    @property
    def learned_tokens(self) -> int:
        """Number of tokens that are learned."""
        return sum(label != IGNORED for label in self.labels)


def action_tokens(tokens: Tokens, spans: Sequence[Span]) -> list[range]:
    """Return the range of token places of each action, given by its span of characters."""
    starts, ends = np.array(tokens.offsets, int).reshape(-1, 2).T
    found = []
    for start, end in spans:
        begin = len(tokens.text[:start].rstrip())
        places = np.flatnonzero((starts < end) & (ends > begin))
        found.append(range(int(places[0]), int(places[-1]) + 1))
    return found


def walked_sample(tokens: Tokens, spans: Sequence[Span], cutoff: int) -> Sample:
    """Return a sample that teaches the actions in a transcript, at most `cutoff` tokens.

    Args:
        tokens: of the transcript.
        spans: the characters of each action to learn.
        cutoff: how many tokens are kept; an action is learned if all of it is.
    """
    return corrected_sample(tokens, spans, tokens, spans, cutoff)


def corrected_sample(
    tokens: Tokens, spans: Sequence[Span], better: Tokens, better_spans: Sequence[Span], cutoff: int
) -> Sample:
    """Return a sample that reads one transcript and teaches the actions of another, `better`.

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
    """Return whether a token has visible characters outside a span of the text."""
    start, end = tokens.offsets[place]
    beside = tokens.text[start : span[0]] + tokens.text[span[1] : end]
    return bool(beside.strip())
