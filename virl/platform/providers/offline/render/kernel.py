"""How the kernels are compiled: kept on disk, without the interpreter's lock, division as in NumPy."""

from numba import njit

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Decorates a function over arrays and numbers. No fast-math: equal input gives equal pixels."""

inlined = njit(inline="always", error_model="numpy")
"""Decorates a small function that kernels call for each pixel: a call with arrays would count references."""
