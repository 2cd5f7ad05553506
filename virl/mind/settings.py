"""What a user may set of a language model, and the parts of a request that a model turns out not to take.

Settings stand in `--mind NAME?FIELD=VALUE&...` and in a character's `mind:`; one refused request says what a
model does not take.
"""

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args
from urllib.parse import parse_qsl

from pydantic import AfterValidator, Field

from virl.errors import BadInput, RequestRefused
from virl.settings.model import Settings, check_settings

Ability = Literal[
    "pictures",
    "max_tokens",
    "max_completion_tokens",
    "stream_options",
    "stream",
    "order",
    "system",
    "parallel_calls",
    "temperature",
    "seed",
    "bounds",
    "schema",
    "parameters",
]
"""Name of a part or form of a request, such as "pictures", that a model or its server may refuse."""
ABILITIES: tuple[Ability, ...] = get_args(Ability)

_REFUSED = (
    r"(not support\w*|unsupported|not enabled|does not|doesn't|cannot|not permitted|not allowed|unrecognized|"
    r"unknown|unexpected|invalid|only)"
)
_BOUND = r"""(\b(min|max)(Length|Items)\b|['"](exclusive)?(minimum|maximum)['"])"""
_IMAGE = r"\b(image|vision|multi-?modal|picture)"
# What servers say: llama.cpp, vLLM, OpenAI, Anthropic, Ollama, LM Studio, OpenRouter, Mistral
_WORDS: tuple[tuple[Ability, tuple[str, ...]], ...] = (
    (
        "pictures",
        (
            rf"{_IMAGE}s?\b[^.]{{0,60}}\b(not support\w*|unsupported|not enabled|does not|doesn't)",
            rf"{_IMAGE}s?\b[^.]{{0,60}}\b(cannot|only)",
            rf"(not support|unsupported|at most 0|no endpoints found)[^.]{{0,60}}{_IMAGE}",
            rf"(invalid content type|unknown variant)[^.]{{0,60}}{_IMAGE}",
        ),
    ),
    (
        "max_completion_tokens",
        (rf"max_completion_tokens[^.]{{0,60}}{_REFUSED}", rf"{_REFUSED}[^.]{{0,60}}max_completion_tokens"),
    ),
    ("stream_options", ("stream_options",)),
    ("stream", (r"(?<!\w)stream(ing)?\b[^.]{0,30}not (supported|allowed)", "not support stream")),
    (
        "order",
        ("after role '?tool", "roles must alternate", "invalid_request_message_order", "unexpected role"),
    ),
    (
        "system",
        (
            r"(system|developer)\W{0,2} (role|message|prompt|instruction)s?\b[^.]{0,40}not \w+ed\b",
            "not support[^.]{0,20}(system|developer)|instruction is not enabled",
            "only (one|a single) system|multiple system messages",
            r"role\W{0,4}(system|developer)\W{0,3} (is )?not supported",
        ),
    ),
    (
        "parallel_calls",
        ("single tool.?calls?\\b|one tool call at a time", r"parallel.?(tool|function).?calls?\b"),
    ),
    ("temperature", (r"\btemperature\b",)),
    ("seed", (r"\bseed\b",)),
    ("bounds", (rf"{_BOUND}[^.]{{0,60}}{_REFUSED}", rf"{_REFUSED}[^.]{{0,60}}{_BOUND}")),
    (
        "schema",
        (
            "response_?format|json_?schema|structured.?output|output_config|output_format|grammar",
            "invalid schema|compiled grammar",
        ),
    ),
    ("parameters", ("no endpoints found that (can handle|support) the requested parameters",)),
)
_REFUSALS: tuple[tuple[Ability, re.Pattern[str]], ...] = tuple(
    (ability, re.compile("|".join(words), re.IGNORECASE)) for ability, words in _WORDS
)
_ROOM = (
    re.compile(r"at most (?P<left>\d+) completion tokens", re.IGNORECASE),
    re.compile(
        r"context length (is|of) (only )?(?P<all>\d+)\D.{0,80}?(?P<asked>\d+) input tokens", re.IGNORECASE
    ),
    re.compile(
        r"context length is (?P<all>\d+)\D.{0,80}?(?P<asked>\d+) in the (messages|prompt)", re.IGNORECASE
    ),
    re.compile(r"context limit: (?P<asked>\d+) \+ \d+ > (?P<all>\d+)", re.IGNORECASE),
    re.compile(
        r"max_tokens\W{0,2}\d+ cannot be greater than max_model_len\D{0,10}(?P<half>\d+)", re.IGNORECASE
    ),
)
LEAST_REPLY = 256
"""Least reply tokens for a new try: if a server has room for fewer, the model is not asked again; chosen."""
_MARGIN = 32  # tokens by which the counts of servers may differ; chosen


class NotTaken(RequestRefused):
    """Error that a model has refused a part of a request, such as pictures."""

    def __init__(self, ability: Ability, line: str, said: str = "") -> None:
        """Name the ability that the model lacks; `line` is the message, `said` the server's words."""
        super().__init__(line)
        self.ability = ability
        self.said = said


@functools.cache
def _refused_abilities(model: str, base_url: str | None) -> set[Ability]:  # noqa: ARG001 - what it is kept by
    """Return the set, shared in this process, of abilities that a model at a URL has refused."""
    return set()


@dataclass(slots=True)
class Abilities:
    """A record of the parts of requests that a model is sent, updated whenever the model refuses one."""

    sees: bool = True
    """True if pictures are sent."""
    schema: bool = True
    """True if the JSON schema of the reply is sent."""
    bounds: bool = True
    """True if the schema has bounds of numbers and lengths as keywords."""
    fixed: frozenset[Ability] = frozenset()
    """Abilities that the user has set, so that they are never left out."""
    learnt: set[Ability] = field(default_factory=set)
    """Abilities that the model has refused; the set is shared by all minds that ask it."""
    left_out: list[Ability] = field(default_factory=list)
    """Abilities that requests do without so far, in the order in which they were left out."""

    def disable_unsupported(
        self, model: Any, name: str, base_url: str | None, lacks: Collection[Ability]
    ) -> None:
        """Leave out of requests all that the model is known to refuse, or has refused in this process.

        Args:
            model: of LangChain; it is changed.
            name: such as `openai:gpt-5-mini`.
            base_url: of its server; `None` for the provider's own.
            lacks: abilities known to be refused.
        """
        self.learnt = _refused_abilities(name, base_url)
        for ability in dict.fromkeys([*lacks, *sorted(self.learnt)]):
            if ability not in self.fixed:
                self._leave_out(ability, model)

    def learn(self, refused: NotTaken, model: Any) -> bool:
        """Return whether another try can help; adapt further requests to a refusal unless the user set it."""
        ability = refused.ability
        if ability == "bounds" and not self.bounds:  # none was sent: it is the schema that is refused
            ability = "schema"
        if ability in self.fixed:
            return False
        if ability == "max_tokens":
            return _shorten(model, refused.said)
        if ability == "parameters":  # which of them is not said
            ways: tuple[Ability, ...] = ("seed", "schema", "temperature")
            found = next((one for one in ways if one not in self.fixed and self._leave_out(one, model)), None)
            self.learnt |= {found} if found else set()
            return found is not None
        if not self._leave_out(ability, model):
            return False
        self.learnt.add(ability)
        return True

    def advice(self, ability: Ability, name: str) -> str:
        """Return a hint at the setting that leaves out an ability; empty if no setting helps."""
        if ability in self.left_out or not (ability in self.fixed or ability == "max_tokens"):
            return ""
        setting = {"temperature": "temperature=1", "max_tokens": "max_tokens=N"}.get(ability)
        return f" (see --mind '{name}?{setting or f'lacks={ability}'}')"

    def _leave_out(self, ability: Ability, model: Any) -> bool:
        """Return whether the model's requests used an ability until now, and leave it out from now on."""
        if ability in ("pictures", "schema", "bounds"):
            name = "sees" if ability == "pictures" else ability
            was = getattr(self, name)
            setattr(self, name, False)
        elif ability in ("temperature", "seed"):
            was = getattr(model, ability, None) is not None
            if was:
                setattr(model, ability, None)
        else:  # forms of a request; a completion model has none
            was = ability in getattr(model, "adapts", ()) and ability not in model.lacks
            if was:
                model.lacks.add(ability)
        self.left_out += [ability] if was else []
        return bool(was)


def _shorten(model: Any, said: str) -> bool:
    """Return whether the model's limit of reply tokens could be lowered to what its server allows."""
    room = room_for_reply(said)
    name = next(
        (one for one in ("max_tokens", "max_output_tokens", "num_predict") if hasattr(model, one)), ""
    )
    asked = (getattr(model, name) or 0) if name else 0
    if room is not None and room >= asked:
        room = asked // 2  # the server counts otherwise than it says
    if room is None or room < LEAST_REPLY:
        return False
    setattr(model, name, room)
    return True


def room_for_reply(said: str) -> int | None:
    """Return the most reply tokens that a server's words of refusal allow; `None` if they name none."""
    for pattern in _ROOM:
        if found := pattern.search(said):
            told = {name: int(number) for name, number in found.groupdict().items()}
            if "left" in told:
                return told["left"]
            return told["half"] // 2 if "half" in told else told["all"] - told["asked"] - _MARGIN
    return None


def refused_ability(said: str) -> Ability | None:
    """Return the ability that a server's words refuse; `None` if they name none."""
    if (room_for_reply(said) or 0) >= LEAST_REPLY:
        return "max_tokens"
    return next((ability for ability, pattern in _REFUSALS if pattern.search(said)), None)


LEFT_OUT: dict[str, str] = {
    "pictures": "takes no pictures",
    "schema": "takes no JSON schema: the fields of replies are named in the prompt",
    "bounds": "takes no bounds in JSON schemas: they stand in descriptions alone",
    "seed": "takes no seed: its replies may differ from run to run",
    "temperature": "takes no temperature: its own is used",
    "max_completion_tokens": "takes no max_completion_tokens: max_tokens is sent",
    "stream_options": "takes no stream_options: tokens of streamed replies are estimated",
    "stream": "streams no replies: they come at once",
    "system": "takes no system message: orders stand in the first question",
    "order": "takes no question after a result of a tool, or two in a row: turns are set between",
    "parallel_calls": "takes one call a turn: turns with more are sent as several",
}
"""Remarks on missing abilities, by ability, that follow the model's name in a journal."""


def lacking_abilities(remarks: str, name: str) -> list[Ability]:
    """Return the abilities that the model of this name lacks, by the remarks in a run's journal."""
    return [one for one in ABILITIES if one in LEFT_OUT and f"{name} {LEFT_OUT[one]}" in remarks]


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _check_prices(text: str) -> str:
    """Return a text unchanged; raise `ValueError` if it does not hold two prices."""
    prices_in(text)
    return text


def _check_abilities(text: str) -> str:
    """Return a text unchanged; raise `ValueError` if it lists anything but abilities and `none`."""
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
    """The level of reasoning of a model that reasons; which levels a model takes is up to its provider."""
    context: int | None = Field(default=None, ge=1_024)
    """Tokens that the model can read: longer conversations are shortened; with Ollama also its `num_ctx`."""
    timeout: float | None = Field(default=None, gt=0, le=3_600)
    """Seconds until a request without an answer is given up."""
    question_timeout: float | None = Field(default=None, gt=0, le=36_000)
    """Most seconds of all replies to a question, further tries included; by default ten times `timeout`."""
    pictures: bool | None = None
    """A switch to send the model pictures; by default as it is known to take them, else tried once."""
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    """Seed of what a model does by chance, where its provider takes one; by default that of the run."""
    lacks: Annotated[str, AfterValidator(_check_abilities)] | None = None
    """Abilities that the model does not have, such as `system,seed`; `none` has nothing left out, ever."""
    price: Annotated[str, AfterValidator(_check_prices)] | None = None
    """Dollars for a million tokens in and out, such as `0.15,0.60`, for a model without a known price."""

    def with_fallback(self, others: "MindSettings") -> "MindSettings":
        """Return these settings, in which those that are `None` are taken from `others`."""
        return others.model_copy(update=self.model_dump(exclude_none=True))


def prices_in(text: str) -> tuple[float, float]:
    """Return (input, output) prices in US dollars for a million tokens from a text such as `0.15,0.60`.

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
    """Return (name, settings) of a mind from a spec such as `openai:gpt-5-mini?effort=low`.

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
