"""Read a YAML file into a pydantic model; a fault is named with its file, field and line."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from virl.errors import BadInput

_Loader = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)  # written in C where libyaml is there: ten times as fast
ModelT = TypeVar("ModelT", bound=BaseModel)
Location = Sequence[str | int]

LONGEST = 40  # characters of a value that an error repeats; chosen
_NUMBER, _WHOLE, _LIST = "must be a number", "must be a whole number", "must be a list, such as [a, b]"
_FIELDS = "must contain `field: value` lines"
_EXPECTED = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": _FIELDS,
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "int_from_float": _WHOLE,
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "list_type": _LIST,
    "model_type": _FIELDS,
    "string_type": "must be text (put it in quotes)",
    "tuple_type": _LIST,
}
"""What a value must be, by pydantic's type of error."""


class Settings(BaseModel):
    """Base of every model that is read from a file: frozen, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load_settings(path: Path, model: type[ModelT]) -> ModelT:
    """Read and validate one YAML file.

    Raises:
        BadInput: the file is missing, is not YAML, repeats a key, or does not fit the model.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path}: cannot be read ({fault})") from fault
    settings: ModelT = _parsed(text, model, str(path))
    return settings


@lru_cache(maxsize=256)
def _parsed(text: str, model: type[ModelT], source: str) -> ModelT:
    """Read once a process as long as the file stays the same: settings are frozen, and so can be shared."""
    return parse_settings(text, model, source=source)


def parse_settings(text: str, model: type[ModelT], *, source: str, first_line: int = 1) -> ModelT:
    """Validate YAML text that was found in `source`, where it starts at `first_line`.

    Raises:
        BadInput: as `load_settings`.
    """
    root, data = _read_yaml(text, source, first_line)
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        raise BadInput(_one_line(fault, model, root, source, first_line)) from fault


def check_settings(data: Mapping[str, object], model: type[ModelT], *, source: str) -> ModelT:
    """Validate fields that come from no one file.

    Raises:
        BadInput: they do not fit the model; names `source` and the field.
    """
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        first = fault.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "fields"
        raise BadInput(f"{source}: {field}: {_reason(first, model)}") from fault


def yaml_value(text: str, *, source: str) -> object:
    """A value as YAML spells it: `3`, `[a, b]`, `some words`.

    Raises:
        BadInput: it is not YAML.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as fault:
        raise BadInput(f"{source}: not valid YAML: {' '.join(str(fault).split())}") from fault


def _read_yaml(text: str, source: str, first_line: int) -> tuple[yaml.Node, object]:
    """The same text as nodes, which know their lines, and as data."""
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            raise BadInput(f"{source}: must contain `field: value` lines")
        _refuse_repeated_keys(root, source, first_line)
        return root, loader.construct_document(root)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        line = first_line + (mark.line if mark else 0)
        raise BadInput(f"{source}, line {line}: not valid YAML: {fault.problem}") from fault
    except yaml.YAMLError as fault:
        raise BadInput(f"{source}: not valid YAML: {' '.join(str(fault).split())}") from fault


def _refuse_repeated_keys(node: yaml.Node, source: str, first_line: int) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            field = str(key.value)
            if field in seen:
                line = first_line + key.start_mark.line
                raise BadInput(f"{source}, line {line}: field {field!r} is repeated")
            seen.add(field)
            _refuse_repeated_keys(value, source, first_line)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, source, first_line)


def _one_line(
    fault: ValidationError, model: type[BaseModel], root: yaml.Node, source: str, first_line: int
) -> str:
    first, *others = fault.errors()
    line = first_line + _line_of(root, first["loc"])
    field = ".".join(str(part) for part in first["loc"]) or "file"
    more = f" (and {len(others)} more)" if others else ""
    return f"{source}, line {line}: {field}: {_reason(first, model)}{more}"


def _reason(fault: ErrorDetails, model: type[BaseModel]) -> str:
    if fault["type"] == "missing":
        return "field is missing"
    if fault["type"] != "extra_forbidden":
        return _expected(fault)
    *way, name = map(str, fault["loc"])
    close = get_close_matches(name, _fields_at(model, way), n=1)
    return f"unknown field; did you mean {close[0]!r}?" if close else "unknown field"


def _expected(fault: ErrorDetails) -> str:
    """What a value must be, in the words of YAML, and what was found if that is short."""
    found = fault["input"]
    instead = (
        f", not {found!r}" if isinstance(found, str | int | float) and len(str(found)) <= LONGEST else ""
    )
    if fault["type"] in _EXPECTED:
        return _EXPECTED[fault["type"]] + instead
    if fault["type"] == "literal_error":
        return f"must be {fault['ctx']['expected']}{instead}"
    said = fault["msg"].removeprefix("Value error, ")
    return (
        said.replace("Input should be", "must be") + instead if said.startswith("Input should be") else said
    )


def _fields_at(model: type[BaseModel], way: Sequence[str]) -> list[str]:
    """The fields of the model that lies at the end of a way of fields; none where it leads through a list."""
    for name in way:
        field = model.model_fields.get(name)
        kinds = [] if field is None else [field.annotation, *get_args(field.annotation)]
        inner = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if len(inner) != 1:
            return []
        model = inner[0]
    return list(model.model_fields)


def _line_of(node: yaml.Node, location: Location) -> int:
    """Zero-based line of the deepest node on the way to `location` that the file holds."""
    line = int(node.start_mark.line)
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if found is None:
                return line
            line, node = found[0].start_mark.line, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
    return line
