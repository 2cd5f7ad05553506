"""The ways to set out, weighed by what the text and the street say of the first step."""

from collections.abc import Sequence
from math import isnan

from virl.geo import signed_float_turn
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.follower.clauses import OrientClause
from virl.platform.movement.instruction.follower.explain import Start
from virl.platform.movement.instruction.follower.parameters import Parameters
from virl.platform.movement.instruction.follower.streets import Segment, Streets


def ways_out(
    streets: Streets, start: WalkState, orient: OrientClause, yaw: float, oriented: bool, p: Parameters
) -> list[Start]:
    """The ways to set out from a state.

    Args:
        streets: what is known of the map.
        start: where the walk begins.
        orient: what the text says of it.
        yaw: the way the capturing car drove there, degrees, hence the traffic's; `nan` where it is not known.
        oriented: whether the state faces the right way, which Map2seq's do and Touchdown's do not.
        p: the numbers of the model.
    """
    segments = streets.starts(start.node)
    if oriented and segments:
        ahead = min(segments, key=lambda segment: abs(signed_float_turn(start.heading, segment.headings[0])))
        return [Start(ahead, 1.0, 0)]
    return [
        Start(
            segment,
            _traffic(segment, orient, yaw, p) * _crossing(segment, segments, orient, p),
            actions=0 if segment.headings[0] == start.heading else 1,
            is_free=True,
        )
        for segment in segments
    ]


def _traffic(segment: Segment, orient: OrientClause, yaw: float, p: Parameters) -> float:
    if isnan(yaw):
        return 0.5
    along = p.traffic_untold
    if orient.traffic is not None:
        along = p.with_traffic if orient.traffic else 1.0 - p.against_traffic
    return along if abs(signed_float_turn(yaw, segment.headings[0])) < 90.0 else 1.0 - along


def _crossing(segment: Segment, segments: Sequence[Segment], orient: OrientClause, p: Parameters) -> float:
    """The nearer crossing can only be told where both directions are known."""
    if orient.crossing is None or len(segments) != 2 or not all(other.known for other in segments):
        return 0.5
    nearer = segment.steps == min(other.steps for other in segments)
    return p.crossing_told if nearer == orient.crossing else 1.0 - p.crossing_told
