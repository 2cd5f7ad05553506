"""The street network of a made city: a bent, broken grid with an avenue across it.

The network is drawn in grid coordinates (u, v), where whole numbers are grid lines, and a `JunctionGrid`
turns them into metres. Everything that meets shares its points exactly, so shapely can cut all lines at once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import shapely
from numpy.random import Generator
from shapely import LineString

from virl.geo.globe import Floats
from virl.settings.model import Settings
from virl.towns.plan.town_plan import Street
from virl.towns.storage import read_table

WayKind = Literal["avenue", "street", "lane", "court"]

_COLUMNS, _ROWS = 14, 12
_WIDTH_M, _HEIGHT_M = 1230.0, 1080.0
_SNAP_M = 25.0
"""Distance in metres from the avenue's line within which junctions are moved onto the line."""
_OUTSIDE_M = 35.0
"""Metres by which the avenue runs on beyond the last grid line at either end."""


@dataclass(frozen=True, slots=True)
class Bend:
    """A smooth displacement of points, a sum of long plane waves, which makes straight streets curve."""

    wave: Floats
    """Radians of phase per metre east and north of each wave, shape (n, 2)."""
    phase: Floats
    """Phase of each wave at the origin, radians, shape (n,)."""
    amplitude: Floats
    """Displacement in metres, east and north, at the crest of each wave, shape (n, 2)."""

    def apply(self, xy: Floats) -> Floats:
        """Return points, shape (n, 2), displaced and rounded to a millimetre."""
        return np.asarray(np.round(xy + np.sin(xy @ self.wave.T + self.phase) @ self.amplitude, 3))


@dataclass(frozen=True, slots=True)
class JunctionGrid:
    """A grid of junctions at unequal gaps, which is bent, and an avenue across it."""

    nodes: Floats
    """Position of each junction before bending, metres, shape (columns + 1, rows + 1, 2)."""
    bend: Bend
    avenue: Floats
    """Points of the avenue after bending, metres, shape (n, 2)."""
    on_avenue: tuple[tuple[int, int], ...]
    """Grid coordinates (column, row) of the junctions on the avenue, from west to east."""
    crossed: frozenset[tuple[int, int]]
    """Cells that the avenue cuts or touches, by column and row."""
    boulevard: int
    """Column of the grid line that is a wide street, like the avenue."""

    def metres(self, uv: Floats) -> Floats:
        """Return the bent position in metres of points in grid coordinates, shape (n, 2)."""
        cell = np.clip(np.floor(uv).astype(int), 0, (_COLUMNS - 1, _ROWS - 1))
        (i, j), (s, t) = cell.T, (uv - cell).T[..., None]
        south = self.nodes[i, j] * (1 - s) + self.nodes[i + 1, j] * s
        north = self.nodes[i, j + 1] * (1 - s) + self.nodes[i + 1, j + 1] * s
        return self.bend.apply(south * (1 - t) + north * t)

    def cell_size(self, column: int, row: int) -> tuple[float, float]:
        """Return the (width, height) in metres of a cell before bending."""
        east, north = self.nodes[column + 1, row + 1] - self.nodes[column, row]
        return float(east), float(north)


class _NameParts(Settings):
    """The stems and, by kind of way, the endings that street names consist of."""

    stems: tuple[str, ...]
    endings: dict[WayKind, tuple[str, ...]]


@cache
def _name_parts() -> _NameParts:
    """Return the table of stems and endings of street names, `data/streets.yaml`."""
    return read_table("streets", _NameParts)


@dataclass
class Names:
    """A source of random street names, no two with the same stem."""

    rng: Generator

    def __post_init__(self) -> None:
        """Put the stems in a random order."""
        stems = _name_parts().stems
        self._stems = [stems[pick] for pick in self.rng.permutation(len(stems))]

    def take(self, kind: WayKind) -> str:
        """Return a new street name for a way of this kind."""
        endings = _name_parts().endings[kind]
        return f"{self._stems.pop()} {endings[int(self.rng.integers(len(endings)))]}"


WIDTHS_M: dict[WayKind, tuple[float, float]] = {
    "avenue": (12.0, 4.5),
    "street": (8.0, 3.5),
    "lane": (6.0, 2.5),
    "court": (6.0, 2.5),
}
"""(width of the carriageway, width of each pavement) in metres by kind of way; usual in old town centres."""

MERGES, STUBS, WAYS_OUT = 16, 8, 8  # chosen; see `_StreetDraft`
FILLINGS: dict[WayKind, int] = {"court": 9, "lane": 9}  # chosen
SPLIT_M = 80.0
"""Least length in metres of the longer side of a grid cell that a lane or a court may divide; chosen."""
FROM_AVENUE_M = 150.0
"""Least distance in metres from the avenue's ends to other streets that lead out of town; chosen."""
SAMPLES = 6
"""Number of straight pieces in which one bent side of a grid cell is drawn."""

Cell = tuple[int, int]
"""(column, row) of a cell of the street grid."""
Edge = tuple[int, int, int]
"""(axis, line, start) of a side of a cell: (0, v, u) from (u, v) to (u + 1, v), (1, u, v) to (u, v + 1)."""


@dataclass(frozen=True, slots=True)
class Network:
    """The streets of a made town and their junctions, with the places that stay green."""

    streets: tuple[Street, ...]
    junctions: Floats
    """Position of each junction in metres, shape (k, 2)."""
    kinds: tuple[WayKind, ...]
    """Kind of each street, such as avenue or lane."""
    offsets: Floats
    """Metres from the beginning of the line of each street's name to the street's start, shape (streets,)."""
    greens: Floats
    """Position in metres of a point in each park, the biggest first, shape (parks, 2)."""


@dataclass(frozen=True, slots=True)
class _StreetLine:
    """An unbroken line with one street name, before it is cut at crossings."""

    name: str
    kind: WayKind
    line: LineString
    offset: float
    """Metres from the beginning of the street's name to the start of this line."""


class _StreetDraft:
    """A draft of the street grid: which sides of cells are left out, and the lanes within cells.

    A cell takes part in one change at most. So no street is cut off from the rest, and no two junctions
    come closer to each other than a third of a cell.
    """

    def __init__(self, rng: Generator, grid: JunctionGrid) -> None:
        """Draw a park, dead ends, lanes and courts into a grid."""
        self.rng = rng
        self.grid = grid
        self.gone: dict[Edge, tuple[float, float] | None] = {}
        self.breaks: dict[tuple[int, int], list[float]] = {}
        self.inner: list[tuple[WayKind, Floats]] = []
        self.used: set[Cell] = set(grid.crossed)
        self._make_park()
        self._thin_the_avenue()
        self._merge_cells()
        self._fill_cells()

    def _make_park(self) -> None:
        """Choose three by two cells for the park, and leave out the sides within it."""
        column, row = int(self.rng.integers(2, 5)), int(self.rng.integers(7, 9))
        self.park = (column + 1.5, row + 1.0)
        self.used.update((c, r) for c in range(column, column + 3) for r in (row, row + 1))
        self.gone.update({(0, row + 1, column + c): None for c in range(3)})
        self.gone.update({(1, column + c, row + r): None for c in (1, 2) for r in (0, 1)})

    def _thin_the_avenue(self) -> None:
        """Leave out cell sides along the avenue, and one of the six arms of most of its crossings."""
        on_avenue = set(self.grid.on_avenue)
        for u, v in self.grid.on_avenue:
            for edge in ((0, v, u), (1, u, v)):
                if on_avenue.issuperset(_ends(edge)):
                    self.gone[edge] = None  # it lies along the avenue
        for u, v in self.grid.on_avenue:
            if not (0 < u < _COLUMNS and 0 < v < _ROWS):
                continue
            arms = self._arms(u, v)
            for pick in self.rng.permutation(len(arms)):
                (first, second) = _ends(arms[pick])
                a, b = second if first == (u, v) else first
                spared = arms[pick][:2] == (1, self.grid.boulevard) or not (
                    0 < a < _COLUMNS and 0 < b < _ROWS
                )
                if not spared and not any(arm in self.gone for arm in (*arms, *self._arms(a, b))):
                    self.gone[arms[pick]] = None
                    self.used.update(_cells(arms[pick]))
                    break

    def _merge_cells(self) -> None:
        """Leave out the sides between some pairs of cells; of a few a stub stays, which is a dead end."""
        edges = [(0, v, u) for v in range(1, _ROWS) for u in range(1, _COLUMNS - 1)]
        edges += [(1, u, v) for u in range(1, _COLUMNS) for v in range(1, _ROWS - 1)]
        merged = 0
        for pick in self.rng.permutation(len(edges)):
            edge = edges[pick]
            ends = _ends(edge)
            free = self.used.isdisjoint(_cells(edge)) and edge[:2] != (1, self.grid.boulevard)
            if not free or any(arm in self.gone for end in ends for arm in self._arms(*end)):
                continue
            # The first ones keep a part of their stretch: a dead end.
            stub = float(self.rng.uniform(0.45, 0.62)) if merged < STUBS else 0.0
            self.gone[edge] = ((0.0, stub) if self.rng.random() < 0.5 else (1 - stub, 1.0)) if stub else None
            self.used.update(_cells(edge))
            merged += 1
            if merged == MERGES:
                return

    def _fill_cells(self) -> None:
        """Add lanes through large cells, and courts that end within them."""
        kinds: list[WayKind] = [kind for kind, count in FILLINGS.items() for _ in range(count)]
        cells = [(c, r) for c in range(_COLUMNS) for r in range(_ROWS)]
        for pick in self.rng.permutation(len(cells)):
            if not kinds:
                return
            column, row = cells[pick]
            # Not beside a cell that is changed already, so that no two new junctions share a side of a cell.
            around = {(column + c, row + r) for c, r in ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))}
            east, north = self.grid.cell_size(column, row)
            if not self.used.isdisjoint(around) or max(east, north) < SPLIT_M:
                continue
            self.used.update(around)
            kind = kinds.pop()
            along = int(east > north)
            across, reach = float(self.rng.uniform(0.42, 0.58)), 1.0
            line, start = (row, column) if along == 1 else (column, row)
            self.breaks.setdefault((1 - along, line), []).append(start + across)
            if kind == "court":
                reach = float(self.rng.uniform(0.5, 0.62))
            else:
                self.breaks.setdefault((1 - along, line + 1), []).append(start + across)
            steps = line + np.linspace(0.0, reach, SAMPLES)
            fixed = np.full(SAMPLES, start + across)
            self.inner.append((kind, np.stack([fixed, steps] if along == 1 else [steps, fixed], axis=1)))

    def _arms(self, u: int, v: int) -> tuple[Edge, Edge, Edge, Edge]:
        """Return the four cell sides that meet at the junction of grid column `u` and row `v`."""
        return (0, v, u - 1), (0, v, u), (1, u, v - 1), (1, u, v)

    def greens(self) -> list[tuple[float, float]]:
        """Return the middle of the park and of two cells that stay green, in grid coordinates."""
        cells = [
            (c, r) for c in range(1, _COLUMNS - 1) for r in range(1, _ROWS - 1) if (c, r) not in self.used
        ]
        picks = self.rng.permutation(len(cells))[:2]
        return [self.park, *((cells[p][0] + 0.5, cells[p][1] + 0.5) for p in picks)]


def draw_streets(rng: Generator) -> Network:
    """Return a random network of streets, which are cut at every crossing."""
    grid = _draw_grid(rng)
    draft = _StreetDraft(rng, grid)
    ways = _name_ways(rng, grid, draft)
    greens = grid.metres(np.array(draft.greens()))
    return _cut(ways, greens)


def _name_ways(rng: Generator, grid: JunctionGrid, draft: _StreetDraft) -> list[_StreetLine]:
    """Return all lines of streets with names and kinds: avenue, grid lines, lanes and courts."""
    names = Names(rng)
    ways = [_StreetLine(names.take("avenue"), "avenue", LineString(grid.avenue), 0.0)]
    out = _ways_out(rng, grid)
    for axis, count, length in ((0, _ROWS, _COLUMNS), (1, _COLUMNS, _ROWS)):
        for line in range(count + 1):
            kind: WayKind = "lane" if rng.random() < 0.12 and 0 < line < count else "street"
            if (axis, line) == (1, grid.boulevard):
                kind = "avenue"
            name = names.take(kind)
            first = -0.45 if (axis, line, False) in out else 0.0
            last = length + (0.45 if (axis, line, True) in out else 0.0)
            for run in _runs(draft, axis, line, first, last, length):
                other = np.full(len(run), float(line))
                points = grid.metres(np.stack([run, other] if axis == 0 else [other, run], axis=1))
                ways.append(_StreetLine(name, kind, LineString(points), 100.0 * float(run[0])))
    for kind, points in draft.inner:
        ways.append(_StreetLine(names.take(kind), kind, LineString(grid.metres(points)), 0.0))
    return ways


def _ways_out(rng: Generator, grid: JunctionGrid) -> set[tuple[int, int, bool]]:
    """Return the ends of grid lines that run on out of town, as (axis, line, True for the far end)."""
    ends = [(0, v, far) for v in range(1, _ROWS) for far in (False, True)]
    ends += [(1, u, far) for u in range(1, _COLUMNS) for far in (False, True)]
    at = [(_COLUMNS * far, line) if axis == 0 else (line, _ROWS * far) for axis, line, far in ends]
    gates = grid.metres(np.array(at, float))
    apart = np.linalg.norm(gates[:, None] - grid.avenue[[0, -1]], axis=2).min(axis=1)
    free = np.flatnonzero(apart > FROM_AVENUE_M)
    return {ends[pick] for pick in rng.permutation(free)[:WAYS_OUT]}


def _runs(draft: _StreetDraft, axis: int, line: int, first: float, last: float, length: int) -> list[Floats]:
    """Return the unbroken parts of a grid line of `length` cells, each as sorted coordinates in cells."""
    spans: list[list[float]] = []
    pieces = [(first, 0.0)] if first < 0 else []
    for cell in range(length):
        left = draft.gone.get((axis, line, cell), (0.0, 1.0))
        if left is not None:
            pieces.append((cell + left[0], cell + left[1]))
    pieces += [(float(length), last)] if last > length else []
    for low, high in pieces:
        if spans and spans[-1][1] == low:
            spans[-1][1] = high
        else:
            spans.append([low, high])
    steps = np.arange(length * SAMPLES + 1) / SAMPLES
    marks = np.concatenate([steps, draft.breaks.get((axis, line), [])])
    return [np.unique([low, high, *marks[(marks > low) & (marks < high)]]) for low, high in spans]


def _cut(ways: list[_StreetLine], greens: Floats) -> Network:
    """Return the network of street lines, cut where they cross, with the points that stay green."""
    lines = np.array([way.line for way in ways])
    parts = shapely.get_parts(shapely.node(shapely.multilinestrings(lines)))
    parts = shapely.set_precision(parts, 0.001)
    middles = shapely.line_interpolate_point(parts, 0.5, normalized=True)
    owner = shapely.STRtree(lines).query_nearest(middles, all_matches=False)[1]
    starts = shapely.line_locate_point(lines[owner], shapely.get_point(parts, 0))
    stops = shapely.line_locate_point(lines[owner], shapely.get_point(parts, -1))
    # Every stretch runs as its street's line does: house numbers are counted along it.
    parts = np.where(starts < stops, parts, shapely.reverse(parts))
    along = np.minimum(starts, stops)
    order = np.lexsort((along, owner))
    parts, owner, along = parts[order], owner[order], along[order]

    ends = np.stack([shapely.get_point(parts, 0), shapely.get_point(parts, -1)], axis=1)
    xy = np.round(shapely.get_coordinates(ends.ravel()), 3)
    junctions, index = np.unique(xy, axis=0, return_inverse=True)
    index = index.reshape(-1, 2)
    streets, kinds = [], []
    for number, (part, own) in enumerate(zip(parts, owner, strict=True)):
        road, pavement = WIDTHS_M[ways[own].kind]
        line = np.round(shapely.get_coordinates(part), 3)
        start, end = (int(i) for i in index[number])
        streets.append(Street(number, ways[own].name, line, start, end, road, pavement))
        kinds.append(ways[own].kind)
    offsets = np.array([ways[own].offset for own in owner]) + along
    return Network(tuple(streets), junctions, tuple(kinds), offsets, greens)


def _cells(edge: Edge) -> tuple[Cell, Cell]:
    """Return the two cells that share a side."""
    axis, line, stretch = edge
    return ((stretch, line - 1), (stretch, line)) if axis == 0 else ((line - 1, stretch), (line, stretch))


def _ends(edge: Edge) -> tuple[Cell, Cell]:
    """Return the (column, row) of the two grid junctions at the ends of a side."""
    axis, line, stretch = edge
    return ((stretch, line), (stretch + 1, line)) if axis == 0 else ((line, stretch), (line, stretch + 1))


def _draw_grid(rng: Generator) -> JunctionGrid:
    """Return a random grid with unequal gaps and an avenue onto which near junctions are moved."""
    xs, ys = _grid_lines(rng, _COLUMNS, _WIDTH_M), _grid_lines(rng, _ROWS, _HEIGHT_M)
    nodes = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1) + rng.uniform(
        -6.0, 6.0, (_COLUMNS + 1, _ROWS + 1, 2)
    )
    bend = _draw_bend(rng)
    west = np.array([xs[0], (rng.uniform(0.10, 0.16) - 0.5) * _HEIGHT_M])
    east = np.array([xs[-1], (rng.uniform(0.84, 0.90) - 0.5) * _HEIGHT_M])
    along = (east - west) / np.linalg.norm(east - west)
    aside = (nodes - west) @ np.array([-along[1], along[0]])
    snapped = np.abs(aside) < _SNAP_M
    nodes[snapped] -= aside[snapped, None] * np.array([-along[1], along[0]])
    aside[snapped] = 0.0
    corners = np.sign(np.stack([aside[:-1, :-1], aside[1:, :-1], aside[:-1, 1:], aside[1:, 1:]]))
    crossed = (corners.min(axis=0) < 0) & (corners.max(axis=0) > 0)

    chosen = [(int(u), int(v)) for u, v in np.argwhere(snapped)]
    chosen.sort(key=lambda node: float(nodes[node] @ along))
    stations = (nodes[snapped] - west) @ along
    last = float(np.linalg.norm(east - west))
    ends = (min(stations.min(), 0.0) - _OUTSIDE_M, max(stations.max(), last) + _OUTSIDE_M)
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


def _grid_lines(rng: Generator, count: int, length: float) -> Floats:
    """Return count + 1 positions at uneven gaps over a length, metres from its middle."""
    gaps = rng.uniform(70.0, 110.0, count)
    return np.asarray(np.concatenate([[0.0], np.cumsum(gaps)]) * (length / gaps.sum()) - length / 2)


def _draw_bend(rng: Generator) -> Bend:
    """Return a random displacement of up to some tens of metres that makes streets curve."""
    count = 4
    angle = rng.uniform(0, 2 * np.pi, count)
    wave = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (2 * np.pi / rng.uniform(500, 1100, (count, 1)))
    swing = rng.uniform(0, 2 * np.pi, count)
    amplitude = np.stack([np.cos(swing), np.sin(swing)], axis=1) * rng.uniform(10, 18, (count, 1))
    return Bend(wave, rng.uniform(0, 2 * np.pi, count), amplitude)
