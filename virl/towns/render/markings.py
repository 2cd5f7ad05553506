"""Compiled kernels: what is painted on a road."""

from math import floor

from virl.geo.globe import Floats
from virl.towns.render.kernel import inline_kernel

DASH_M, DASH_PERIOD_M, LINE_M = 3.0, 9.0, 0.13
STRIPE_M, STRIPE_PERIOD_M, ZEBRA_LENGTH_M = 0.5, 1.0, 3.2
STOP_LINE_M = (4.2, 4.55)
"""Metres from the zebra's beginning to both edges of the stop line."""
SIDE_M = 0.4
"""Metres along the kerbs without paint."""
NO_ZEBRA_M = 1e8
"""Metres from which a zebra's beginning means that there is none."""
END_M = 9.0
"""Metres at the end of a street without a zebra where no line is painted."""


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
    """Return the share of paint in a pixel of the road, [0, 1], from its place in metres.

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
    """Return the share of paint of zebra and stop line, [0, 1]."""
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
