"""The options of a benchmark as options of a command line: `--agent follower --map` for `agent` and `map`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from virl.bench.benchmark import BaseOptions
from virl.settings.model import yaml_value

_ONE = {"cities": "city", "models": "model"}
"""{plural name of a field whose option may be repeated: singular name of the command-line option}."""
_PREFIX = "own_"


def flag_of(field: str) -> str:
    """Return the command-line option of an options' field, such as `"--max-steps"` for `max_steps`."""
    return "--" + _ONE.get(field, field).replace("_", "-")


Completer = Callable[[str], list[str]]
"""A function from the text typed so far to the values that begin with it."""


def parameters(
    options: type[BaseOptions],
    panel: str,
    taken: Collection[str] = (),
    complete: Callable[[str, str, Collection[str]], Completer] | None = None,
) -> Iterator[Parameter]:
    """Yield a `typer` parameter, in help section `panel`, for each field whose flag is not `taken`.

    Args:
        options: of the benchmark.
        panel: heading in the help.
        taken: options of the same command that are not the benchmark's; a field named like one has none.
        complete: makes what completes an option, of its field, its description and all its values where
            there are only so many.
    """
    defaults = options.model_construct().model_dump(mode="json")
    for name, field in options.model_fields.items():
        flag = flag_of(name)
        if flag in taken:
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        described = " ".join((field.description or "").split())
        about = typer.Option(
            f"{flag}/--no-{flag[2:]}" if field.annotation is bool else flag,
            help=f"{described} Can be repeated." if _is_repeated(field) else described,
            envvar=str(extra["envvar"]) if "envvar" in extra else None,
            show_default=_show_default(defaults.get(name)),
            metavar=None if field.annotation is bool else _metavar(field),
            rich_help_panel=panel,
            autocompletion=complete(name, described, _choices(field)) if complete else None,
        )
        kind: Any = bool | None if field.annotation is bool else str | None
        yield Parameter(
            _PREFIX + name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None if _is_repeated(field) else kind, about],
        )


def listed_options(options: type[BaseOptions]) -> list[dict[str, Any]]:
    """Return a benchmark's options, each as {option: flag, field, default (JSON), about: help text}."""
    defaults = options.model_construct().model_dump(mode="json")
    return [
        {
            "option": flag_of(name),
            "field": name,
            "default": defaults.get(name),
            "about": " ".join((field.description or "").split()),
        }
        for name, field in options.model_fields.items()
    ]


def named_fields(options: type[BaseOptions], arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return {field: value} of the options that the command line gave; `arguments` as typer passed them.

    Raises:
        BadInput: a value that should be YAML is not.
    """
    found: dict[str, object] = {}
    for name, field in options.model_fields.items():
        value = arguments.get(_PREFIX + name)
        if value is not None and value != []:
            found[name] = _value(field, value, flag_of(name)) if isinstance(value, str) else value
    return found


def _value(field: FieldInfo, text: str, flag: str) -> object:
    """Return a command-line text unchanged if it fits the field's type, else its value read as YAML."""
    try:
        TypeAdapter[Any](field.annotation or str).validate_python(text)
    except ValidationError:
        return yaml_value(text, source=flag)
    return text


def _is_repeated(field: FieldInfo) -> bool:
    """Return whether a field's option may be given several times."""
    return get_origin(field.annotation) in {tuple, list}


def _metavar(field: FieldInfo) -> str:
    """Return the placeholder for an option's value in its help, such as INTEGER."""
    kind: Any = field.annotation
    if _is_repeated(field):
        kind = get_args(kind)[0]
    plain = [one for one in get_args(kind) if one is not type(None)] or [kind]
    if get_origin(plain[0]) is Literal or get_origin(kind) is Literal:
        return "|".join(map(str, get_args(plain[0]) or plain))
    if get_origin(plain[0]) is Annotated:
        plain = [get_args(plain[0])[0]]
    known = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}
    return known.get(plain[0], getattr(plain[0], "__name__", "YAML").upper())


def _choices(field: FieldInfo) -> tuple[str, ...]:
    """Return all values of a field of `Literal` type, as texts; empty for other fields."""
    kinds = (field.annotation, *get_args(field.annotation))
    return tuple(str(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind))


def _show_default(default: object) -> str | bool:
    """Return a default as text for the help; `False` if the help shows none."""
    if isinstance(default, list):
        return ", ".join(map(str, default)) or False
    return False if default in (None, "", {}) or isinstance(default, bool) else str(default)
