"""Lines and points on flat ground, in metres."""

import numpy as np
import shapely

from virl.geo.globe import Floats, Ints


def near_lines(xy: Floats, lines: shapely.STRtree, half: Floats, margin: float) -> tuple[Ints, Ints]:
    """Return (point, line) indices: points under `margin` metres off lines of `half` widths in metres.

    Args:
        xy: points in metres, shape (n, 2).
        lines: search tree of the middle lines.
        half: metres from the middle to the edge of each line.
        margin: metres beyond the edge.
    """
    points = np.asarray(shapely.points(xy))
    reach = float(half.max(initial=0.0)) + margin
    point, line = lines.query(points, predicate="dwithin", distance=reach).reshape(2, -1)
    is_near = shapely.distance(points[point], lines.geometries[line]) < half[line] + margin
    return point[is_near], line[is_near]


def left_normals(runs: Floats) -> Floats:
    """Return unit vectors 90 degrees to the left of vectors, shape (n, 2); zeros for one without length."""
    length = np.maximum(np.hypot(runs[:, 0], runs[:, 1]), 1e-9)
    return np.asarray(np.stack([-runs[:, 1], runs[:, 0]], axis=1) / length[:, None])
