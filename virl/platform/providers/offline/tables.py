"""Reads the tables in `data/`: what towns are furnished and peopled from."""

from importlib.resources import files
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)

# libyaml reads the tables twenty times faster; not every build of PyYAML has it
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_table(name: str, model: type[ModelT]) -> ModelT:
    """The table `data/NAME.yaml`, checked against a model."""
    text = files(__package__).joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    return model.model_validate(yaml.load(text, Loader=_Loader))  # noqa: S506 (both are safe loaders)
