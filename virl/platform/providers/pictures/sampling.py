"""Points of a panorama that a camera's pixels see, by compiled code."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from virl.platform.providers.pictures.plain_sampling import ARC_TANGENT

_C0, _C1, _C2, _C3, _C4, _C5, _C6 = ARC_TANGENT


def _sample(
    columns: NDArray[np.float32],
    rows: NDArray[np.float32],
    axes: NDArray[np.float32],
    pano_width: int,
    pano_height: int,
    pad: int,
) -> None:
    """Fill `columns`, `rows` with each pixel's point in a panorama, `pad` rows down; `axes` is 3 x 3."""
    height, width = columns.shape
    half = np.float32(0.5)
    across, along = np.float32(pano_width / np.pi), np.float32(-2 * pano_height / np.pi)
    turn = np.float32(pano_width / 2)
    middle, horizon = np.float32(pano_width / 2 - 0.5), np.float32(pano_height / 2 - 0.5 + pad)
    for y in range(height):
        above = np.float32(height) * half - half - np.float32(y)
        right_0 = axes[0, 1] * above + axes[0, 2]
        up_0 = axes[1, 1] * above + axes[1, 2]
        forward_0 = axes[2, 1] * above + axes[2, 2]
        for x in range(width):
            beside = np.float32(x) + half - np.float32(width) * half
            right = axes[0, 0] * beside + right_0
            up = axes[1, 0] * beside + up_0
            forward = axes[2, 0] * beside + forward_0
            ground = right * right + forward * forward
            level = np.sqrt(ground)
            # The tangent of half an angle is in [-1, 1] for all angles to the nearer of ahead and behind.
            u = right / (level + abs(forward) + np.float32(1e-20))
            s = u * u
            angle = u * (_C0 + s * (_C1 + s * (_C2 + s * (_C3 + s * (_C4 + s * (_C5 + s * _C6))))))
            ahead = angle * across
            behind = (turn if right >= 0 else -turn) - ahead
            columns[y, x] = (ahead if forward >= 0 else behind) + middle
            v = up / (level + np.sqrt(ground + up * up) + np.float32(1e-20))
            t = v * v
            lift = v * (_C0 + t * (_C1 + t * (_C2 + t * (_C3 + t * (_C4 + t * (_C5 + t * _C6))))))
            rows[y, x] = lift * along + horizon


sample = cast("Callable[..., Any]", njit(cache=True, nogil=True, error_model="numpy")(_sample))
"""Compiled function that does the same as `plain_sampling.sample`, with the same arguments."""
