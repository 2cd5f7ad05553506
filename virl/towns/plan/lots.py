"""Lots: the strips along a block's edges, cut into pieces for one building each.

The edge of a block falls into sides at its corners. A corner gets a kite-shaped lot, as wide as it must be
to be as deep where it meets its neighbours as they are, so that the rows of two sides never overlap there.
In between, lots are cut square to the edge.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import shapely
from numpy.random import Generator
from numpy.typing import NDArray
from shapely import Polygon

from virl.geo.flat import left_normals
from virl.geo.globe import Flags, Floats, Ints

DEPTH_M = 12.0
"""Usual depth of a lot in metres."""
WIDTH_M = (7.0, 14.0)
"""Least and largest width of a front in metres."""
LARGE_DEPTH_M, LARGE_WIDTH_M = 22.0, (24.0, 40.0)
MIN_FRONT_M = 4.5
"""Least width of a front in metres; narrower gaps between lots stay open."""
SETBACK_M = 0.3
"""Distance in metres from pavement to front, so that straight fronts stay off curved pavements."""
CORNER_WIDTH_M = (6.0, 34.0)
"""Least and largest width of each front of a corner lot, metres."""
SLIM = 0.24
"""Depth of lots as a share of 4 area / perimeter of their block, so that rows back to back keep apart."""
WHOLE_M2 = 700.0
"""Area in square metres below which a block is one lot."""
MIN_LOT_M2 = 25.0
"""Least area in square metres of a lot after overlaps are taken off; smaller ones are dropped."""

_CORNER_DEG = 50.0
"""Least turn of a block's edge in degrees that makes a corner; chosen."""
_SLIGHT_DEG = 6.0
"""Largest sum of bends in degrees that a straight front may pass over; chosen."""
_BETWEEN_RINGS_M = 100.0
"""Gap between two rings on the scale of stations, metres; any positive one serves."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The sides of many rings, on one scale of stations: metres along the first ring, then along the next."""

    points: Floats
    """Vertices of all rings in metres, each ring closed, shape (n, 2)."""
    stations: Floats
    """Station in metres of each vertex, rising, shape (n,)."""
    bend: Floats
    """Angle in radians by which the ring turns at each vertex, without sign, shape (n,)."""
    ring: Ints
    """Index of the ring that each side is a part of, shape (sides,)."""
    start: Floats
    """Metres along all rings, one after the other, at the first corner of each side, shape (sides,)."""
    stop: Floats
    """Station in metres of the last corner of each side, shape (sides,)."""
    after: Ints
    """Index of the side that follows each side around its ring, shape (sides,)."""
    turn: Floats
    """Angle in radians of the turn to the left at the end of each side, shape (sides,)."""
    first_normal: Floats
    """Unit normal to the left of the first straight run of each side, shape (sides, 2)."""
    last_normal: Floats
    """Unit normal to the left of the last straight run of each side, shape (sides, 2)."""

    @classmethod
    def of_rings(cls, rings: NDArray[np.object_]) -> Self:
        """Return the sides, between corners, of linear rings with the ground on their left."""
        tracks, turns, owner = [], [], []
        for number, ring in enumerate(rings):
            points = shapely.get_coordinates(ring)[:-1]
            way = np.roll(points, -1, axis=0) - points
            heading = np.arctan2(way[:, 1], way[:, 0])
            turn = (heading - np.roll(heading, 1) + np.pi) % (2 * np.pi) - np.pi
            corners = np.flatnonzero(np.abs(turn) > np.radians(_CORNER_DEG))
            if len(corners) > 1:
                order = (corners[0] + np.arange(len(points) + 1)) % len(points)
                tracks.append(points[order])
                turns.append(turn[order])
                owner.append(np.full(len(order), number))
        return cls._of_tracks(np.concatenate(tracks), np.concatenate(turns), np.concatenate(owner))

    @classmethod
    def _of_tracks(cls, points: Floats, turn: Floats, owner: Ints) -> Self:
        """Return the sides of rings, given by points, turns in radians and ring numbers, point by point."""
        runs = np.diff(points, axis=0)
        within = owner[:-1] == owner[1:]
        steps = np.where(within, np.hypot(runs[:, 0], runs[:, 1]), _BETWEEN_RINGS_M)
        stations = np.concatenate([[0.0], np.cumsum(steps)])
        normals = left_normals(runs)
        corner = np.flatnonzero(np.abs(turn) > np.radians(_CORNER_DEG))
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
        """Return the points at stations, which are given and returned in metres, shape (m, 2)."""
        x = np.interp(stations, self.stations, self.points[:, 0])
        return np.stack([x, np.interp(stations, self.stations, self.points[:, 1])], axis=1)

    def marks(self, low: Floats, high: Floats, apart: float) -> tuple[Ints, Floats]:
        """Return (side, station) of straight runs' ends; slight bends only if `apart` metres off others.

        Args:
            low: first station on each side, metres.
            high: last station on each side, metres.
            apart: least distance in metres between a slight bend and another end.
        """
        side = np.searchsorted(self.start, self.stations, side="right") - 1
        room = np.minimum(self.stations - low[side], high[side] - self.stations)
        sharp = np.diff(np.cumsum(self.bend) // np.radians(_SLIGHT_DEG), prepend=0.0) > 0
        alone = (np.diff(self.stations, prepend=-np.inf) > apart) & (room > apart)
        bend = (room > 0) & (sharp | alone)
        sides = np.concatenate([np.arange(len(low)), side[bend], np.arange(len(low))])
        stations = np.concatenate([low, self.stations[bend], high])
        order = np.lexsort((stations, sides))
        return sides[order], stations[order]


@dataclass(frozen=True, slots=True)
class Lots:
    """The lots of a town: their footprints, and their fronts on streets."""

    footprints: tuple[Polygon, ...]
    left: Floats
    """Left end of each front, seen from the street, metres, shape (n, 2)."""
    right: Floats
    """Right end of each front, seen from the street, metres, shape (n, 2)."""
    lot: Ints
    """Index of the footprint behind each front, shape (n,)."""


def cut_lots(rng: Generator, blocks: list[tuple[Polygon, bool]], ways: Polygon) -> Lots:
    """Return lots cut without overlaps from blocks (outline, True for large lots), with a front on `ways`.

    Args:
        rng: source of chance for widths and depths.
        blocks: outlines, each with True for a block of a few large lots.
        ways: ground of roads and pavements; a lot needs a front on it.
    """
    draft = _LotDraft()
    shapes = np.array([block for block, _ in blocks])
    lines = shapely.simplify(shapely.buffer(shapes, -SETBACK_M, join_style="mitre"), SETBACK_M)
    slim = SLIM * 4 * shapely.area(shapes) / shapely.length(shapes)
    parts, block = shapely.get_parts(shapely.orient_polygons(lines), return_index=True)
    area = shapely.area(parts)
    for part in parts[(area > MIN_LOT_M2) & (area < WHOLE_M2)]:
        points = shapely.get_coordinates(part.exterior)
        draft.add(points[None], fronts=len(points) - 1)
    big = area >= WHOLE_M2
    rings, owner = shapely.get_rings(parts[big], return_index=True)
    block = block[big][owner]
    large = np.array([flag for _, flag in blocks])[block]
    depth = np.minimum(slim[block], np.where(large, LARGE_DEPTH_M, DEPTH_M))
    _cut_rings(rng, Edges.of_rings(rings), depth, large, draft)
    return _settle(draft, ways)


@dataclass
class _LotDraft:
    """A growing list of lots: their outlines, and the number of fronts of each."""

    _points: list[Floats] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _fronts: list[tuple[Ints, Floats, Floats]] = field(default_factory=list)

    def add(self, outlines: Floats, fronts: int) -> None:
        """Add lots by corners (n, k, 2), counterclockwise; the first `fronts` sides of each are fronts."""
        count, corners, _ = outlines.shape
        numbers = len(self._sizes) + np.repeat(np.arange(count), fronts)
        left, right = outlines[:, :fronts], outlines[:, 1 : fronts + 1]
        self._fronts.append((numbers, left.reshape(-1, 2), right.reshape(-1, 2)))
        self._points.append(outlines.reshape(-1, 2))
        self._sizes += [corners] * count

    def outlines(self) -> tuple[Floats, Ints]:
        """Return (corners of all lots in metres, shape (n, 2); index of the lot of each, shape (n,))."""
        points: Floats = np.concatenate(self._points).round(3)
        return points, np.repeat(np.arange(len(self._sizes)), self._sizes)

    def fronts(self) -> tuple[Ints, Floats, Floats]:
        """Return (index of lot, left end, right end) of all fronts; wide ones are split, narrow ones gone."""
        lot, left, right = (np.concatenate(column) for column in zip(*self._fronts, strict=True))
        width = np.linalg.norm(right - left, axis=1)
        pieces = np.where(width < MIN_FRONT_M, 0, np.ceil(width / WIDTH_M[1])).astype(np.int64)
        rank = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        start, run = np.repeat(left, pieces, axis=0), np.repeat(right - left, pieces, axis=0)
        share = np.repeat(1 / np.maximum(pieces, 1), pieces)[:, None]
        ends = (start + rank[:, None] * share * run, start + (rank[:, None] + 1) * share * run)
        return np.repeat(lot, pieces), np.round(ends[0], 3), np.round(ends[1], 3)


def _cut_rings(rng: Generator, edges: Edges, depth: Floats, large: Flags, draft: _LotDraft) -> None:
    """Add to a draft the lots along rings, of `depth` metres and, for True in `large`, of great width."""
    turn = edges.turn
    steep = np.tan((np.pi - turn) / 2)
    length = edges.stop - edges.start
    trim = np.clip(depth[edges.ring] / steep, *CORNER_WIDTH_M)
    # Corners that turn outwards get a lot of their own, at most half of either side.
    trim = np.where(turn > 0, np.minimum(trim, np.minimum(length, length[edges.after]) / 2), 0.0)
    before = np.empty_like(trim)
    before[edges.after] = trim
    low, high = edges.start + before, edges.stop - trim

    kite = trim > 0
    p, corner, q = edges.at(high), edges.at(edges.stop), edges.at(low[edges.after])
    back = (p + q + (trim * steep)[:, None] * (edges.last_normal + edges.first_normal[edges.after])) / 2
    draft.add(np.stack([p, corner, q, back], axis=1)[kite], fronts=2)

    side, station = edges.marks(low, high, WIDTH_M[0])
    feet = edges.at(station)
    run = np.flatnonzero((side[:-1] == side[1:]) & (np.diff(station) >= MIN_FRONT_M))
    rays = _rays(side, feet)
    ring = edges.ring[side[run]]
    _split_runs(rng, (feet[run], feet[run + 1]), (rays[run], rays[run + 1]), depth[ring], large[ring], draft)


def _split_runs(
    rng: Generator,
    feet: tuple[Floats, Floats],
    rays: tuple[Floats, Floats],
    depth: Floats,
    large: Flags,
    draft: _LotDraft,
) -> None:
    """Add to a draft the lots along straight runs, given both ends (`feet`) and the rays inward from them."""
    least, most = (np.where(large, big, small) for big, small in zip(LARGE_WIDTH_M, WIDTH_M, strict=True))
    length = np.linalg.norm(feet[1] - feet[0], axis=1)
    pieces = np.maximum(1, np.round(length / rng.uniform(least + 1, most - 1))).astype(np.int64)
    run = np.repeat(np.arange(len(pieces)), pieces)
    widths = rng.uniform(0.8, 1.2, len(run))
    total = np.cumsum(widths)
    first = np.cumsum(pieces) - pieces
    begin = total - widths - (total - widths)[first][run]
    whole = np.bincount(run, weights=widths, minlength=len(pieces))[run]
    shares = (begin / whole)[:, None], ((begin + widths) / whole)[:, None]
    left, right = (feet[0][run] + share * (feet[1] - feet[0])[run] for share in shares)
    left_ray, right_ray = (rays[0][run] + share * (rays[1] - rays[0])[run] for share in shares)
    deep = (depth[run] * rng.uniform(0.85, 1.0, len(run)))[:, None]
    draft.add(np.stack([left, right, right + deep * right_ray, left + deep * left_ray], axis=1), fronts=1)


def _rays(side: Ints, feet: Floats) -> Floats:
    """Return unit vectors inward at runs' ends `feet`, (n, 2): a run's normal, or midway between two."""
    normal = left_normals(np.diff(feet, axis=0))
    same = (side[:-1] == side[1:])[:, None]
    ahead = np.concatenate([np.where(same, normal, 0.0), np.zeros((1, 2))])
    behind = np.concatenate([np.zeros((1, 2)), np.where(same, normal, 0.0)])
    rays = ahead + behind
    return np.asarray(rays / np.maximum(np.linalg.norm(rays, axis=1), 1e-9)[:, None])


def _settle(draft: _LotDraft, ways: Polygon) -> Lots:
    """Return the lots of a draft without overlaps, and without lots that have no front on a street."""
    points, owner = draft.outlines()
    shapes = np.asarray(shapely.polygons(shapely.linearrings(points, indices=owner)))
    lot, left, right = draft.fronts()
    shapely.prepare(ways)
    middles = (left + right) / 2
    # A point before the middle of the front tells whether a street is there.
    probe = middles - 2.0 * left_normals(right - left)
    on_street = shapely.contains_xy(ways, probe[:, 0], probe[:, 1])

    shapes[shapely.intersects(ways, shapes)] = Polygon()
    keep = (
        shapely.is_valid(shapes)
        & ~shapely.is_empty(shapes)
        & (np.bincount(lot[on_street], minlength=len(shapes)) > 0)
    )
    # In order, so that a lot that was cut is cut further by all that come before it.
    for earlier, later in _overlapping_pairs(points, owner):
        if keep[earlier] and keep[later]:
            left_over = shapely.get_parts(shapely.difference(shapes[later], shapes[earlier], grid_size=0.001))
            shapes[later] = max(left_over, key=shapely.area, default=Polygon())
            keep[later] = shapes[later].area > MIN_LOT_M2
    on_street &= keep[lot]
    # A front that was cut off with an overlap is no front any more.
    on_street &= shapely.dwithin(shapes[lot], shapely.points(middles), 0.05)
    keep &= np.bincount(lot[on_street], minlength=len(shapes)) > 0
    on_street &= keep[lot]
    number = np.cumsum(keep) - 1
    return Lots(tuple(shapes[keep]), left[on_street], right[on_street], number[lot[on_street]])


def _overlapping_pairs(points: Floats, owner: Ints) -> list[tuple[int, int]]:
    """Return sorted (lower, higher) indices of overlapping outlines; `owner`: the outline of each point."""
    sizes = np.bincount(owner)[:, None]
    middles = np.stack([np.bincount(owner, weights=column) for column in points.T], axis=1) / sizes
    # Shrunk a little, so that lots that only share a side do not count as overlapping.
    rings = shapely.linearrings(points + 0.002 * (middles[owner] - points), indices=owner)
    shrunk = np.asarray(shapely.polygons(rings))
    first, second = shapely.STRtree(shrunk).query(shrunk, "intersects")
    pairs = first < second
    return sorted(zip(first[pairs].tolist(), second[pairs].tolist(), strict=True))
