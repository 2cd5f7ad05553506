"""Directions cut into sentences, so that a walker can say which one is being carried out."""

import re

_END = re.compile(r"(?<=[.!?;])(?<!\bSt\.)(?<!\bMt\.)(?<!\bDr\.)(?<!\bAve\.)(?<!\bNo\.)\s+")
MAX_SENTENCES = 40
"""Of directions that are read; what follows is left out. Chosen: more is no way one could remember."""


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text, whitespace tidied; a text without any is one empty sentence."""
    tidy = " ".join(text.split())
    parts = [part for part in _END.split(tidy) if part]
    return tuple(parts[:MAX_SENTENCES]) or ("",)
