"""Traces of requests to models: a span `chat MODEL` each, and tokens and seconds for the metrics."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from virl.mind.chat.answers import reason_of
from virl.mind.providers import Usage
from virl.redaction import Redaction
from virl.traces.spans import Attributes, OpenSpan, Value, content_wanted, is_on, measure, span

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

    from virl.mind.chat.asking import Model

# LangChain's names of providers whose names in OpenTelemetry differ
_PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "openai-completion": "openai",
        "azure_openai": "azure.ai.openai",
        "azure_ai": "azure.ai.inference",
        "bedrock": "aws.bedrock",
        "bedrock_converse": "aws.bedrock",
        "google_genai": "gcp.gemini",
        "google_vertexai": "gcp.vertex_ai",
        "ibm": "ibm.watsonx.ai",
        "mistralai": "mistral_ai",
        "xai": "x_ai",
    }
)
_ROLES: Mapping[str, str] = MappingProxyType({"human": "user", "ai": "assistant"})
_LIMITS = ("max_tokens", "max_output_tokens", "num_predict")  # how LangChain's classes call it

Parameters = Callable[[], Attributes]
"""Function that returns a request's parameters as attributes of its trace span."""


def request_parameters(name: str, model: "Model") -> Parameters:
    """Return a function that reads a model's request parameters when called: some may be dropped later."""
    provider, _, model_name = name.partition(":")
    return lambda: {
        "gen_ai.operation.name": "text_completion" if provider == "openai-completion" else "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model_name or name,
        "gen_ai.request.temperature": _number(model, "temperature"),
        "gen_ai.request.max_tokens": next(filter(None, (_number(model, one) for one in _LIMITS)), None),
        "gen_ai.request.seed": _number(model, "seed"),
    }


class RequestSpan:
    """The open trace span of one request to a model, to which question, answer and usage are added."""

    def __init__(self, told: OpenSpan, redaction: Redaction) -> None:
        """Begin with the open span `told`; `redaction` removes keys from what is added to it."""
        self.told = told
        self._redaction = redaction
        self.fault = ""
        """Reason of the request's failure, in a word or two; empty for none."""
        self.usage: Usage | None = None
        """Tokens of the request; `None` while they are not known."""

    def set_usage(self, usage: Usage, usd: float | None) -> None:
        """Add the request's token counts and US dollars to the span; `None` for an unknown price."""
        self.usage = usage
        self.told.tell(
            {
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
                "gen_ai.usage.cache_creation.input_tokens": usage.written_input_tokens,
                "virl.cost_usd": usd,
            }
        )

    def fail(self, fault: str) -> None:
        """Mark the request as failed, for a reason in a word or two."""
        self.fault = fault
        self.told.fail(fault)

    def set_answer(self, answer: "AIMessage") -> None:
        """Add the model's answer to the span, with its text only if the user wants content in traces."""
        if not self.told.is_on:
            return
        facts, reason = answer.response_metadata, reason_of(answer)
        usage = answer.usage_metadata
        details = (usage.get("output_token_details") if usage else None) or {}
        self.told.tell(
            {
                "gen_ai.response.id": str(facts["id"]) if facts.get("id") else None,
                "gen_ai.response.model": facts.get("model_name") or facts.get("model"),
                "gen_ai.response.finish_reasons": (reason,) if reason else None,
                "gen_ai.usage.reasoning.output_tokens": details.get("reasoning"),
            }
        )
        if content_wanted():
            said = {"role": "assistant", "parts": _parts(answer), "finish_reason": reason or "stop"}
            self.told.tell({"gen_ai.output.messages": self._text([said])})

    def set_question(self, messages: "Sequence[BaseMessage]", orders: str = "") -> None:
        """Add the question to the span, if the user wants content in traces; pictures as placeholders."""
        if not (self.told.is_on and content_wanted()):
            return
        told = [{"type": "text", "content": orders}] if orders else []
        told += [part for message in messages if message.type == "system" for part in _parts(message)]
        turns = [
            {"role": _ROLES.get(message.type, message.type), "parts": _parts(message)}
            for message in messages
            if message.type != "system"
        ]
        self.told.tell(
            {
                "gen_ai.system_instructions": self._text(told) if told else None,
                "gen_ai.input.messages": self._text(turns),
            }
        )

    def _text(self, content: object) -> str:
        """Return content as JSON text with API keys removed."""
        return self._redaction.text(json.dumps(content, ensure_ascii=False, default=str))


@contextmanager
def trace_request(
    parameters: Parameters, redaction: Redaction, *, about: str, attempt: int
) -> Iterator[RequestSpan]:
    """Open a span for the request that the block sends, and yield it; then record its tokens and seconds.

    Args:
        parameters: as `request_parameters` gives them.
        redaction: takes keys out of what is told.
        about: the prompt.
        attempt: of the question, from 1 on.
    """
    if not is_on():
        yield RequestSpan(OpenSpan(), redaction)
        return
    asked = parameters()
    started = time.perf_counter()
    attributes: dict[str, Value | None] = {**asked, "virl.prompt": about, "virl.attempt": attempt}
    with span(_title(asked), attributes, kind="client") as told:
        request = RequestSpan(told, redaction)
        try:
            yield request
        except BaseException as fault:
            request.fault = type(fault).__name__
            raise
        finally:
            names = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")
            facts = {name: asked.get(name) for name in names} | {"error.type": request.fault or None}
            usage = request.usage
            tokens = {"input": usage.input_tokens, "output": usage.output_tokens} if usage else {}
            measure(facts, time.perf_counter() - started, tokens)


def trace_reused_reply(parameters: Parameters, about: str, *, how: str = "cached") -> None:
    """Trace a reply to the prompt `about` that is reused, as `how` says: "cached" or "replayed".

    Args:
        parameters: as `request_parameters` gives them.
        about: the prompt.
        how: `cached`, from the cache of replies, or `replayed`, from the journal of a run that goes on.
    """
    if is_on():
        asked = parameters()
        with span(_title(asked), {**asked, "virl.prompt": about, f"virl.{how}": True}, kind="client"):
            pass


def _title(asked: Attributes) -> str:
    """Return the title of a request's span, such as `chat gpt-5-mini`."""
    return f"{asked['gen_ai.operation.name']} {asked['gen_ai.request.model']}"


def _number(model: object, field: str) -> float | int | None:
    """Return a model's attribute as a number; `None` if the model lacks it or it is no number."""
    value = getattr(model, field, None)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _parts(message: "BaseMessage") -> list[dict[str, Any]]:
    """Return the parts of a message in the form of OpenTelemetry's conventions for generative AI."""
    if message.type == "tool":
        told = {
            "type": "tool_call_response",
            "id": getattr(message, "tool_call_id", ""),
            "response": message.text,
        }
        return [told]
    parts: list[dict[str, Any]] = [
        {"type": "text", "content": block["text"]} if block["type"] == "text" else {"type": block["type"]}
        for block in message.content_blocks
        if block["type"] in ("text", "image")
    ]
    calls = getattr(message, "tool_calls", ())
    return parts + [
        {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["args"]}
        for call in calls
    ]
