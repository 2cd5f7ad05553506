"""Compiled kernels: the paint on roads, by the metres along and aside of a segment of street."""

from math import floor, hypot

from virl.geo.globe import Floats
from virl.towns.render.kernel import inline_kernel, part

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
CYCLE_LANE_M, LANE_LINE_M, BICYCLE_PERIOD_M = 1.5, 0.12, 30.0
"""Width of a cycle lane and of its lines, and metres from one painted bicycle to the next; chosen."""


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
def share_in_stripes(x: float, wide: float, period: float, blur: float) -> float:
    """Return the share of a pixel, `blur` metres wide, in stripes of a width and period.

    Args:
        x: middle of the pixel, metres.
        wide: width of a stripe.
        period: metres from one to the next.
        blur: width of the pixel.
    """
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
    lane = segments[i, 19 if aside < 0.0 else 24]
    if lane > 0.0 and _is_free(segments, i, along) and not _is_in_box(segments, i, along, aside):
        inside, ahead = segments[i, 7] - abs(aside), along if aside < 0.0 else -along
        paint = max(paint, _lane_paint(ahead, inside - lane, lane, blur_along, blur_aside))
    if segments[i, 11] == 0.0:
        return paint
    if ARROW_M[0] < to_start < ARROW_M[2]:
        taken = max(segments[i, 23], segments[i, 24])
        paint += _arrow_paint(to_start, aside, segments[i, 7] - taken, blur_aside)
    elif ARROW_M[0] < to_end < ARROW_M[2]:
        taken = max(segments[i, 18], segments[i, 19])
        paint += _arrow_paint(to_end, -aside, segments[i, 7] - taken, blur_aside)
    if abs(aside) > LINE_M + blur_aside or not _is_free(segments, i, along):
        return paint
    dash = share_in_stripes(along, DASH_M, DASH_PERIOD_M, blur_along)
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
    column = 15 if aside < 0.0 else 20
    step, inside = float(segments[i, column + 2]), float(segments[i, 7] - abs(aside))
    lane = float(segments[i, column + 4])
    if lane > 0.0 and -0.1 - around < lane - inside < CYCLE_LANE_M + 0.1 + around:
        off = abs(lane - inside - CYCLE_LANE_M / 2)
        bicycle = along - BICYCLE_PERIOD_M * floor(along / BICYCLE_PERIOD_M + 0.5)
        if off > CYCLE_LANE_M / 2 - 0.1 - around or abs(bicycle) < 1.3 + around:
            return True
    if is_arrow or step == 0.0:
        return is_arrow
    deep, x = float(segments[i, column + 3]), float((along - segments[i, column]) / step)
    across = abs(x - floor(x + 0.5)) * step < 0.1 + around
    return abs(inside - deep) < 0.1 + around or (across and inside < deep + around)


@inline_kernel
def metres_off_zebra(segments: Floats, i: int, along: float) -> float:
    """Return the metres along a street from a point of segment `i` to its nearer zebra, 0 on it.

    Args:
        segments: as `street_segments` gives them.
        i: number of the segment.
        along: metres from its start.
    """
    along += segments[i, 5]
    to_start, to_end = along - segments[i, 9], segments[i, 6] - along - segments[i, 10]
    half = ZEBRA_LENGTH_M / 2
    return float(max(min(abs(to_start - half), abs(to_end - half)) - half, 0.0))


@inline_kernel
def _bay_paint(
    segments: Floats, i: int, along: float, aside: float, blur_along: float, blur_aside: float
) -> float:
    """Return the share of paint of the bays at a kerb in a pixel; `along`: metres from the street's start."""
    column, per_aside = 15 if aside < 0.0 else 20, 1.0 / blur_aside
    begin, end, step = segments[i, column], segments[i, column + 1], segments[i, column + 2]
    if step == 0.0:
        return 0.0
    half = BAY_LINE_M / 2
    deep, inside = segments[i, column + 3], segments[i, 7] - abs(aside)
    lines = share_in_stripes(along - begin + half, BAY_LINE_M, step, blur_along)
    lines *= share_between(inside, -1.0, deep, per_aside)
    paint = max(lines, share_between(inside, deep - half, deep + half, per_aside))
    return paint * share_between(along, begin - half, end + half, 1.0 / blur_along)


@inline_kernel
def _is_free(segments: Floats, i: int, along: float) -> bool:
    """Return whether lines are painted at metres along a street: off its ends, zebras and stop lines."""
    back, clear = segments[i, 6] - along, STOP_LINE_M[1] + CLEAR_M
    if along - segments[i, 9] <= clear if segments[i, 9] < NO_ZEBRA_M else along <= END_M:
        return False
    return bool(back - segments[i, 10] > clear if segments[i, 10] < NO_ZEBRA_M else back > END_M)


@inline_kernel
def _is_in_box(segments: Floats, i: int, along: float, aside: float) -> bool:
    """Return whether a bus stop's box takes the place of a cycle lane at metres along a street."""
    column = 15 if aside < 0.0 else 20
    is_beside = segments[i, column] < along < segments[i, column + 1]
    return bool(is_beside and segments[i, column + 3] > segments[i, column + 4])


@part
def _lane_paint(ahead: float, off: float, lane: float, blur_along: float, blur_aside: float) -> float:
    """Return the share of paint of a cycle lane in a pixel: its lines, and bicycles for who rides there.

    Args:
        ahead: metres along the street as one rides.
        off: metres from the lane's far line, toward the middle of the road.
        lane: metres from the kerb to that line.
        blur_along: length of the pixel, metres.
        blur_aside: width of the pixel, metres.
    """
    per, half = 1.0 / blur_aside, LANE_LINE_M / 2
    paint = share_between(off, -half, half, per)
    if lane > CYCLE_LANE_M:
        paint += share_between(off + CYCLE_LANE_M, -half, half, per)
    # Stretched along the road, as it is seen at a slant.
    up = 0.5 * (ahead - BICYCLE_PERIOD_M * floor(ahead / BICYCLE_PERIOD_M + 0.5))
    across = abs(off + CYCLE_LANE_M / 2)
    if abs(up) > 0.6 or across > 0.6:
        return paint
    per = 1.0 / max(blur_aside, 0.5 * blur_along)
    wheel = share_between(hypot(across - 0.29, up), 0.16, 0.22, per)
    fork = share_between(across - 0.29 + 0.45 * up, -0.03, 0.03, per) * share_between(up, 0.0, 0.45, per)
    bar = share_between(up, 0.27, 0.33, per) * share_between(across, 0.0, 0.16, per)
    return paint + max(wheel, fork, bar)


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
        paint = zebra * inside * share_in_stripes(aside + half, STRIPE_M, STRIPE_PERIOD_M, blur_aside)
    if stop > 0.0:
        paint += stop * share_between(aside, 0.3, half - SIDE_M, per_aside)
    return min(paint, 1.0)
