"""Lets a model write the next action, greedily, without reading anything twice."""

from os.path import commonprefix
from typing import Any

import torch
from transformers import DynamicCache

from virl.platform.movers.discrete.actions import Action

from .tokens import Encoder

_ACTIONS = frozenset(action.value for action in Action)


class PromptTooLong(Exception):
    """The error of a prompt with more tokens than the writer may read."""


class GreedyWriter:
    """A writer that continues texts by the likeliest tokens, and reads a shared beginning only once."""

    def __init__(self, model: Any, encoder: Encoder, *, max_reply_tokens: int, max_tokens: int) -> None:
        """Write with `model`: replies of `max_reply_tokens`, prompts of `max_tokens` at most."""
        self._model, self._encoder = model, encoder
        self._max_reply_tokens, self._max_tokens = max_reply_tokens, max_tokens
        self.forget()
        self.fed = 0
        """Tokens fed to the model so far."""

    def forget(self) -> None:
        """Drop what was read; needed whenever the model's weights have changed."""
        self._read: list[int] = []
        self._cache = DynamicCache(config=self._model.config)

    def reply(self, prompt: str) -> str:
        """Return the model's continuation of a prompt: an action, a line, or the most tokens allowed.

        Raises:
            PromptTooLong: the prompt is over the limit.
        """
        ids = self._encoder.encode(prompt).ids
        if len(ids) > self._max_tokens:
            raise PromptTooLong
        shared = len(commonprefix([self._read, ids]))  # noqa: RUF071 - of tokens, not of paths
        keep = min(shared, len(ids) - 1)
        if keep < len(self._read):
            self._cache.crop(keep - len(self._read))
            del self._read[keep:]
        written: list[int] = []
        reply = ""
        token = self._next_token(ids[keep:])
        while token != self._encoder.end:
            written.append(token)
            reply = self._encoder.decode(written)
            if _has_ended(reply) or len(written) == self._max_reply_tokens:
                break
            token = self._next_token([token])
        return reply

    def _next_token(self, ids: list[int]) -> int:
        """Let the model read further tokens, and return the likeliest next one."""
        self._read += ids
        self.fed += len(ids)
        with torch.inference_mode():
            fed = torch.tensor([ids], device=self._model.device)
            output = self._model(input_ids=fed, cache=self._cache, use_cache=True, logits_to_keep=1)
        return int(output.logits[0, -1].argmax())


def _has_ended(reply: str) -> bool:
    """Return whether a reply is complete: it names an action, or a line has ended."""
    text = reply.lstrip()
    return "\n" in text or text.rstrip().lower() in _ACTIONS
