"""How the kernels are compiled: kept on disk, without the interpreter's lock, division as in NumPy.

No fast-math, so equal input gives equal pixels. Kernels take arrays, numbers and named tuples of them. Two
habits keep them fast: arrays are taken out of a named tuple, or cut, in a `part` or an inlined function, as
a kernel would count references each time; and a function that is called for each pixel is inlined. LLVM
inlines, not Numba (`forceinline`, not `inline="always"`): Numba would infer the types of an inlined body
anew at every call, which takes twice as long to compile.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def _digest_of_sources() -> str:
    """Return a digest that changes with any file of this package."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


_SOURCES = _digest_of_sources()
_PART: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
# Without Numba's runtime, which counts references to arrays: that took a tenth of a view.
_UNCOUNTED: dict[str, Any] = {**_PART, "_nrt": False}


def kernel(function: Function) -> Function:
    """Return a function compiled by Numba that Python may call, with arrays, numbers and named tuples."""
    # Numba names what it keeps after the function, and compiles anew only when the function's own file has
    # changed, not when a constant, a type or an inlined function of another file has.
    function.__qualname__ += f".{_SOURCES}"
    return cast("Function", njit(cache=True, nogil=True, error_model="numpy")(function))


def part(function: Function) -> Function:
    """Return a function compiled with the kernels that call it, which makes no array and gives none back.

    Python must not call it.
    """
    return cast("Function", njit(**_UNCOUNTED)(function))


def array_part(function: Function) -> Function:
    """Return a kernel like that of `part`, for a function that makes arrays or calls one that does."""
    return cast("Function", njit(**_PART)(function))


def inline_kernel(function: Function) -> Function:
    """Return a kernel like that of `part`, for a small function that is called for each pixel."""
    return cast("Function", njit(**_UNCOUNTED, forceinline=True)(function))
