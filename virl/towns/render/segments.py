"""Streets as the ground is drawn from them: their straight pieces, and the paint on their roads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import floor

import numpy as np

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
    if segments[i, 11] == 0.0 or abs(aside) > LINE_M + blur_aside:
        return 0.0
    free_start = to_start > 0.0 if segments[i, 9] < NO_ZEBRA_M else along > END_M
    free_end = to_end > 0.0 if segments[i, 10] < NO_ZEBRA_M else back > END_M
    if not (free_start and free_end):
        return 0.0
    dash = _share_in_stripes(along, DASH_M, DASH_PERIOD_M, blur_along)
    return dash * share_between(aside, -LINE_M / 2, LINE_M / 2, 1.0 / blur_aside)


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
        paint += stop * share_between(aside, 0.1, half - SIDE_M, per_aside)
    return min(paint, 1.0)


ASIDE_M = 0.8
"""Metres of street before and behind a mapped zebra that form a segment of their own with it."""
ZEBRA_STREET_M = 45.0
"""Length in metres of a street below which it has no zebras at its ends."""
NO_ROAD_M = -0.25
"""Half width in metres that stands for no carriageway: no kerb is drawn."""
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

SEGMENT_FIELDS = 15
"""Number of columns of the array of street segments.
x, y, direction x, y, length, metres of street before it, length of its street, half its road, its pavement,
where the zebra at the street's start begins, where the one at its end does (both measured from that end,
`NO_ZEBRA_M` or more for none), 1 where a centre line is painted, 1 where its pavement is gravel and 2 where
it is asphalt, metres added to the distance from its kerb, and 1 without a kerb, 2 with edge lines, too."""


def street_segments(plan: StreetPlan, streets: Sequence[Street]) -> Floats:
    """Return the straight pieces of some streets of a plan, shape (n, `SEGMENT_FIELDS`)."""
    ends = _zebras_at_junctions(plan) if plan.crossings is None else {}
    across: dict[int, list[float]] = {}
    for crossing in plan.crossings or ():
        across.setdefault(crossing.street, []).append(crossing.along)
    rows = []
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
                        *_edge(street),
                    )
                )  # fmt: skip
    return np.array(rows, float).reshape(-1, SEGMENT_FIELDS)


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

    From, to, and where the zebra of a part begins.

    All are metres from the start of the street.
    """
    at = start
    for middle in sorted(crossings):
        low, high = (
            max(middle - ZEBRA_LENGTH_M / 2 - ASIDE_M, at),
            min(middle + ZEBRA_LENGTH_M / 2 + ASIDE_M, end),
        )
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
