"""The metrics of V-IRL's benchmarks on places: of VLN, arrival and reactions; of localization, its counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.geo.globe import LatLng, distance

SUCCESS_M = 25.0  # V-IRL, section 5.4: the walk ends nearer to the destination than this
INTERSECTION_M = 5.0  # as the published code: a key position is passed nearer than this
STOP_M = 20.0  # as the published code: the destination is passed nearer than this
WINDOW = 3  # actions before the nearest moment, and from it on, in which the turn may come (published code)


@dataclass(frozen=True, slots=True)
class KeyPosition:
    """A position at which a route turns."""

    position: LatLng
    turn: str
    """The action that is right there."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk: `actions[i]` was taken at `positions[i]`; the last position may have none."""

    positions: Sequence[LatLng]
    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class VlnScore:
    """The metrics of one route, each 1 or 0, or a share of its intermediate key positions."""

    success: float
    start_reaction: float
    """True if the first action was the one toward the first key position."""
    intersection_arrival: float | None
    """`None` for a route without intermediate key positions."""
    intersection_reaction: float | None
    stop_arrival: float


def score_vln(
    walked: Walked, first_action: str, between: Sequence[KeyPosition], destination: LatLng
) -> VlnScore:
    """Score one walk, whatever ended it.

    Args:
        walked: the walk; its positions are not empty.
        first_action: the right one at the start.
        between: the key positions between start and destination.
        destination: the place itself.
    """
    nearest = [_nearest(walked.positions, key.position) for key in between]
    arrived = [metres < INTERSECTION_M for _, metres in nearest]
    reacted = [
        key.turn in walked.actions[max(0, moment - WINDOW) : moment + WINDOW]
        for key, (moment, _) in zip(between, nearest, strict=True)
    ]
    _, closest = _nearest(walked.positions, destination)
    return VlnScore(
        success=float(distance(walked.positions[-1], destination) < SUCCESS_M),
        start_reaction=float(bool(walked.actions) and walked.actions[0] == first_action),
        intersection_arrival=_hit_share(arrived),
        intersection_reaction=_hit_share(reacted),
        stop_arrival=float(closest < STOP_M),
    )


METRICS = ("start_reaction", "intersection_arrival", "intersection_reaction", "stop_arrival")


def _nearest(positions: Sequence[LatLng], goal: LatLng) -> tuple[int, float]:
    """Return the moment at which a walk was nearest to a position, and its metres then."""
    metres = [distance(position, goal) for position in positions]
    moment = min(range(len(metres)), key=metres.__getitem__)
    return moment, metres[moment]


def _hit_share(hits: Sequence[bool]) -> float | None:
    """Return the share of hits, 0 to 1; None without any."""
    return sum(hits) / len(hits) if hits else None


@dataclass(frozen=True, slots=True)
class Sought:
    """A place that was to be localized."""

    types: frozenset[str]
    """Types of the place among those asked for; not empty."""
    labels: frozenset[str]
    """Labels of the boxes that were matched to it; empty if none was."""

    @property
    def is_matched(self) -> bool:
        """Return whether any box hit it."""
        return bool(self.labels)

    @property
    def is_detected(self) -> bool:
        """Return whether a box hit it with one of its types."""
        return bool(self.labels & self.types)
