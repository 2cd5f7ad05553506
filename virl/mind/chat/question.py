"""A question as it is put to a model: what stays the same as orders, then what is asked, then pictures.

A prompt with turns is a conversation: what was asked first, and after each reply what came of it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from virl.errors import MindFailed
from virl.mind.base import Pictures, Prompt, ReplyT
from virl.mind.chat.abilities import Abilities
from virl.mind.chat.asking import Model
from virl.mind.chat.providers import ChatManner
from virl.mind.chat.schemas import Schema, in_words, strict_schema
from virl.mind.pictures import Describe, picture_blocks, pictures_in_words
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render, render_parts, render_turns
from virl.mind.replies import Reply, Text

CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
"""Says to Anthropic that everything up to here may be kept for the next request."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, ready to be sent."""

    messages: Sequence[BaseMessage]
    schema: Schema | None
    """Of the reply, where it is typed, as it goes with the request."""
    held: bool
    """Whether the schema goes with the request."""
    fields: str = ""
    """The fields of the reply in words, with what this question offers."""

    @property
    def beside(self) -> int:
        """Letters of the schema that goes with the request."""
        return len(json.dumps(self.schema)) if self.held else 0

    def parts(self) -> list[dict[str, Any]]:
        """What is sent, as plain data, for the key of a cache."""
        return [{"type": message.type, "content": message.content} for message in self.messages]


def question_of(
    prompt: Prompt[ReplyT],
    inputs: Mapping[str, object],
    images: Pictures,
    manner: ChatManner,
    abilities: Abilities,
    model: Model,
    describe: Describe | None = None,
    said: Sequence[str] = (),
) -> Question:
    """Put a prompt and its inputs into messages.

    Args:
        prompt: which question.
        inputs: its inputs.
        images: pictures that go with it.
        manner: how the model is asked.
        abilities: what it takes.
        model: the model itself.
        describe: says what views show, to a model that takes no pictures.
        said: what the user has said during the run, the oldest first.

    Raises:
        BadInput: an input is missing, is not the prompt's, or does not fit its template.
        MindFailed: it is of no use without pictures, and the model takes none.
    """
    orders, asked = render_parts(prompt, inputs)
    if issubclass(prompt.reply, Text):
        asked = asked.rstrip()  # a completion goes on where it ends
        schema = None
    else:
        schema = strict_schema(prompt.reply, inputs)
    held = schema is not None and abilities.schema
    earlier: list[BaseMessage] = []
    for reply, told in render_turns(prompt, inputs):
        # in blocks as the last one: some libraries add a line break to those
        earlier += [HumanMessage(content=[{"type": "text", "text": asked}]), AIMessage(content=reply)]
        asked = told
    if said and schema is not None:
        asked = f"{render(load_prompt('mind/said', Reply), {'said': list(said)})}\n{asked}"
    always = strict_schema(prompt.reply, {}) if schema is not None else {}
    fields = in_words(schema) if schema is not None else ""
    if schema is not None and not (held and manner.enforces):
        orders, asked = _with_form(orders, asked, fields, in_words(always))
    elif schema is not None and prompt.steady:
        asked = _with_options(asked, fields, in_words(always))
    mark = CACHE_MARK if manner.marks_cache else {}
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": asked, **(mark if prompt.turns else {})}]
    if images and abilities.sees:
        blocks += picture_blocks(images, manner.longest_side)
    elif images and prompt.needs_pictures:
        raise MindFailed(
            f"{prompt.name} is a question about pictures, and the model takes none: choose another model, or "
            "a describer that asks none (`senses: {describer: sign-describer}`)"
        )
    elif images:
        asked = f"{asked}\n{_instead(images, describe)}"
        blocks = [{"type": "text", "text": asked}]
    messages: list[BaseMessage] = [*earlier, HumanMessage(content=blocks)]
    if orders and isinstance(model, BaseLLM):
        messages = [HumanMessage(content=[{"type": "text", "text": f"{orders}\n{asked}"}])]
    elif orders:
        messages = [SystemMessage(content=[{"type": "text", "text": orders.strip(), **mark}]), *messages]
    return Question(messages, always if prompt.steady else schema, held, fields)


def _instead(images: Pictures, describe: Describe | None) -> str:
    """What stands in the place of pictures, for a model that takes none."""
    if told := pictures_in_words(images, describe):
        return render(load_prompt("mind/pictures-in-words", Reply), {"pictures": told})
    return render(load_prompt("mind/no-pictures", Reply), {"count": len(images)})


def _with_form(orders: str, asked: str, fields: str, always: str) -> tuple[str, str]:
    """Orders and question with the fields of the reply: what this question offers stands at its end alone.

    So the orders stay the same from question to question.
    """
    form = load_prompt("mind/form", Reply)
    if not orders:
        return "", f"{asked}\n{render(form, {'fields': fields})}"
    return f"{orders}\n{render(form, {'fields': always})}", _with_options(asked, fields, always)


def _with_options(asked: str, fields: str, always: str) -> str:
    """A question with the fields that it holds to other options than every question does."""
    offered = [line for line in fields.splitlines() if line not in always.splitlines()]
    if not offered:
        return asked
    return f"{asked}\n{render(load_prompt('mind/options', Reply), {'fields': chr(10).join(offered)})}"
