"""How the kernels are compiled: kept on disk, without the interpreter's lock, division as in NumPy.

No fast-math, so equal input gives equal pixels. Kernels take arrays, numbers and named tuples of them.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Decorates a function over arrays, numbers and named tuples of them."""
    return cast("Function", njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """Decorates a small function that kernels call for each pixel: a call with arrays counts references."""
    return cast("Function", njit(inline="always", error_model="numpy")(function))
