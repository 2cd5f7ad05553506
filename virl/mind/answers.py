"""Reading a chat model's answer."""

import re
from json import JSONDecoder

from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field, ValidationError

from virl.files.json_reading import misfits, whole_escapes
from virl.mind.base import Prompt, ReplyT
from virl.mind.conversation import Said
from virl.mind.prices import Usage
from virl.mind.replies import Text

MOST_TOKENS = 1_000_000_000
"""Most tokens that a server may count for a request; chosen: a hundred times the largest context there is."""

LONGEST_TEXT = 200_000
"""Letters of a reply that are searched for an object, the last ones; chosen: the longest reply has 10,000."""
MOST_STARTS = 2_000
"""Braces at which an object is looked for; chosen, so that hostile text costs no more than a moment."""

_TAG = r"(think|thinking|reasoning)"
_THOUGHTS = re.compile(rf"<{_TAG}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(rf"</{_TAG}>", re.IGNORECASE)


def read_reply(answer: AIMessage, prompt: Prompt[ReplyT], inputs: dict[str, object]) -> ReplyT:
    """Read the reply that an answer holds, checked against the prompt's inputs.

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
    """Return the last whole JSON object in a text, thoughts left aside; `None` if there is none."""
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
    """Return a text without the `<think>` that it begins with, or what stands before a lone `</think>`."""
    begins = len(text) - len(text.lstrip())
    if opened := _THOUGHTS.match(text, begins):
        return text[opened.end() :]
    if text.startswith("{", begins):
        return text
    ends = [closing.end() for closing in _END_OF_THOUGHTS.finditer(text)]
    return text[ends[-1] :] if ends else text


def excerpt(answer: AIMessage, most: int = 300) -> str:
    """Return a short piece of an answer, for the note on what is wrong with it.

    Never the whole of a long one.
    """
    said = str(answer.tool_calls[0]["args"]) if answer.tool_calls else without_thoughts(answer.text).strip()
    said = " ".join(said[: 4 * most].split())
    return said if len(said) <= most else f"{said[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


class _Details(BaseModel):
    cache_read: int | None = Field(None, ge=0, le=MOST_TOKENS)
    cache_creation: int | None = Field(None, ge=0, le=MOST_TOKENS)
    ephemeral_5m_input_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)
    ephemeral_1h_input_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)

    @property
    def cache_written(self) -> int:
        """Into the provider's cache; LangChain names them by how long they stay, where that is known."""
        by_stay = (self.ephemeral_5m_input_tokens or 0) + (self.ephemeral_1h_input_tokens or 0)
        return by_stay or self.cache_creation or 0


class _Counts(BaseModel):
    """Tokens as LangChain names them."""

    input_tokens: int = Field(ge=0, le=MOST_TOKENS)
    output_tokens: int = Field(ge=0, le=MOST_TOKENS)
    total_tokens: int = Field(default=0, ge=0, le=2 * MOST_TOKENS, strict=True)
    input_token_details: _Details | None = None


def check_answer(answer: object) -> Usage | None:
    """See that what a library made of a server's reply can be read and kept, and count its tokens.

    `None` where the server does not count them.

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
        Said.of(answer)
    except ValidationError as invalid:
        raise ValueError(f"the reply cannot be read ({faults_in(invalid)})") from None
    return usage


def _plain_text(answer: AIMessage, stop: tuple[str, ...]) -> str:
    """Return the text up to the first stop sequence behind leading blanks."""
    text = without_thoughts(answer.text)
    begin = len(text) - len(text.lstrip())
    ends = [at for sequence in stop if (at := text.find(sequence, begin)) >= 0]
    return text[: min(ends, default=len(text))]


def faults_in(invalid: ValidationError) -> str:
    """Return what is wrong with a reply, in a line."""
    return "; ".join(misfits(invalid, "reply"))
