"""Ways that cross the part of an extract that is read, between two nodes that lie outside."""

from collections.abc import Sequence
from itertools import count

import numpy as np
import shapely
from numpy.typing import NDArray

WITHIN_M = 0.05
"""How far inside the edge a way gets a node, so that the node counts as inside."""

_Nodes = tuple[int, ...]


def with_crossings(
    lines: NDArray[np.object_], nodes: Sequence[_Nodes], outline: shapely.Polygon
) -> tuple[NDArray[np.object_], tuple[_Nodes, ...]]:
    """The lines with a node where a segment enters the outline and one where it leaves it.

    Only segments with both ends outside get them.

    Args:
        lines: in metres, shape (n,).
        nodes: of each line.
        outline: of the part that is read, in metres.

    Returns:
        The lines and their nodes; the new ones have negative numbers.
    """
    corners, owner = shapely.get_coordinates(lines, return_index=True)
    shapely.prepare(outline)
    outside = ~shapely.intersects_xy(outline, corners[:, 0], corners[:, 1])
    both = np.flatnonzero((owner[1:] == owner[:-1]) & outside[1:] & outside[:-1])
    segments = shapely.linestrings(np.stack([corners[both], corners[both + 1]], axis=1))
    crossing = both[shapely.intersects(outline, segments)]
    if not len(crossing):
        return lines, tuple(nodes)
    found, numbers = lines.copy(), list(nodes)
    fresh = count(-1, -1)
    begins = np.searchsorted(owner, np.arange(len(lines)))
    inner = shapely.buffer(outline, -WITHIN_M)
    for line in np.unique(owner[crossing]).tolist():
        begin = int(begins[line])
        xy, refs = shapely.get_coordinates(lines[line]).tolist(), list(nodes[line])
        for at in sorted((crossing[owner[crossing] == line] - begin).tolist(), reverse=True):
            points = _entries(shapely.LineString(xy[at : at + 2]), inner)
            xy[at + 1 : at + 1] = points
            refs[at + 1 : at + 1] = [next(fresh) for _ in points]
        found[line], numbers[line] = shapely.LineString(xy), tuple(refs)
    return found, tuple(numbers)


def _entries(segment: shapely.LineString, inner: shapely.Polygon) -> list[list[float]]:
    """Where a segment is inside, from its start on: the ends of each stretch, and a point between two."""
    parts = [part for part in shapely.get_parts(shapely.intersection(segment, inner)) if part.length > 0]
    ends = sorted((sorted(segment.project(shapely.Point(end)) for end in (part.coords[0], part.coords[-1])))
                  for part in parts)  # fmt: skip
    along: list[float] = []
    for first, last in ends:
        along += [*([(along[-1] + first) / 2] if along else []), first, last]
    return [list(segment.interpolate(metres).coords[0]) for metres in along]
