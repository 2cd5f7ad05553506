"""JSON as protocol buffers have it: enums by name or number, numbers as texts, and masks of fields."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from virl.serve.google.wire import Json, invalid
from virl.settings.model import Settings, load_settings


class Messages(Settings):
    """Types of messages' fields, and numbers of enums, from `messages.yaml`."""

    messages: Mapping[str, Mapping[str, str | list[str]]]
    """The type of each field by message and field name; in a list if the field is repeated."""
    enums: Mapping[str, Mapping[str, int]]
    """Numbers of the enums in requests, by enum and value name."""
    answers: Mapping[str, Mapping[str, int]]
    """Numbers of the enums in answers, by field and value name."""


MESSAGES = load_settings(Path(__file__).with_name("messages.yaml"), Messages)


def read_message(body: Json, name: str) -> Json:
    """Return a body checked as message `name` of `messages.yaml`: fields in camel case, enums by name.

    Raises:
        Refused: a field is unknown, or holds something else than it should.
    """
    return _read_fields(body, name, "")


def with_numbers(value: Any, field: str = "") -> Any:
    """Return an answer's JSON with its enums as numbers; `field` names the field that `value` is in."""
    if isinstance(value, dict):
        return {name: with_numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item, field) for item in value]
    return MESSAGES.answers.get(field, {}).get(value, value) if isinstance(value, str) else value


def _read_fields(body: Json, name: str, path: str) -> Json:
    """Return the checked fields of message `name` by JSON name; errors give `path`, its place in the body."""
    fields = {_to_snake(field): field for field in MESSAGES.messages[name]}
    found = {}
    for given, value in body.items():
        field = given if given in MESSAGES.messages[name] else fields.get(given)
        if field is None:
            where = f" at '{path}'" if path else ""
            raise invalid(f'Invalid JSON payload received. Unknown name "{given}"{where}: Cannot find field.')
        if value is None:
            continue
        below = f"{path}.{_to_snake(field)}" if path else _to_snake(field)
        kind = MESSAGES.messages[name][field]
        if isinstance(kind, str):
            found[field] = _read_single(value, kind, below)
        elif not isinstance(value, list):
            raise _invalid_value(below, kind[0], value)
        else:
            found[field] = [
                _read_single(item, kind[0], f"{below}[{index}]") for index, item in enumerate(value)
            ]
    return found


def _read_single(value: Any, kind: str, path: str) -> Any:
    """Return a value checked as type `kind`, a message, an enum or a scalar; enums by name."""
    if kind in MESSAGES.messages:
        if not isinstance(value, dict):
            raise _invalid_value(path, kind, value)
        return _read_fields(value, kind, path)
    if names := MESSAGES.enums.get(kind):
        if isinstance(value, str) and value in names:
            return value
        numbered = {number: name for name, number in names.items()}
        # `type`, not `isinstance`: true and false are numbers to Python and none to Google.
        if type(value) is int and value in numbered:
            return numbered[value]
        raise _invalid_value(path, kind, value)
    try:
        return _SCALARS[kind](value)
    except (TypeError, ValueError, OverflowError):
        raise _invalid_value(path, f"TYPE_{kind.upper()}", value) from None


def _invalid_value(path: str, kind: str, value: Any) -> Exception:
    """Return the refusal of a value of the wrong type, with Google's wording."""
    known = kind if kind.startswith("TYPE_") else f"type.googleapis.com/{kind}"
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return invalid(f"Invalid value at '{path}' ({known}), {shown[:200]}")


def _read_instance(kind: type, value: Any) -> Any:
    """Return a value if it is of a Python type; raise `TypeError` otherwise."""
    if not isinstance(value, kind):
        raise TypeError
    return value


def _read_real(value: Any) -> float:
    """Return a number, or its text, as a float; raise `TypeError`, `ValueError` or `OverflowError`."""
    # Protocol buffers take numbers as texts too, and no truth values.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


def _read_whole(value: Any) -> int:
    """Return a whole number, or a text of one, as an int; raise `TypeError` or `ValueError` otherwise."""
    found = _read_real(value)
    if found != int(found):
        raise ValueError
    return int(found)


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "string": partial(_read_instance, str),
    "bool": partial(_read_instance, bool),
    "double": _read_real,
    "int32": _read_whole,
    "int64": _read_whole,
}


def _to_snake(name: str) -> str:
    """Return a name in camel case as snake case: "pageSize" as "page_size"."""
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


class Fields(Settings):
    """Names of the fields that clients may ask for, by API, from `fields.yaml`."""

    place_without_answer: frozenset[str]
    """Fields of Places (New) that Google has and this server leaves out of its answers."""
    legacy_place: frozenset[str]
    routes: frozenset[str]
    element: frozenset[str]
    """Fields of an element of a route matrix."""


FIELDS = load_settings(Path(__file__).with_name("fields.yaml"), Fields)


MaskTree = dict[str, "MaskTree"]
"""Requested fields by name, each with the requested fields inside it; an empty tree asks for all."""

REQUIRED = (
    "FieldMask is a required parameter. See https://cloud.google.com/apis/docs/system-parameters on how to "
    "provide it. As an example, you can set the header 'X-Goog-FieldMask' with value "
    "'places.displayName,places.id' to ask for the display name and id of places."
)


def parse_mask(text: str, known: Collection[str], below: str = "") -> MaskTree:
    """Parse a mask such as `places.id`; `known` fields lie in field `below`, or at the top if that is empty.

    Args:
        text: paths of field names, with commas between them.
        known: names of fields that may be asked for.
        below: the field that holds them, such as "places"; empty if they are at the top.

    Raises:
        Refused: the mask is empty, holds a space, or names a field that is not known.
    """
    if not text:
        raise invalid(REQUIRED)
    tree: MaskTree = {}
    for path in text.split(","):
        names = path.split(".")
        if not below or path == "*":
            is_known = path == "*" or names[0] in known
        elif names[0] != below:
            is_known = names == ["nextPageToken"]
        else:
            is_known = len(names) == 1 or names[1] == "*" or names[1] in known
        if not is_known:
            raise invalid(
                "Request contains an invalid argument. Error expanding 'fields' parameter. "
                f"Cannot find matching fields for path '{path}'."
            )
        _add_path(tree, names)
    everything: MaskTree = {name: {} for name in known}
    if "*" in tree:
        return {below: everything, "nextPageToken": {}} if below else everything
    if below in tree and (not tree[below] or "*" in tree[below]):
        tree[below] = everything
    return tree


def apply_mask(value: Any, tree: MaskTree) -> Any:
    """Return an answer's JSON cut to the fields of a mask's tree; an empty tree cuts nothing."""
    if not tree:
        return value
    if isinstance(value, list):
        return [apply_mask(item, tree) for item in value]
    if isinstance(value, dict):
        return {name: apply_mask(field, tree[name]) for name, field in value.items() if name in tree}
    return value


def _add_path(tree: MaskTree, names: list[str]) -> None:
    """Add a path of field names to a tree in place; a field that was asked for whole stays whole."""
    for index, name in enumerate(names):
        is_new = name not in tree
        branch = tree.setdefault(name, {})
        if index == len(names) - 1:
            branch.clear()
        elif not is_new and not branch:
            return
        tree = branch
