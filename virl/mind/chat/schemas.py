"""The JSON schema of a reply that every provider can hold a model to, and the same in words.

Written with the keywords that OpenAI, Anthropic, Gemini and Ollama have in common: types, properties that are
all required, `enum`, `anyOf` with null, and descriptions. Bounds of numbers and lengths are told in the
descriptions; the reader of replies keeps them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from virl.mind.replies import Reply

MOST_OPTIONS = 250
"""In an `enum`; OpenAI limits the letters of longer ones."""
OPTIONS_TOLD = 40
"""Options that are repeated in words; chosen."""
COUNTED_OUT = 11
"""A whole number with no more values than these becomes an `enum`; chosen for ratings from 0 to 10."""

Schema = dict[str, Any]
Offers = Mapping[str, Sequence[str | int]]

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


def strict_schema(reply: type[BaseModel], inputs: Mapping[str, object]) -> Schema:
    """The schema of a reply to one question.

    Args:
        reply: its type.
        inputs: those of the question: they say what a field may be, where the type says so in `Reply.offers`.
    """
    own = plain_schema(reply)
    offers = reply.offers(inputs) if issubclass(reply, Reply) else {}
    schema = _strict(own, own.get("$defs", {}), "", offers)
    return {"title": reply.__name__, **schema}


@cache
def plain_schema(reply: type[BaseModel]) -> Schema:
    """The schema as pydantic writes it, made once; not to be changed."""
    return reply.model_json_schema()


def in_words(schema: Schema) -> str:
    """The fields of a reply as a list in Markdown, for a model that nothing holds to the schema."""
    return "\n".join(_lines(schema, ""))


def _strict(schema: Schema, named: Mapping[str, Schema], path: str, offers: Offers) -> Schema:
    if "$ref" in schema:
        found = named[schema["$ref"].rpartition("/")[2]]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return _strict({**found, **own}, named, path, offers)
    told = " ".join(filter(None, [schema.get("description", ""), _bounds_told(schema)]))
    about = {"description": told} if told else {}
    if "anyOf" in schema:
        return {"anyOf": [_strict(one, named, path, offers) for one in schema["anyOf"]], **about}
    kind = schema.get("type") or ("string" if isinstance(schema.get("const"), str) else "integer")
    if kind == "object":
        fields = {
            name: _strict(inner, named, f"{path}.{name}".lstrip("."), offers)
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
        return {"type": "array", **about, "items": _strict(items, named, path, offers)}
    if kind == "null":
        return {"type": kind}
    options = _options(schema, kind, offers.get(path))
    return {"type": kind, **about} | ({"enum": options} if options else {})


def _options(schema: Schema, kind: str, offered: Sequence[str | int] | None) -> list[Any]:
    if offered is not None:
        distinct = list(dict.fromkeys(offered))
        return distinct if len(distinct) <= MOST_OPTIONS else []
    if "const" in schema:
        return [schema["const"]]
    low, high = schema.get("minimum"), schema.get("maximum")
    if kind == "integer" and low is not None and high is not None and high - low < COUNTED_OUT:
        return list(range(low, high + 1))
    return list(schema.get("enum", ()))


def _bounds_told(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"Exactly {len(schema['prefixItems'])}."
    if schema.get("minLength") == 1 and "maxLength" not in schema:
        return "Not empty."
    told = [words.format(f"{schema[key]:g}") for key, words in _BOUNDS.items() if key in schema]
    return f"{', '.join(told).capitalize()}." if told else ""


def _lines(schema: Schema, indent: str) -> Iterator[str]:
    for name, field in schema["properties"].items():
        about = f" {field['description']}" if "description" in field else ""
        yield f"{indent}- `{name}`: {_kind_told(field)}.{about}"
        inner = field.get("items", field)
        if inner.get("type") == "object":
            yield from _lines(inner, f"{indent}  ")


def _kind_told(field: Schema) -> str:
    if "anyOf" in field:
        return " or ".join(_kind_told(one) for one in field["anyOf"])
    if field["type"] == "array":
        return f"a list; each item is {_kind_told(field['items'])}"
    if options := field.get("enum"):
        if len(options) > OPTIONS_TOLD:
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
