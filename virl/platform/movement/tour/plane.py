"""Paths over points in the plane: their length, and the nearest neighbour order."""

import numpy as np
from numpy.typing import NDArray

from virl.geo import Floats

Order = NDArray[np.int64]
"""Numbers of points, each once."""


def path_length(points: Floats, order: Order) -> float:
    """Metres along an open path.

    Args:
        points: metres, shape (n, 2).
        order: numbers of points.
    """
    return float(np.hypot(*np.diff(points[order], axis=0).T).sum())


def nearest_neighbour(points: Floats) -> Order:
    """From point 0 always to the nearest that is left; of equally near ones to the first.

    Args:
        points: metres, shape (n, 2).
    """
    x, y = points.T.copy()
    order = np.zeros(len(points), np.int64)
    for step in range(1, len(points)):
        here = order[step - 1]
        east, north = x[here], y[here]
        x[here] = np.inf
        order[step] = np.argmin((x - east) ** 2 + (y - north) ** 2)
    return order
