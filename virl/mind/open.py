"""From a name such as `rules` or `openai:gpt-5-mini` to a mind."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from virl.budget import Budget
from virl.errors import BadInput, ModelUnavailable, nearest_name
from virl.mind.keys import KEYS
from virl.mind.rules import RuleMind
from virl.mind.script import PREFIX, ScriptMind
from virl.redaction import Redaction, warn_of_placeholder

if TYPE_CHECKING:
    from langchain_core.rate_limiters import BaseRateLimiter

    from virl.mind.asking import Model
    from virl.mind.llm import LLMMind, Method

TIMEOUT_S = 120.0  # chosen: models that reason take up to a minute over a few pictures

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
    from virl.mind.faults import in_a_line  # noqa: PLC0415

    options: dict[str, Any] = {"timeout": TIMEOUT_S, "max_retries": 0}
    if base_url:
        options["base_url"] = base_url
    keys = KEYS.get(provider, ())
    for name in keys:
        warn_of_placeholder(name, len(os.environ.get(name, "")))
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
        near = nearest_name(provider, KEYS) if provider not in KEYS else None
        if near and "infer model provider" in str(fault):
            raise BadInput(f"unknown mind {spec!r}: did you mean '{near}{spec[len(provider) :]}'?") from None
        if not keyless:
            said = in_a_line(str(fault), Redaction.of(urls=[base_url] if base_url else []))
            raise BadInput(f"{spec} cannot be opened: {said}") from None
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
