"""What a model says, whoever serves it, and its words in the formats of the four APIs."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

End = Literal["stop", "length", "refused", "filtered", "blocked", "recitation", "malformed"]


@dataclass(frozen=True, slots=True)
class Said:
    """A model's turn."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    """Name and arguments: an object, or text that is none."""
    end: End = "stop"
    ids: Sequence[str] = ()
    """Of the calls; by default unique ones."""
    usage: tuple[int, int] | None = (100, 10)
    """Tokens in and out; `None` where a server does not count."""
    delay: float = 0.0

    def __or__(self, changes: Mapping[str, Any]) -> "Said":
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Raw:
    """An HTTP reply as it is."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


def says(text: str | Mapping[str, Any], **more: Any) -> Said:
    """A turn of text, or of an object as JSON."""
    return Said(text if isinstance(text, str) else json.dumps(text), **more)


def calls(*called: tuple[str, Any], **more: Any) -> Said:
    """A turn that calls tools."""
    return Said(calls=called, **more)


def raw(body: str | bytes, status: int = 200, delay: float = 0.0, **headers: str) -> Raw:
    """An HTTP reply; `retry_after="1"` becomes the header `retry-after: 1`."""
    data = body if isinstance(body, bytes) else body.encode()
    return Raw(status, data, {name.replace("_", "-"): value for name, value in headers.items()}, delay)


def fault(provider: str, status: int, message: str, code: str | None = None, **headers: str) -> Raw:
    """An error in the words of a provider."""
    body: dict[str, Any] = {
        "openai": {
            "error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}
        },
        "anthropic": {
            "type": "error",
            "error": {"type": code or "invalid_request_error", "message": message},
        },
        "google_genai": {"error": {"code": status, "message": message, "status": code or "INVALID_ARGUMENT"}},
        "ollama": {"error": message},
    }[provider]
    return raw(json.dumps(body), status, **headers)


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given)


def _ids(said: Said) -> list[str]:
    return list(said.ids) or [f"call_{time.monotonic_ns()}_{at}" for at in range(len(said.calls))]


_OPENAI_ENDS = {"length": "length", "filtered": "content_filter", "blocked": "content_filter"}


def openai_body(said: Said) -> dict[str, Any]:
    """A chat completion."""
    refused = said.text or "I cannot help with that." if said.end == "refused" else None
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused else said.text,
        "refusal": refused,
    }
    end = _OPENAI_ENDS.get(said.end, "stop")
    if said.calls:
        end = "tool_calls" if said.end == "stop" else end
        message |= {"content": said.text or None}
        message["tool_calls"] = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": _arguments(given)}}
            for one, (name, given) in zip(_ids(said), said.calls, strict=True)
        ]
    body: dict[str, Any] = {"id": "c1", "object": "chat.completion", "created": 0, "model": "test"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": end}]
    return body | ({"usage": _openai_usage(said.usage)} if said.usage else {})


def _openai_usage(usage: tuple[int, int]) -> dict[str, Any]:
    read, written = usage
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


_ANTHROPIC_ENDS = {"length": "max_tokens", "refused": "refusal", "filtered": "refusal", "blocked": "refusal"}


def anthropic_body(said: Said) -> dict[str, Any]:
    """A message."""
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    content += [
        {"type": "tool_use", "id": one, "name": name, "input": given if isinstance(given, dict) else {}}
        for one, (name, given) in zip(_ids(said), said.calls, strict=True)
    ]
    end = _ANTHROPIC_ENDS.get(said.end, "tool_use" if said.calls else "end_turn")
    usage = {"input_tokens": said.usage[0], "output_tokens": said.usage[1]} if said.usage else {}
    body = {"id": "m1", "type": "message", "role": "assistant", "model": "test", "content": content}
    return body | {"stop_reason": end, "stop_sequence": None} | ({"usage": usage} if usage else {})


_GEMINI_ENDS = {
    "length": "MAX_TOKENS",
    "refused": "PROHIBITED_CONTENT",
    "filtered": "SAFETY",
    "recitation": "RECITATION",
    "malformed": "MALFORMED_FUNCTION_CALL",
}


def gemini_body(said: Said) -> dict[str, Any]:
    """A `GenerateContentResponse`."""
    usage = {}
    if said.usage:
        read, written = said.usage
        counts = {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "totalTokenCount": read + written,
        }
        usage = {"usageMetadata": counts}
    if said.end == "blocked":
        return {"promptFeedback": {"blockReason": "SAFETY"}, **usage}
    parts: list[dict[str, Any]] = [{"text": said.text}] if said.text else []
    parts += [
        {"functionCall": {"name": name, "args": given if isinstance(given, dict) else {}}}
        for name, given in said.calls
    ]
    content = {"content": {"role": "model", "parts": parts}} if parts else {"content": {"role": "model"}}
    return {
        "candidates": [{**content, "finishReason": _GEMINI_ENDS.get(said.end, "STOP"), "index": 0}],
        **usage,
    }


def ollama_body(said: Said) -> dict[str, Any]:
    """The last line of a chat."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {"function": {"name": name, "arguments": given if isinstance(given, dict) else {}}}
            for name, given in said.calls
        ]
    body: dict[str, Any] = {"model": "test", "created_at": "2026-01-01T00:00:00Z", "message": message}
    body |= {"done": True, "done_reason": "length" if said.end == "length" else "stop"}
    if said.usage:
        body |= {"prompt_eval_count": said.usage[0], "eval_count": said.usage[1]}
    return body


BODIES = {
    "openai": openai_body,
    "anthropic": anthropic_body,
    "google_genai": gemini_body,
    "ollama": ollama_body,
}


def pieces(text: str, size: int = 8) -> list[str]:
    """A text as it streams."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(provider: str, said: Said) -> Iterator[bytes]:
    """A turn as the provider streams it."""
    yield from {"openai": _openai, "anthropic": _anthropic, "google_genai": _gemini, "ollama": _ollama}[
        provider
    ](said)


def _event(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _openai(said: Said) -> Iterator[bytes]:
    whole = openai_body(said)
    [choice] = whole["choices"]
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "test"}

    def chunk(delta: Mapping[str, Any], end: str | None = None) -> bytes:
        return _event(base | {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(choice["message"].get("content") or ""):
        yield chunk({"content": piece})
    if choice["message"].get("refusal"):
        yield chunk({"refusal": choice["message"]["refusal"]})
    for at, call in enumerate(choice["message"].get("tool_calls", ())):
        yield chunk({"tool_calls": [call | {"index": at}]})
    yield chunk({}, choice["finish_reason"])
    if said.usage:
        yield _event(base | {"choices": [], "usage": whole["usage"]})
    yield _event("[DONE]")


def _anthropic(said: Said) -> Iterator[bytes]:
    whole = anthropic_body(said)
    usage = whole.get("usage", {"input_tokens": 0, "output_tokens": 0})
    start = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 0}}
    yield _event({"type": "message_start", "message": start}, "message_start")
    for at, block in enumerate(whole["content"]):
        text = block["type"] == "text"
        empty = block | ({"text": ""} if text else {"input": {}})
        yield _event(
            {"type": "content_block_start", "index": at, "content_block": empty}, "content_block_start"
        )
        deltas = (
            [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            if text
            else [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        )
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": at, "delta": delta}, "content_block_delta")
        yield _event({"type": "content_block_stop", "index": at}, "content_block_stop")
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    counted = {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"]}
    yield _event({"type": "message_delta", "delta": delta, "usage": counted}, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _gemini(said: Said) -> Iterator[bytes]:
    for piece in pieces(said.text)[:-1] if said.end != "blocked" else []:
        yield _event({"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}]})
    last = pieces(said.text)[-1:] or [""]
    yield _event(gemini_body(said | {"text": last[0]}))


def _ollama(said: Said) -> Iterator[bytes]:
    whole = ollama_body(said)
    for piece in pieces(said.text):
        part = {"model": "test", "created_at": whole["created_at"], "done": False}
        yield json.dumps(part | {"message": {"role": "assistant", "content": piece}}).encode() + b"\n"
    yield json.dumps(whole | {"message": whole["message"] | {"content": ""}}).encode() + b"\n"
