"""What a user may set of a language model: in `--mind NAME?FIELD=VALUE&...` and in a character's `mind:`."""

from typing import Annotated, Literal
from urllib.parse import parse_qsl

from pydantic import AfterValidator, Field

from virl.errors import BadInput
from virl.mind.chat.abilities import ABILITIES
from virl.settings.model import Settings, check_settings

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _pair(text: str) -> str:
    prices_in(text)
    return text


def _abilities(text: str) -> str:
    unknown = set(text.split(",")) - {*ABILITIES, "none"}
    if unknown:
        raise ValueError(
            f"no ability {', '.join(sorted(unknown))}: choose among {', '.join(ABILITIES)}, none"
        )
    return text


class MindSettings(Settings):
    """Settings of a language model; what is left out has the default of its provider."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """The freedom with which the model chooses its words; by default 0, where the model takes it."""
    max_tokens: int | None = Field(default=None, ge=16, le=1_000_000)
    """Tokens of a reply at most, those of its reasoning included."""
    effort: Effort | None = None
    """The level of reasoning of a model that reasons; which of the levels it takes is for its provider to
    say."""
    context: int | None = Field(default=None, ge=1_024)
    """Tokens that the model can read: longer conversations are shortened; with Ollama also its `num_ctx`."""
    timeout: float | None = Field(default=None, gt=0, le=3_600)
    """Seconds until a request without an answer is given up."""
    question_timeout: float | None = Field(default=None, gt=0, le=36_000)
    """Seconds that the replies to a question may take together, further tries included; by default ten times
    `timeout`."""
    pictures: bool | None = None
    """A switch to send the model pictures; by default as it is known to take them, else tried once."""
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    """Seed of what a model does by chance, where its provider takes one; by default that of the run."""
    lacks: Annotated[str, AfterValidator(_abilities)] | None = None
    """Abilities that the model does not have, such as `system,seed`; `none` has nothing left out, ever."""
    price: Annotated[str, AfterValidator(_pair)] | None = None
    """Dollars for a million tokens in and out, such as `0.15,0.60`, for a model without a known price."""

    def with_fallback(self, others: "MindSettings") -> "MindSettings":
        """Return these settings, and the others where these say nothing."""
        return others.model_copy(update=self.model_dump(exclude_none=True))


def prices_in(text: str) -> tuple[float, float]:
    """Return the two prices of `MindSettings.price`.

    Raises:
        ValueError: there are none.
    """
    parts = text.split(",")
    try:
        read, written = (float(part) for part in parts)
    except ValueError:
        raise ValueError("must be two numbers of dollars, such as '0.15,0.60'") from None
    if not (0 <= read < 1e6 and 0 <= written < 1e6):
        raise ValueError("must be two numbers of dollars from 0 on")
    return read, written


def split_spec(spec: str) -> tuple[str, MindSettings]:
    """Return the name of a mind and its settings, from such as `openai:gpt-5-mini?effort=low`.

    Raises:
        BadInput: a setting is unknown or does not fit; names all that are wrong.
    """
    name, mark, query = spec.partition("?")
    if not mark or name.partition(":")[0] == "scripted":
        return spec, MindSettings()
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise BadInput(f"--mind {spec!r}: write NAME?FIELD=VALUE&FIELD=VALUE after the name") from None
    return name, check_settings(dict(pairs), MindSettings, source=f"--mind {name}")
