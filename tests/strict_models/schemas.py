"""What providers refuse in the JSON schema of a reply, by their documentation of structured output."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_COMMON = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}
_KEYWORDS: Mapping[str, set[str]] = {
    # https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    "openai": _COMMON
    | {"title", "const", "$ref", "$defs", "pattern", "format", "multipleOf", "minimum", "maximum"}
    | {"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"},
    # https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
    "anthropic": _COMMON | {"title", "const", "$ref", "$defs", "allOf", "format", "default"},
    # https://ai.google.dev/gemini-api/docs/structured-output#json-schema-support
    "google_genai": _COMMON
    | {"title", "$ref", "$defs", "format", "prefixItems", "minItems", "maxItems", "minimum", "maximum"},
    # https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md: what is not listed is ignored
    "ollama": _COMMON
    | {"title", "const", "$ref", "$defs", "oneOf", "allOf", "pattern", "minItems", "maxItems", "prefixItems"}
    | {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"format", "default"},
}
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
_STRICT = {"openai", "anthropic"}
MOST_DEEP, MOST_FIELDS, MOST_OPTIONS = 10, 5_000, 1_000
"""OpenAI's limits."""
LONG_ENUM, LONG_ENUM_LETTERS = 250, 15_000
MOST_UNIONS = 16
"""Fields of more than one type that Anthropic takes in a request."""


def schema_faults(provider: str, schema: Mapping[str, Any]) -> list[str]:
    """What the provider would refuse, or would not hold a model to; empty if nothing."""
    faults = list(_faults(provider, schema, "reply", 1))
    if schema.get("type") != "object":
        faults.append("reply: must be an object")
    nodes = list(_nodes(schema))
    fields = sum(len(node.get("properties", ())) for node in nodes)
    options = sum(len(node.get("enum", ())) for node in nodes)
    if fields > MOST_FIELDS or options > MOST_OPTIONS:
        faults.append(f"reply: {fields} fields and {options} options are too many")
    if provider == "anthropic" and sum("anyOf" in node for node in nodes) > MOST_UNIONS:
        faults.append("reply: too many fields of more than one type")
    return faults


def _nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *schema.get("$defs", {}).values(),
    ]
    for one in [*inner, *([schema["items"]] if isinstance(schema.get("items"), dict) else [])]:
        yield from _nodes(one)


def _faults(provider: str, schema: Mapping[str, Any], where: str, depth: int) -> Iterator[str]:
    unknown = sorted(schema.keys() - _KEYWORDS[provider])
    if unknown:
        yield f"{where}: {', '.join(unknown)}: not permitted"
    if depth > MOST_DEEP:
        yield f"{where}: nested too deeply"
    if "anyOf" in schema:
        for at, one in enumerate(schema["anyOf"]):
            yield from _faults(provider, one, f"{where}|{at}", depth + 1)
    elif not ({"$ref", "enum"} & schema.keys()) and schema.get("type") not in _TYPES:
        yield f"{where}: has no type"
    if schema.get("type") == "array":
        if not isinstance(schema.get("items"), dict):
            yield f"{where}: an array without items"
        else:
            yield from _faults(provider, schema["items"], f"{where}[]", depth + 1)
    if schema.get("type") == "object":
        yield from _object_faults(provider, schema, where, depth)
    yield from _enum_faults(provider, schema, where)


def _object_faults(provider: str, schema: Mapping[str, Any], where: str, depth: int) -> Iterator[str]:
    fields = schema.get("properties", {})
    if provider in _STRICT and schema.get("additionalProperties") is not False:
        yield f"{where}: additionalProperties must be false"
    required = set(schema.get("required", ()))
    if provider == "openai" and required != set(fields):
        yield f"{where}: required must list every property: {sorted(set(fields) ^ required)}"
    if not required <= set(fields):
        yield f"{where}: requires what is no property"
    for name, inner in fields.items():
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            yield f"{where}.{name}: not a legal name"
        yield from _faults(provider, inner, f"{where}.{name}", depth + 1)


def _enum_faults(provider: str, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if "enum" not in schema:
        return
    options = schema["enum"]
    if not options or any(isinstance(one, dict | list) for one in options):
        yield f"{where}: an enum of no scalars"
    if len({repr(one) for one in options}) < len(options):
        yield f"{where}: an enum with the same option twice"
    letters = sum(len(one) for one in options if isinstance(one, str))
    if provider == "openai" and len(options) > LONG_ENUM and letters > LONG_ENUM_LETTERS:
        yield f"{where}: an enum of too many letters"
