"""Minds and prompts: questions to a language model or to rules, with typed replies."""

from virl.mind.base import Mind, Prompt
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt, read_prompt
from virl.mind.replies import Reply, Text
from virl.money.ledger import Ledger

__all__ = [
    "Ledger",
    "Mind",
    "Prompt",
    "Reply",
    "Text",
    "load_prompt",
    "open_mind",
    "read_prompt",
]
