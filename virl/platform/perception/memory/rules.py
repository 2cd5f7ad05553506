"""Rules that tell sightings of one thing from those of two: each says same, different or no verdict."""

from collections.abc import Sequence

from virl.geo import signed_turn
from virl.platform.perception.memory.fusion import separation, surprise
from virl.platform.perception.memory.objects import Estimate, Opinion, Seen
from virl.platform.perception.memory.rays import Span, span_of
from virl.platform.perception.memory.settings import MemorySettings
from virl.platform.perception.overlap import intersection_over_union

SAME_BOX = 0.9  # chosen: in one view, boxes that share so much of their union are one box added twice
SEAM_DEG = 1.0  # chosen: widest gap between the parts of a thing that two views side by side have cut


def by_view(seen: Seen, views: Sequence[Seen]) -> Opinion | None:
    """Two boxes of one view are two things; always on. `None` if none of `views` is of the same view."""
    boxes = [view.box for view in views if (view.pano_id, view.camera) == (seen.pano_id, seen.camera)]
    if not boxes:
        return None
    shared = max(intersection_over_union(seen.box, box) for box in boxes)
    if shared >= SAME_BOX:
        return Opinion("same view", "same", f"the same box of the same view ({shared:.0%} shared)")
    return Opinion("same view", "different", f"another box of the same view ({shared:.0%} shared)")


def by_panorama(seen: Seen, views: Sequence[Seen], settings: MemorySettings) -> Opinion | None:
    """From one panorama, one thing covers the same directions in every view, however it is zoomed.

    Returns:
        `None` if none of `views` is from the same panorama.
    """
    opinions = [
        _in_panorama(_span(seen, settings), _span(view, settings), settings)
        for view in views
        if view.pano_id == seen.pano_id
    ]
    for wanted in ("same", "no verdict", "different"):
        for opinion in opinions:
            if opinion.says == wanted:
                return opinion
    return None


def by_geometry(one: Estimate, other: Estimate, settings: MemorySettings) -> tuple[Opinion, float]:
    """Two positions, held against each other by their uncertainties.

    Returns:
        The opinion, and its cost as in `Comparison`. No verdict where the uncertainty is so large that it
        may well cover several things: the parallax is too small, and the boxes tell the distance too badly.
    """
    metres, square, area = separation(one, other)
    cost = surprise(square, area, settings.density_per_m2)
    how = f"{metres:.1f} m apart, {square**0.5:.1f} standard deviations"
    if square > settings.gate:
        return Opinion("geometry", "different", how), cost
    if cost < 0:
        return Opinion("geometry", "same", how), cost
    return Opinion("geometry", "no verdict", f"{how}, but that may be anywhere in {area:.0f} m2"), cost


def by_features(matches: int, settings: MemorySettings) -> Opinion:
    """Crops with many points in common may show one thing; few prove nothing, as views differ."""
    how = f"{matches} matched points of {settings.min_matches} needed"
    return Opinion("features", "same" if matches >= settings.min_matches else "no verdict", how)


def _span(seen: Seen, settings: MemorySettings) -> Span:
    return span_of(seen.camera, seen.box, settings.jitter)


def _in_panorama(one: Span, other: Span, settings: MemorySettings) -> Opinion:
    turn = abs(signed_turn(one.heading, other.heading))
    shared = _shared(one, other)
    how = f"{turn:.1f} degrees apart from one panorama, {shared:.0%} shared"
    if shared >= settings.overlap and turn <= settings.heading_deg:
        return Opinion("same panorama", "same", how)
    if _is_seam(one, other, settings.jitter) or _is_seam(other, one, settings.jitter):
        return Opinion("same panorama", "same", f"{how}, cut by the edges of two views side by side")
    if turn > settings.heading_deg or shared == 0:
        return Opinion("same panorama", "different", how)
    return Opinion("same panorama", "no verdict", how)


def _shared(one: Span, other: Span) -> float:
    """Overlap over union in heading and pitch; over the smaller one where a box is cut off."""
    turn = signed_turn(one.heading, other.heading)
    wide = min(one.width / 2, turn + other.width / 2) - max(-one.width / 2, turn - other.width / 2)
    high = min(one.high, other.high) - max(one.low, other.low)
    both = max(wide, 0.0) * max(high, 0.0)
    areas = [span.width * (span.high - span.low) for span in (one, other)]
    whole = min(areas) if one.cut.anywhere or other.cut.anywhere else sum(areas) - both
    return both / whole if whole > 0 else 0.0


def _is_seam(left: Span, right: Span, jitter: float) -> bool:
    """Whether the second goes on where the edge of its picture cut the first."""
    if not (left.cut.right and right.cut.left):
        return False
    widths = left.width + right.width
    gap = signed_turn(left.heading, right.heading) - widths / 2
    beside = min(left.high, right.high) - max(left.low, right.low)
    return (
        abs(gap) <= SEAM_DEG + jitter * widths
        and beside >= min(left.high - left.low, right.high - right.low) / 2
    )
