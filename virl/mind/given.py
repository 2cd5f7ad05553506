"""Minds that a program gives as objects: a LangChain model, or a `Mind` of its own."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Union

from pydantic_core import to_jsonable_python

from virl.errors import BadInput
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.mind.rules import RuleMind
from virl.mind.settings import MindSettings, prices_in
from virl.money.book import Exchange, Price
from virl.money.ledger import Ledger

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.rate_limiters import BaseRateLimiter

OBJECT = "object: "
"""Start of the name that stands for an object in a journal."""

GivenMind = Union[Mind, "BaseChatModel"]
"""A mind as a program gives it."""

Dollars = tuple[float, float]
"""Dollars for a million tokens in and out."""

_MEMBERS = ("name", "ledger", "with_own_ledger", "ask")


def object_name(thing: object) -> str:
    """Return what stands for an object in a journal: its class, and nothing of its parameters."""
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
    """Return the mind that a program gives, charged to the ledger of a run.

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
        return LentMind(given, name, ledger)
    from virl.mind.chat.abilities import Abilities, Ability  # noqa: PLC0415

    profile = dict(getattr(given, "profile", None) or {})
    sees = settings.pictures if settings.pictures is not None else profile.get("image_inputs", True)
    fixed: frozenset[Ability] = frozenset() if settings.pictures is None else frozenset({"pictures"})
    return LLMMind(
        given,
        name,
        price=price,
        abilities=Abilities(sees=bool(sees), fixed=fixed),
        limiter=limiter,
        ledger=ledger,
    )


class LentMind:
    """A program's own mind, whose questions are written down and charged in the ledger of a run."""

    def __init__(self, mind: Mind, name: str, ledger: Ledger) -> None:
        self._mind = mind.with_own_ledger()
        self._name = name
        self._ledger = ledger

    @property
    def name(self) -> str:
        """`object:` and its class."""
        return self._name

    @property
    def ledger(self) -> Ledger:
        """The ledger of the run."""
        return self._ledger

    def with_own_ledger(self) -> "LentMind":
        """Return the same mind with a ledger of its own, for work that runs side by side."""
        return LentMind(self._mind, self._name, self._ledger.with_own_ledger())

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Ask as `Mind.ask` does; a question that the mind does not write down itself is written down."""
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
                self._write_down(one)
        return reply

    def _write_down(self, asked: Exchange) -> None:
        self._ledger.add(replace(asked, mind=self._name))
        if not asked.cached:
            price = Price(self._name, 1, asked.usd * 1e6)
            hold = self._ledger.hold(price, self._name, "model", input_tokens=asked.input_tokens)
            hold.settle(asked.usd, input_tokens=asked.input_tokens, output_tokens=asked.output_tokens)
