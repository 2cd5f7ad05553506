"""What the four APIs refuse in a request, as their documentation and error messages say."""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from strict_models.schemas import schema_faults

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_REASONS = re.compile(r"gpt-5|o\d")
_LONGEST_ID = 40

_OPENAI_FIELDS = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "temperature",
    "max_completion_tokens",
    "max_tokens",
    "reasoning_effort",
    "response_format",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stop",
    "seed",
    "top_p",
    "n",
    "user",
    "metadata",
    "verbosity",
    "prompt_cache_key",
    "service_tier",
}
_ANTHROPIC_FIELDS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "temperature",
    "thinking",
    "output_config",
    "tools",
    "tool_choice",
    "stream",
    "stop_sequences",
    "cache_control",
    "metadata",
    "top_k",
    "top_p",
    "betas",
    "output_format",
}
_GEMINI_FIELDS = {
    "contents",
    "systemInstruction",
    "generationConfig",
    "tools",
    "toolConfig",
    "safetySettings",
    "cachedContent",
    "labels",
}
_GEMINI_CONFIG = {
    "temperature",
    "maxOutputTokens",
    "topP",
    "topK",
    "candidateCount",
    "stopSequences",
    "responseMimeType",
    "responseJsonSchema",
    "responseSchema",
    "thinkingConfig",
    "seed",
    "responseModalities",
    "mediaResolution",
}
_OLLAMA_FIELDS = {
    "model",
    "messages",
    "tools",
    "stream",
    "format",
    "options",
    "keep_alive",
    "think",
    "logprobs",
    "top_logprobs",
}


def request_faults(
    provider: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any], *, sees: bool
) -> list[str]:
    """Why the provider would refuse a request; empty if it would not."""
    check = {"openai": _openai, "anthropic": _anthropic, "google_genai": _gemini, "ollama": _ollama}[provider]
    faults = list(check(path, headers, body))
    if not sees and _shows_pictures(body):
        faults.append("image input is not supported by this model")
    return faults


def forms_of(provider: str, body: Mapping[str, Any]) -> set[str]:
    """The forms of a conversation that servers with other templates refuse, by the names of `Ability`."""
    turns = list({"google_genai": _gemini_turns, "anthropic": _anthropic_turns}.get(provider, _turns)(body))
    pairs = set(pairwise(who for who, _ in turns))
    return {
        *(["system"] if any(who in ("system", "developer") for who, _ in turns) else []),
        *(["order"] if {("tool", "user"), ("user", "user")} & pairs else []),
        *(["parallel_calls"] if any(calls > 1 for _, calls in turns) else []),
    }


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield who speaks, and how many tools are called."""
    yield from ((one["role"], len(one.get("tool_calls") or ())) for one in body["messages"])


def _anthropic_turns(body: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    yield from [("system", 0)] if body.get("system") else []
    for message in body["messages"]:
        content = message["content"]
        kinds = ["text"] if isinstance(content, str) else [block["type"] for block in content]
        yield from [("tool", 0)] if "tool_result" in kinds else []
        if set(kinds) != {"tool_result"}:
            yield message["role"], kinds.count("tool_use")


def _gemini_turns(body: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    yield from [("system", 0)] if body.get("systemInstruction") else []
    for content in body["contents"]:
        answers = ["functionResponse" in part for part in content["parts"]]
        yield from [("tool", 0)] if any(answers) else []
        if not all(answers):
            yield content["role"], sum("functionCall" in part for part in content["parts"])


def _shows_pictures(body: Mapping[str, Any]) -> bool:
    text = json.dumps(body)
    return any(mark in text for mark in ('"image_url"', '"type": "image"', '"inlineData"', '"images": ["'))


def _unknown(body: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    for name in sorted(body.keys() - known):
        yield f"unknown parameter: {name}"


# OpenAI: https://platform.openai.com/docs/api-reference/chat/create


def _openai(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    if path != "/v1/chat/completions":
        yield f"no such path: {path}"
    if not headers.get("authorization", "").startswith("Bearer "):
        yield "key: missing"
    yield from _unknown(body, _OPENAI_FIELDS)
    if _REASONS.match(body["model"]):
        for name in ("temperature", "stop", "max_tokens"):
            if body.get(name) not in (None, 1, 1.0):
                yield f"unsupported parameter: '{name}' is not supported with this model"
    form = body.get("response_format")
    if form and form["type"] == "json_schema":
        named = form["json_schema"]
        if not _NAME.fullmatch(named["name"]):
            yield "response_format: not a legal name"
        if named.get("strict"):
            yield from (f"invalid schema: {one}" for one in schema_faults("openai", named["schema"]))
    for tool in body.get("tools", ()):
        if not _NAME.fullmatch(tool["function"]["name"]):
            yield f"tools: {tool['function']['name']!r} does not match the pattern ^[a-zA-Z0-9_-]+$"
    yield from _openai_messages(body["messages"])


def _openai_messages(  # noqa: C901, PLR0912 - a rule each
    messages: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        where = f"messages[{at}]"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"{where}: tool_call_id {message.get('tool_call_id')!r} answers nothing"
            else:
                waiting.remove(message["tool_call_id"])
            if any(part.get("type") != "text" for part in _parts(content)):
                yield f"{where}: messages of role tool take text only"
            continue
        if waiting:
            yield f"{where}: tool calls without an answer: {waiting}"
            waiting = []
        if role not in ("system", "developer", "user", "assistant"):
            yield f"{where}: no role {role!r}"
        if role == "user":
            yield from (f"{where}: {fault}" for part in _parts(content) for fault in _openai_part(part))
        elif any(part.get("type") != "text" for part in _parts(content)):
            yield f"{where}: role {role} takes text only"
        if role == "assistant":
            called = message.get("tool_calls") or []
            if content is None and not called:
                yield f"{where}: content is missing"
            waiting = [call["id"] for call in called]
            yield from (f"{where}: {fault}" for fault in _openai_calls(called))
        elif content is None or content == []:
            yield f"{where}: content is missing"
    if waiting:
        yield f"tool calls without an answer: {waiting}"


def _openai_calls(called: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    ids = [call["id"] for call in called]
    if len(set(ids)) < len(ids):
        yield f"call ids are repeated: {ids}"
    for call in called:
        if not call["id"] or len(call["id"]) > _LONGEST_ID:
            yield f"call id {call['id']!r} has not 1 to {_LONGEST_ID} letters"
        if not _NAME.fullmatch(call["function"]["name"]):
            yield f"{call['function']['name']!r} does not match the pattern ^[a-zA-Z0-9_-]+$"
        try:
            fine = isinstance(json.loads(call["function"]["arguments"]), dict)
        except ValueError:
            fine = False
        if not fine:
            yield "arguments of a call are no JSON object"


def _parts(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part if isinstance(part, dict) else {"type": "?"} for part in content or []]


def _openai_part(part: Mapping[str, Any]) -> Iterator[str]:
    if part["type"] == "image_url":
        yield from _picture(part["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
    elif part["type"] != "text":
        yield f"no part of type {part['type']!r}"


def _picture(data: str) -> Iterator[str]:
    try:
        found = base64.b64decode(data, validate=True)
    except ValueError:
        found = b""
    if not found.startswith(b"\xff\xd8"):
        yield "a picture that is no JPEG in base64"


# Anthropic: https://platform.claude.com/docs/en/api/messages


def _anthropic(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    if path.partition("?")[0] != "/v1/messages":
        yield f"no such path: {path}"
    if not (headers.get("x-api-key") or headers.get("authorization")):
        yield "key: missing"
    if not headers.get("anthropic-version"):
        yield "anthropic-version: missing"
    yield from _unknown(body, _ANTHROPIC_FIELDS)
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: missing"
    if body.get("temperature") is not None and re.search(r"(opus|sonnet)-5", body["model"]):
        yield "`temperature` is deprecated for this model"
    form = (body.get("output_config") or {}).get("format") or body.get("output_format")
    if form:
        yield from (
            f"output_config.format.schema: {one}" for one in schema_faults("anthropic", form["schema"])
        )
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        yield f"a maximum of 4 blocks with cache_control, found {marks}"
    for tool in body.get("tools", ()):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]):
            yield f"tools: {tool['name']!r}: not a legal name"
    yield from _anthropic_messages(body["messages"])


def _anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not messages or messages[0]["role"] != "user":
        yield "messages: the first one must be a user's"
    waiting: list[str] = []
    used: set[str] = set()
    for at, message in enumerate(messages):
        where, blocks = f"messages[{at}]", _parts(message["content"])
        last = at == len(messages) - 1
        if message["role"] not in ("user", "assistant"):
            yield f"{where}: no role {message['role']!r}"
        if not blocks and not (last and message["role"] == "assistant"):
            yield f"{where}: content must not be empty"
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(given) != sorted(waiting):
            yield f"{where}: tool_use ids {waiting} are answered by {given}"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if used & set(waiting) or len(set(waiting)) < len(waiting):
            yield f"{where}: tool_use ids must be unique"
        used |= set(waiting)
        for block in blocks:
            yield from (f"{where}: {fault}" for fault in _anthropic_block(block))
    if waiting:
        yield f"tool_use without tool_result: {waiting}"


def _anthropic_block(block: Mapping[str, Any]) -> Iterator[str]:
    match block["type"]:
        case "text":
            if not block["text"].strip():
                yield "text content blocks must be non-empty"
        case "image":
            yield from _picture(block["source"]["data"])
        case "tool_use":
            if not _ID.fullmatch(block["id"]):
                yield f"tool_use.id {block['id']!r} does not match the pattern ^[a-zA-Z0-9_-]+$"
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", block["name"]):
                yield f"tool_use.name {block['name']!r}: not a legal name"
            if not isinstance(block["input"], dict):
                yield "tool_use.input must be an object"
        case "tool_result" | "thinking" | "redacted_thinking":
            pass
        case other:
            yield f"no block of type {other!r}"


# Gemini: https://ai.google.dev/api/generate-content


def _gemini(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    if not re.match(r"/v1beta/models/[\w.-]+:(stream)?[gG]enerateContent", path):
        yield f"no such path: {path}"
    if not headers.get("x-goog-api-key"):
        yield "key: missing"
    yield from _unknown(body, _GEMINI_FIELDS)
    config = body.get("generationConfig") or {}
    yield from _unknown(config, _GEMINI_CONFIG)
    if schema := config.get("responseJsonSchema"):
        if config.get("responseMimeType") != "application/json":
            yield "responseJsonSchema needs responseMimeType: application/json"
        if body.get("tools"):
            yield "function calling with a response mime type 'application/json' is unsupported"
        yield from (f"responseJsonSchema: {one}" for one in schema_faults("google_genai", schema))
    for tool in body.get("tools") or ():
        for one in tool.get("functionDeclarations", ()):
            if not _GEMINI_NAME.fullmatch(one["name"]):
                yield f"functionDeclarations: {one['name']!r}: not a legal name"
    yield from _gemini_contents(body["contents"])


def _gemini_contents(contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not contents or contents[0].get("role") != "user":
        yield "contents: the first one must be a user's"
    called = 0
    for at, content in enumerate(contents):
        where, parts = f"contents[{at}]", content.get("parts") or []
        if content.get("role") not in ("user", "model"):
            yield f"{where}: no role {content.get('role')!r}"
        if not parts:
            yield f"{where}: must include at least one parts field"
        answered = sum("functionResponse" in part for part in parts)
        if answered != called:
            yield f"{where}: {called} function calls are followed by {answered} function responses"
        called = sum("functionCall" in part for part in parts)
        for part in parts:
            if "functionCall" in part and not _GEMINI_NAME.fullmatch(part["functionCall"]["name"]):
                yield f"{where}: {part['functionCall']['name']!r}: not a legal name"
            if "inlineData" in part:
                data = part["inlineData"]["data"].replace("-", "+").replace("_", "/")
                yield from (f"{where}: {fault}" for fault in _picture(data))
    if called:
        yield "function calls without function responses"


# Ollama: https://github.com/ollama/ollama/blob/main/docs/api.md


def _ollama(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    if path != "/api/chat":
        yield f"no such path: {path}"
    if any(name in headers for name in ("authorization", "x-api-key", "x-goog-api-key")):
        yield "a key of another provider came along"
    yield from _unknown(body, _OLLAMA_FIELDS)
    if isinstance(body.get("format"), dict):
        yield from (f"format: {one}" for one in schema_faults("ollama", body["format"]))
    for at, message in enumerate(body["messages"]):
        where = f"messages[{at}]"
        if message["role"] not in ("system", "user", "assistant", "tool"):
            yield f"{where}: no role {message['role']!r}"
        if not isinstance(message.get("content") or "", str):
            yield f"{where}: content must be a string"
        for picture in message.get("images") or ():
            yield from (f"{where}: {fault}" for fault in _picture(picture))
        for call in message.get("tool_calls") or ():
            if not isinstance(call["function"]["arguments"], dict):
                yield f"{where}: arguments must be an object"
