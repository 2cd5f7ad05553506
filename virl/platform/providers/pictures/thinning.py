"""Fewer pictures: no two nearer to each other than a step, the others stood for by the nearest of them."""

import numpy as np
from scipy.spatial import cKDTree

from virl.geo import Floats
from virl.platform.providers.pictures.picture import Ints

STEP_M = 8.0
"""Least distance between two panoramas of the graph; chosen: Google's lie 5 to 12 m apart."""


def thinned(xy: Floats, step: float = STEP_M) -> Ints:
    """For each point the number of the point that stands for it: itself, if it is kept.

    Points are kept in their order: one that lies nearer than a step to a kept one is dropped, and the nearest
    kept one stands for it.

    Args:
        xy: metres, (n, 2), the most wanted first.
        step: metres.

    Returns:
        Shape (n,).
    """
    near = cKDTree(xy).query_ball_point(xy, step, return_sorted=True) if len(xy) else []
    kept = np.zeros(len(xy), bool)
    for number, others in enumerate(near):
        before = np.asarray(others[: np.searchsorted(others, number)], np.int64)
        apart = np.hypot(*(xy[before] - xy[number]).T)
        kept[number] = not (kept[before] & (apart < step)).any()
    numbers = np.flatnonzero(kept)
    if not len(numbers):
        return numbers
    stands: Ints = numbers[cKDTree(xy[numbers]).query(xy)[1]]
    return stands
