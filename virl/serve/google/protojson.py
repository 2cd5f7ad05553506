"""JSON as protocol buffers have it: enums by name or number, numbers as texts, and masks of fields."""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from virl.serve.google.wire import Json, invalid
from virl.settings.model import Settings, load_settings


class Messages(Settings):
    """The fields of messages, from `messages.yaml`."""

    messages: Mapping[str, Mapping[str, str | list[str]]]
    """The type of each field, in a list where it is repeated."""
    enums: Mapping[str, Mapping[str, int]]
    answers: Mapping[str, Mapping[str, int]]
    """Enums in answers, by the name of their field."""


MESSAGES = load_settings(Path(__file__).with_name("messages.yaml"), Messages)


def read_message(body: Json, name: str) -> Json:
    """Read a message in its canonical form: names in camel case, enums by name, numbers as numbers.

    Args:
        body: as it came.
        name: of the message, in `messages.yaml`.

    Raises:
        Refused: a field is unknown, or holds something else than it should.
    """
    return _read_fields(body, name, "")


def with_numbers(value: Any, field: str = "") -> Any:
    """Return an answer with its enums as numbers, as `$alt=json;enum-encoding=int` asks for."""
    if isinstance(value, dict):
        return {name: with_numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item, field) for item in value]
    return MESSAGES.answers.get(field, {}).get(value, value) if isinstance(value, str) else value


def _read_fields(body: Json, name: str, path: str) -> Json:
    """Return a message with its fields by their JSON names; `path` is its place in the request."""
    fields = {_to_snake(field): field for field in MESSAGES.messages[name]}
    found = {}
    for given, value in body.items():
        field = given if given in MESSAGES.messages[name] else fields.get(given)
        if field is None:
            where = f" at '{path}'" if path else ""
            raise invalid(f'Invalid JSON payload received. Unknown name "{given}"{where}: Cannot find field.')
        if value is not None:
            below = f"{path}.{_to_snake(field)}" if path else _to_snake(field)
            found[field] = _read_field(value, MESSAGES.messages[name][field], below)
    return found


def _read_field(value: Any, kind: str | list[str], path: str) -> Any:
    """Return a field's value, checked against its kind; in a list, against the kind of an entry."""
    if isinstance(kind, str):
        return _read_single(value, kind, path)
    if not isinstance(value, list):
        raise _invalid_value(path, kind[0], value)
    return [_read_single(item, kind[0], f"{path}[{index}]") for index, item in enumerate(value)]


def _read_single(value: Any, kind: str, path: str) -> Any:
    """Return a value checked as a message, an enum or a scalar."""
    if kind in MESSAGES.messages:
        if not isinstance(value, dict):
            raise _invalid_value(path, kind, value)
        return _read_fields(value, kind, path)
    if kind in MESSAGES.enums:
        return _read_enum(value, kind, path)
    try:
        return _SCALARS[kind](value)
    except (TypeError, ValueError, OverflowError):
        raise _invalid_value(path, f"TYPE_{kind.upper()}", value) from None


def _read_enum(value: Any, kind: str, path: str) -> str:
    """Return the name of an enum's value, given as name or number."""
    names = MESSAGES.enums[kind]
    if isinstance(value, str) and value in names:
        return value
    # `type`, not `isinstance`: true and false are numbers to Python and none to Google.
    numbered = {number: name for name, number in names.items()}
    if type(value) is int and value in numbered:
        return numbered[value]
    raise _invalid_value(path, kind, value)


def _invalid_value(path: str, kind: str, value: Any) -> Exception:
    """Return the refusal of an invalid value."""
    known = kind if kind.startswith("TYPE_") else f"type.googleapis.com/{kind}"
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return invalid(f"Invalid value at '{path}' ({known}), {shown[:200]}")


def _read_text(value: Any) -> str:
    """Return a text; raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    """Return whether a value, which has to be a truth value, is true."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def _read_real(value: Any) -> float:
    """Return a number, also out of a text; raises TypeError or ValueError."""
    # Protocol buffers take numbers as texts too, and no truth values.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


def _read_whole(value: Any) -> int:
    """Return a whole number, also out of a text; raises TypeError or ValueError."""
    found = _read_real(value)
    if found != int(found):
        raise ValueError
    return int(found)


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "string": _read_text,
    "bool": _flag,
    "double": _read_real,
    "int32": _read_whole,
    "int64": _read_whole,
}


def _to_snake(name: str) -> str:
    """Return a name in snake case."""
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


class Fields(Settings):
    """Fields that a client may ask for."""

    place_without_answer: frozenset[str]
    legacy_place: frozenset[str]
    routes: frozenset[str]
    element: frozenset[str]


FIELDS = load_settings(Path(__file__).with_name("fields.yaml"), Fields)


MaskTree = dict[str, "MaskTree"]
"""Wanted fields, and of each the wanted fields below it; none below means all."""

REQUIRED = (
    "FieldMask is a required parameter. See https://cloud.google.com/apis/docs/system-parameters on how to "
    "provide it. As an example, you can set the header 'X-Goog-FieldMask' with value "
    "'places.displayName,places.id' to ask for the display name and id of places."
)


def parse_mask(text: str, known: Collection[str], below: str = "") -> MaskTree:
    """Parse the tree of a mask such as `places.id,places.displayName`; `*` stands for all that is known.

    Args:
        text: paths with commas between them.
        known: names of fields that may be asked for.
        below: the field that holds those; other names then stand beside it.

    Raises:
        Refused: the mask is empty, holds a space, or names a field that is not known.
    """
    if not text:
        raise invalid(REQUIRED)
    tree: MaskTree = {}
    for path in text.split(","):
        names = path.split(".")
        if path != "*" and not _is_known(names, known, below):
            raise invalid(
                "Request contains an invalid argument. Error expanding 'fields' parameter. "
                f"Cannot find matching fields for path '{path}'."
            )
        _grow(tree, names)
    if "*" in tree:
        return (
            {below: dict.fromkeys(known, _whole_tree()), "nextPageToken": {}}
            if below
            else dict.fromkeys(known, _whole_tree())
        )
    if below in tree and (not tree[below] or "*" in tree[below]):
        tree[below] = dict.fromkeys(known, _whole_tree())
    return tree


def apply_mask(value: Any, tree: MaskTree) -> Any:
    """Return the part of an answer that a mask asks for."""
    if not tree:
        return value
    if isinstance(value, list):
        return [apply_mask(item, tree) for item in value]
    if isinstance(value, dict):
        return {name: apply_mask(field, tree[name]) for name, field in value.items() if name in tree}
    return value


def _whole_tree() -> MaskTree:
    """Return the mask of all fields."""
    return {}


def _grow(tree: MaskTree, names: list[str]) -> None:
    """Add a path; a field asked for whole stays whole."""
    for index, name in enumerate(names):
        is_new = name not in tree
        branch = tree.setdefault(name, {})
        if index == len(names) - 1:
            branch.clear()
        elif not is_new and not branch:
            return
        tree = branch


def _is_known(names: list[str], known: Collection[str], below: str) -> bool:
    """Return whether a path of a mask names known fields, `below` a list's name if there is one."""
    if not below:
        return names[0] in known
    if names[0] != below:
        return names == ["nextPageToken"]
    return len(names) == 1 or names[1] == "*" or names[1] in known
