"""The model that Inspect evaluates as a LangChain model: prompts and retries are those of any mind."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import anyio.from_thread
from anyio.lowlevel import EventLoopToken
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema, LimitExceededError
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages import ToolCall as CallMade
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

MIND = "inspect:model"
"""Name that stands in virl's options for the model that Inspect evaluates."""

_FINISH = {"max_tokens": "length", "model_length": "length"}  # virl's word for replies that were cut off

_LOOP: ContextVar[EventLoopToken | None] = ContextVar("loop", default=None)


class Halted(BaseException):
    """Error that Inspect stopped the sample, such as at a limit; no handler of model errors catches it."""

    def __init__(self, cause: Exception) -> None:
        """Keep the error with which Inspect stopped the sample."""
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def ask_in_loop(loop: EventLoopToken) -> Iterator[None]:
    """Let threads that the block starts ask Inspect's model in this event loop."""
    reset = _LOOP.set(loop)
    try:
        yield
    finally:
        _LOOP.reset(reset)


class InspectChatModel(BaseChatModel):
    """Inspect's active model as a chat model of LangChain, for threads that a sample has started."""

    @property
    def _llm_type(self) -> str:
        """Name of the kind of model, as LangChain asks for it."""
        return "inspect"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools; `tool_choice` makes it call `any` of them, or the one of that name."""
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self.bind(tools=functions, tool_choice=tool_choice, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        **kwargs: Any,  # noqa: ARG002 - as LangChain calls it
    ) -> Runnable[LanguageModelInput, Any]:
        """Return the model with a JSON schema for its replies, followed by a JSON parser.

        Raises:
            NotImplementedError: the raw message is asked for, too.
        """
        if include_raw:
            raise NotImplementedError("the message itself comes first in the sequence")
        return self.bind(schema=schema) | JsonOutputParser()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - as LangChain calls it
        **kwargs: Any,
    ) -> ChatResult:
        """Return the model's reply to messages, asked in Inspect's event loop."""
        asked = [_to_inspect(message) for message in messages]
        tools = [_to_tool(one) for one in kwargs.get("tools", ())]
        choice = _to_choice(kwargs.get("tool_choice"))
        config = GenerateConfig(stop_seqs=stop)
        if (schema := kwargs.get("schema")) is not None:
            name, form = str(schema.get("title", "reply")), JSONSchema.model_validate(schema)
            config.response_schema = ResponseSchema(name=name, json_schema=form)

        async def generate() -> ModelOutput:
            """Return the reply of Inspect's active model."""
            return await get_model().generate(asked, tools=tools, tool_choice=choice, config=config)

        try:
            output = anyio.from_thread.run(generate, token=_LOOP.get())
        except LimitExceededError as limit:
            raise Halted(limit) from None
        return ChatResult(generations=[ChatGeneration(message=_answer(output))])


def _to_choice(asked: str | None) -> ToolChoice | None:
    """Return LangChain's choice of a tool in Inspect's form; `None` for no choice."""
    match asked:
        case None | "auto" | "any" | "none":
            return asked
        case _:
            return ToolFunction(name=asked)


def _to_tool(given: dict[str, Any]) -> ToolInfo:
    """Return a tool, given as OpenAI's function schema, in Inspect's form."""
    told = {name: given["parameters"].get(name) for name in ("properties", "required")}
    parameters = ToolParams.model_validate({name: value for name, value in told.items() if value})
    return ToolInfo(name=given["name"], description=given["description"], parameters=parameters)


def _to_inspect(message: BaseMessage) -> ChatMessage:
    """Return a LangChain message in Inspect's form."""
    if isinstance(message, ToolMessage):
        return ChatMessageTool(
            content=_to_content(message), tool_call_id=message.tool_call_id, function=message.name
        )
    if isinstance(message, AIMessage):
        calls = [
            InspectCall(id=call["id"] or "", function=call["name"], arguments=call["args"])
            for call in message.tool_calls
        ]
        return ChatMessageAssistant(content=message.text, tool_calls=calls or None)
    if message.type == "system":
        return ChatMessageSystem(content=message.text)
    return ChatMessageUser(content=_to_content(message))


def _to_content(message: BaseMessage) -> str | list[Content]:
    """Return the text and pictures of a LangChain message as content in Inspect's form."""
    if isinstance(message.content, str):
        return message.content
    parts: list[Content] = []
    for block in message.content_blocks:
        if block["type"] == "text":
            parts.append(ContentText(text=block["text"]))
        elif block["type"] == "image":
            data = f"data:{block.get('mime_type', 'image/jpeg')};base64,{block['base64']}"
            parts.append(ContentImage(image=data))
    return parts


def _answer(output: ModelOutput) -> AIMessage:
    """Return Inspect's output as a LangChain message; its input tokens include cached ones."""
    usage, metadata = output.usage, None
    if usage:
        read, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
        whole = usage.input_tokens + read + written
        metadata = UsageMetadata(
            input_tokens=whole,
            output_tokens=usage.output_tokens,
            total_tokens=whole + usage.output_tokens,
            input_token_details=InputTokenDetails(cache_read=read, cache_creation=written),
        )
    calls = [
        CallMade(name=call.function, args=call.arguments, id=call.id)
        for call in output.message.tool_calls or ()
    ]
    reason = _FINISH.get(output.stop_reason, output.stop_reason)
    return AIMessage(
        content=output.completion,
        tool_calls=calls,
        usage_metadata=metadata,
        response_metadata={"finish_reason": reason, "model_name": output.model},
    )
