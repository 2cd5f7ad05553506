"""Reading a chat model's answer."""

import re

from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field, ValidationError

from virl.mind.base import Prompt, ReplyT
from virl.mind.conversation import Said
from virl.mind.prices import Usage
from virl.mind.replies import Text

MOST_TOKENS = 1_000_000_000
"""That a server may count for one request; chosen: a hundred times the largest context there is."""

_CODE_FENCE = re.compile(r"^```\w*\n(.*)\n```$", re.DOTALL)


def read_reply(answer: AIMessage, prompt: Prompt[ReplyT], inputs: dict[str, object]) -> ReplyT:
    """The reply that an answer holds, checked against the prompt's inputs.

    Raises:
        ValidationError: it holds none, or one that does not fit. A plain text always fits.
    """
    if issubclass(prompt.reply, Text):
        return prompt.reply.model_validate({"text": _plain_text(answer, prompt.stop)}, context=inputs)
    if answer.tool_calls:
        return prompt.reply.model_validate(answer.tool_calls[0]["args"], context=inputs)
    return prompt.reply.model_validate_json(given_text(answer), context=inputs)


def is_cut_off(answer: AIMessage) -> bool:
    """Whether the token limit was reached before the first word."""
    reason = answer.response_metadata.get("finish_reason") or answer.response_metadata.get("stop_reason")
    return reason in ("length", "max_tokens") and not answer.text and not answer.tool_calls


def given_text(answer: AIMessage) -> str:
    """An answer as text, out of a code fence if it stands in one."""
    if answer.tool_calls:
        return str(answer.tool_calls[0]["args"])
    text = answer.text.strip()
    fenced = _CODE_FENCE.match(text)
    return fenced[1] if fenced else text


def refusal_in(answer: AIMessage) -> str | None:
    """What the model said when it would not answer; `None` if it did answer."""
    said = answer.additional_kwargs.get("refusal")
    if said:
        return str(said)
    if answer.response_metadata.get("stop_reason") == "refusal":
        return answer.text or "no reason given"
    return None


class _Details(BaseModel):
    cache_read: int | None = Field(None, ge=0, le=MOST_TOKENS)


class _Counts(BaseModel):
    """Tokens as LangChain names them."""

    input_tokens: int = Field(ge=0, le=MOST_TOKENS)
    output_tokens: int = Field(ge=0, le=MOST_TOKENS)
    input_token_details: _Details | None = None


def check_answer(answer: object) -> Usage:
    """See that what a library made of a server's reply can be read and kept, and count its tokens.

    Raises:
        ValueError: it is no message of a model's, is nested too deeply, or its token counts are no numbers;
            in one line.
    """
    if not isinstance(answer, AIMessage):
        raise ValueError("the reply is no message of a model")  # noqa: TRY004 - it is what came that is wrong
    usage = Usage()
    try:
        if answer.usage_metadata is not None:
            counts = _Counts.model_validate(answer.usage_metadata)
            details = counts.input_token_details or _Details()
            usage = Usage(counts.input_tokens, details.cache_read or 0, counts.output_tokens)
        Said.of(answer)
    except ValidationError as invalid:
        raise ValueError(f"the reply cannot be read ({faults_in(invalid)})") from None
    return usage


def _plain_text(answer: AIMessage, stop: tuple[str, ...]) -> str:
    """The text up to the first stop sequence behind leading blanks, whether or not the server honoured it."""
    text = answer.text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is no text
    begin = len(text) - len(text.lstrip())
    ends = [at for sequence in stop if (at := text.find(sequence, begin)) >= 0]
    return text[: min(ends, default=len(text))]


def faults_in(invalid: ValidationError) -> str:
    """What is wrong with a reply, in a line."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg'].removeprefix('Value error, ')}"
        for fault in invalid.errors(include_url=False, include_input=False)
    )
