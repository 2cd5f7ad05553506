"""Lines and points on flat ground, in metres."""

from collections.abc import Iterable

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from virl.geo.globe import Flags, Floats, Ints


def line_strings(lines: Iterable[ArrayLike]) -> NDArray[np.object_]:
    """Return the shapes of lines of two points or more, made in one call."""
    points = [np.asarray(line, float) for line in lines]
    if not points:
        return np.empty(0, object)
    owner = np.repeat(np.arange(len(points)), [len(line) for line in points])
    return np.asarray(shapely.linestrings(np.concatenate(points), indices=owner), object)


def near_shapes(xy: Floats, shapes: shapely.STRtree, margin: float) -> Flags:
    """Return True for each point within `margin` metres of a shape in a search tree.

    Args:
        xy: points in metres, shape (n, 2).
        shapes: search tree.
        margin: metres.
    """
    hit = shapes.query(shapely.points(xy), predicate="dwithin", distance=margin).reshape(2, -1)[0]
    return np.isin(np.arange(len(xy)), hit)


def near_lines(
    xy: Floats, lines: shapely.STRtree, half: Floats, margin: float, own: Ints | None = None
) -> Flags:
    """Return True for each point under `margin` metres off a line that is `half` metres wide to each side.

    Args:
        xy: points in metres, shape (n, 2).
        lines: search tree of the middle lines.
        half: metres from the middle to the edge of each line.
        margin: metres beyond the edge.
        own: index of a line for each point that does not count for it; `None` if points have none.
    """
    points = np.asarray(shapely.points(xy))
    reach = float(half.max(initial=0.0)) + margin
    point, line = lines.query(points, predicate="dwithin", distance=reach).reshape(2, -1)
    is_near = shapely.distance(points[point], lines.geometries[line]) < half[line] + margin
    if own is not None:
        is_near &= line != own[point]
    return np.isin(np.arange(len(xy)), point[is_near])


def left_normals(runs: Floats) -> Floats:
    """Return unit vectors 90 degrees to the left of vectors, shape (n, 2); zeros for one without length."""
    length = np.maximum(np.hypot(runs[:, 0], runs[:, 1]), 1e-9)
    return np.asarray(np.stack([-runs[:, 1], runs[:, 0]], axis=1) / length[:, None])
