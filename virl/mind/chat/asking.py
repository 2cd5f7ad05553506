"""How a model is asked: for a typed reply, for plain text, or for the continuation of a text."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import StringPromptValue
from langchain_core.runnables import Runnable, RunnableSequence

from virl.errors import BadInput
from virl.mind.base import Prompt, ReplyT
from virl.mind.chat.providers import ChatManner
from virl.mind.replies import Text

Model = BaseChatModel | BaseLLM
Ask = Callable[[list[BaseMessage]], AIMessage]


def asker(
    model: Model,
    name: str,
    prompt: Prompt[ReplyT],
    manner: ChatManner,
    schema: Mapping[str, Any] | None,
) -> Ask:
    """Return the function that puts messages to a model in the way that a prompt's reply type needs.

    Args:
        model: a chat model or a completion model.
        name: the model's, for errors.
        prompt: says the reply type and the stop sequences.
        manner: how the model is asked for structured output.
        schema: of the reply; `None` for a server that takes none: the prompt names the fields.

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
        return _bound(model.with_structured_output(deepcopy(dict(schema)), **options))
    stop = list(prompt.stop) or None
    if isinstance(model, BaseLLM):
        return lambda messages: _complete(model, messages, stop)
    reasons = (model.profile or {}).get("reasoning_output", False)  # such models refuse stop sequences
    return lambda messages: model.invoke(messages, stop=None if reasons else stop)


def _bound(structured: Runnable[Any, Any]) -> Ask:
    """Return the model, told of the schema, without the parser that LangChain puts behind it.

    Replies are read by this package, which tells the model what is wrong with one; and `include_raw` starts
    threads at every question.
    """
    if not isinstance(structured, RunnableSequence):
        kind = type(structured).__name__
        raise TypeError(f"with_structured_output gave a {kind}, not a model and a parser")
    first: Runnable[list[BaseMessage], AIMessage] = structured.first
    return first.invoke


def _complete(model: BaseLLM, messages: list[BaseMessage], stop: list[str] | None) -> AIMessage:
    text = "\n".join(message.text for message in messages)
    result = model.generate_prompt([StringPromptValue(text=text)], stop=stop)
    generation = result.generations[0][0]
    reason = (generation.generation_info or {}).get("finish_reason")
    return AIMessage(
        content=generation.text,
        usage_metadata=_usage(result),
        response_metadata={"finish_reason": reason},
    )


def _usage(result: LLMResult) -> UsageMetadata | None:
    """Return the tokens as the server counts them; `None` where it does not."""
    counted = (result.llm_output or {}).get("token_usage") or {}
    if "prompt_tokens" not in counted:
        return None
    read, written = counted["prompt_tokens"], counted.get("completion_tokens", 0)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
