"""Calls of a model, for a typed reply or for plain text, without what its server refuses."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.prompt_values import StringPromptValue
from langchain_core.runnables import Runnable, RunnableSequence
from pydantic import PrivateAttr

from virl.errors import BadInput
from virl.mind.base import Prompt, ReplyT
from virl.mind.providers import ChatManner
from virl.mind.replies import Text

Model = BaseChatModel | BaseLLM
"""A model of LangChain: a chat model, or a completion model."""
ModelCall = Callable[[list[BaseMessage]], AIMessage]
"""Function that sends messages to a model and returns its answer."""


def make_model_call(
    model: Model, name: str, prompt: Prompt[ReplyT], manner: ChatManner, schema: Mapping[str, Any] | None
) -> ModelCall:
    """Return the function that asks a model, with `schema` unless `None`, for a reply of a prompt's type.

    Args:
        model: a chat model or a completion model.
        name: the model's, for errors.
        prompt: says the reply type and the stop sequences.
        manner: how the model is asked for structured output.
        schema: JSON schema of the reply; `None` for a server that takes none.

    Raises:
        BadInput: a completion model is asked for a typed reply.
    """
    if not issubclass(prompt.reply, Text):
        if isinstance(model, BaseLLM):
            raise BadInput(
                f"{name} is a completion model and gives plain text only: "
                f"choose a chat model for {prompt.name}"
            )
        if schema is None:
            return model.invoke
        options: dict[str, Any] = {"method": manner.method} if manner.method else {}
        options |= {"strict": True} if manner.strict and manner.method == "json_schema" else {}
        return _drop_parser(model.with_structured_output(deepcopy(dict(schema)), **options))
    stop = list(prompt.stop) or None
    if isinstance(model, BaseLLM):
        return lambda messages: _complete(model, messages, stop)
    reasons = (model.profile or {}).get("reasoning_output", False)  # such models refuse stop sequences
    return lambda messages: model.invoke(messages, stop=None if reasons else stop)


def _drop_parser(structured: Runnable[Any, Any]) -> ModelCall:
    """Return the model call of a LangChain chain `structured`, model and reply parser, without the parser.

    Replies are read by this package, which tells the model what is wrong with one; and `include_raw` starts
    threads at every question.
    """
    if not isinstance(structured, RunnableSequence):
        kind = type(structured).__name__
        raise TypeError(f"with_structured_output gave a {kind}, not a model and a parser")
    first: Runnable[list[BaseMessage], AIMessage] = structured.first
    return first.invoke


def _complete(model: BaseLLM, messages: list[BaseMessage], stop: list[str] | None) -> AIMessage:
    """Return a completion model's continuation of the messages' text, up to a stop sequence, as a message."""
    text = "\n".join(message.text for message in messages)
    result = model.generate_prompt([StringPromptValue(text=text)], stop=stop)
    generation = result.generations[0][0]
    reason = (generation.generation_info or {}).get("finish_reason")
    counted = (result.llm_output or {}).get("token_usage") or {}
    usage = None
    if "prompt_tokens" in counted:  # some servers count nothing
        read, written = counted["prompt_tokens"], counted.get("completion_tokens", 0)
        usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return AIMessage(
        content=generation.text, usage_metadata=usage, response_metadata={"finish_reason": reason}
    )


_BETWEEN = "I see."
"""Text of a model's turn that is put between a tool's result and the user's message for some servers."""


class Adapting(BaseChatModel):
    """A LangChain chat model that rewrites messages so that they do without what its server refuses."""

    adapts: ClassVar[frozenset[str]] = frozenset({"system", "order", "parallel_calls"})
    """Names of the abilities, of `Ability`, that requests can be rewritten to do without."""
    _lacks: set[str] = PrivateAttr(default_factory=set)

    @property
    def lacks(self) -> set[str]:
        """Names of the abilities that requests do without so far; callers may add to the set."""
        return self._lacks

    def _generate(  # LangChain looks for a parameter `run_manager`, and passes it on only where there is one
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Return LangChain's chat result for the messages, rewritten for what the server lacks."""
        told = arrange_messages(messages, self._lacks)
        return super()._generate(told, stop, run_manager, **kwargs)  # type: ignore[safe-super]

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        """Yield LangChain's reply chunks for the messages, rewritten for what the server lacks."""
        return super()._stream(arrange_messages(messages, self._lacks), *args, **kwargs)


def adapt_model(model: BaseChatModel) -> BaseChatModel:
    """Make a LangChain chat model an `Adapting` one, in place by a new class, and return the same object."""
    kind = type(model)
    about: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    if kind._stream is BaseChatModel._stream:  # noqa: SLF001 - so LangChain tells that it cannot stream
        about["_stream"] = BaseChatModel._stream  # noqa: SLF001
    model.__class__ = type(kind.__name__, (Adapting, kind), about)
    model._lacks = set()  # type: ignore[attr-defined]  # noqa: SLF001
    return model


def arrange_messages(messages: Sequence[BaseMessage], lacks: Collection[str]) -> list[BaseMessage]:
    """Return messages rewritten to do without the abilities, named as in `Ability`, that a server lacks."""
    told = list(messages)
    if "parallel_calls" in lacks:
        told = _one_call_a_turn(told)
    if "system" in lacks:
        told = _move_orders(told)
    return _alternate(told) if "order" in lacks else told


def _one_call_a_turn(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with each tool call in a turn of its own, followed by its result."""
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


def _move_orders(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages without system messages, whose text comes before the first user message."""
    told = [one for one in messages if not isinstance(one, SystemMessage)]
    for order in reversed([one for one in messages if isinstance(one, SystemMessage)]):
        first = HumanMessage(content=order.content)
        told[:1] = (
            [_join_messages(first, told[0])] if told and told[0].type == "human" else [first, *told[:1]]
        )
    return told


def _alternate(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages so that user and model alternate, by joining user messages and adding turns."""
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
    """Return two user messages as one, with the content of the second after that of the first."""
    if isinstance(first.content, str) and isinstance(then.content, str):
        return HumanMessage(content=f"{first.content}\n\n{then.content}")
    return HumanMessage(content=[*_parts(first.content), *_parts(then.content)])


def _parts(content: str | list[Any]) -> list[Any]:
    """Return a message's content as a list of parts; plain text becomes one text part."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
