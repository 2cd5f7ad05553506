"""Reading a chat model's answer."""

import re

from langchain_core.messages import AIMessage
from pydantic import ValidationError

from virl.mind.base import ReplyT
from virl.mind.prices import Usage

_CODE_FENCE = re.compile(r"^```\w*\n(.*)\n```$", re.DOTALL)


def read_reply(answer: AIMessage, reply: type[ReplyT], inputs: dict[str, object]) -> ReplyT:
    """The reply that an answer holds, checked against the prompt's inputs.

    Raises:
        ValidationError: it holds none, or one that does not fit.
    """
    if answer.tool_calls:
        return reply.model_validate(answer.tool_calls[0]["args"], context=inputs)
    return reply.model_validate_json(given_text(answer), context=inputs)


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


def usage_of(answer: AIMessage) -> Usage:
    """The tokens that an answer cost, as its server counts them."""
    metadata = answer.usage_metadata
    if metadata is None:
        return Usage()
    details = metadata.get("input_token_details") or {}
    return Usage(metadata["input_tokens"], details.get("cache_read", 0) or 0, metadata["output_tokens"])


def faults_in(invalid: ValidationError) -> str:
    """What is wrong with a reply, in a line."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg'].removeprefix('Value error, ')}"
        for fault in invalid.errors(include_url=False, include_input=False)
    )
