"""JSON as protocol buffers have it: enums by name or number, numbers as texts, names in either form."""

import re
from collections.abc import Callable, Mapping
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
    return _message(body, name, "")


def with_numbers(value: Any, field: str = "") -> Any:
    """Return an answer with its enums as numbers, as `$alt=json;enum-encoding=int` asks for."""
    if isinstance(value, dict):
        return {name: with_numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item, field) for item in value]
    return MESSAGES.answers.get(field, {}).get(value, value) if isinstance(value, str) else value


def _message(body: Json, name: str, path: str) -> Json:
    fields = {_snake(field): field for field in MESSAGES.messages[name]}
    found = {}
    for given, value in body.items():
        field = given if given in MESSAGES.messages[name] else fields.get(given)
        if field is None:
            where = f" at '{path}'" if path else ""
            raise invalid(f'Invalid JSON payload received. Unknown name "{given}"{where}: Cannot find field.')
        if value is not None:
            below = f"{path}.{_snake(field)}" if path else _snake(field)
            found[field] = _field(value, MESSAGES.messages[name][field], below)
    return found


def _field(value: Any, kind: str | list[str], path: str) -> Any:
    if isinstance(kind, str):
        return _single(value, kind, path)
    if not isinstance(value, list):
        raise _fault(path, kind[0], value)
    return [_single(item, kind[0], f"{path}[{index}]") for index, item in enumerate(value)]


def _single(value: Any, kind: str, path: str) -> Any:
    if kind in MESSAGES.messages:
        if not isinstance(value, dict):
            raise _fault(path, kind, value)
        return _message(value, kind, path)
    if kind in MESSAGES.enums:
        return _enum(value, kind, path)
    try:
        return _SCALARS[kind](value)
    except (TypeError, ValueError, OverflowError):
        raise _fault(path, f"TYPE_{kind.upper()}", value) from None


def _enum(value: Any, kind: str, path: str) -> str:
    names = MESSAGES.enums[kind]
    if isinstance(value, str) and value in names:
        return value
    numbered = {number: name for name, number in names.items()}
    if type(value) is int and value in numbered:
        return numbered[value]
    raise _fault(path, kind, value)


def _fault(path: str, kind: str, value: Any) -> Exception:
    known = kind if kind.startswith("TYPE_") else f"type.googleapis.com/{kind}"
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return invalid(f"Invalid value at '{path}' ({known}), {shown[:200]}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


def _whole(value: Any) -> int:
    found = _real(value)
    if found != int(found):
        raise ValueError
    return int(found)


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "bool": _flag,
    "double": _real,
    "int32": _whole,
    "int64": _whole,
}


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
