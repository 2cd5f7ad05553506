"""Kinds of values that a model's field may have, read from the model's JSON schema, and in plain words."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

Kind = Mapping[str, Any]
"""JSON schema of one kind of value, without references and unions; `entries` has the kinds of list items."""

FIELDS = "`field: value` lines"
FEW_FIELDS = 4  # required fields of a section that are spelt out; chosen
BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        "ge": "at least",
        "minimum": "at least",
        "gt": "above",
        "exclusiveMinimum": "above",
        "le": "at most",
        "maximum": "at most",
        "lt": "below",
        "exclusiveMaximum": "below",
        "multiple_of": "a multiple of",
    }
)
"""Words for a number's bounds, by the bounds' names in pydantic and JSON schemas."""
_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "string": "text",
        "path": "text",
        "date": "a date, such as 2026-01-31",
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
    }
)
"""Words for types and text formats, by their names in JSON schemas."""


class _Schema(GenerateJsonSchema):
    """A generator of JSON schemas for any model, with field names as titles."""

    def get_title_from_name(self, name: str) -> str:
        """Return the field's name unchanged as its title."""
        return name

    def emit_warning(self, *_: object) -> None:
        """Ignore a warning of pydantic on the schema."""

    def handle_invalid_for_json_schema(self, *_: object) -> dict[str, Any]:
        """Return an empty schema for a type that JSON schemas cannot express."""
        return {}


def kinds_at(model: type[BaseModel], location: Sequence[str | int]) -> Sequence[Kind]:
    """Return the kinds of values that a model's field, given by its path, may have; empty if unknown."""
    schema = _schema_of(model)
    kinds = _branches(schema, schema)
    for part in location:
        inner = (_schema_inside(kind, part) for kind in kinds)
        kinds = [kind for one in inner if isinstance(one, dict) for kind in _branches(one, schema)]
    return kinds


@lru_cache(maxsize=32)
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model; cached."""
    return model.model_json_schema(schema_generator=_Schema)


def _branches(schema: dict[str, Any], whole: Kind) -> list[Kind]:
    """Return the kinds that a schema allows, one for each branch of a union; `whole` has the definitions."""
    # What stands beside a reference or a union holds for each of its branches.
    beside = {name: held for name, held in schema.items() if name not in {"$ref", "anyOf", "oneOf"}}
    if "$ref" in schema:
        return _branches(whole["$defs"][schema["$ref"].rpartition("/")[2]] | beside, whole)
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return [kind for one in branches for kind in _branches(beside | one, whole)]
    return [schema | {"entries": _branches(schema["items"], whole)} if "items" in schema else schema]


def _schema_inside(kind: Kind, part: str | int) -> object:
    """Return the schema of a field (`str`) or list entry (`int`) in a kind; no `dict` if there is none."""
    if isinstance(part, int):
        return dict(enumerate(kind.get("prefixItems", ()))).get(part, kind.get("items"))
    patterns = kind.get("patternProperties", {}).values()
    return kind.get("properties", {}).get(part, next(iter(patterns), kind.get("additionalProperties")))


def name_of(around: Sequence[Kind], part: str | int) -> str | int:
    """Return the name, such as `lat`, of a list entry with the index `part`; else `part` itself."""
    if isinstance(part, str) or len(around) != 1:
        return part
    name: str | int = dict(enumerate(around[0].get("prefixItems", ()))).get(part, {}).get("title", part)
    return name


def allowed_text(kinds: Sequence[Kind]) -> str:
    """Return the values that kinds allow, in words such as `a whole number, at least 1`."""
    said = dict.fromkeys(
        words for one in kinds if one.get("type") != "null" for words in _allowed_values(one)
    )
    *others, last = said or ("empty",)
    return f"{', '.join(others)} or {last}" if others else last


def literals_of(kinds: Sequence[Kind]) -> list[str]:
    """Return the values, as texts, of those kinds that are choices among literal values."""
    return [
        str(value) for one in kinds for value in one.get("enum", [one["const"]] if "const" in one else [])
    ]


def span(kinds: Sequence[Kind]) -> str:
    """Return the bounds of the numbers of some kinds, such as `at least 0 and below 360`; empty without."""
    bounds = [
        f"{words} {kind[name]:{',' if isinstance(kind[name], int) else 'g'}}"
        for name, words in BOUNDS.items()
        for kind in kinds
        if name in kind
    ]
    return " and ".join(dict.fromkeys(bounds))


def _allowed_values(kind: Kind) -> list[str]:
    """Return descriptions of the values that a kind allows: one, or one for each choice."""
    match kind:
        case {"enum": _} | {"const": _}:
            return [f"'{value}'" for value in literals_of([kind])]
        case {"properties": _}:
            required = kind.get("required", ())
            few = 0 < len(required) <= FEW_FIELDS
            said = f"{{{', '.join(f'{field}: ...' for field in required)}}}" if few else FIELDS
        case {"type": "object"}:
            said = "`name: value` lines"
        case {"prefixItems": [{"title": _}, *_] as entries}:
            said = f"[{', '.join(entry['title'] for entry in entries)}]"
        case {"prefixItems": entries}:
            said = f"a list of {len(entries)}"
        case {"entries": entries}:
            said = f"a list{_list_example(entries)}"
        case _:
            plain = _PLAIN.get(kind.get("format") or kind.get("type", ""), "another value")
            said = ", ".join(filter(None, (plain, span([kind]))))
    return [said]


def _list_example(entries: Sequence[Kind]) -> str:
    """Return the end of a list's description: an example with entries of some kinds."""
    if names := literals_of(entries):
        return f", such as [{', '.join(names[:2])}]"
    if any("prefixItems" in one for one in entries):
        return " of [a, b] pairs"
    return ", such as [1, 2]" if entries[0].get("type") in {"integer", "number"} else ", such as [a, b]"
