"""Parts of kernels that count no references give no array back: its caller would give up one too many."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numba.core.dispatcher import Dispatcher

import virl.osm
import virl.towns
from virl.geo.globe import Floats


class Pair(NamedTuple):
    """A tuple with an array."""

    number: int
    row: Floats


def holds_array(hint: Any) -> bool:
    """Return True for a type that is an array, or a tuple of types that are."""
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return any(map(holds_array, get_type_hints(hint).values()))
    origin = get_origin(hint)
    if origin is tuple:
        return any(map(holds_array, get_args(hint)))
    return origin is np.ndarray or hint is np.ndarray


def parts() -> Iterator[tuple[str, Dispatcher]]:
    """Yield the compiled functions of virl that count no references, by name."""
    for package in (virl.osm, virl.towns):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            for name, value in vars(import_module(found.name)).items():
                if isinstance(value, Dispatcher) and value.targetoptions.get("_nrt") is False:
                    yield f"{found.name}.{name}", value


def test_uncounted_parts_give_no_array_back() -> None:
    assert holds_array(Pair)
    assert holds_array(tuple[int, Floats])
    assert not holds_array(tuple[int, float])
    found = dict(parts())
    assert len(found) > 50
    assert [name for name, part in found.items() if holds_array(get_type_hints(part.py_func)["return"])] == []
