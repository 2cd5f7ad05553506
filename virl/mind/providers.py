"""Providers of language models: their keys, servers and prices, and how the models of each are asked."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import ceil
from operator import add
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

    from virl.mind.settings import MindSettings


Method = Literal["json_schema", "function_calling", "json_mode"]
"""LangChain's name of a method by which it asks a model for JSON."""

TIMEOUT_S = 120.0  # chosen: models that reason take up to a minute over a few pictures
REPLY_TOKENS = 4_096
"""Most reply tokens of a model that does not reason; chosen: the longest, a day's plan, has about 1,500."""
COMPLETION_TOKENS = 256
"""Most tokens of a reply of a completion model; the default of OpenAI's client in LangChain."""
REASONED_TOKENS = 16_384
"""Most reply tokens of a model that may reason; chosen: above 21,000 Anthropic's client wants streaming."""
OLLAMA_CONTEXT = 16_384
"""Context length for Ollama, in tokens; chosen: its default of a few thousand cuts prompts of long walks."""
OWN_SERVER_KEY = "VIRL_API_KEY"
"""Name of the environment variable with the API key of the server at `VIRL_BASE_URL`."""


@dataclass(frozen=True, slots=True)
class ChatManner:
    """The form of requests to the models of one provider: JSON schema, size of pictures, and caching."""

    method: Method | None = None
    """LangChain's method for structured output; `None` for LangChain's own choice."""
    strict: bool = False
    """True if LangChain asks the provider for `strict` schemas."""
    enforces: bool = False
    """True if the server enforces the schema; if false, the prompt describes the fields as well."""
    bounded: bool = False
    """True if schemas keep bounds of numbers and lengths, since the server's grammar can enforce them."""
    longest_side: int = 2_048
    """Longest side of a picture in pixels; larger ones are scaled down, as the provider would do."""
    marks_cache: bool = False
    """True if a request must mark the part that the provider may cache for the next one."""


_MANNERS: Mapping[str, ChatManner] = MappingProxyType(
    {
        # https://platform.openai.com/docs/guides/images-vision: fitted into 2048 by 2048 pixels
        "openai": ChatManner("json_schema", strict=True, enforces=True, longest_side=2_048),
        # https://platform.claude.com/docs/en/build-with-claude/vision: scaled to 1568 pixels. Its newest
        # models refuse the forced tool call that LangChain would make.
        "anthropic": ChatManner("json_schema", enforces=True, longest_side=1_568, marks_cache=True),
        # https://ai.google.dev/gemini-api/docs/image-understanding: up to 3072 pixels
        "google_genai": ChatManner("json_schema", enforces=True, longest_side=3_072),
        # the grammar of llama.cpp; most vision models of one's own take some 1000 pixels
        "ollama": ChatManner("json_schema", bounded=True, longest_side=1_024),
    }
)
_LIMITED = frozenset({"openai", "anthropic", "google_genai", "ollama"})
"""Names of providers to which every request sends a limit on the reply's tokens."""
SEEDED = frozenset({"openai", "openai-completion", "google_genai", "ollama"})
"""Names of providers that accept a random seed; Anthropic does not, of others it is not known."""
GEMINI_VERSION = "v1beta"
"""Version of Gemini's API in requests: `-latest` and some previews exist only there, not in v1."""
_URL_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "openai": ("VIRL_BASE_URL", "OPENAI_BASE_URL"),
        "openai-completion": ("VIRL_BASE_URL", "OPENAI_BASE_URL"),
        "anthropic": ("ANTHROPIC_BASE_URL",),
        "google_genai": ("GOOGLE_GEMINI_BASE_URL",),
        "ollama": ("OLLAMA_HOST",),
    }
)
URLS: tuple[str, ...] = tuple(dict.fromkeys(name for names in _URL_VARIABLES.values() for name in names))
"""Names of all environment variables that may hold a provider's base URL."""


def manner_of(name: str, *, own_server: bool = False) -> ChatManner:
    """Return the form of requests to a model such as `openai:gpt-5-mini`, also on the user's own server."""
    known = _MANNERS.get(name.partition(":")[0], ChatManner())
    # Whether another server enforces schemas is not known.
    return replace(known, enforces=False, bounded=True) if own_server else known


def base_url_of(provider: str) -> str | None:
    """Return the base URL that the environment sets for a provider; `None` if it sets none."""
    return next((url for name in _URL_VARIABLES.get(provider, ()) if (url := os.environ.get(name))), None)


@dataclass(frozen=True, slots=True)
class ModelDefaults:
    """The values that requests to a model have: as the user sets them, else as its provider needs them."""

    provider: str
    """Name of the model's provider, such as `openai`."""
    settings: "MindSettings"
    """Settings that the user asks for."""
    profile: Mapping[str, Any] | None = None
    """Facts that LangChain knows of the model; `None` if it knows nothing."""

    @property
    def temperature(self) -> float | None:
        """The temperature that is sent; `None` if the model takes none."""
        if self.settings.temperature is not None:
            return self.settings.temperature
        known = self.profile or {}
        # OpenAI's models that reason take a temperature only without reasoning, whatever the profile says
        refuses = self.provider == "openai" and known.get("reasoning_output")
        return 0.0 if known.get("temperature", True) and not refuses else None

    @property
    def tokens(self) -> int:
        """Most tokens of a reply, those of its reasoning included."""
        known = self.profile or {}
        reasons = bool(known.get("reasoning_output", not known or self.provider == "ollama"))
        tokens = self.settings.max_tokens or (REASONED_TOKENS if reasons else REPLY_TOKENS)
        return min(tokens, int(known.get("max_output_tokens") or tokens))

    @property
    def longest_reply(self) -> int:
        """Most tokens of a reply that its cost is estimated by: the limit sent, else the model's own.

        Where no limit is sent or known, it is `REASONED_TOKENS`, although a model may write more.
        """
        if self.provider == "openai-completion":
            return self.settings.max_tokens or COMPLETION_TOKENS
        if self.provider in _LIMITED or self.settings.max_tokens:
            return self.tokens
        return int((self.profile or {}).get("max_output_tokens") or REASONED_TOKENS)

    def resolved_settings(self) -> "MindSettings":
        """Return the settings with defaults; temperature and seed are `None` if the model takes none."""
        context = self.settings.context or (OLLAMA_CONTEXT if self.provider == "ollama" else None)
        timeout = self.settings.timeout or TIMEOUT_S
        known: dict[str, object] = {"temperature": self.temperature, "max_tokens": self.tokens}
        known |= {"context": context, "timeout": timeout}
        known |= {} if self.provider in SEEDED else {"seed": None}
        return self.settings.model_copy(update=known)

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments for LangChain's class of the provider's models."""
        settings, tokens, temperature = self.settings, self.tokens, self.temperature
        timeout = settings.timeout or TIMEOUT_S
        chosen: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        seed = {} if settings.seed is None else {"seed": settings.seed}
        match self.provider:
            case "openai":
                chosen |= {"max_tokens": tokens, "stream_usage": True}
                chosen |= {"reasoning_effort": settings.effort} if settings.effort else {}
                chosen |= seed
            case "openai-completion":
                chosen |= {"max_tokens": settings.max_tokens or COMPLETION_TOKENS, **seed}
            case "anthropic":
                chosen |= {"max_tokens": tokens}
                chosen |= {"effort": settings.effort} if settings.effort else {}
            case "google_genai":
                chosen |= {"max_output_tokens": tokens}
                chosen |= {"thinking_level": settings.effort} if settings.effort else {}
                if not os.environ.get("GOOGLE_GENAI_API_VERSION"):
                    chosen["api_version"] = GEMINI_VERSION
                chosen |= seed
            case "ollama":
                chosen |= {"num_predict": tokens, "num_ctx": settings.context or OLLAMA_CONTEXT}
                levels = {"none": False, "low": "low", "medium": "medium", "high": "high"}
                chosen |= {"reasoning": levels.get(settings.effort, True)} if settings.effort else {}
                chosen |= seed
                return {**chosen, "client_kwargs": {"timeout": timeout}}  # it has no `timeout` of its own
            case _:
                chosen = {} if settings.temperature is None else chosen
                chosen |= {} if settings.max_tokens is None else {"max_tokens": tokens}
                chosen |= {"reasoning_effort": settings.effort} if settings.effort else {}
        return {**chosen, "timeout": timeout, "max_retries": 0}


KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anthropic": ("ANTHROPIC_API_KEY",),
        "azure_openai": ("AZURE_OPENAI_API_KEY",),
        "cohere": ("COHERE_API_KEY",),
        "deepseek": ("DEEPSEEK_API_KEY",),
        "fireworks": ("FIREWORKS_API_KEY",),
        "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "groq": ("GROQ_API_KEY",),
        "mistralai": ("MISTRAL_API_KEY",),
        "nvidia": ("NVIDIA_API_KEY",),
        "openai": ("OPENAI_API_KEY",),
        "openai-completion": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "perplexity": ("PPLX_API_KEY",),
        "together": ("TOGETHER_API_KEY",),
        "xai": ("XAI_API_KEY",),
    }
)
"""Names of environment variables that may hold the API key, by provider; the first that is set counts."""


_BYTES_PER_TOKEN = 3.0
"""Bytes of text per token: about four in English, two or three elsewhere; chosen to overestimate tokens."""
PICTURE_TOKENS = 1_500
"""Tokens of one picture; chosen: a view of 640 by 640 pixels takes 425 to 1,105 with most models."""
_DEAR_PICTURES = MappingProxyType({"openai:gpt-4o-mini": 48_169})
"""Most tokens of one picture, by model, for models where it is unusually many.

A picture costs as much with gpt-4o-mini as with gpt-4o, so it counts as 33 times the tokens: 2,833, and 5,667
for each of at most 8 tiles (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
"""

_PROVIDERS = MappingProxyType(
    {"anthropic": "anthropic", "google_genai": "google", "openai": "openai", "openai-completion": "openai"}
)
"""Providers' names in `genai-prices` by their names in virl, where the tokens of a picture are known."""
_OWN_SERVERS = "gpt-oss-"
"""Prefix of names of open models, listed by `genai-prices` under OpenAI, that users run on own servers."""
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more requests."""

    input_tokens: int = 0
    """Number of all input tokens, also those read from the provider's prompt cache or written there."""
    cached_input_tokens: int = 0
    """Number of input tokens read from the provider's prompt cache, which cost less."""
    output_tokens: int = 0
    written_input_tokens: int = 0
    """Number of input tokens that the provider wrote into its prompt cache."""

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sums of two counts of tokens."""
        return Usage(*map(add, astuple(self), astuple(other)))


def expected_usage(
    messages: "Sequence[BaseMessage]",
    *,
    reply: int,
    beside: int = 0,
    picture: int = PICTURE_TOKENS,
    density: float = 1.0,
) -> Usage:
    """Return an upper estimate of a request's tokens: messages, `beside` letters, pictures, and a `reply`.

    All input counts as written into the provider's cache, which never costs less than other input.

    Args:
        messages: what is sent.
        reply: tokens of a reply at most.
        beside: letters sent with them, such as the schemas of tools.
        picture: tokens of a picture.
        density: ratio of the tokens that this model's tokenizer made of earlier texts to those expected.
    """
    blocks = [block for message in messages for block in message.content_blocks]
    pictures = sum(block["type"] == "image" for block in blocks)
    size = beside + sum(_bytes(message.text) for message in messages)
    tokens = ceil(density * size / _BYTES_PER_TOKEN) + pictures * picture
    return Usage(tokens, 0, reply, written_input_tokens=tokens)


def said_usage(answer: "AIMessage") -> int:
    """Return the estimated number of an answer's output tokens, for servers that report none."""
    called = sum(_bytes(f"{call['name']}{call['args']}") for call in answer.tool_calls)
    return ceil((_bytes(answer.text) + called) / _BYTES_PER_TOKEN)


def _bytes(text: str) -> int:
    """Return the number of bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def picture_tokens(model: str) -> int:
    """Return the most tokens that one picture takes with a model such as `openai:gpt-4o-mini`."""
    return _DEAR_PICTURES.get(_SNAPSHOT.sub("", model), PICTURE_TOKENS)


def request_usd(model: str, usage: Usage, own: tuple[float, float] | None = None) -> float | None:
    """Return a request's cost in dollars, by `own` (in, out) prices a million if given; `None` if unknown.

    Not for sums of requests: with some models, all tokens of a long request cost more.

    Args:
        model: its name, such as `openai:gpt-5-mini`. A dated snapshot without a price of its own costs as its
            model.
        usage: tokens of the request and its reply.
        own: dollars for a million tokens in and out, as the user states them; they go before any other price.
    """
    if own is not None:
        return (usage.input_tokens * own[0] + usage.output_tokens * own[1]) / 1e6
    provider, _, name = model.partition(":")
    if provider not in _PROVIDERS or name.startswith(_OWN_SERVERS):
        return None
    import genai_prices  # noqa: PLC0415  takes 50 to 100 ms, and only language models need it

    read = min(usage.cached_input_tokens, usage.input_tokens)
    counts = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=read,
        cache_write_tokens=min(usage.written_input_tokens, usage.input_tokens - read),
        output_tokens=usage.output_tokens,
    )
    names = (name, _SNAPSHOT.sub("", name))
    for one in names:
        try:
            found = genai_prices.calc_price(counts, one, provider_id=_PROVIDERS[provider])
        except LookupError:
            continue
        listed = {key for key, price in vars(found.model_price).items() if price is not None}
        chats = {"input_mtok", "output_mtok"} <= listed and not any("image" in key for key in listed)
        # the package also finds a model for a name that only begins as the model's does
        if chats and found.model.id in names:
            return float(found.total_price)
    return None
