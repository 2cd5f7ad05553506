"""Providers of language models: where they are, what opens them, and how each is asked."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

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


def options_of(provider: str, settings: MindSettings, profile: Mapping[str, Any] | None) -> dict[str, Any]:
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
            chosen |= {"reasoning": _thinking_option(settings.effort)} if settings.effort else {}
            chosen |= seed
            return {**chosen, "client_kwargs": {"timeout": timeout}}  # it has no `timeout` of its own
        case _:
            chosen = {} if settings.temperature is None else chosen
            chosen |= {} if settings.max_tokens is None else {"max_tokens": tokens}
            chosen |= {"reasoning_effort": settings.effort} if settings.effort else {}
    return {**chosen, "timeout": timeout, "max_retries": 0}


def reply_defaults(
    provider: str, settings: MindSettings, profile: Mapping[str, Any] | None
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


def longest_reply(provider: str, settings: MindSettings, profile: Mapping[str, Any] | None) -> int:
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
    provider: str, settings: MindSettings, profile: Mapping[str, Any] | None
) -> MindSettings:
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


def _thinking_option(effort: str) -> bool | str:
    return effort != "none" and (effort if effort in ("low", "medium", "high") else True)
