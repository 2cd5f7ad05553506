"""A question as it is sent to a model, and the JSON schema of the reply that it asks for.

What stays the same comes first as orders, then what is asked, then pictures. A prompt with turns is a
conversation: what was asked first, and after each reply what came of it.

Schemas are written with the keywords that OpenAI, Anthropic, Gemini and Ollama have in common: types,
properties that are all required, `enum`, `anyOf` with null, and descriptions. Bounds of numbers and lengths
are told in the descriptions; the reader of replies keeps them. Ollama and servers of one's own get them as
keywords, too: their grammars hold a model to them.
"""

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.language_models import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from PIL import Image as PillowImage
from pydantic import BaseModel

from virl.errors import BadInput
from virl.files.pictures import rgb
from virl.mind.base import Describe, Picture, Pictures, Prompt, ReplyT
from virl.mind.chat.asking import Model
from virl.mind.prompt import load_prompt, render, render_parts, render_turns
from virl.mind.providers import ChatManner
from virl.mind.replies import Reply, Text
from virl.mind.settings import Abilities
from virl.platform.city.streetview import Image, View

JPEG_QUALITY = 90  # chosen: letters on signs stay sharp, at a sixth of the size of a PNG

Block = dict[Any, Any]
"""Part of a message's content as LangChain has it, such as a text or a picture."""

_NOT_SHOWN: Block = {"type": "text", "text": "(a picture that cannot be shown to you)"}


def _picture_blocks(images: Pictures, longest_side: int) -> list[str | Block]:
    """Return content blocks of pictures at most `longest_side` pixels long, each after its label, if any."""
    labels = list(images) if isinstance(images, Mapping) else []
    blocks: list[str | Block] = []
    for at, image in enumerate(_picture_list(images)):
        blocks += [{"type": "text", "text": f"{labels[at]}:"}] if labels else []
        blocks.append(image_block(_pixels(image), longest_side))
    return blocks


def image_block(image: Image, longest_side: int | None = None) -> Block:
    """Return a picture as a LangChain content block: base64 JPEG, at most `longest_side` pixels a side."""
    picture = PillowImage.fromarray(image)
    if longest_side and max(picture.size) > longest_side:
        picture.thumbnail((longest_side, longest_side), PillowImage.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=JPEG_QUALITY)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image", "base64": data, "mime_type": "image/jpeg"}


def image_notes(images: Pictures) -> list[str]:
    """Return each picture's size as noted in the ledger, such as `640x480` (width x height, pixels)."""
    shapes = [_pixels(image).shape for image in _picture_list(images)]
    return [f"{width}x{height}" for height, width, _ in shapes]


def _picture_list(images: Pictures) -> list[Picture]:
    """Return the pictures as a list, without their labels."""
    return list(images.values() if isinstance(images, Mapping) else images)


def _pixels(picture: Picture) -> Image:
    """Return the pixels of a picture or view as an RGB image."""
    return rgb(picture.pixels if isinstance(picture, View) else picture)


def has_pictures(message: BaseMessage) -> bool:
    """Return whether a message's content has a picture."""
    return isinstance(message.content, list) and any(map(_is_picture, message.content))


def without_pictures(message: BaseMessage) -> BaseMessage:
    """Return a message with a short text in place of each picture in its content."""
    if not isinstance(message.content, list):
        return message
    blocks = [_NOT_SHOWN if _is_picture(block) else block for block in message.content]
    return message.model_copy(update={"content": blocks})


def _is_picture(block: str | Block) -> bool:
    """Return whether a part of a message's content is a picture."""
    return isinstance(block, dict) and block.get("type") == "image"


_MOST_OPTIONS = 250
"""Most options for which a schema has an `enum`; chosen: OpenAI limits the characters of longer ones."""
_OPTIONS_TOLD = 40
"""Most options of a field that the prompt lists; of more it only says how many; chosen."""
_COUNTED_OUT = 11
"""Largest number of values of a whole-number field that a schema lists one by one; chosen for 0 to 10."""
Schema = dict[str, Any]
"""A JSON schema, or a part of one."""
Offers = Mapping[str, Sequence[str | int]]
"""Allowed values of reply fields, by the field's path, as `Reply.offers` gives them."""
_BOUNDS = {
    "minimum": "at least {}",
    "ge": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "le": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} letters",
    "maxLength": "at most {} letters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
_KEYWORDS = frozenset(_BOUNDS) - {"ge", "le"}
CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
"""Extra field of a content block that tells Anthropic to cache the request up to here."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with its inputs as messages, schema and field texts, ready to be sent to a model."""

    messages: Sequence[BaseMessage]
    schema: Schema | None
    """JSON schema of the typed reply; `None` for a reply of plain text."""
    held: bool
    """True if the schema is sent with the request; false if only the prompt describes the reply."""
    fields: str = ""
    """Description in words of the reply's fields, with the options of this question; empty for plain text."""

    @property
    def schema_letters(self) -> int:
        """Number of characters of the schema that is sent with the request; 0 if none is."""
        return len(json.dumps(self.schema)) if self.held else 0


def build_question(
    prompt: Prompt[ReplyT],
    inputs: Mapping[str, object],
    images: Pictures,
    manner: ChatManner,
    abilities: Abilities,
    model: Model,
    describe: Describe | None = None,
    said: Sequence[str] = (),
) -> Question:
    """Return a prompt's question, in the form the model takes, with pictures and the user's words `said`.

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
        BadInput: it is of no use without pictures, and the model takes none.
    """
    orders, asked = render_parts(prompt, inputs)
    if issubclass(prompt.reply, Text):
        asked = asked.rstrip()  # a completion goes on where it ends
        bounded, schema = False, None
    else:
        bounded = manner.bounded and abilities.bounds
        schema = strict_schema(prompt.reply, inputs, bounded=bounded)
    held = schema is not None and abilities.schema
    earlier: list[BaseMessage] = []
    for reply, told in render_turns(prompt, inputs):
        # in blocks as the last one: some libraries add a line break to those
        earlier += [HumanMessage(content=[{"type": "text", "text": asked}]), AIMessage(content=reply)]
        asked = told
    if said and schema is not None:
        asked = f"{render(load_prompt('mind/said', Reply), {'said': list(said)})}\n{asked}"
    always = strict_schema(prompt.reply, {}, bounded=bounded) if schema is not None else {}
    fields = in_words(schema) if schema is not None else ""
    if schema is not None and not (held and manner.enforces):
        orders, asked = _with_form(orders, asked, fields, in_words(always))
    elif schema is not None and prompt.steady:
        asked = _with_options(asked, fields, in_words(always))
    mark = CACHE_MARK if manner.marks_cache else {}
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": asked, **(mark if prompt.turns else {})}]
    if images and abilities.sees:
        blocks += _picture_blocks(images, manner.longest_side)
    elif images and prompt.needs_pictures:
        raise BadInput(
            f"{prompt.name} is a question about pictures, and the model takes none: choose another model, or "
            "a describer that asks none (`senses: {describer: sign-describer}`)"
        )
    elif images:
        asked = f"{asked}\n{_picture_text(images, describe)}"
        blocks = [{"type": "text", "text": asked}]
    messages: list[BaseMessage] = [*earlier, HumanMessage(content=blocks)]
    if orders and isinstance(model, BaseLLM):
        messages = [HumanMessage(content=[{"type": "text", "text": f"{orders}\n{asked}"}])]
    elif orders:
        messages = [SystemMessage(content=[{"type": "text", "text": orders.strip(), **mark}]), *messages]
    return Question(messages, always if prompt.steady else schema, held, fields)


def _picture_text(images: Pictures, describe: Describe | None) -> str:
    """Return pictures as text for a model that takes none: label and description of each, or their number."""
    views = [image for image in _picture_list(images) if isinstance(image, View)]
    if describe is None or len(views) < len(images):  # only views can be described
        return render(load_prompt("mind/no-pictures", Reply), {"count": len(images)})
    labels = (
        list(images) if isinstance(images, Mapping) else [f"Picture {at + 1}" for at in range(len(views))]
    )
    told = [{"label": label, "words": words} for label, words in zip(labels, describe(views), strict=True)]
    return render(load_prompt("mind/pictures-in-words", Reply), {"pictures": told})


def _with_form(orders: str, asked: str, fields: str, always: str) -> tuple[str, str]:
    """Return (orders with `always` added, question with the other lines of `fields` added).

    This question's options stand at its end, so that the orders stay the same in every question.
    """
    form = load_prompt("mind/form", Reply)
    if not orders:
        return "", f"{asked}\n{render(form, {'fields': fields})}"
    return f"{orders}\n{render(form, {'fields': always})}", _with_options(asked, fields, always)


def _with_options(asked: str, fields: str, always: str) -> str:
    """Return the question's text followed by those lines of `fields` that are not in `always`."""
    offered = [line for line in fields.splitlines() if line not in always.splitlines()]
    if not offered:
        return asked
    return f"{asked}\n{render(load_prompt('mind/options', Reply), {'fields': chr(10).join(offered)})}"


def strict_schema(reply: type[BaseModel], inputs: Mapping[str, object], *, bounded: bool = False) -> Schema:
    """Return a reply's JSON schema with the options its inputs offer; `bounded` keeps bounds as keywords.

    Args:
        reply: its type.
        inputs: those of the question: they say what a field may be, where the type says so in `Reply.offers`.
        bounded: whether bounds of numbers and lengths stay as keywords too, not only in descriptions.
    """
    own = _plain_schema(reply)
    offers = reply.offers(inputs) if issubclass(reply, Reply) else {}
    schema = _portable_schema(own, own.get("$defs", {}), "", offers, _KEYWORDS if bounded else frozenset())
    return {"title": reply.__name__, **schema}


@cache
def _plain_schema(reply: type[BaseModel]) -> Schema:
    """Return pydantic's JSON schema of a reply type; cached, so it must not be changed."""
    return reply.model_json_schema()


def in_words(schema: Schema) -> str:
    """Return a schema's fields as a Markdown list, for a model that is not sent the schema."""
    return "\n".join(_schema_lines(schema, ""))


def _portable_schema(
    schema: Schema, named: Mapping[str, Schema], path: str, offers: Offers, keywords: frozenset[str]
) -> Schema:
    """Return the schema of the field at dotted `path`: `$ref`s inlined, `offers` as enum, `keywords` kept."""
    if "$ref" in schema:
        found = named[schema["$ref"].rpartition("/")[2]]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return _portable_schema({**found, **own}, named, path, offers, keywords)
    told = " ".join(filter(None, [schema.get("description", ""), _describe_bounds(schema)]))
    about = {"description": told} if told else {}
    if "anyOf" in schema:
        return {
            "anyOf": [_portable_schema(one, named, path, offers, keywords) for one in schema["anyOf"]],
            **about,
        }
    about |= {key: schema[key] for key in schema if key in keywords}
    kind = schema.get("type") or ("string" if isinstance(schema.get("const"), str) else "integer")
    if kind == "object":
        fields = {
            name: _portable_schema(inner, named, f"{path}.{name}".lstrip("."), offers, keywords)
            for name, inner in schema.get("properties", {}).items()
        }
        return {
            "type": "object",
            **about,
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
    if kind == "array":
        items = schema.get("items") or schema["prefixItems"][0]
        return {"type": "array", **about, "items": _portable_schema(items, named, path, offers, keywords)}
    if kind == "null":
        return {"type": kind}
    options = _options(schema, kind, offers.get(path))
    return {"type": kind, **about} | ({"enum": options} if options else {})


def _options(schema: Schema, kind: str, offered: Sequence[str | int] | None) -> list[Any]:
    """Return the values allowed by `offered` or a schema of type `kind`; empty if unbounded or too many."""
    if offered is not None:
        distinct = list(dict.fromkeys(offered))
        return distinct if len(distinct) <= _MOST_OPTIONS else []
    if "const" in schema:
        return [schema["const"]]
    low, high = schema.get("minimum"), schema.get("maximum")
    if kind == "integer" and low is not None and high is not None and high - low < _COUNTED_OUT:
        return list(range(low, high + 1))
    return list(schema.get("enum", ()))


def _describe_bounds(schema: Schema) -> str:
    """Return a field's bounds as a sentence, such as `At least 1, at most 5.`; empty if it has none."""
    if "prefixItems" in schema:
        return f"Exactly {len(schema['prefixItems'])}."
    if schema.get("minLength") == 1 and "maxLength" not in schema:
        return "Not empty."
    told = [words.format(f"{schema[key]:g}") for key, words in _BOUNDS.items() if key in schema]
    return f"{', '.join(told).capitalize()}." if told else ""


def _schema_lines(schema: Schema, indent: str) -> Iterator[str]:
    """Yield lines of a Markdown list of a schema's fields, those of inner objects indented by `indent`."""
    for name, field in schema["properties"].items():
        about = f" {field['description']}" if "description" in field else ""
        yield f"{indent}- `{name}`: {_describe_type(field)}.{about}"
        inner = field.get("items", field)
        if inner.get("type") == "object":
            yield from _schema_lines(inner, f"{indent}  ")


def _describe_type(field: Schema) -> str:
    """Return the type of a field's value in words, with its options."""
    if "anyOf" in field:
        return " or ".join(_describe_type(one) for one in field["anyOf"])
    if field["type"] == "array":
        return f"a list; each item is {_describe_type(field['items'])}"
    if options := field.get("enum"):
        if len(options) > _OPTIONS_TOLD:
            return f"one of the {len(options)} offered in the question, spelt the same"
        return f"one of {', '.join(json.dumps(one, ensure_ascii=False) for one in options)}"
    return {
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "object": "an object with these fields",
        "null": "null",
    }[field["type"]]
