"""The interface of minds: a prompt goes in, a typed reply comes out; and further abilities of some.

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
"""Sequence of pictures that go with a question, or mapping of a label, such as `Road 0`, to each picture."""
Describe = Callable[[Sequence[View]], Sequence[str]]
"""Function from views to their descriptions in words, one for each view in the same order."""

ReplyT = TypeVar("ReplyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt(Generic[ReplyT]):
    """A question's template, with its inputs and reply type, read from `prompts/ASKER/NAME.md`."""

    name: str
    inputs: frozenset[str]
    """Names of the variables that the template uses; a question has to give each of them."""
    reply: type[ReplyT]
    body: str
    """Jinja template of the question itself."""
    stop: tuple[str, ...] = ()
    """Stop sequences that end a reply of type `Text`; the reply does not include them."""
    orders: str = ""
    """Jinja template of instructions that are the same in every question, sent first as system message."""
    turns: str = ""
    """Name of the input that lists earlier turns; empty for a prompt that is one question.

    Each turn is sent as messages of its own: a mapping with the model's `reply` and what `told` needs."""
    told: str = ""
    """Jinja template of the message after an earlier turn, which the template calls `turn`."""
    steady: bool = False
    """True if every question sends the same schema, which keeps the provider's prompt cache valid."""
    needs_pictures: bool = False
    """True if the prompt cannot be answered without pictures, so that a blind model fails."""
    rule: str | None = None
    """The function that answers the prompt by rules, `module:function`; `None` if rules cannot answer it."""


@runtime_checkable
class Mind(Protocol):
    """A model, rule set or script that answers prompts; the interface of all of them."""

    @property
    def name(self) -> str:
        """The name of the mind, such as `"rules"` or `"openai:gpt-5-mini"`."""

    @property
    def ledger(self) -> Ledger:
        """The ledger to which the mind adds every question with its reply and cost."""

    def with_own_ledger(self) -> "Mind":
        """Return the same mind with a new ledger, so that the cost of side work is counted separately."""

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the prompt's reply, of its reply type; rules alone get `rule_inputs` besides `inputs`.

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


@runtime_checkable
class ChatMind(Mind, Protocol):
    """A mind that says whether it takes a conversation's history as messages; any other mind takes none."""

    @property
    def chats(self) -> bool:
        """Return whether the mind is a chat model, which takes earlier messages and gives typed replies."""


@runtime_checkable
class ConfiguredMind(Mind, Protocol):
    """A mind that has settings of a language model, which a run records."""

    @property
    def settings(self) -> "MindSettings":
        """The settings of the model."""


@runtime_checkable
class DescribedMind(Mind, Protocol):
    """A mind that can use descriptions of views in words in place of pictures."""

    def describe_by(self, describe: Describe) -> None:
        """Set the function that describes views in words to a model that takes no pictures."""


@runtime_checkable
class SteeredMind(Mind, Protocol):
    """A mind whose questions can carry what the user says while a run goes on."""

    def with_user_words(self, said: Callable[[], Sequence[str]]) -> Mind:
        """Return this mind, with the same ledger; each question ends with the user's messages from `said`."""


class ProgressListener(Protocol):
    """A listener to the progress of a model's replies, such as a progress line in the terminal."""

    def begin(self, name: str) -> None:
        """Tell that a request was sent to the model called `name`."""

    def add(self, letters: int, last: str) -> None:
        """Tell of a new piece of `letters` characters (0: no text) and of `last`, the reply's end so far."""

    def waits(self, name: str, seconds: float, why: str) -> None:
        """Tell that a request to the model `name` is tried again after `seconds`, for the reason `why`.

        Args:
            name: the model's name.
            seconds: time until the next try.
            why: the reason in a few words.
        """

    def end(self) -> None:
        """Tell that the reply is complete, or that none will come."""


@runtime_checkable
class AudibleMind(Mind, Protocol):
    """A mind that reports the progress of its replies to listeners."""

    def tell(self, hearing: ProgressListener) -> None:
        """Add a listener to the progress of replies and to pauses between tries."""


def chats(mind: Mind) -> bool:
    """Return whether a mind is a chat model, which takes a history as messages and gives typed replies."""
    return isinstance(mind, ChatMind) and mind.chats


def costs(mind: Mind) -> bool:
    """Return whether a mind is neither rules nor a script, so that its questions take time or money."""
    return mind.name != "rules" and not mind.name.startswith("scripted:")
