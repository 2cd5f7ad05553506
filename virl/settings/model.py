"""Reading of YAML files into pydantic models; each fault is named with its file, line and field."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from virl.errors import BadFile
from virl.settings.faults import bad_file, spell_value
from virl.settings.kinds import FIELDS
from virl.settings.yaml import YamlText, parse_yaml, read_text

ModelT = TypeVar("ModelT", bound=BaseModel)


class Settings(BaseModel):
    """Base of every model that is read from a file: frozen, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load_settings(path: Path, model: type[ModelT]) -> ModelT:
    """Return a validated object of the model from a YAML file.

    Raises:
        BadInput: the file is missing, is not YAML, repeats a key, or does not fit the model; names all that
            is wrong with it.
    """
    settings: ModelT = _parse(read_text(path), model, str(path))
    return settings


def read_settings(path: Path) -> YamlText:
    """Return the values of a YAML file with their lines, not yet validated.

    Raises:
        BadInput: the file is missing or is not YAML.
    """
    return _read(read_text(path), str(path))


@lru_cache(maxsize=256)
def _parse(text: str, model: type[ModelT], source: str) -> ModelT:
    """Return a validated object of the model from YAML text; cached, since settings are frozen."""
    return fit(_read(text, source), model)


@lru_cache(maxsize=32)
def _read(text: str, source: str) -> YamlText:
    """Return the values of a YAML text with their lines; cached, since several models may read them."""
    return parse_yaml(text, source=source)


def parse_settings(text: str, model: type[ModelT], *, source: str, first_line: int = 1) -> ModelT:
    """Return a validated object of the model from YAML text, which begins in line `first_line` of `source`.

    Args:
        text: of YAML.
        model: pydantic model of the values.
        source: named in errors.
        first_line: number of the text's first line there.

    Raises:
        BadInput: as `load_settings`.
    """
    return fit(parse_yaml(text, source=source, first_line=first_line), model)


def fit(read: YamlText, model: type[ModelT]) -> ModelT:
    """Return a validated object of the model from the values of a YAML text.

    Raises:
        BadFile: it does not fit the model; names everything that is wrong.
    """
    if read.data is None:
        required = [name for name, field in model.model_fields.items() if field.is_required()]
        needed = f": write the fields {', '.join(required)}" if required else ""
        raise BadFile(read.source, [(None, f"is empty{needed}")])
    if not isinstance(read.data, dict) and not issubclass(model, RootModel):
        found = "a list" if isinstance(read.data, list) else spell_value(read.data)
        raise BadFile(read.source, [(read.line(()), f"must contain {FIELDS}, not {found}")])
    try:
        return model.model_validate(read.data)
    except ValidationError as error:
        raise bad_file(read.source, error, model, read.data, read.line) from error


def check_settings(data: Mapping[str, object], model: type[ModelT], *, source: str) -> ModelT:
    """Return a validated object of the model from fields in a mapping; errors name `source`.

    Args:
        data: fields by name.
        model: pydantic model of the values.
        source: named in errors.

    Raises:
        BadFile: they do not fit the model; names `source` and everything that is wrong.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise bad_file(source, error, model, data) from error


def yaml_value(text: str, *, source: str) -> object:
    """Return the value of YAML text such as `3`, `[a, b]` or `some words`; errors name `source`, no line.

    Raises:
        BadInput: it is not YAML.
    """
    try:
        value: object = parse_yaml(text, source=source).data
    except BadFile as fault:
        raise BadFile(source, [(None, said) for _, said in fault.faults]) from fault
    return value
