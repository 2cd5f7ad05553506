"""Streets as tracks: points along their kerbs, by distance from their start."""

import numpy as np
import shapely

from virl.geo import Flags, Floats, Ints, normalize_heading
from virl.platform.providers.offline.town.streets import Network

TANGENT_M = 0.5  # how far apart the points are that give a street's direction


class Kerbs:
    """All streets of a network, by number. Distances to the side are positive on the left of a street."""

    def __init__(self, network: Network) -> None:
        self.lines = np.array([shapely.LineString(street.line) for street in network.streets])
        self.lengths: Floats = shapely.length(self.lines)
        self.half_road = np.array([street.road / 2 for street in network.streets])
        self.pavement = np.array([street.pavement for street in network.streets])
        self.ends = np.array([[street.start, street.end] for street in network.streets])
        self.junctions = network.junctions

    def at(self, street: Ints, along: Floats, aside: Floats) -> tuple[Floats, Floats]:
        """Points (n, 2), and the heading of the street there in degrees (n,)."""
        lines = self.lines[street]
        low = np.clip(along - TANGENT_M, 0.0, np.maximum(self.lengths[street] - 2 * TANGENT_M, 0.0))
        before = shapely.get_coordinates(shapely.line_interpolate_point(lines, low))
        after = shapely.get_coordinates(shapely.line_interpolate_point(lines, low + 2 * TANGENT_M))
        way = (after - before) / np.linalg.norm(after - before, axis=1)[:, None]
        left = np.stack([-way[:, 1], way[:, 0]], axis=1)
        points = shapely.get_coordinates(shapely.line_interpolate_point(lines, along))
        return points + aside[:, None] * left, normalize_heading(np.degrees(np.arctan2(way[:, 0], way[:, 1])))

    def on_road(self, xy: Floats, margin: float, own: Ints | None = None) -> Flags:
        """Whether points (n, 2) lie on a carriageway or within `margin` metres of one.

        Args:
            xy: the points.
            margin: metres beyond the kerb.
            own: the street of each point, which does not count.
        """
        points = np.asarray(shapely.points(xy))
        reach = float(self.half_road.max()) + margin
        point, other = shapely.STRtree(self.lines).query(points, predicate="dwithin", distance=reach)
        gap = shapely.distance(points[point], self.lines[other])
        hit = gap < self.half_road[other] + margin
        if own is not None:
            hit &= other != own[point]
        struck: Flags = np.bincount(point[hit], minlength=len(xy)) > 0
        return struck
