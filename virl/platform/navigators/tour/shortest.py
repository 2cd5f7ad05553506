"""A short open tour from a fixed start, by fast-tsp's Lin-Kernighan search.

fast-tsp finds closed tours over a symmetric matrix of 16 bit integers. One node more makes an open tour of a
closed one: it lies at the start, and equally far from all other points, so that every good closed tour leaves
the start's side of it and comes back to it from the last point, at a constant cost.
"""

from collections.abc import Sequence

import fast_tsp
import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import Floats, Ints, LatLng, LocalFrame

MAX_TOGETHER = 10_000
"""Points solved in one matrix (chosen: 200 MB, and as much again in the solver); more are split."""
_LARGEST = np.iinfo(np.uint16).max


def path_length(points: Floats, order: Ints) -> float:
    """Return the length of an open path, metres.

    Args:
        points: metres, shape (n, 2).
        order: numbers of points.
    """
    return float(np.hypot(*np.diff(points[order], axis=0).T).sum())


def nearest_neighbour(points: Floats) -> Ints:
    """Return an order of points from 0 on that always goes to the nearest point left.

    Args:
        points: metres, shape (n, 2).
    """
    x, y = points.T.copy()
    order = np.zeros(len(points), np.int64)
    for step in range(1, len(points)):
        here = order[step - 1]
        east, north = x[here], y[here]
        # What is visited is infinitely far from now on.
        x[here] = np.inf
        order[step] = np.argmin((x - east) ** 2 + (y - north) ** 2)
    return order


def shortest_tour(positions: Sequence[LatLng], seconds: float | None = None) -> list[int]:
    """Return the order of a short path through all positions that starts at the first and ends anywhere.

    Never longer than from each to the nearest one left. Up to 19 positions the path is the shortest, but for
    the rounding of distances to 1/65535 of the largest. The search cannot be seeded: of long tours, two runs
    find different ones of nearly one length. Keep the order where it has to be the same again.

    Args:
        positions: at most some 20 km apart, for which a flat map is exact enough.
        seconds: of search; `seconds_for` the number of positions by default.

    Returns:
        The number of every position once, 0 first.

    Raises:
        BadInput: `seconds` is not above 0.
    """
    if seconds is not None and not seconds > 0:
        raise BadInput(f"a tour search of {seconds:g} seconds: must be above 0")
    if len(positions) < 3:
        return list(range(len(positions)))
    lat, lng = np.array(positions, float).T
    points = np.stack(LocalFrame(positions[0]).to_metres(lat, lng), axis=1)
    budget = seconds_for(len(points)) if seconds is None else seconds
    searched = _open_path(points, budget, MAX_TOGETHER)
    best = min((searched, nearest_neighbour(points)), key=lambda order: path_length(points, order))
    return [int(number) for number in best]


def seconds_for(count: int) -> float:
    """Return the seconds to search for a tour of `count` points: 0.9 for 200, 16.5 for 8,000.

    Chosen once: ten times as much gains about one percent at 8,000, less below; docs/explanation/movement.md
    has the figures.
    """
    return 0.5 + count / 500


def _open_path(points: Floats, seconds: float, together: int) -> Ints:
    """Return the order of a short path from point 0; many points are solved in parts."""
    if len(points) <= together:
        return _solve(points, seconds)
    # The part with the start comes first, as the path through the parts has to begin there.
    parts = sorted(_split(points, np.arange(len(points)), together), key=lambda part: 0 not in part)
    middles = np.array([points[part].mean(axis=0) for part in parts])
    path = np.empty(0, np.int64)
    for number in _solve(middles, seconds_for(len(middles))):
        part = parts[number]
        begin = _nearest_in(points, part, int(path[-1])) if len(path) else int(np.argmin(part))
        part = np.r_[part[begin], np.delete(part, begin)]
        path = np.r_[path, part[_solve(points[part], seconds * len(part) / len(points))]]
    return path


def _nearest_in(points: Floats, part: Ints, here: int) -> int:
    """Return the index, within a part, of the point nearest to a point."""
    return int(np.argmin(np.hypot(*(points[part] - points[here]).T)))


def _split(points: Floats, part: Ints, together: int) -> list[Ints]:
    """Return a part cut across its longer side until no piece has more than `together` points."""
    if len(part) <= together:
        return [part]
    # A cut across the longer side gives the most compact parts.
    longer = int(np.argmax(np.ptp(points[part], axis=0)))
    part = part[np.argsort(points[part, longer], kind="stable")]
    return [piece for half in np.array_split(part, 2) for piece in _split(points, half, together)]


def _solve(points: Floats, seconds: float) -> Ints:
    """Return the order of a short path from point 0, by fast-tsp."""
    count = len(points)
    if count < 3:
        return np.arange(count)
    tour = np.array(fast_tsp.find_tour(_matrix(points), seconds), np.int64)
    path = np.roll(tour, -int(np.argmax(tour == count)))[1:]  # what follows the additional node
    path = path if path[0] == 0 else path[::-1]
    return np.roll(path, -int(np.argmax(path == 0)))  # no turn, unless the search ended far too soon


def _matrix(points: Floats) -> NDArray[np.uint16]:
    """Return distances scaled to 65535 at most; the last row and column are of an added node."""
    count = len(points)
    # The diagonal of all points is the longest possible distance.
    scale = _LARGEST / max(np.hypot(*np.ptp(points, axis=0)), 1e-9)
    matrix = np.full((count + 1, count + 1), _LARGEST, np.uint16)
    x, y = ((points - points.min(axis=0)) * scale).T.astype(np.float32)
    for row in range(count):
        matrix[row, :count] = np.rint(np.sqrt((x - x[row]) ** 2 + (y - y[row]) ** 2))
    matrix[count, count] = matrix[0, count] = matrix[count, 0] = 0
    return matrix
