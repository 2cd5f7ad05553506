"""The bent grid under a made city's streets, and the avenue that crosses it.

Grid coordinates are (u, v): whole numbers are grid lines, u eastward, v northward.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from virl.geo import Floats

COLUMNS, ROWS = 14, 12
WIDTH_M, HEIGHT_M = 1230.0, 1080.0
SNAP_M = 25.0  # junctions this near to the avenue are moved onto it
OUTSIDE_M = 35.0  # how far the avenue runs on beyond the last line


@dataclass(frozen=True, slots=True)
class Bend:
    """A smooth displacement: a few plane waves of long wavelength."""

    wave: Floats
    """Radians a metre, shape (n, 2)."""
    phase: Floats
    amplitude: Floats
    """Metres, shape (n, 2)."""

    def apply(self, xy: Floats) -> Floats:
        """The points (n, 2) moved, rounded to a millimetre."""
        moved: Floats = np.round(xy + np.sin(xy @ self.wave.T + self.phase) @ self.amplitude, 3)
        return moved


@dataclass(frozen=True, slots=True)
class JunctionGrid:
    """A grid of junctions with unequal gaps, and an avenue across it."""

    nodes: Floats
    """Unbent metres of each junction, shape (COLUMNS + 1, ROWS + 1, 2)."""
    bend: Bend
    avenue: Floats
    """Bent metres, shape (n, 2)."""
    on_avenue: tuple[tuple[int, int], ...]
    """Grid junctions that the avenue goes through, from west to east."""
    crossed: frozenset[tuple[int, int]]
    """Cells that the avenue cuts or touches."""
    boulevard: int
    """The u of the grid line that is a wide street too."""

    def metres(self, uv: Floats) -> Floats:
        """Where grid coordinates (n, 2) lie; a little beyond the last lines works too."""
        cell = np.clip(np.floor(uv).astype(int), 0, (COLUMNS - 1, ROWS - 1))
        (i, j), (s, t) = cell.T, (uv - cell).T[..., None]
        south = self.nodes[i, j] * (1 - s) + self.nodes[i + 1, j] * s
        north = self.nodes[i, j + 1] * (1 - s) + self.nodes[i + 1, j + 1] * s
        return self.bend.apply(south * (1 - t) + north * t)

    def cell_size(self, column: int, row: int) -> tuple[float, float]:
        """Metres that a cell measures from west to east and from south to north, roughly."""
        east, north = self.nodes[column + 1, row + 1] - self.nodes[column, row]
        return float(east), float(north)


def draw_grid(rng: Generator) -> JunctionGrid:
    """Draws the gaps, moves every junction a little, and lays the avenue."""
    xs, ys = _lines(rng, COLUMNS, WIDTH_M), _lines(rng, ROWS, HEIGHT_M)
    nodes = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1) + rng.uniform(
        -6.0, 6.0, (COLUMNS + 1, ROWS + 1, 2)
    )
    bend = _draw_bend(rng)
    west = np.array([xs[0], (rng.uniform(0.10, 0.16) - 0.5) * HEIGHT_M])
    east = np.array([xs[-1], (rng.uniform(0.84, 0.90) - 0.5) * HEIGHT_M])
    along = (east - west) / np.linalg.norm(east - west)
    aside = (nodes - west) @ np.array([-along[1], along[0]])
    snapped = np.abs(aside) < SNAP_M
    nodes[snapped] -= aside[snapped, None] * np.array([-along[1], along[0]])
    aside[snapped] = 0.0
    corners = np.sign(np.stack([aside[:-1, :-1], aside[1:, :-1], aside[:-1, 1:], aside[1:, 1:]]))
    crossed = (corners.min(axis=0) < 0) & (corners.max(axis=0) > 0)

    chosen = [(int(u), int(v)) for u, v in np.argwhere(snapped)]
    chosen.sort(key=lambda node: float(nodes[node] @ along))
    stations = (nodes[snapped] - west) @ along
    last = float(np.linalg.norm(east - west))
    ends = (min(stations.min(), 0.0) - OUTSIDE_M, max(stations.max(), last) + OUTSIDE_M)
    fill = np.linspace(*ends, 100)
    fill = fill[np.abs(fill[:, None] - stations).min(axis=1) > 6.0]
    points = np.concatenate([west + fill[:, None] * along, nodes[snapped]])
    points = points[np.argsort((points - west) @ along)]
    return JunctionGrid(
        nodes=nodes,
        bend=bend,
        avenue=bend.apply(points),
        on_avenue=tuple(chosen),
        crossed=frozenset((int(c), int(r)) for c, r in np.argwhere(crossed)),
        boulevard=int(rng.integers(8, 11)),
    )


def _lines(rng: Generator, count: int, length: float) -> Floats:
    gaps = rng.uniform(70.0, 110.0, count)
    lines: Floats = np.concatenate([[0.0], np.cumsum(gaps)]) * (length / gaps.sum()) - length / 2
    return lines


def _draw_bend(rng: Generator) -> Bend:
    count = 4
    angle = rng.uniform(0, 2 * np.pi, count)
    wave = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (2 * np.pi / rng.uniform(500, 1100, (count, 1)))
    swing = rng.uniform(0, 2 * np.pi, count)
    amplitude = np.stack([np.cos(swing), np.sin(swing)], axis=1) * rng.uniform(10, 18, (count, 1))
    return Bend(wave, rng.uniform(0, 2 * np.pi, count), amplitude)
