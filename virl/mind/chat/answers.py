"""Reading of chat models' answers: replies, calls of tools, tokens, and how a turn ended."""

import json
import re
from collections.abc import Collection, Sequence
from json import JSONDecoder
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, Field, ValidationError

from virl.files.json_reading import misfits, whole_escapes
from virl.mind.base import Prompt, ReplyT
from virl.mind.cache import StoredMessage
from virl.mind.providers import Usage
from virl.mind.replies import Text

MOST_TOKENS = 1_000_000_000
"""Most tokens that a server may report for a request; chosen: 100 times the largest context there is."""

LONGEST_TEXT = 200_000
"""Number of a reply's last characters that are searched for JSON; chosen: the longest reply has 10,000."""
MOST_STARTS = 2_000
"""Most opening braces at which a JSON object is tried; chosen, so that hostile text takes only a moment."""

_TAG = r"(think|thinking|reasoning)"
_THOUGHTS = re.compile(rf"<{_TAG}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(rf"</{_TAG}>", re.IGNORECASE)


def read_reply(answer: AIMessage, prompt: Prompt[ReplyT], inputs: dict[str, object]) -> ReplyT:
    """Return the reply in a model's answer as the prompt's reply type, validated with the prompt's inputs.

    JSON is taken as it is, else the last object in the text: in a code fence, after a sentence, or behind
    thoughts in `<think>`.

    Args:
        answer: of the model.
        prompt: that was asked.
        inputs: of the prompt.

    Raises:
        ValidationError: it holds none, or one that does not fit. A plain text always fits.
    """
    if issubclass(prompt.reply, Text):
        return prompt.reply.model_validate({"text": _plain_text(answer, prompt.stop)}, context=inputs)
    if answer.tool_calls:
        return prompt.reply.model_validate(answer.tool_calls[0]["args"], context=inputs)
    found = last_object(answer.text)
    text = without_thoughts(answer.text).strip() if found is None else found
    return prompt.reply.model_validate_json(whole_escapes(text.encode()), context=inputs)


def last_object(text: str) -> str | None:
    """Return the text of the last whole JSON object after any `<think>` part; `None` if there is none."""
    text = without_thoughts(text)[-LONGEST_TEXT:]
    found, at, starts = None, text.find("{"), 0
    decoder = JSONDecoder()
    while at >= 0 and starts < MOST_STARTS:
        starts += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = text[at:end] if isinstance(value, dict) else found
        at = text.find("{", end)
    return found


def without_thoughts(text: str) -> str:
    """Return a text without the `<think>` part it begins with, or without all up to a lone `</think>`."""
    begins = len(text) - len(text.lstrip())
    if opened := _THOUGHTS.match(text, begins):
        return text[opened.end() :]
    if text.startswith("{", begins):
        return text
    ends = [closing.end() for closing in _END_OF_THOUGHTS.finditer(text)]
    return text[ends[-1] :] if ends else text


def excerpt(answer: AIMessage, most: int = 300) -> str:
    """Return at most `most` characters of an answer's text or first call, on one line, to quote."""
    said = str(answer.tool_calls[0]["args"]) if answer.tool_calls else without_thoughts(answer.text).strip()
    said = " ".join(said[: 4 * most].split())
    return said if len(said) <= most else f"{said[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


class _Details(BaseModel):
    """Counts of input tokens read from a provider's cache and written there, by LangChain's names."""

    cache_read: int | None = Field(None, ge=0, le=MOST_TOKENS)
    cache_creation: int | None = Field(None, ge=0, le=MOST_TOKENS)
    ephemeral_5m_input_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)
    ephemeral_1h_input_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)

    @property
    def cache_written(self) -> int:
        """Number of input tokens that the provider wrote into its cache."""
        by_stay = (self.ephemeral_5m_input_tokens or 0) + (self.ephemeral_1h_input_tokens or 0)
        return by_stay or self.cache_creation or 0


class _Counts(BaseModel):
    """Token counts of a request in an answer, by LangChain's names: input, output, total."""

    input_tokens: int = Field(ge=0, le=MOST_TOKENS)
    output_tokens: int = Field(ge=0, le=MOST_TOKENS)
    total_tokens: int = Field(default=0, ge=0, le=2 * MOST_TOKENS, strict=True)
    input_token_details: _Details | None = None


def check_answer(answer: object) -> Usage | None:
    """Check that an answer is a readable, storable message; return its token counts, `None` if not told.

    Raises:
        ValueError: it is no message of a model's, is nested too deeply, or its token counts are no numbers;
            in one line.
    """
    if not isinstance(answer, AIMessage):
        raise ValueError("the reply is no message of a model")  # noqa: TRY004 - it is what came that is wrong
    usage = None
    try:
        if answer.usage_metadata is not None:
            counts = _Counts.model_validate(answer.usage_metadata)
            details = counts.input_token_details or _Details()
            if counts.input_tokens or counts.output_tokens:
                read = details.cache_read or 0
                usage = Usage(counts.input_tokens, read, counts.output_tokens, details.cache_written)
        StoredMessage.of(answer)
    except ValidationError as invalid:
        raise ValueError(f"the reply cannot be read ({faults_in(invalid)})") from None
    return usage


def _plain_text(answer: AIMessage, stop: tuple[str, ...]) -> str:
    """Return an answer's text up to the first stop sequence that comes after any leading blanks."""
    text = without_thoughts(answer.text)
    begin = len(text) - len(text.lstrip())
    ends = [at for sequence in stop if (at := text.find(sequence, begin)) >= 0]
    return text[: min(ends, default=len(text))]


def faults_in(invalid: ValidationError) -> str:
    """Return the validation errors of a reply as one line of text."""
    return "; ".join(misfits(invalid, "reply"))


JsonObject = dict[str, Any]


def breaks_off(text: str | None) -> bool:
    """Return whether a text begins like a JSON object and stops before its end."""
    try:
        json.loads(text or "{}", strict=False)
    except json.JSONDecodeError as fault:
        return fault.pos >= len(fault.doc.rstrip()) or fault.msg.startswith("Unterminated")
    except (ValueError, RecursionError):  # a number of too many digits
        return False
    return False


def is_finite(args: JsonObject) -> bool:
    """Return whether a call's arguments have neither infinity nor NaN, which servers refuse."""
    try:
        json.dumps(args, allow_nan=False)
    except ValueError:
        return False
    return True


def as_object(given: Any) -> JsonObject | str:
    """Return a call's arguments as a mapping, decoded up to twice from JSON; else as text that is no object.

    Nothing at all, and `null`, stand for a call without arguments.
    """
    found, text = given, given
    for _ in range(2):
        if not isinstance(found, str):
            break
        text = found
        if not found.strip():
            return {}
        try:
            found = json.loads(found, strict=False)
        except (ValueError, RecursionError):
            return text
    if found is None:
        return {}
    return found if isinstance(found, dict) else f"{json.dumps(found)} is no JSON object"


CUT_OFF = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
"""Finish reasons at the token limit: OpenAI's and Ollama's, Anthropic's, Gemini's in lower case."""
BLOCKED = frozenset(
    {"content_filter", "safety", "blocklist", "prohibited_content", "spii", "image_safety", "language"}
)
"""Finish reasons that stand for a content filter: OpenAI's and Gemini's, in lower case."""
SPOILT = frozenset({"recitation", "malformed_function_call", "unexpected_tool_call", "other"})
"""Finish reasons of Gemini, in lower case, after which another try may succeed."""

THOUGHTS = "reasoning_content"
"""Key of a message's extra fields under which a server sends reasoning apart from the answer."""
THOUGHTS_ALONE = (
    "all of it came as reasoning, and no answer: turn that off (--mind '{}?effort=none'), "
    "or start the server with the reasoning parser of this model"
)

NOTHING = "(nothing)"
"""Text that replaces an empty turn in a history, since some APIs refuse empty messages."""

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME, LONGEST_ID = 64, 40
"""Most characters of a tool's name and of a call's id that every provider accepts (OpenAI's limits)."""
MOST_CALLS = 256
"""Most tool calls in one turn; chosen, since the time of LangGraph grows with the square of their number."""


def reason_of(answer: AIMessage) -> str:
    """Return the finish reason of a turn, the server's word in lower case; empty if the server gives none."""
    told = answer.response_metadata
    for field in ("finish_reason", "stop_reason", "done_reason"):
        if told.get(field):
            return str(told[field]).casefold()
    return ""


def refusal_in(answer: AIMessage) -> str | None:
    """Return the words in which a model or its filter refused to answer; `None` if neither did."""
    if said := answer.additional_kwargs.get("refusal"):
        return str(said)
    reason = reason_of(answer)
    if reason == "refusal":
        return answer.text.strip() or "no reason given"
    feedback = answer.response_metadata.get("prompt_feedback")
    blocked = feedback.get("block_reason") if isinstance(feedback, dict) else None
    blocked = str(getattr(blocked, "name", blocked) or "")
    if blocked not in ("", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"):
        return f"the prompt was blocked ({blocked})"
    if reason in BLOCKED and not (last_object(answer.text) and reason == "language"):
        return f"the reply was blocked by a filter ({reason})"
    return None


def is_cut_off(answer: AIMessage) -> bool:
    """Return whether an answer ended because it reached the token limit."""
    return reason_of(answer) in CUT_OFF


def is_empty(answer: AIMessage) -> bool:
    """Return whether an answer has neither text nor tool calls."""
    called = answer.tool_calls or answer.invalid_tool_calls
    return not called and not without_thoughts(answer.text).strip()


def is_all_thoughts(answer: AIMessage) -> bool:
    """Return whether an answer consists of reasoning alone, without text or tool calls."""
    return is_empty(answer) and bool(answer.additional_kwargs.get(THOUGHTS) or answer.text.strip())


def has_too_many_calls(answer: AIMessage) -> bool:
    """Return whether an answer has more than `MOST_CALLS` tool calls."""
    return len(_calls(answer)) > MOST_CALLS


def fault_of_turn(answer: AIMessage) -> str:
    """Return the reason to ask for a conversation's turn again, in words; empty if the turn is usable."""
    if refusal_in(answer):
        return ""
    called = _calls(answer)
    if (is_cut_off(answer) and called) or any(breaks_off(one["args"]) for one in answer.invalid_tool_calls):
        return "it was cut off in the middle of a call: be brief"
    if has_too_many_calls(answer):
        return f"it called more than {MOST_CALLS} tools at once: call fewer"
    if reason_of(answer) in SPOILT and not answer.tool_calls:
        return f"it was no whole turn ({reason_of(answer)})"
    return "nothing was said and no tool was called" if is_empty(answer) else ""


def unusable(answer: AIMessage, tools: Collection[str]) -> bool:
    """Return whether an answer must not be cached: empty, refusing, or with broken calls or unknown tools."""
    if refusal_in(answer) or is_empty(answer) or answer.invalid_tool_calls:
        return True
    return any(call["name"] not in tools for call in answer.tool_calls)


def repair_answer(answer: AIMessage, before: Sequence[BaseMessage]) -> AIMessage:
    """Return an answer, corrected so that every API accepts it in a history that follows `before`.

    Names of tools are made legal, ids of calls legal and unique in the conversation, arguments that are no
    JSON (such as 1e999, which is read as infinite) an empty object, calls that a server put among the parts
    of the text are left out there, and a turn of nothing gets a word. A turn that is fine stays as it is.
    """
    used = {call["id"] for one in before if isinstance(one, AIMessage) for call in _calls(one)}
    calls = [
        dict(call, name=_legal_name(call["name"]), id=_unused_id(call["id"], used))
        for call in answer.tool_calls
        if is_finite(call["args"])
    ]
    lost = [call for call in answer.tool_calls if not is_finite(call["args"])]
    broken = [
        {"error": None, **call, "type": "invalid_tool_call", "name": _legal_name(call.get("name"))}
        | {"id": _unused_id(call.get("id"), used), "args": "{}"}
        for call in [*answer.invalid_tool_calls, *lost]
    ]
    if is_empty(answer) and not refusal_in(answer):
        return AIMessage(content=NOTHING, response_metadata=answer.response_metadata, id=answer.id)
    # A part of the text that is a call in OpenAI's form is accepted by no API.
    parts = answer.content if isinstance(answer.content, list) else []
    has_call = any(isinstance(part, dict) and part.get("type") == "function" for part in parts)
    if calls == answer.tool_calls and broken == answer.invalid_tool_calls and not has_call:
        return answer
    return AIMessage(
        content=answer.text,
        tool_calls=calls,
        invalid_tool_calls=broken,
        usage_metadata=answer.usage_metadata,
        response_metadata=answer.response_metadata,
        id=answer.id,
    )


def _calls(message: AIMessage) -> list[Any]:
    """Return all tool calls of a model's message, also those whose arguments are no JSON."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def _legal_name(name: Any) -> str:
    """Return a tool's name that every API takes: characters replaced, long ones cut; `unknown` if empty."""
    legal = _ILLEGAL.sub("_", str(name or ""))
    begun = legal if re.match(r"[a-zA-Z_]|$", legal) else f"_{legal}"  # Gemini takes no other beginning
    return begun[:LONGEST_NAME] or "unknown"


def _unused_id(given: Any, used: set[Any]) -> str:
    """Return the call id `given` if it is legal and unused, else a similar new one; add it to `used`."""
    first = _ILLEGAL.sub("_", str(given or ""))[:LONGEST_ID] or "call"
    fresh, number = first, 1
    while fresh in used or (fresh == "call" and not given):
        number += 1
        fresh = f"{first[: LONGEST_ID - 6]}_{number}"  # with room for the number
    used.add(fresh)
    return fresh
