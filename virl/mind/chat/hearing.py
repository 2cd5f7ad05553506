"""Who is told while a model thinks: that it was asked, what it says as it says it, and how long is waited."""

from typing import Any, Protocol

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, BaseLLM

from virl.plain_text import plain_lines
from virl.redaction import Redaction

REMEMBERED = 400
"""Letters of what a model is saying, so that a key that is split between pieces is found. Chosen."""


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


class _Hears(BaseCallbackHandler):
    """A callback handler that passes on what LangChain tells of a request."""

    def __init__(self, name: str, hearing: Hearing, redaction: Redaction) -> None:
        self._name, self._hearing, self._redaction = name, hearing, redaction
        self._said = ""

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Pass on that a request leaves."""
        self._said = ""
        self._hearing.begin(self._name)

    def on_llm_start(self, *_: Any, **__: Any) -> None:
        """Pass on that a request leaves, to a completion model."""
        self._said = ""
        self._hearing.begin(self._name)

    def on_llm_new_token(self, token: str | list[str | dict[str, Any]], **_: Any) -> None:
        """Pass on a piece that has come."""
        piece = token if isinstance(token, str) else ""
        self._said = f"{self._said}{piece}"[-REMEMBERED:]
        self._hearing.add(len(piece), plain_lines(self._redaction.text(self._said)))

    def on_llm_end(self, *_: Any, **__: Any) -> None:
        """Pass on that all of the reply is there."""
        self._hearing.end()

    def on_llm_error(self, *_: Any, **__: Any) -> None:
        """Tell that no reply will come."""
        self._hearing.end()


def let_hear(model: BaseChatModel | BaseLLM, name: str, hearing: Hearing, redaction: Redaction) -> None:
    """Have a model stream its replies from now on, and tell of them; what it replies stays the same.

    Args:
        model: of LangChain; it is changed.
        name: such as `openai:gpt-5-mini`.
        hearing: is told of the replies.
        redaction: takes keys out of what is told.
    """
    model.callbacks = [_Hears(name, hearing, redaction)]
    if isinstance(model, BaseChatModel) and "streaming" in type(model).model_fields:
        model.streaming = True  # type: ignore[attr-defined]
