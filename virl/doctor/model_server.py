"""The language model that runs would ask: whether its server is reached, and what one short reply costs.

A free request finds that out, or two with Ollama; `--real` pays for the reply.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from virl.doctor.probes import probes
from virl.doctor.services import Finding, State
from virl.errors import VirlError
from virl.mind.base import Prompt
from virl.mind.open import ModelHost, open_mind
from virl.mind.providers import Usage, base_url_of, request_usd
from virl.mind.replies import Reply
from virl.mind.script import PREFIX
from virl.mind.settings import MindSettings, prices_in, split_spec
from virl.money.ledger import Ledger
from virl.pages.numbers import dollars
from virl.platform.providers.google.settings import GoogleSettings
from virl.redaction import shown_url

TIMEOUT = httpx.Timeout(6.0, connect=3.0)  # seconds; chosen: somebody waits
_REMEDIES = {"ollama": "ollama pull {model}"}
"""Commands that get a model which its server does not have, by provider."""
_NOT_ASKED = "no free request is known for this provider, so its server was not asked"


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A server's report on one model: whether the server has it, and how many tokens the model can read."""

    present: bool
    context: int | None = None
    """Number of tokens that the model can read; `None` if the server does not say."""
    others: tuple[str, ...] = ()
    """Names of the other models that the server has."""


def mind_finding(spec: str) -> Finding:
    """Return the finding on whether the mind `spec` opens, and its server answers and has its model.

    The key goes to the server that runs would ask, and redirects are not followed.
    """
    if not _is_model(spec):
        return _make_finding(spec, "asks no language model")
    try:
        mind = open_mind(spec, cache_dir=None)
    except VirlError as fault:
        return _make_finding(spec, "cannot be opened", str(fault))
    from virl.mind.llm import LLMMind  # noqa: PLC0415  LangChain takes a second to import

    name, own = split_spec(spec)
    provider, _, model = name.partition(":")
    if provider not in _ASKED:
        return _make_finding(spec, f"{_NOT_ASKED}; {_describe_price(name, own)}")
    host = ModelHost(provider, base_url_of(provider))
    served = _ask_server(host, model)
    if isinstance(served, tuple):
        return _make_finding(spec, *served)
    known = mind.profile.get("max_input_tokens") if isinstance(mind, LLMMind) else None
    context = own.context or served.context or _positive_or_none(known)
    told = f"context {context:,} tokens" if context else "context unknown"
    return _make_finding(spec, f"reached, and knows the model; {told}; {_describe_price(name, own)}")


def _make_finding(spec: str, detail: str, remedy: str = "") -> Finding:
    """Return the finding on the mind `spec`: `missing` if there is a remedy, else `ok`."""
    state: State = "missing" if remedy else "ok"
    return Finding(f"mind {spec}", state, detail, f"--mind {spec}", remedy, spec)


def _ask_server(host: ModelHost, model: str) -> ModelReport | tuple[str, str]:
    """Return the report of a server on a model, or (reason why there is none, remedy)."""
    try:
        # the key would go along with a redirect
        with httpx.Client(timeout=TIMEOUT, follow_redirects=False) as client:
            served = _ASKED[host.provider](client, host, model)
    except httpx.HTTPStatusError as fault:
        status = fault.response.status_code
        if status in (401, 403):
            return "the server does not accept the key", f"check {' or '.join(host.keys)}"
        return f"the server answers with HTTP {status}", "check the base URL"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError, AttributeError) as fault:
        where = shown_url(host.base_url) if host.base_url else "the provider's server"
        detail = f"{where} cannot be reached, or is no server of models ({type(fault).__name__})"
        return detail, "start the server, or check the base URL (docs/how-to/language-models.md)"
    if served.present:
        return served
    some = f"; it has {', '.join(served.others[:8])}" if served.others else ""
    remedy = _REMEDIES.get(host.provider, "check the model's name").format(model=model)
    return f"reached, but does not know {model}{some}", remedy


def _describe_price(name: str, own: MindSettings) -> str:
    """Return the price of a model in words: as set by the user, free, listed or unknown."""
    if own.price:
        return "price ${:g} and ${:g} per million tokens in and out, as set".format(*prices_in(own.price))
    if name.startswith("ollama:"):
        return "free"
    read, written = request_usd(name, Usage(input_tokens=1)), request_usd(name, Usage(output_tokens=1))
    if read is None or written is None:
        return "price unknown: --budget-usd needs price=IN,OUT"
    return f"price ${read * 1e6:g} and ${written * 1e6:g} per million tokens in and out"


def _ask_openai(client: httpx.Client, host: ModelHost, model: str) -> ModelReport:
    """Return an OpenAI-like server's report, by its list of models; vLLM and llama.cpp give the context."""
    base = (host.base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {"authorization": f"Bearer {host.key}"} if host.key else {}
    models = _json_object(client.get(f"{base}/models", headers=headers))["data"]
    listed = {str(one["id"]): one for one in models}
    found = listed.get(model)
    if found is None:
        return ModelReport(present=False, others=tuple(sorted(listed)))
    context = found.get("max_model_len") or (found.get("meta") or {}).get("n_ctx")
    return ModelReport(present=True, context=_positive_or_none(context))


def _ask_anthropic(client: httpx.Client, host: ModelHost, model: str) -> ModelReport:
    """Return Anthropic's report on a model, by its page, with its context in tokens."""
    base = (host.base_url or "https://api.anthropic.com").rstrip("/")
    headers = {"x-api-key": host.key or "", "anthropic-version": "2023-06-01"}
    return _one_model(client, f"{base}/v1/models/{quote(model, safe='')}", headers, "max_input_tokens")


def _ask_gemini(client: httpx.Client, host: ModelHost, model: str) -> ModelReport:
    """Return Gemini's report on a model, by its page, with its context in tokens."""
    base = (host.base_url or "https://generativelanguage.googleapis.com").rstrip("/")
    headers = {"x-goog-api-key": host.key or ""}
    return _one_model(client, f"{base}/v1beta/models/{quote(model, safe='')}", headers, "inputTokenLimit")


def _one_model(client: httpx.Client, url: str, headers: dict[str, str], context: str) -> ModelReport:
    """Ask for a model's page at `url`, and return the report; field `context` of the page has its tokens."""
    said = client.get(url, headers=headers)
    if said.status_code == 404:
        return ModelReport(present=False)
    return ModelReport(present=True, context=_positive_or_none(_json_object(said).get(context)))


def _ask_ollama(client: httpx.Client, host: ModelHost, model: str) -> ModelReport:
    """Return Ollama's report on a model: its context in tokens, or else the models it has."""
    base = (host.base_url or "http://localhost:11434").rstrip("/")
    base = base if "://" in base else f"http://{base}"
    names = [str(one["name"]) for one in _json_object(client.get(f"{base}/api/tags"))["models"]]
    if model not in names and f"{model}:latest" not in names:
        return ModelReport(present=False, others=tuple(sorted(names)))
    facts = _json_object(client.post(f"{base}/api/show", json={"model": model})).get("model_info") or {}
    context = next((size for field, size in facts.items() if field.endswith(".context_length")), None)
    return ModelReport(present=True, context=_positive_or_none(context))


_ASKED: Mapping[str, Callable[[httpx.Client, ModelHost, str], ModelReport]] = {
    "openai": _ask_openai,
    "openai-completion": _ask_openai,
    "anthropic": _ask_anthropic,
    "google_genai": _ask_gemini,
    "ollama": _ask_ollama,
}


def _json_object(said: httpx.Response) -> dict[str, Any]:
    """Return the JSON object in a reply; raise HTTPStatusError if refused, TypeError if no object."""
    if not said.is_success:
        raise httpx.HTTPStatusError("refused", request=said.request, response=said)
    found = said.json()
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


def _positive_or_none(tokens: object) -> int | None:
    """Return a positive integer unchanged; `None` for anything else."""
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else None


_READ_TOKENS, _WRITTEN_TOKENS = 400, 1_024  # chosen: the question, and a reply of a model that reasons
_SHORT = MindSettings(max_tokens=_WRITTEN_TOKENS)


class _Answer(Reply):
    """The shortest reply that shows that a model can fill in a form."""

    ok: bool


_QUESTION = Prompt("doctor/answer", frozenset(), _Answer, "Reply with the field `ok` set to true.")


def price_lines(
    settings: GoogleSettings, mind: str, budget_usd: float, *, has_google_key: bool
) -> tuple[str, ...]:
    """Return a line for each thing that `--real` would ask, with its price, and their sum; empty if none.

    Args:
        settings: endpoints and prices of Google.
        mind: as in `--mind`.
        budget_usd: dollars, told beside the sum.
        has_google_key: whether Google would be asked.
    """
    priced = [
        (f"{settings.endpoint(one.endpoint).service} for {one.asks}", one.usd(settings))
        for one in probes(settings)
        if has_google_key and one.way == "paid"
    ]
    lines = [f"will ask {what}: ${usd:.3f}" for what, usd in priced]
    total = sum(usd for _, usd in priced)
    if _is_model(mind):
        usd = _model_usd(mind)
        total += usd or 0.0
        told = "not asked, its price is unknown (add ?price=IN,OUT)" if usd is None else f"at most ${usd:.3f}"
        lines.append(f"will ask {split_spec(mind)[0]} for one short reply: {told}")
    return (*lines, f"in all ${total:.3f}; the budget is ${budget_usd:.3f} (--budget-usd)") if lines else ()


def ask_model(spec: str, budget_usd: float) -> Finding | None:
    """Ask a model one question within `budget_usd`; return the finding, `None` for a mind without one."""
    if not _is_model(spec):
        return None
    from virl.mind.llm import LLMMind  # noqa: PLC0415  LangChain takes a second to import

    name, needed_for, ledger = f"reply of {spec}", f"--mind {spec}", Ledger(max(0.0, budget_usd))
    try:
        mind = open_mind(spec, cache_dir=None, ledger=ledger, settings=_SHORT)
        (mind.without_retries() if isinstance(mind, LLMMind) else mind).ask(_QUESTION)
    except VirlError as fault:
        paid = f"no reply of use ({dollars(ledger.spent_usd)})"
        return Finding(name, "missing", paid, needed_for, str(fault), spec)
    paid = f"one reply, in the shape that virl reads ({dollars(ledger.spent_usd)})"
    return Finding(name, "ok", paid, needed_for, mind=spec)


def _is_model(spec: str) -> bool:
    """Return whether a mind is a language model: neither `rules` nor a script."""
    return spec != "rules" and not spec.startswith(PREFIX)


def _model_usd(spec: str) -> float | None:
    """Return the most dollars that the doctor's question to a model costs; `None` if unknown."""
    name, own = split_spec(spec)
    if name.startswith("ollama:") and own.price is None:
        return 0.0
    usage = Usage(
        input_tokens=_READ_TOKENS, output_tokens=own.with_fallback(_SHORT).max_tokens or _WRITTEN_TOKENS
    )
    return request_usd(name, usage, prices_in(own.price) if own.price else None)
