"""Opening of minds, by a name such as `rules` or `openai:gpt-5-mini?effort=low`, or from an object."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Union

from pydantic_core import to_jsonable_python

from virl.errors import BadInput, ModelUnavailable, nearest_name
from virl.mind.base import ConfiguredMind, Mind, Pictures, Prompt, ReplyT
from virl.mind.providers import (
    KEYS,
    OWN_SERVER_KEY,
    ModelDefaults,
    Usage,
    base_url_of,
    manner_of,
    request_usd,
)
from virl.mind.rules import RuleMind
from virl.mind.script import PREFIX, ScriptMind
from virl.mind.settings import (
    ABILITIES,
    Abilities,
    Ability,
    MindSettings,
    lacking_abilities,
    prices_in,
    split_spec,
)
from virl.money.book import Exchange, Price
from virl.money.ledger import Ledger
from virl.redaction import Redaction, warn_of_placeholder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.rate_limiters import BaseRateLimiter

    from virl.mind.chat.asking import Model
    from virl.mind.llm import LLMMind


OBJECT = "object: "
"""Prefix of the name that stands in a journal for a mind passed as a Python object."""

GivenMind = Union[Mind, "BaseChatModel"]
"""Type of a mind as a calling program passes it: a virl mind, or a LangChain chat model."""

Dollars = tuple[float, float]
"""US dollars for a million tokens: (input, output)."""

_MEMBERS = ("name", "ledger", "with_own_ledger", "ask")


def object_name(thing: object) -> str:
    """Return the name of an object in a journal: `object: ` and its class, such as `object: mine.Places`."""
    return f"{OBJECT}{type(thing).__module__}.{type(thing).__qualname__}"


def opened_mind(
    given: GivenMind,
    ledger: Ledger,
    *,
    name: str = "",
    price: Dollars | None = None,
    settings: MindSettings | None = None,
    limiter: "BaseRateLimiter | None" = None,
) -> Mind:
    """Return a mind that asks the mind or chat model of a program, and charges the ledger of a run.

    A chat model is asked as it is: of a character's settings, `pictures` and `price` hold alone. Its replies
    are not kept, since nothing tells two objects of one class apart.

    Args:
        given: a chat model of LangChain, or a mind.
        ledger: of the run.
        name: in the journal; by default `object_name` of it.
        price: dollars for a million tokens in and out.
        settings: of the character.
        limiter: asked before every request to a chat model.

    Raises:
        BadInput: it is neither, or a budget cannot be kept because nobody knows what it costs.
    """
    name, settings = name or object_name(given), settings or MindSettings()
    if price is None and settings.price is not None:
        price = prices_in(settings.price)
    if isinstance(given, RuleMind):
        return RuleMind(ledger=ledger)
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415 - takes a second to import

    from virl.mind.llm import LLMMind  # noqa: PLC0415

    if isinstance(given, LLMMind):
        # it charges by its own price; here it only counts that there is one
        price = (0.0, 0.0) if given.is_priced else price
    elif not isinstance(given, BaseChatModel) and (lacking := [m for m in _MEMBERS if not hasattr(given, m)]):
        raise BadInput(
            f"mind={name.removeprefix(OBJECT)}: is no chat model of LangChain and no virl.Mind: "
            f"lacks {', '.join(lacking)}"
        )
    if ledger.limit_usd is not None and price is None:
        raise BadInput(
            f"no price is known for {name}, so budget_usd cannot be kept: give dollars for a million tokens "
            "in and out, as in price=(0.15, 0.60), (0, 0) for a model of your own"
        )
    if isinstance(given, LLMMind):
        return given.charged_to(ledger)
    if not isinstance(given, BaseChatModel):
        return ProgramMind(given, name, ledger)
    abilities = _abilities(given, settings.pictures, set())
    return LLMMind(given, name, price=price, abilities=abilities, limiter=limiter, ledger=ledger)


def _abilities(model: "Model", pictures: bool | None, fixed: set[Ability]) -> Abilities:
    """Return the abilities of a model, those in `fixed` and, unless `None`, `pictures` set by the user."""
    if pictures is not None:
        return Abilities(sees=pictures, fixed=frozenset({*fixed, "pictures"}))
    known = getattr(model, "profile", None) or {}
    return Abilities(sees=bool(known.get("image_inputs", True)), fixed=frozenset(fixed))


class ProgramMind:
    """A wrapper of a program's own mind that records and charges its questions in a run's ledger."""

    def __init__(self, mind: Mind, name: str, ledger: Ledger) -> None:
        """Prepare to ask a mind under the name that it has in journals; `ledger` is the run's."""
        # what it writes down itself is taken from there after each question
        self._mind = mind.with_own_ledger()
        self.name = name
        self.ledger = ledger

    def with_own_ledger(self) -> "ProgramMind":
        """Return the same mind with a new ledger, so that side work is counted apart."""
        return ProgramMind(self._mind, self.name, self.ledger.with_own_ledger())

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the reply of the program's mind, and record the question unless the mind did so."""
        began = perf_counter()
        reply = None
        try:
            reply = self._mind.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)
        finally:
            asked = self._mind.ledger.take_asked()
            if reply is not None and not asked:
                told = to_jsonable_python(inputs, fallback=str)
                asked = (Exchange(prompt.name, "", told, reply.model_dump(), seconds=perf_counter() - began),)
            for one in asked:
                self.ledger.add(replace(one, mind=self.name))
                if not one.cached:
                    price = Price(self.name, 1, one.usd * 1e6)
                    hold = self.ledger.hold(price, self.name, "model", input_tokens=one.input_tokens)
                    hold.settle(one.usd, input_tokens=one.input_tokens, output_tokens=one.output_tokens)
        return reply


_NO_KEY = "none"  # sent to a server of one's own, which asks for none
_FREE = frozenset({"ollama"})
"""Names of providers whose models run on the user's own machine and cost nothing."""


@dataclass(frozen=True, slots=True)
class ModelHost:
    """The provider of a model and the address of its server."""

    provider: str
    base_url: str | None
    """Base URL of the server; `None` stands for the provider's own."""

    @property
    def is_own_server(self) -> bool:
        """Return whether the server is one of the user's own, with an OpenAI-compatible API."""
        # a server of one's own never gets the provider's key
        if not self.provider.startswith("openai") or not self.base_url:
            return False
        return self.base_url != os.environ.get("OPENAI_BASE_URL")

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the environment variables that may hold the server's API key; the first one set counts."""
        return (OWN_SERVER_KEY,) if self.is_own_server else KEYS.get(self.provider, ())

    @property
    def key(self) -> str | None:
        """API key for the server, from the environment; `None` if the environment has none."""
        return next((os.environ[one] for one in self.keys if os.environ.get(one)), None)


def open_mind(
    spec: str,
    *,
    cache_dir: Path | None,
    base_url: str | None = None,
    limiter: "BaseRateLimiter | None" = None,
    ledger: Ledger | None = None,
    settings: MindSettings | None = None,
    seed: int | None = None,
    remarks: str = "",
) -> "RuleMind | ScriptMind | LLMMind":
    """Return the mind of a spec such as `openai:gpt-5-mini`; `remarks` tell what it refused earlier.

    Args:
        spec: `rules`, `scripted:FILE`, `PROVIDER:MODEL` as LangChain's `init_chat_model` takes it, or
            `openai-completion:MODEL` for the completions endpoint, which gives plain text only; settings may
            follow behind a question mark, as in `openai:gpt-5-mini?effort=low&max_tokens=4000`.
        cache_dir: where replies are kept; `None` keeps none.
        base_url: where the provider is asked; by default its own variable, such as `VIRL_BASE_URL` for an
            OpenAI-compatible host.
        limiter: asked before every request; `None` sets no limit.
        ledger: keeps each exchange, and checks dollars before every request; by default one without a limit.
        settings: those of a character; what `spec` sets goes before them.
        seed: of the run, for models that take one and whose settings name no other.
        remarks: of the journal of a run that goes on: what the model refused there is left out.

    Raises:
        BadInput: no mind has such a name, a setting does not fit, or a budget cannot be kept because the
            price of the model is not known.
        ModelUnavailable: a package or a key is missing; says which.
    """
    name, own = split_spec(spec)
    if name.startswith(OBJECT):
        raise BadInput(f"needs the {name}: run it from Python with mind=...")
    if name == "rules":
        return RuleMind(ledger=ledger)
    if name.startswith(PREFIX) and name != PREFIX:
        return ScriptMind(Path(name.removeprefix(PREFIX)), ledger=ledger)
    provider, separator, model = name.partition(":")
    if not (provider and separator and model):
        raise BadInput(
            f"unknown mind {spec!r}: use 'rules', scripted:FILE, or PROVIDER:MODEL such as openai:gpt-5-mini"
        )
    host = ModelHost(provider, base_url or base_url_of(provider))
    chosen = own.with_fallback(settings or MindSettings())
    return _llm_mind(name, host, chosen, cache_dir, limiter, ledger, seed, remarks)


def _llm_mind(
    name: str,
    host: ModelHost,
    settings: MindSettings,
    cache_dir: Path | None,
    limiter: "BaseRateLimiter | None",
    ledger: Ledger | None,
    seed: int | None,
    remarks: str,
) -> "LLMMind":
    """Return the mind that asks the language model `name`; other parameters are those of `open_mind`."""
    from virl.mind.cache import ReplyCache  # noqa: PLC0415
    from virl.mind.llm import LLMMind  # noqa: PLC0415  LangChain takes a second to import

    price = (0.0, 0.0) if host.provider in _FREE else None
    if settings.price is not None:
        price = prices_in(settings.price)
    if ledger and ledger.limit_usd is not None and request_usd(name, Usage(), price) is None:
        raise BadInput(
            f"no price is known for {name}, so --budget-usd cannot be kept: give dollars for a million "
            f"tokens in and out, as in --mind '{name}?price=0.15,0.60' (0,0 for a server of your own)"
        )
    lacks = [one for one in ABILITIES if one in (settings.lacks or "").split(",")]
    fixed: set[Ability] = {"temperature"} if settings.temperature is not None else set()
    if settings.seed is not None:
        fixed.add("seed")
    elif seed is not None:
        # a run's seed may be larger than what providers take
        settings = settings.model_copy(update={"seed": seed % 2**31})
    fixed |= set(ABILITIES) if settings.lacks == "none" else set()
    opened = _model(name, host, settings)
    defaults = ModelDefaults(host.provider, settings, getattr(opened, "profile", None))
    abilities = _abilities(opened, settings.pictures, fixed)
    abilities.disable_unsupported(opened, name, host.base_url, [*lacks, *lacking_abilities(remarks, name)])
    return LLMMind(
        opened,
        name,
        cache=None if cache_dir is None else ReplyCache(cache_dir),
        price=price,
        manner=manner_of(name, own_server=host.is_own_server),
        abilities=abilities,
        longest_reply=defaults.longest_reply,
        limiter=limiter,
        ledger=ledger,
        settings=defaults.resolved_settings(),
    )


def settings_of(mind: "Mind") -> dict[str, object]:
    """Return the settings of a mind that is a language model as plain data; empty for other minds."""
    return mind.settings.model_dump(exclude_none=True) if isinstance(mind, ConfiguredMind) else {}


def _model(name: str, host: ModelHost, settings: MindSettings) -> "Model":
    """Return LangChain's model of this name; raise `BadInput` or `ModelUnavailable` with the reason."""
    from virl.mind.chat.faults import bound_connections, in_a_line  # noqa: PLC0415

    for variable in host.keys:
        warn_of_placeholder(variable, len(os.environ.get(variable, "")))
    key = host.key
    options: dict[str, Any] = {"base_url": host.base_url} if host.base_url else {}
    options |= {"api_key": key or _NO_KEY} if host.is_own_server else {}
    keyless = bool(host.keys) and not key and not host.is_own_server
    try:
        opened = _construct(name, settings, options)
    except ImportError as fault:
        package = str(fault).rpartition("pip install ")[2].strip("`. ")
        raise ModelUnavailable(
            f"{name} needs a package that is not installed: pip install {package}"
        ) from None
    except Exception as fault:  # noqa: BLE001  each provider raises what it likes
        # LangChain names no class of error for an unknown provider
        if "infer model provider" in str(fault) or "Unsupported provider" in str(fault):
            near = nearest_name(host.provider, KEYS) if host.provider not in KEYS else None
            hint = f"there is no provider {host.provider!r}"
            if near:
                hint = f"did you mean '{near}{name[len(host.provider) :]}'?"
            raise BadInput(f"unknown mind {name!r}: {hint}") from None
        if not keyless:
            said = in_a_line(str(fault), Redaction.of(urls=[host.base_url] if host.base_url else []))
            raise BadInput(f"{name} cannot be opened: {said}") from None
    else:
        if not keyless:
            bound_connections(opened)
            return opened
    # some classes fail without a key when they are made, others only when they are asked
    raise ModelUnavailable(f"{name} needs a key: set {' or '.join(host.keys)} in your environment")


def _construct(name: str, settings: MindSettings, options: Mapping[str, Any]) -> "Model":
    """Return LangChain's object for a model such as `openai:gpt-5-mini`, with its provider's options."""
    provider, _, model = name.partition(":")
    if provider == "openai-completion":
        from langchain_openai import OpenAI  # noqa: PLC0415

        return OpenAI(model=model, **ModelDefaults(provider, settings).options(), **options)
    from langchain.chat_models import init_chat_model  # noqa: PLC0415

    from virl.mind.chat.asking import adapt_model  # noqa: PLC0415

    # what LangChain knows of a model is told by the model itself
    known = dict(init_chat_model(name, **options).profile or {})
    chosen = ModelDefaults(provider, settings, known).options()
    if provider == "openai":
        from virl.mind.chat.openai_chat import OpenAIChat  # noqa: PLC0415  takes half a second

        return OpenAIChat(model=model, **chosen, **options)
    return adapt_model(init_chat_model(name, **chosen, **options))
