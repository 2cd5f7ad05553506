"""The edges of blocks: closed lines, cut into sides at their corners."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo import Floats, Ints

CORNER_DEG = 50.0  # a turn of the edge by more than this is a corner; chosen
SLIGHT_DEG = 6.0  # a front may run straight across bends of this much in all; chosen
BETWEEN_RINGS_M = 100.0  # any gap, so that a station belongs to one ring


@dataclass(frozen=True, slots=True)
class Edges:
    """The sides of many rings on one common scale of stations, in metres along each ring."""

    points: Floats
    """Vertices of all rings, each ring from corner to the same corner, shape (n, 2)."""
    stations: Floats
    """Of the vertices, rising, shape (n,)."""
    bend: Floats
    """Turn at each vertex, to either side, radians."""
    ring: Ints
    """The ring of each side, shape (sides,)."""
    start: Floats
    """Station of the first corner of each side."""
    stop: Floats
    after: Ints
    """The side that follows each around its ring."""
    turn: Floats
    """Turn to the left at the end of each side, radians."""
    first_normal: Floats
    """Unit normal to the left of the first run of each side, shape (sides, 2)."""
    last_normal: Floats

    @classmethod
    def of_rings(cls, rings: NDArray[np.object_]) -> Self:
        """Finds the corners of linear rings, which have the ground on their left."""
        tracks, turns, owner = [], [], []
        for number, ring in enumerate(rings):
            points = shapely.get_coordinates(ring)[:-1]
            way = np.roll(points, -1, axis=0) - points
            heading = np.arctan2(way[:, 1], way[:, 0])
            turn = (heading - np.roll(heading, 1) + np.pi) % (2 * np.pi) - np.pi
            corners = np.flatnonzero(np.abs(turn) > np.radians(CORNER_DEG))
            if len(corners) > 1:
                order = (corners[0] + np.arange(len(points) + 1)) % len(points)
                tracks.append(points[order])
                turns.append(turn[order])
                owner.append(np.full(len(order), number))
        return cls._of_tracks(np.concatenate(tracks), np.concatenate(turns), np.concatenate(owner))

    @classmethod
    def _of_tracks(cls, points: Floats, turn: Floats, owner: Ints) -> Self:
        runs = np.diff(points, axis=0)
        within = owner[:-1] == owner[1:]
        steps = np.where(within, np.hypot(runs[:, 0], runs[:, 1]), BETWEEN_RINGS_M)
        stations = np.concatenate([[0.0], np.cumsum(steps)])
        normals = left_normals(runs)
        corner = np.flatnonzero(np.abs(turn) > np.radians(CORNER_DEG))
        side = np.flatnonzero(owner[corner[:-1]] == owner[corner[1:]])
        first, last = corner[side], corner[side + 1]
        ring = owner[first]
        after = np.arange(len(side)) + 1
        closing = np.flatnonzero(np.diff(ring, append=-1))
        after[closing] = np.searchsorted(ring, ring[closing])
        return cls(
            points=points,
            stations=stations,
            bend=np.abs(turn),
            ring=ring,
            start=stations[first],
            stop=stations[last],
            after=after,
            turn=turn[last],
            first_normal=normals[first],
            last_normal=normals[last - 1],
        )

    def at(self, stations: Floats) -> Floats:
        """The points at stations (m,), shape (m, 2)."""
        x = np.interp(stations, self.stations, self.points[:, 0])
        return np.stack([x, np.interp(stations, self.stations, self.points[:, 1])], axis=1)

    def marks(self, low: Floats, high: Floats, apart: float) -> tuple[Ints, Floats]:
        """Where straight runs end between two stations of each side: sides and stations, in order.

        A slight bend within `apart` metres of another or of an end is passed over.
        """
        side = np.searchsorted(self.start, self.stations, side="right") - 1
        room = np.minimum(self.stations - low[side], high[side] - self.stations)
        sharp = np.diff(np.cumsum(self.bend) // np.radians(SLIGHT_DEG), prepend=0.0) > 0
        alone = (np.diff(self.stations, prepend=-np.inf) > apart) & (room > apart)
        bend = (room > 0) & (sharp | alone)
        sides = np.concatenate([np.arange(len(low)), side[bend], np.arange(len(low))])
        stations = np.concatenate([low, self.stations[bend], high])
        order = np.lexsort((stations, sides))
        return sides[order], stations[order]


def left_normals(runs: Floats) -> Floats:
    """Unit normals to the left of vectors (n, 2)."""
    length = np.maximum(np.hypot(runs[:, 0], runs[:, 1]), 1e-9)
    normals: Floats = np.stack([-runs[:, 1], runs[:, 0]], axis=1) / length[:, None]
    return normals
