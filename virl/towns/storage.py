"""Files of towns: their plans as plain arrays and back, the tables they draw on, and the key of what is kept.

A plan is made of frozen dataclasses, whose annotations say what a value is: a dataclass becomes the list of
its fields, many of one class a list for each field, and an array or a geometry the number of an entry beside
it. Nothing in a file can name code. Only what twins are made of is known. The key changes with any code or
font that makes or draws a town.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import features
from pydantic import BaseModel
from shapely.geometry.base import BaseGeometry

from virl.extras import missing_packages
from virl.pages.fonts import FONT_FOLDER, installed_faces
from virl.platform.city.place_types import table_file
from virl.settings.model import load_settings

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]
"""NumPy arrays by name."""


@dataclass
class _Stack:
    """Arrays of one type and row shape, joined to one array for fast reading."""

    arrays: list[NDArray[Any]] = field(default_factory=list)
    rows: int = 0

    def add(self, value: NDArray[Any]) -> tuple[int, int]:
        """Add an array and return (its first row, the row after its last) in the joined array."""
        self.arrays.append(value)
        self.rows += len(value)
        return self.rows - len(value), self.rows


Stacks = dict[str, _Stack]
"""Stacks of arrays that become one array each, by name."""


def encode(value: object) -> Arrays:
    """Return a dataclass object as named NumPy arrays of numbers and bytes, for `decode` to read."""
    arrays: Stacks = {}
    geometries: list[BaseGeometry] = []
    tree = _to_json(value, arrays, geometries)
    known = np.asarray(shapely.to_wkb(geometries), object) if geometries else np.empty(0, object)
    return {name: np.concatenate(stack.arrays) for name, stack in arrays.items()} | {
        "tree": np.frombuffer(json.dumps(tree, ensure_ascii=False).encode(), np.uint8),
        "wkb": np.frombuffer(b"".join(known), np.uint8),
        "wkb_end": np.cumsum([len(each) for each in known], dtype=np.int64),
    }


def decode(kind: type[T], arrays: Mapping[str, NDArray[Any]]) -> T:
    """Return the object of the dataclass `kind` that `encode` turned into arrays.

    Raises:
        ValueError, LookupError, TypeError: the arrays are not those of such an object.
    """
    read = {name: arrays[name] for name in arrays}
    kept, ends = read["wkb"].tobytes(), read["wkb_end"].tolist()
    wkb = [kept[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    context = _Context(read, np.asarray(shapely.from_wkb(wkb), object))
    made: T = _decoder(cast("Any", kind))(json.loads(read["tree"].tobytes()), context)
    return made


@dataclass(frozen=True, slots=True)
class _Context:
    """The arrays and geometries that the values of an encoded dataclass refer to."""

    arrays: Mapping[str, NDArray[Any]]
    geometries: NDArray[np.object_]


Decoder = Callable[[Any, _Context], Any]
"""A function that returns the decoded value of (plain JSON value, `_Context`)."""


def _to_json(value: Any, arrays: Stacks, geometries: list[BaseGeometry]) -> Any:
    """Return a value as data for JSON; add its arrays and geometries to those given, and refer to them."""
    if isinstance(value, np.ndarray | BaseGeometry):
        return _store_beside(value, arrays, geometries)
    if is_dataclass(value):
        return [_to_json(getattr(value, field.name), arrays, geometries) for field in fields(value)]
    if isinstance(value, tuple):
        if value and is_dataclass(kind := type(value[0])):  # many of one class: `_decoder_of_items`
            columns = ([getattr(each, field.name) for each in value] for field in fields(kind))
            return [[_to_json(each, arrays, geometries) for each in column] for column in columns]
        return [_to_json(each, arrays, geometries) for each in value]
    if isinstance(value, Mapping):
        return {key: _to_json(each, arrays, geometries) for key, each in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _store_beside(
    value: NDArray[Any] | BaseGeometry, arrays: Stacks, geometries: list[BaseGeometry]
) -> int | list[Any]:
    """Add an array or geometry to those collected, and return the reference to it."""
    if isinstance(value, BaseGeometry):
        geometries.append(value)
        return len(geometries) - 1
    if value.dtype == object:
        geometries.extend(value.tolist())
        return [len(geometries) - len(value), len(geometries)]
    name = "_".join(map(str, ("rows", value.dtype.str.strip("<|"), *value.shape[1:])))
    return [name, *arrays.setdefault(name, _Stack()).add(value)]


@cache
def _decoder(kind: Any) -> Decoder:
    """Return the decoder for values of an annotated type."""
    origin, inner = get_origin(kind), get_args(kind)
    if alias := getattr(origin, "__value__", None):  # NumPy 2.5's `NDArray`, from Python 3.12 on
        origin = get_origin(alias)
    if origin in {Union, UnionType}:
        [one] = [_decoder(each) for each in inner if each is not NoneType]
        return lambda value, context: None if value is None else one(value, context)
    if origin is tuple:
        if inner[1:] == (...,):
            return _decoder_of_items(inner[0])
        every = [_decoder(each) for each in inner]
        return lambda value, context: tuple(
            [one(each, context) for one, each in zip(every, value, strict=True)]
        )
    if origin is np.ndarray:
        return _array
    if is_dataclass(kind):
        return _decoder_of_fields(kind, [field.name for field in fields(kind)])
    return _decoder_of_class(kind, origin)


def _decoder_of_class(kind: Any, origin: Any) -> Decoder:
    """Return the decoder for values of a class or `Literal`, such as a geometry or a named tuple."""
    made = origin if isinstance(origin, type) else kind
    if not isinstance(made, type):  # a `Literal`
        return _keep
    if issubclass(made, BaseGeometry):
        return lambda value, context: context.geometries[value]
    if issubclass(made, Counter):
        return lambda value, _: Counter(value)
    if issubclass(made, tuple):  # a `NamedTuple`
        return _decoder_of_fields(made, made._fields)  # type: ignore[attr-defined]
    return _keep


def _keep(value: Any, _: _Context) -> Any:
    """Return a value unchanged, as the decoder of plain values."""
    return value


def _array(value: Any, context: _Context) -> Any:
    """Return the rows of an array, or the geometries, that a reference in encoded data stands for."""
    if len(value) == 3:
        name, start, end = value
        return context.arrays[name][start:end]
    return context.geometries[slice(*value)]


def _decoder_of_items(kind: Any) -> Decoder:
    """Return the decoder for tuples of one type; dataclass objects are stored as a list for each field."""
    if not is_dataclass(kind):
        item = _decoder(kind)
        return lambda value, context: tuple([item(each, context) for each in value])
    made, hints = cast("type[Any]", kind), get_type_hints(kind)
    every = [_decoder(hints[field.name]) for field in fields(kind)]

    def rows(value: Any, context: _Context) -> Any:
        """Return the objects whose fields are given as columns."""
        if not value:
            return ()
        columns = [
            column if one is _keep else [one(each, context) for each in column]
            for one, column in zip(every, value, strict=True)
        ]
        return tuple(starmap(made, zip(*columns, strict=True)))

    return rows


def _decoder_of_fields(kind: Any, names: Iterable[str]) -> Decoder:
    """Return the decoder for objects of the class `kind`, encoded as lists of the fields `names`."""
    hints = get_type_hints(kind)
    every = [_decoder(hints[name]) for name in names]
    return lambda value, context: kind(*[one(each, context) for one, each in zip(every, value, strict=True)])


def picture_key(town: str) -> str:
    """Return the beginning of the cache keys of pictures, by the town's key; empty if none are kept."""
    if not town or missing_packages(("numba",)):  # without numba no picture is drawn
        return ""
    return f"{maker()} {version('numba')} {town}"


@cache
def maker() -> str:
    """Return a digest of the code and fonts that make and draw towns, a part of the keys of caches."""
    # Which names have a sign depends on the fonts, and on Raqm.
    others = " ".join((np.__version__, str(features.check("raqm")), *installed_faces()))
    digest = hashlib.sha256(others.encode())
    for file in sources():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def sources() -> list[Path]:
    """Return the paths of the code, tables and fonts that a made town depends on, sorted."""
    here = Path(__file__).parent
    virl = here.parent
    own = (file for file in here.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    fonts = (FONT_FOLDER.parent / "fonts.py", *FONT_FOLDER.iterdir())
    below = (*(virl / "platform" / "city").glob("*"), *(virl / "geo").glob("*"))
    made = virl / "platform" / "providers" / "offline" / "city.py"
    return sorted([*own, *fonts, *(file for file in below if file.is_file()), made, table_file()])


ModelT = TypeVar("ModelT", bound=BaseModel)

_DATA = Path(__file__).parent / "data"
"""Folder of the tables of made towns."""


def read_table(name: str, model: type[ModelT]) -> ModelT:
    """Return the content of the table `data/NAME.yaml`, checked against a model."""
    return load_settings(_DATA / f"{name}.yaml", model)
