"""Streets as the ground is drawn from them: their straight pieces, and the paint on their roads."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import cos, floor, radians, sin

import numpy as np
import shapely

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Street, StreetPlan
from virl.towns.render.kernel import inline_kernel

DASH_M, DASH_PERIOD_M, LINE_M = 3.0, 9.0, 0.13
STRIPE_M, STRIPE_PERIOD_M, ZEBRA_LENGTH_M = 0.5, 1.0, 3.2
STOP_LINE_M = (4.2, 4.55)
"""Distances in metres from the zebra's beginning to both edges of the stop line."""
SIDE_M = 0.4
"""Width in metres along each kerb that stays without paint."""
NO_ZEBRA_M = 1e8
"""Distance in metres to a zebra that stands for no zebra at all."""
END_M = 9.0
"""Length in metres at a street's end without a zebra where no line is painted."""
CLEAR_M = 1.5
"""Length in metres without a centre line behind a stop line."""
ARROW_M = (19.5, 21.1, 24.5)
"""Distances in metres from the zebra's beginning to the tip, the neck and the end of an arrow."""
BARB_M, SHAFT_M = 0.42, 0.08
"""Half the width in metres of an arrow's head and of its shaft."""
BAY_M, BUS_BOX_M, BAY_LINE_M = (2.0, 6.2), (2.7, 15.0), 0.10
"""(Width, usual length) of a parking bay and of the box of a bus stop, and width of their lines, metres."""


@inline_kernel
def share_between(x: float, low: float, high: float, per: float) -> float:
    """Return the share of a pixel of width 1 / `per` at x that lies in [low, high].

    Args:
        x: middle of the pixel.
        low: of the interval.
        high: of the interval.
        per: pixels a unit of x.
    """
    return max(0.0, min(1.0, (x - low) * per + 0.5) - max(0.0, (x - high) * per + 0.5))


@inline_kernel
def _share_in_stripes(x: float, wide: float, period: float, blur: float) -> float:
    """Return the share of a pixel, `blur` metres wide, in stripes of a width and period."""
    if blur > period:
        return wide / period
    high, low = x + 0.5 * blur, x - 0.5 * blur
    turns_high, turns_low = floor(high / period), floor(low / period)
    painted = (turns_high - turns_low) * wide
    painted += min(high - turns_high * period, wide) - min(low - turns_low * period, wide)
    return painted / blur


@inline_kernel
def markings(
    segments: Floats, i: int, along: float, aside: float, blur_along: float, blur_aside: float
) -> float:
    """Return the share of white paint, [0, 1], in a pixel of segment `i`; `blur_...`: its size in metres.

    Args:
        segments: as `street_segments` gives them.
        i: number of the segment.
        along: metres from its start.
        aside: metres to its left.
        blur_along: length of the pixel, metres.
        blur_aside: width of the pixel, metres.
    """
    along += segments[i, 5]
    back = segments[i, 6] - along
    to_start, to_end = along - segments[i, 9], back - segments[i, 10]
    if -blur_along < to_start < STOP_LINE_M[1] + blur_along:
        return _junction_paint(to_start, aside, segments[i, 7], blur_along, blur_aside)
    if -blur_along < to_end < STOP_LINE_M[1] + blur_along:
        return _junction_paint(to_end, -aside, segments[i, 7], blur_along, blur_aside)
    paint = _bay_paint(segments, i, along, aside, blur_along, blur_aside)
    if segments[i, 11] == 0.0:
        return paint
    if ARROW_M[0] < to_start < ARROW_M[2]:
        paint += _arrow_paint(to_start, aside, segments[i, 7] - segments[i, 22], blur_aside)
    elif ARROW_M[0] < to_end < ARROW_M[2]:
        paint += _arrow_paint(to_end, -aside, segments[i, 7] - segments[i, 18], blur_aside)
    if abs(aside) > LINE_M + blur_aside:
        return paint
    clear = STOP_LINE_M[1] + CLEAR_M
    free_start = to_start > clear if segments[i, 9] < NO_ZEBRA_M else along > END_M
    free_end = to_end > clear if segments[i, 10] < NO_ZEBRA_M else back > END_M
    if not (free_start and free_end):
        return paint
    dash = _share_in_stripes(along, DASH_M, DASH_PERIOD_M, blur_along)
    return paint + dash * share_between(aside, -LINE_M / 2, LINE_M / 2, 1.0 / blur_aside)


@inline_kernel
def is_painted(segments: Floats, i: int, along: float, aside: float, around: float) -> bool:
    """Return whether paint may lie within `around` metres of a point of segment `i`; see `markings`.

    Args:
        segments: as `street_segments` gives them.
        i: number of the segment.
        along: metres from its start.
        aside: metres to its left.
        around: metres.
    """
    along += segments[i, 5]
    to_start, to_end = along - segments[i, 9], segments[i, 6] - along - segments[i, 10]
    reach = 5.0 + around  # zebra and stop line together
    if abs(aside) < 0.2 + around or -around < to_start < reach or -around < to_end < reach:
        return True
    is_arrow = ARROW_M[0] - around < to_start < ARROW_M[2] + around and aside > 0.0
    is_arrow |= ARROW_M[0] - around < to_end < ARROW_M[2] + around and aside < 0.0
    column = 15 if aside < 0.0 else 19
    step, inside = float(segments[i, column + 2]), float(segments[i, 7] - abs(aside))
    if is_arrow or step == 0.0:
        return is_arrow
    deep, x = float(segments[i, column + 3]), float((along - segments[i, column]) / step)
    across = abs(x - floor(x + 0.5)) * step < 0.1 + around
    return abs(inside - deep) < 0.1 + around or (across and inside < deep + around)


@inline_kernel
def _bay_paint(
    segments: Floats, i: int, along: float, aside: float, blur_along: float, blur_aside: float
) -> float:
    """Return the share of paint of the bays at a kerb in a pixel; `along`: metres from the street's start."""
    column, per_aside = 15 if aside < 0.0 else 19, 1.0 / blur_aside
    begin, end, step = segments[i, column], segments[i, column + 1], segments[i, column + 2]
    if step == 0.0:
        return 0.0
    half = BAY_LINE_M / 2
    deep, inside = segments[i, column + 3], segments[i, 7] - abs(aside)
    lines = _share_in_stripes(along - begin + half, BAY_LINE_M, step, blur_along)
    lines *= share_between(inside, -1.0, deep, per_aside)
    paint = max(lines, share_between(inside, deep - half, deep + half, per_aside))
    return paint * share_between(along, begin - half, end + half, 1.0 / blur_along)


@inline_kernel
def _arrow_paint(along: float, aside: float, half: float, blur: float) -> float:
    """Return the share of paint of an arrow, [0, 1], at metres along and aside of a street."""
    wide = SHAFT_M
    if along < ARROW_M[1]:
        wide = BARB_M * (along - ARROW_M[0]) / (ARROW_M[1] - ARROW_M[0])
    return share_between(aside - half / 2, -wide, wide, 1.0 / blur)


@inline_kernel
def _junction_paint(along: float, aside: float, half: float, blur_along: float, blur_aside: float) -> float:
    """Return the share of paint of zebra and stop line, [0, 1], at metres along and aside of a street."""
    per_along, per_aside = 1.0 / blur_along, 1.0 / blur_aside
    zebra = share_between(along, 0.0, ZEBRA_LENGTH_M, per_along)
    stop = share_between(along, STOP_LINE_M[0], STOP_LINE_M[1], per_along)
    paint = 0.0
    if zebra > 0.0:
        inside = share_between(aside, SIDE_M - half, half - SIDE_M, per_aside)
        paint = zebra * inside * _share_in_stripes(aside + half, STRIPE_M, STRIPE_PERIOD_M, blur_aside)
    if stop > 0.0:
        paint += stop * share_between(aside, 0.3, half - SIDE_M, per_aside)
    return min(paint, 1.0)


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
MARGIN_M = 4.0
"""Distance in metres beyond a pavement up to which distances to the kerb are measured."""

SEGMENT_FIELDS = 23
"""Number of columns of the array of street segments.
x, y, direction x, y, length, metres of street before it, length of its street, half its road, its pavement,
where the zebra at the street's start begins, where the one at its end does (both measured from that end,
`NO_ZEBRA_M` or more for none), 1 where a centre line is painted, 1 where its pavement is gravel and 2 where
it is asphalt, metres added to the distance from its kerb, 1 without a kerb, 2 with edge lines, too, and the
`Row` at its right and the one at its left."""

Row = tuple[float, float, float, float]
"""Begin, end and step of a row of bays, metres along its street, and its width; zeros for none."""
_NO_ROW: Row = (0.0, 0.0, 0.0, 0.0)


def street_segments(plan: StreetPlan, streets: Sequence[Street]) -> Floats:
    """Return the straight pieces of some streets of a plan, shape (n, `SEGMENT_FIELDS`)."""
    ends = _zebras_at_junctions(plan) if plan.crossings is None else {}
    across: dict[int, list[float]] = {}
    for crossing in plan.crossings or ():
        across.setdefault(crossing.street, []).append(crossing.along)
    rows = []
    bays = _bay_rows(plan, streets, across)
    for street, narrow in zip(streets, _half_widths_at_ends(streets), strict=True):
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
                        *_edge(street), *bays.get((street.id, False), _NO_ROW),
                        *bays.get((street.id, True), _NO_ROW),
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
    made[:, 14] = 1.0
    return made


def _bay_rows(
    plan: StreetPlan, streets: Sequence[Street], across: Mapping[int, Sequence[float]]
) -> dict[tuple[int, bool], Row]:
    """Return rows of bays by (street's index, True on its left); `across`: metres to a street's zebras."""
    roads = [street for street in streets if street.road >= 2 * BAY_M[0]]
    things = [one for one in plan.furniture if one.kind in {"parked car", "bus stop"}]
    if not (roads and things):
        return {}
    lines = [shapely.LineString(street.line) for street in roads]
    points = shapely.points([(one.x, one.y) for one in things])
    near = shapely.STRtree(lines).query_nearest(points, max_distance=12.0, all_matches=False)
    found: dict[tuple[int, bool], tuple[list[float], list[float]]] = {}
    for thing, road in near.T.tolist():
        one, line, street = things[thing], lines[road], roads[road]
        along, room = float(line.project(points[thing])), END_M + BUS_BOX_M[1] / 2
        begin, end = line.interpolate(max(along - 0.5, 0.0)), line.interpolate(along + 0.5)
        ux, uy = end.x - begin.x, end.y - begin.y
        aside, turn = ux * (one.y - begin.y) - uy * (one.x - begin.x), radians(one.heading)
        cars, stops = found.setdefault((street.id, aside > 0), ([], []))
        if one.kind == "bus stop":
            stops += [along] * (room < along < line.length - room)
        elif FROM_KERB_M[0] < street.road / 2 - abs(aside) < FROM_KERB_M[1]:
            cars += [along] * (abs(sin(turn) * uy - cos(turn) * ux) < 0.3)
    return {key: _row(sorted(cars), stops, across.get(key[0], ())) for key, (cars, stops) in found.items()}


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
