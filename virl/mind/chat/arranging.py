"""Messages, arranged for servers whose templates take less."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

_BETWEEN = "I see."
"""A turn of the model between a result of a tool and what the user says next."""


class Adapting(BaseChatModel):
    """A chat model that sends messages without what its server refuses."""

    adapts: ClassVar[frozenset[str]] = frozenset({"system", "order", "parallel_calls"})
    """Abilities, by the names of `Ability`, that requests can do without."""
    _lacks: set[str] = PrivateAttr(default_factory=set)

    @property
    def lacks(self) -> set[str]:
        """Abilities that requests do without; may be added to."""
        return self._lacks

    def _generate(  # LangChain looks for a parameter `run_manager`, and passes it on only where there is one
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        told = arrange_messages(messages, self._lacks)
        return super()._generate(told, stop, run_manager, **kwargs)  # type: ignore[safe-super]

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        return super()._stream(arrange_messages(messages, self._lacks), *args, **kwargs)


def adapt_model(model: BaseChatModel) -> BaseChatModel:
    """Make a model of any provider an `Adapting` one, in place."""
    kind = type(model)
    about: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    if kind._stream is BaseChatModel._stream:  # noqa: SLF001 - so LangChain tells that it cannot stream
        about["_stream"] = BaseChatModel._stream  # noqa: SLF001
    model.__class__ = type(kind.__name__, (Adapting, kind), about)
    model._lacks = set()  # type: ignore[attr-defined]  # noqa: SLF001
    return model


def arrange_messages(messages: Sequence[BaseMessage], lacks: Collection[str]) -> list[BaseMessage]:
    """Return messages without what a server refuses.

    Args:
        messages: of a request.
        lacks: abilities by the names of `Ability`: `system`, `order` and `parallel_calls` matter.
    """
    told = list(messages)
    if "parallel_calls" in lacks:
        told = _one_call_a_turn(told)
    if "system" in lacks:
        told = _orders_in_question(told)
    return _in_order(told) if "order" in lacks else told


def _one_call_a_turn(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with each call in a turn of its own, followed by its result."""
    results = {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}
    told: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
        told += [] if len(calls) > 1 else [message]
        for at, call in enumerate(calls):
            if len(calls) > 1:
                kind = "tool_calls" if isinstance(call["args"], dict) else "invalid_tool_calls"
                own = {"tool_calls": [], "invalid_tool_calls": [], kind: [call]}
                told.append(message.model_copy(update={"content": "" if at else message.text, **own}))
            told += [results[call["id"]]] if call["id"] in results else []
    return told


def _orders_in_question(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    told = [one for one in messages if not isinstance(one, SystemMessage)]
    for order in reversed([one for one in messages if isinstance(one, SystemMessage)]):
        first = HumanMessage(content=order.content)
        told[:1] = (
            [_join_messages(first, told[0])] if told and told[0].type == "human" else [first, *told[:1]]
        )
    return told


def _in_order(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages in an order that every server takes."""
    told: list[BaseMessage] = []
    for message in messages:
        before = told[-1].type if told else ""
        if message.type == before == "human":
            told[-1] = _join_messages(told[-1], message)
        else:
            told += [AIMessage(content=_BETWEEN)] if (before, message.type) == ("tool", "human") else []
            told.append(message)
    return told


def _join_messages(first: BaseMessage, then: BaseMessage) -> HumanMessage:
    if isinstance(first.content, str) and isinstance(then.content, str):
        return HumanMessage(content=f"{first.content}\n\n{then.content}")
    return HumanMessage(content=[*_parts(first.content), *_parts(then.content)])


def _parts(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
