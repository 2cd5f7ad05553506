"""From a name such as `rules` or `openai:gpt-5-mini` to a mind."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from virl.budget import Budget
from virl.errors import BadInput, ModelUnavailable
from virl.mind.rules import RuleMind
from virl.mind.script import PREFIX, ScriptMind

if TYPE_CHECKING:
    from langchain_core.rate_limiters import BaseRateLimiter

    from virl.mind.asking import Model
    from virl.mind.llm import LLMMind, Method

TIMEOUT_S = 120.0  # chosen: models that reason take up to a minute over a few pictures

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

_METHODS: Mapping[str, "Method"] = MappingProxyType(
    {"anthropic": "json_schema"}  # its newest models refuse the forced tool call that LangChain would make
)
_OPENAI = ("openai", "openai-completion")
_NO_KEY = "none"  # sent to a server of one's own, which asks for none


def open_mind(
    spec: str,
    *,
    cache_dir: Path | None,
    base_url: str | None = None,
    limiter: "BaseRateLimiter | None" = None,
    budget: Budget | None = None,
) -> "RuleMind | ScriptMind | LLMMind":
    """The mind of this name; no request is made.

    Args:
        spec: `rules`, `scripted:FILE`, `PROVIDER:MODEL` as LangChain's `init_chat_model` takes it, or
            `openai-completion:MODEL` for the completions endpoint, which gives plain text only.
        cache_dir: where replies are kept; `None` keeps none.
        base_url: an OpenAI-compatible server; by default `VIRL_BASE_URL` or `OPENAI_BASE_URL`.
        limiter: asked before every request; `None` sets no limit.
        budget: of dollars, checked before every request; `None` sets no limit.

    Raises:
        BadInput: no mind has such a name.
        ModelUnavailable: a package or a key is missing; says which.
    """
    if spec == "rules":
        return RuleMind()
    if spec.startswith(PREFIX) and spec != PREFIX:
        return ScriptMind(Path(spec.removeprefix(PREFIX)))
    provider, separator, model = spec.partition(":")
    if not (provider and separator and model):
        raise BadInput(
            f"unknown mind {spec!r}: use 'rules', scripted:FILE, or PROVIDER:MODEL such as openai:gpt-5-mini"
        )
    from virl.mind.cache import ReplyCache  # noqa: PLC0415
    from virl.mind.llm import LLMMind  # noqa: PLC0415  LangChain takes a second to import

    opened = _model(spec, provider, base_url or _base_url(provider))
    cache = None if cache_dir is None else ReplyCache(cache_dir)
    return LLMMind(opened, spec, cache=cache, method=_METHODS.get(provider), limiter=limiter, budget=budget)


def _base_url(provider: str) -> str | None:
    own = os.environ.get("VIRL_BASE_URL")
    return own or (os.environ.get("OPENAI_BASE_URL") if provider in _OPENAI else None)


def _model(spec: str, provider: str, base_url: str | None) -> "Model":
    from virl.mind.faults import redact  # noqa: PLC0415

    options: dict[str, Any] = {"timeout": TIMEOUT_S, "max_retries": 0}
    if base_url:
        options["base_url"] = base_url
    keys = KEYS.get(provider, ())
    keyless = bool(keys) and not any(os.environ.get(key) for key in keys)
    if keyless and provider in _OPENAI and base_url:
        options["api_key"] = _NO_KEY
        keyless = False
    try:
        opened = _construct(spec, options)
    except ImportError as fault:
        package = str(fault).rpartition("pip install ")[2].strip("`. ")
        raise ModelUnavailable(
            f"{spec} needs a package that is not installed: pip install {package}"
        ) from None
    except Exception as fault:  # noqa: BLE001  each provider raises what it likes
        if not keyless:
            raise BadInput(f"{spec} cannot be opened: {redact(str(fault), frozenset())}") from None
    else:
        if not keyless:
            return opened
    raise ModelUnavailable(f"{spec} needs a key: set {' or '.join(keys)} in your environment")


def _construct(spec: str, options: Mapping[str, Any]) -> "Model":
    provider, _, model = spec.partition(":")
    if provider == "openai-completion":
        from langchain_openai import OpenAI  # noqa: PLC0415

        return OpenAI(model=model, temperature=0.0, **options)
    from langchain.chat_models import init_chat_model  # noqa: PLC0415

    chat: Model = init_chat_model(spec, **options)
    return chat
