"""The contract of minds: a prompt goes in, a typed reply comes out; and what some minds can do besides.

`Mind` is all that a mind needs. Each protocol after it is one further ability; virl looks for it with
`isinstance`, and does without it where a mind lacks it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from virl.money.ledger import Ledger
from virl.platform.city.streetview import Image, View

if TYPE_CHECKING:
    from virl.mind.settings import MindSettings

Picture = Image | View
"""A picture that goes with a question. A mind whose model takes none is told in words what a view shows."""
Pictures = Sequence[Picture] | Mapping[str, Picture]
"""Pictures in their order; a mapping has a label for each, such as `Road 0`."""
Describe = Callable[[Sequence[View]], Sequence[str]]
"""A function that says of each view what it shows."""

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


@runtime_checkable
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


@runtime_checkable
class ChatMind(Mind, Protocol):
    """A mind that says whether it takes a history as messages; without it, none does."""

    @property
    def chats(self) -> bool:
        """Return whether it is a chat model, which takes a history as messages and gives typed replies."""
        ...


@runtime_checkable
class ConfiguredMind(Mind, Protocol):
    """A mind with settings; a run writes down those that were set."""

    @property
    def settings(self) -> "MindSettings":
        """The settings of the model."""
        ...


@runtime_checkable
class DescribedMind(Mind, Protocol):
    """A mind that is told in words what views show, where it takes no pictures."""

    def describe_by(self, describe: Describe) -> None:
        """Have somebody say what views show."""
        ...


@runtime_checkable
class SteeredMind(Mind, Protocol):
    """A mind that hears what the user of a run says while it runs."""

    def with_user_words(self, said: Callable[[], Sequence[str]]) -> Mind:
        """Return the same mind, with the same ledger, that hears with each question what the user said."""
        ...


class Hearing(Protocol):
    """A listener that is told of a model's replies while they come."""

    def begin(self, name: str) -> None:
        """Take note that a request was sent to the model of this name."""
        ...

    def add(self, letters: int, last: str) -> None:
        """Take note of a further piece that the model has said.

        Args:
            letters: of the piece; 0 for pieces of calls, and of thoughts that are not shown.
            last: the end of what it has said so far, without keys.
        """
        ...

    def waits(self, name: str, seconds: float, why: str) -> None:
        """Tell that another try follows after a pause.

        Args:
            name: of the model.
            seconds: until the next try.
            why: in a few words.
        """
        ...

    def end(self) -> None:
        """Take note that the reply is there, or that there will be none."""
        ...


@runtime_checkable
class AudibleMind(Mind, Protocol):
    """A mind that is heard while it thinks."""

    def tell(self, hearing: Hearing) -> None:
        """Tell of replies while they come, and of pauses."""
        ...


def chats(mind: Mind) -> bool:
    """Return whether a mind is a chat model, which takes a history as messages and gives typed replies."""
    return isinstance(mind, ChatMind) and mind.chats


def costs(mind: Mind) -> bool:
    """Return whether a question takes time and money, so that there should be no more of them than needed."""
    return mind.name != "rules" and not mind.name.startswith("scripted:")
