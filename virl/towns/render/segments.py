"""Streets as the ground is drawn from them: their straight pieces, with bays, cycle lanes and zebras."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import cos, radians, sin

import numpy as np
import shapely

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Street, StreetPlan
from virl.towns.render.paint import BAY_M, BUS_BOX_M, CYCLE_LANE_M, END_M, NO_ZEBRA_M, ZEBRA_LENGTH_M

BESIDE_LANE_M = 1.5
"""Least width in metres between a cycle lane and the middle of its road; without, it is not drawn; chosen."""
ASIDE_M = 0.8
"""Metres of street before and behind a mapped zebra that form a segment of their own with it."""
ZEBRA_STREET_M = 45.0
"""Length in metres of a street below which it has no zebras at its ends."""
NO_ROAD_M = -0.25
"""Half width in metres that stands for no carriageway: no kerb is drawn."""
TRACK_M, TRAM_M = -0.3, 1.55
"""Half width that stands for a tram's track, and half the width of the asphalt around it, metres; chosen."""
ROW_M, FROM_KERB_M = 25.0, (0.6, 1.5)
"""Most metres from car to car in a row of bays, and metres from a kerb to the middles of its cars; chosen."""
DASH_ROAD_M = 6.0
"""Width in metres of a road below which it has no centre line."""
EDGE_LINES_M = 5.5
"""Width in metres of a road without a kerb from which a line is painted along each edge; chosen."""
ASPHALT_WAY = 2.0
"""Number among the `SEGMENT_FIELDS` of a way only for people that is asphalt."""
TAPER, TAPER_M = 0.14, 0.7
"""Metres by which half a road narrows in a metre towards a narrower one, and length of a piece; chosen."""
SHOULDER_M = 0.35
"""Width in metres of the gravel beside a road without a kerb; chosen."""
LAID_M = 4.0
"""Distance in metres from a kerb up to which slabs are laid along it; chosen: most pavements end before."""
_EVEN, _TURN_M, _LEAST_LAID_M = 0.02, 1.0, 4.0
"""Largest tangent of half a bend around which slabs follow a kerb, metres before a corner where they cease
to, and least metres of kerb that they follow; chosen."""
_OWN = 100.0
"""Slope of a corner that stands for a way beside itself; chosen: one of a degree has less."""
MARGIN_M = 4.0
"""Distance in metres beyond a pavement up to which distances to the kerb are measured."""

SEGMENT_FIELDS = 27
"""Number of columns of the array of street segments.
x, y, direction x, y, length, metres of street before it, length of its street, half its road, its pavement,
where the zebra at the street's start begins, where the one at its end does (both measured from that end,
`NO_ZEBRA_M` or more for none), 1 where a centre line is painted, 1 where its pavement is gravel and 2 where
it is asphalt, metres added to the distance from its kerb, 1 without a kerb, 2 with edge lines, too, at its
right and then at its left the `Row` and the metres from the kerb to a cycle lane's far line, or 0, and the
metres along its street between which slabs follow the kerb: off corners."""

Row = tuple[float, float, float, float]
"""Begin, end and step of a row of bays, metres along its street, and its width; zeros for none."""
_NO_ROW: Row = (0.0, 0.0, 0.0, 0.0)
_NOTHING = (*_NO_ROW, 0.0)


def street_segments(plan: StreetPlan, streets: Sequence[Street]) -> Floats:
    """Return the straight pieces of some streets of a plan, shape (n, `SEGMENT_FIELDS`)."""
    ends = _zebras_at_junctions(plan) if plan.crossings is None else {}
    across: dict[int, list[float]] = {}
    for crossing in plan.crossings or ():
        across.setdefault(crossing.street, []).append(crossing.along)
    rows = []
    sides = _kerbsides(plan, streets, across)
    laid = _laid_stretches(streets)
    for street, narrow, follow in zip(streets, _half_widths_at_ends(streets), laid, strict=True):
        steps = np.diff(street.line, axis=0)
        lengths = np.hypot(steps[:, 0], steps[:, 1])
        before = np.concatenate([[0.0], np.cumsum(lengths)])
        zebras = ends.get(street.id, (NO_ZEBRA_M, NO_ZEBRA_M))
        for i, length in enumerate(lengths):
            if length <= 0:
                continue
            way = steps[i] / length
            cuts = _cut(before[i], before[i + 1], across.get(street.id, ()))
            # Between pieces of several widths a zebra would be torn.
            widths = (street.road / 2, street.road / 2) if street.id in across else narrow
            for start, end, zebra, half in _taper(cuts, street.road / 2, widths, before[-1]):
                rows.append(
                    (
                        *(street.line[i] + way * (start - before[i])), *way, end - start, start, before[-1],
                        half, street.pavement if street.has_kerb else SHOULDER_M,
                        zebras[0] if zebra is None else zebra, zebras[1], float(street.road >= DASH_ROAD_M),
                        *_edge(street), *sides.get((street.id, False), _NOTHING),
                        *sides.get((street.id, True), _NOTHING), *follow[i],
                    )
                )  # fmt: skip
    return np.concatenate([np.reshape(rows, (-1, SEGMENT_FIELDS)), _tram_segments(plan)])


def _tram_segments(plan: StreetPlan) -> Floats:
    """Return the segments of the tracks that lie in streets, which are ways of asphalt."""
    lines = [one.line for one in plan.tracks if not one.is_ballasted]
    pieces = [np.column_stack([line[:-1], np.diff(line, axis=0)]) for line in lines]
    x, y, east, north = np.concatenate([*pieces, np.empty((0, 4))]).T
    made = np.zeros((len(x), SEGMENT_FIELDS))
    made[:, 4] = np.maximum(np.hypot(east, north), 1e-6)
    made[:, :4] = np.stack([x, y, east / made[:, 4], north / made[:, 4]], axis=1)
    made[:, 7:13] = TRACK_M, TRAM_M - TRACK_M, NO_ZEBRA_M, NO_ZEBRA_M, 0.0, ASPHALT_WAY
    made[:, 14], made[:, 26] = 1.0, -np.inf
    return made


def _kerbsides(
    plan: StreetPlan, streets: Sequence[Street], across: Mapping[int, Sequence[float]]
) -> dict[tuple[int, bool], tuple[float, ...]]:
    """Return rows of bays and cycle lanes, as in the `SEGMENT_FIELDS`, by (street's index, True on its left).

    Args:
        plan: with the cars and bus stops.
        streets: those looked at.
        across: metres along a street to each of its zebras.
    """
    roads = [street for street in streets if street.road >= 2 * BAY_M[0]]
    things = [one for one in plan.furniture if one.kind in {"parked car", "bus stop"}]
    lanes = [(street.id, left) for street in roads for left in (False, True) if street.cycle_lanes[left]]
    found: dict[tuple[int, bool], tuple[list[float], list[float], list[float]]] = {
        key: ([], [], []) for key in lanes
    }
    lines = [shapely.LineString(street.line) for street in roads]
    points = np.asarray(shapely.points(np.reshape([(one.x, one.y) for one in things], (-1, 2))))
    near = shapely.STRtree(lines).query_nearest(points, max_distance=12.0, all_matches=False)
    for thing, road in near.reshape(2, -1).T.tolist():
        one, line, street = things[thing], lines[road], roads[road]
        along, room = float(line.project(points[thing])), END_M + BUS_BOX_M[1] / 2
        begin, end = line.interpolate(max(along - 0.5, 0.0)), line.interpolate(along + 0.5)
        ux, uy = end.x - begin.x, end.y - begin.y
        aside, turn = ux * (one.y - begin.y) - uy * (one.x - begin.x), radians(one.heading)
        cars, stops, others = found.setdefault((street.id, aside > 0), ([], [], []))
        if one.kind == "bus stop":
            stops += [along] * (room < along < line.length - room)
        elif FROM_KERB_M[0] < street.road / 2 - abs(aside) < FROM_KERB_M[1]:
            cars += [along] * (abs(sin(turn) * uy - cos(turn) * ux) < 0.3)
        else:
            others.append(along)
    halves = {street.id: street.road / 2 for street in roads}
    sides: dict[tuple[int, bool], tuple[float, ...]] = {}
    for key, (cars, stops, others) in found.items():
        # Beside parked cars; those that stand askew, or on the kerb, leave no room.
        lane = CYCLE_LANE_M + BAY_M[0] * bool(cars) if key in lanes and not others else 0.0
        row = _row(sorted(cars), stops, across.get(key[0], ()))
        sides[key] = *row, lane * (halves[key[0]] - lane >= BESIDE_LANE_M)
    return sides


def _row(cars: Sequence[float], stops: Sequence[float], zebras: Sequence[float]) -> Row:
    """Return the longest row of bays of cars, or a stop's box, by metres along a street's side; or zeros."""
    at, breaks = np.asarray(cars, float), np.sort([*zebras, *stops])
    apart = (np.diff(at) > ROW_M) | (np.diff(np.searchsorted(breaks, at)) > 0)
    row = max(np.split(at, np.flatnonzero(apart) + 1), key=len)
    if len(row) > 1:
        begin, end = float(row[0]) - BAY_M[1] / 2, float(row[-1]) + BAY_M[1] / 2
        return begin, end, (end - begin) / round((end - begin) / BAY_M[1]), BAY_M[0]
    half = BUS_BOX_M[1] / 2
    return (stops[0] - half, stops[0] + half, 2 * half, BUS_BOX_M[0]) if stops and not cars else _NO_ROW


def _half_widths_at_ends(streets: Sequence[Street]) -> list[tuple[float, float]]:
    """Return half the width in metres of each carriageway at its start and end, where another may go on."""
    roads = [street for street in streets if street.road]
    nodes = Counter(node for street in roads for node in (street.start, street.end))
    least: dict[int, float] = {}
    for street in roads:
        for node in (street.start, street.end):
            least[node] = min(street.road / 2, least.get(node, np.inf))
    # Where three meet they have corners; only of two does one go on as the other.
    at = {node: half for node, half in least.items() if nodes[node] == 2}
    return [(at.get(one.start, one.road / 2), at.get(one.end, one.road / 2)) for one in streets]


def _laid_stretches(streets: Sequence[Street]) -> Iterator[Floats]:
    """Yield the (first, last) metre of each street between which slabs follow its kerb, for each piece."""
    steps = [np.diff(street.line, axis=0) for street in streets]
    lengths = [np.hypot(*step.T) for step in steps]
    ways = [step / np.maximum(length, 1e-6)[:, None] for step, length in zip(steps, lengths, strict=True)]
    roads: dict[int, list[tuple[float, float, float]]] = {}
    for street, way in zip(streets, ways, strict=True):
        for node, (x, y) in ((street.start, way[0]), (street.end, -way[-1])) if street.road else ():
            roads.setdefault(node, []).append((x, y, street.road / 2))
    for street, way, length in zip(streets, ways, lengths, strict=True):
        bends = _slope_of_corner(-np.sum(way[:-1] * way[1:], axis=1))
        rooms = np.where(bends > _EVEN, bends * (street.road / 2 + LAID_M) + _TURN_M, -np.inf)
        ends = [
            _room_at(roads.get(node, []), out)
            for node, out in ((street.start, way[0]), (street.end, -way[-1]))
        ]
        rooms, marks = np.array([ends[0], *rooms, ends[1]]), np.concatenate([[0.0], np.cumsum(length)])
        first = np.maximum.accumulate(marks + rooms)[:-1]
        last = np.minimum.accumulate((marks - rooms)[::-1])[::-1][1:]
        is_laid = (last - first > _LEAST_LAID_M) & (street.road > 0)
        yield np.stack([first, np.where(is_laid, last, -np.inf)], axis=1)


def _room_at(roads: Sequence[tuple[float, float, float]], out: Floats) -> float:
    """Return the metres along a way out of a junction up to which another's kerb may be as near.

    Args:
        roads: unit vectors (east, north) out of the junction, and half the widths of their carriageways.
        out: unit vector of the way.
    """
    x, y, half = np.reshape(roads, (-1, 3)).T
    slope, widest = _slope_of_corner(x * out[0] + y * out[1]), half.max(initial=0.0)
    # The largest by far is the way itself.
    return float(slope[slope < _OWN].max(initial=0.0) * (widest + LAID_M) + _TURN_M)


def _slope_of_corner(cosine: Floats) -> Floats:
    """Return the metres along a way for each aside of it up to halfway to another, by the cosine between."""
    return np.sqrt(np.maximum(1 + cosine, 0.0) / np.maximum(1 - cosine, 1e-6))


def _taper(
    cuts: Iterator[tuple[float, float, float | None]], half: float, narrow: tuple[float, float], length: float
) -> Iterator[tuple[float, float, float | None, float]]:
    """Yield (start, end, zebra, half the carriageway) of pieces in which a street narrows to both ends."""
    if half == 0 or min(narrow) >= half:
        yield from ((*cut, half or NO_ROAD_M) for cut in cuts)
        return
    for start, end, zebra in cuts:
        marks = np.arange(start, end, TAPER_M)
        wide = (marks > (half - narrow[0]) / TAPER) & (marks < length - (half - narrow[1]) / TAPER - TAPER_M)
        marks = marks[~wide | ~np.roll(wide, 1) | (marks == start)]
        for low, high in zip(marks, [*marks[1:], end], strict=True):
            middle = (low + high) / 2
            ways = half, narrow[0] + TAPER * middle, narrow[1] + TAPER * (length - middle)
            yield low, high, zebra, max(min(ways), 0.5)


def _edge(street: Street) -> tuple[float, float, float]:
    """Return the last three of the `SEGMENT_FIELDS` of a street."""
    path = 1.0 if street.is_gravel or not street.has_kerb else ASPHALT_WAY * street.is_asphalt
    return path, 0.0, 0.0 if street.has_kerb else 1.0 + (street.road >= EDGE_LINES_M)


def zebra_middles(plan: StreetPlan) -> list[tuple[float, float]]:
    """Return the middle of each zebra that is painted, metres east and north."""
    if plan.crossings is not None:
        roads = {street.id: street.line for street in plan.streets if street.road > 0}
        return [_point(roads[one.street], one.along) for one in plan.crossings if one.street in roads]
    half = ZEBRA_LENGTH_M / 2
    found: list[tuple[float, float]] = []
    lines = {street.id: street.line for street in plan.streets}
    for street, begins in _zebras_at_junctions(plan).items():
        for way, begin in ((lines[street], begins[0]), (lines[street][::-1], begins[1])):
            if begin < NO_ZEBRA_M:
                found.append(_point(way, begin + half))
    return found


def _point(line: Floats, along: float) -> tuple[float, float]:
    """Return the point `along` metres from the start of a line, metres east and north."""
    steps = np.diff(line, axis=0)
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    piece = int(np.clip(np.searchsorted(before, along, side="right") - 1, 0, len(lengths) - 1))
    x, y = line[piece] + steps[piece] / lengths[piece] * (along - before[piece])
    return float(x), float(y)


def _zebras_at_junctions(plan: StreetPlan) -> dict[int, tuple[float, float]]:
    """Return (metres from start, metres from end) to the zebras at a street's ends, by the street's index."""
    degree = np.zeros(len(plan.junctions), int)
    widest = np.zeros(len(plan.junctions))
    for street in plan.streets:
        for end in (street.start, street.end):
            degree[end] += 1
            widest[end] = max(widest[end], street.road / 2)

    def begins(street: Street, end: int) -> float:
        """Return the metres from a street's junction `end` to its zebra; `NO_ZEBRA_M` for none."""
        long = np.hypot(*np.diff(street.line, axis=0).T).sum() > ZEBRA_STREET_M
        return float(widest[end] * 1.25 + 1.2) if degree[end] >= 3 and long else NO_ZEBRA_M

    return {one.id: (begins(one, one.start), begins(one, one.end)) for one in plan.streets}


def _cut(start: float, end: float, crossings: Sequence[float]) -> Iterator[tuple[float, float, float | None]]:
    """Yield (start, end, zebra's start or `None`), metres, of a stretch's pieces; `crossings`: their middles.

    All are metres from the start of the street.
    """
    at = start
    for middle in sorted(crossings):
        reach = ZEBRA_LENGTH_M / 2 + ASIDE_M
        low, high = max(middle - reach, at), min(middle + reach, end)
        if high - low <= 0:
            continue
        if low > at:
            yield at, low, None
        yield low, high, middle - ZEBRA_LENGTH_M / 2
        at = high
    if end > at:
        yield at, end, None


def segments_within(segments: Floats, low: Floats, high: Floats) -> Floats:
    """Return the segments that may reach into a box in metres; the first of all if none does.

    Args:
        segments: as `street_segments` gives them.
        low: south-west corner, metres.
        high: north-east corner, metres.
    """
    start = segments[:, :2]
    end = start + segments[:, 2:4] * segments[:, 4:5]
    reach = (segments[:, 7] + segments[:, 8] + MARGIN_M)[:, None]
    near = np.all((np.minimum(start, end) - reach <= high) & (np.maximum(start, end) + reach >= low), axis=1)
    return segments[near] if near.any() else segments[:1]
