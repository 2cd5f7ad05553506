"""Providers of language models: their keys, servers and prices, and how the models of each are asked."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

    from virl.mind.settings import MindSettings


Method = Literal["json_schema", "function_calling", "json_mode"]
"""Ways to ask a model for JSON, as LangChain names them."""

TIMEOUT_S = 120.0  # chosen: models that reason take up to a minute over a few pictures
REPLY_TOKENS = 4_096
"""Most tokens from a model that does not reason; chosen: the longest reply, a day, takes about 1,500."""
COMPLETION_TOKENS = 256
"""Most tokens from a completion model; the default of OpenAI's client in LangChain."""
REASONED_TOKENS = 16_384
"""Most tokens from one that may reason; chosen. Above about 21,000 Anthropic's client wants streaming."""
OLLAMA_CONTEXT = 16_384
"""Tokens; chosen: its own default of a few thousand cuts the prompts of long walks, and says nothing."""
OWN_SERVER_KEY = "VIRL_API_KEY"
"""The environment variable with the key of the server at `VIRL_BASE_URL`."""


@dataclass(frozen=True, slots=True)
class ChatManner:
    """The way in which models of a provider are asked."""

    method: Method | None = None
    """LangChain's method for structured output; `None` takes its own choice."""
    strict: bool = False
    """True if LangChain is to ask for `strict` schemas."""
    enforces: bool = False
    """True if the server is known to hold a model to the schema; if not, the prompt names the fields, too."""
    bounded: bool = False
    """True if schemas have the bounds of numbers and lengths: the server's grammar holds a model to them."""
    longest_side: int = 2_048
    """Pixels of a picture; larger ones are made smaller, as the provider would do itself."""
    marks_cache: bool = False
    """True if a request has to say what its provider may keep for the next one."""


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
"""Providers whose requests always say how long a reply may be."""
SEEDED = frozenset({"openai", "openai-completion", "google_genai", "ollama"})
"""Providers that take a seed; Anthropic has none, others are not known."""
GEMINI_VERSION = "v1beta"
"""Version of Gemini's API: `-latest` and some previews are in no other; google-genai asks v1 since 3.0."""
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
"""Environment variables with the base URL of a provider."""


def manner_of(name: str, *, own_server: bool = False) -> ChatManner:
    """Return the way in which a model is asked.

    Args:
        name: such as `openai:gpt-5-mini`.
        own_server: whether a server of one's own speaks as the provider does: what it enforces is not known.
    """
    known = _MANNERS.get(name.partition(":")[0], ChatManner())
    if not own_server:
        return known
    return replace(known, enforces=False, bounded=True)


def base_url_of(provider: str) -> str | None:
    """Return the base URL that the environment names for a provider; `None` stands for the provider's own."""
    return next((url for name in _URL_VARIABLES.get(provider, ()) if (url := os.environ.get(name))), None)


def is_own_server(provider: str, base_url: str | None) -> bool:
    """Return whether a base URL is a server of one's own, which gets no key of the provider's."""
    if not provider.startswith("openai") or not base_url:
        return False
    return base_url != os.environ.get("OPENAI_BASE_URL")


def options_of(provider: str, settings: "MindSettings", profile: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments for LangChain's class of a provider.

    Args:
        provider: such as `openai`.
        settings: as the user wants them.
        profile: what LangChain knows of the model; `None` if it knows nothing.
    """
    temperature, tokens = reply_defaults(provider, settings, profile)
    timeout = settings.timeout or TIMEOUT_S
    chosen: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
    seed = {} if settings.seed is None else {"seed": settings.seed}
    match provider:
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
            chosen |= {} if os.environ.get("GOOGLE_GENAI_API_VERSION") else {"api_version": GEMINI_VERSION}
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


def reply_defaults(
    provider: str, settings: "MindSettings", profile: Mapping[str, Any] | None
) -> tuple[float | None, int]:
    """Return temperature, if one is taken, and the most tokens of a reply, with the provider's defaults.

    Args:
        provider: such as `openai`.
        settings: asked for.
        profile: what is known of the model; `None` for nothing.
    """
    known = profile or {}
    reasons = bool(known.get("reasoning_output", not known or provider == "ollama"))
    tokens = settings.max_tokens or (REASONED_TOKENS if reasons else REPLY_TOKENS)
    tokens = min(tokens, int(known.get("max_output_tokens") or tokens))
    # OpenAI's models that reason take a temperature only without reasoning, whatever the profile says
    takes = known.get("temperature", True) and not (provider == "openai" and known.get("reasoning_output"))
    temperature = settings.temperature if settings.temperature is not None else (0.0 if takes else None)
    return temperature, tokens


def longest_reply(provider: str, settings: "MindSettings", profile: Mapping[str, Any] | None) -> int:
    """Return the most tokens of a reply: the limit that is sent, else what the model is known to write.

    Where neither is known, a model may write more than `REASONED_TOKENS`, which are reckoned with.

    Args:
        provider: such as `openai`.
        settings: asked for.
        profile: what is known of the model; `None` for nothing.
    """
    if provider == "openai-completion":
        return settings.max_tokens or COMPLETION_TOKENS
    if provider in _LIMITED or settings.max_tokens:
        return reply_defaults(provider, settings, profile)[1]
    return int((profile or {}).get("max_output_tokens") or REASONED_TOKENS)


def resolve_settings(
    provider: str, settings: "MindSettings", profile: Mapping[str, Any] | None
) -> "MindSettings":
    """Return the settings that hold, defaults included.

    Temperature and seed are left out where none is taken.

    Args:
        provider: such as `openai`.
        settings: asked for.
        profile: what is known of the model; `None` for nothing.
    """
    temperature, tokens = reply_defaults(provider, settings, profile)
    context = settings.context or (OLLAMA_CONTEXT if provider == "ollama" else None)
    timeout = settings.timeout or TIMEOUT_S
    known = {"temperature": temperature, "max_tokens": tokens, "context": context, "timeout": timeout}
    known |= {} if provider in SEEDED else {"seed": None}
    return settings.model_copy(update=known)


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
"""Environment variables that a provider's key is read from; any one of them will do."""


_BYTES_A_TOKEN = 3.0
"""Bytes of a token: about four in English, two or three in others; chosen to expect rather too much."""
PICTURE_TOKENS = 1_500
"""A view of 640 by 640 pixels takes 425 to 1,105 with most models; chosen."""
_DEAR_PICTURES = MappingProxyType({"openai:gpt-4o-mini": 48_169})
"""Tokens of a picture at most, by models with which they are more than usual.

A picture costs as much with gpt-4o-mini as with gpt-4o, so it counts as 33 times the tokens: 2,833, and 5,667
for each of at most 8 tiles (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
"""

_PROVIDERS = MappingProxyType(
    {"anthropic": "anthropic", "google_genai": "google", "openai": "openai", "openai-completion": "openai"}
)
"""Providers in `genai-prices`, by their names in models; only those whose tokens of pictures are known."""
_OWN_SERVERS = "gpt-oss-"
"""The beginning of names that `genai-prices` lists with OpenAI, which does not serve them: users do."""
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests."""

    input_tokens: int = 0
    """All input, what the provider's prompt cache served included."""
    cached_input_tokens: int = 0
    output_tokens: int = 0
    written_input_tokens: int = 0
    """The part of the input that the provider wrote into its prompt cache."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.output_tokens + other.output_tokens,
            self.written_input_tokens + other.written_input_tokens,
        )


def expected_usage(
    messages: "Sequence[BaseMessage]",
    *,
    reply: int,
    beside: int = 0,
    picture: int = PICTURE_TOKENS,
    density: float = 1.0,
) -> Usage:
    """Return as many tokens as a request may take, its reply included: rather too many than too few.

    All input counts as written into the provider's cache, which never costs less than other input.

    Args:
        messages: what is sent.
        reply: tokens of a reply at most.
        beside: letters sent with them, such as the schemas of tools.
        picture: tokens of a picture.
        density: tokens that this model's tokenizer has made of a text, for each that was expected.
    """
    blocks = [block for message in messages for block in message.content_blocks]
    pictures = sum(block["type"] == "image" for block in blocks)
    size = beside + sum(_bytes(message.text) for message in messages)
    tokens = ceil(density * size / _BYTES_A_TOKEN) + pictures * picture
    return Usage(tokens, 0, reply, written_input_tokens=tokens)


def said_usage(answer: "AIMessage") -> int:
    """Return the approximate number of tokens of an answer, for servers that do not count them."""
    called = sum(_bytes(f"{call['name']}{call['args']}") for call in answer.tool_calls)
    return ceil((_bytes(answer.text) + called) / _BYTES_A_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def picture_tokens(model: str) -> int:
    """Return the tokens that a picture takes at most."""
    return _DEAR_PICTURES.get(_SNAPSHOT.sub("", model), PICTURE_TOKENS)


def request_usd(model: str, usage: Usage, own: tuple[float, float] | None = None) -> float | None:
    """Return the dollars of one request; `None` if the model's price is unknown.

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
