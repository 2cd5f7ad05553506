"""Reads the tables in `data/`: what towns are furnished and peopled from."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from virl.settings.model import load_settings

ModelT = TypeVar("ModelT", bound=BaseModel)

_DATA = Path(__file__).parent / "data"
"""Folder of the tables."""


def read_table(name: str, model: type[ModelT]) -> ModelT:
    """Read the table `data/NAME.yaml`, checked against a model."""
    return load_settings(_DATA / f"{name}.yaml", model)
