"""The contract of minds: a prompt goes in, a typed reply comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from virl.money.ledger import Ledger
from virl.platform.city.streetview import Image, View

Picture = Image | View
"""A picture that goes with a question. A mind whose model takes none is told in words what a view shows."""
Pictures = Sequence[Picture] | Mapping[str, Picture]
"""Pictures in their order; a mapping has a label for each, such as `Road 0`."""

ReplyT = TypeVar("ReplyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt(Generic[ReplyT]):
    """A text that is sent to a model, read from `prompts/ASKER/NAME.md`."""

    name: str
    inputs: frozenset[str]
    """The names the template uses, all required."""
    reply: type[ReplyT]
    body: str
    """Jinja template of what is asked."""
    stop: tuple[str, ...] = ()
    """Texts at which a reply of type `Text` ends; they are no part of it."""
    orders: str = ""
    """Jinja template of what stays the same from question to question; sent before the body, as the system
    message."""
    turns: str = ""
    """The input that is the list of earlier turns, sent as messages of their own: each a mapping with the
    model's `reply` and what the template `told` needs. Empty for a prompt that is one question."""
    told: str = ""
    """Jinja template of what a model is told after a turn; the turn is `turn` there."""
    steady: bool = False
    """True if every question has the same schema, so that what providers have cached behind it stays good;
    what one question offers stands at its end."""
    needs_pictures: bool = False
    """True if a model that takes no pictures has no answer."""
    rule: str | None = None
    """The function that answers for the rules, `module:function`; `None` if they have no answer."""


class Mind(Protocol):
    """An answerer of prompts."""

    @property
    def name(self) -> str:
        """The name of the mind, such as `"rules"` or `"openai:gpt-5-mini"`."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The ledger that each exchange is written to."""
        ...

    def with_own_ledger(self) -> "Mind":
        """Return the same mind with a ledger of its own, for work beside or within other work."""
        ...

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return a reply to a prompt.

        Args:
            prompt: which question.
            images: pictures that go with it; a mind that cannot see is told in words what they show, or
                ignores them.
            rule_inputs: further inputs that only rules read, as data where a model is given text; they are
                no inputs of the prompt, are not sent, and are not written down.
            inputs: a value for each of the prompt's inputs, no more and no less.

        Raises:
            BadInput: an input is missing or is not the prompt's.
            MindFailed: no valid reply within the retries.
            ModelUnavailable: the model cannot be reached or its key is missing.
        """
        ...


def chats(mind: Mind) -> bool:
    """Return whether a mind is a chat model, which takes a history as messages and gives typed replies."""
    return bool(getattr(mind, "chats", False))


def costs(mind: Mind) -> bool:
    """Return whether a question takes time and money, so that there should be no more of them than needed."""
    return mind.name != "rules" and not mind.name.startswith("scripted:")
