"""What a model turns out not to take: pictures, a schema, a seed. One refused request says so."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from virl.errors import MindFailed

Ability = Literal["pictures", "schema", "seed", "temperature"]

# What servers say: llama.cpp, vLLM, OpenAI, Anthropic, Ollama, LM Studio
_REFUSALS: tuple[tuple[Ability, re.Pattern[str]], ...] = (
    (
        "pictures",
        re.compile(
            r"\b(image|vision|multi-?modal|picture)s?\b[^.]{0,60}\b(not support\w*|unsupported|not enabled|"
            r"does not|doesn't|cannot|only)|(not support|unsupported|at most 0|invalid content type|"
            r"unknown variant|does not support|no endpoints found)[^.]{0,60}"
            r"\b(image|vision|multi-?modal|picture)",
            re.IGNORECASE,
        ),
    ),
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE)),
    ("seed", re.compile(r"\bseed\b", re.IGNORECASE)),
    (
        "schema",
        re.compile(
            r"response_?format|json_?schema|structured.?output|output_config|output_format|grammar|"
            r"invalid schema|compiled grammar",
            re.IGNORECASE,
        ),
    ),
)


class NotTaken(MindFailed):
    """A model has refused a part of a request."""

    def __init__(self, ability: Ability, line: str) -> None:
        super().__init__(line)
        self.ability = ability


@dataclass(slots=True)
class Abilities:
    """What a model is known to take; shared by all who ask it, and corrected once it refuses something."""

    sees: bool = True
    schema: bool = True
    fixed: frozenset[Ability] = frozenset()
    """What the user has set: it is never left out."""

    def learn(self, refused: NotTaken, model: Any) -> bool:
        """Leave out what was refused from now on; false if that is no way out."""
        ability = refused.ability
        if ability in self.fixed:
            return False
        if ability == "pictures" and self.sees:
            self.sees = False
        elif ability == "schema" and self.schema:
            self.schema = False
        elif ability in ("temperature", "seed") and getattr(model, ability, None) is not None:
            setattr(model, ability, None)
        else:
            return False
        return True


def refused_ability(said: str) -> Ability | None:
    """What a server says that its model does not take; `None` if it speaks of something else."""
    return next((ability for ability, pattern in _REFUSALS if pattern.search(said)), None)
