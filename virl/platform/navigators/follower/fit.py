"""How well a way on at a crossing fits what the text says, or leaves out. All are factors in [0, 1]."""

from collections.abc import Sequence
from math import exp

from virl.platform.navigators.follower.clauses import Gap, Kind
from virl.platform.navigators.follower.parameters import Parameters
from virl.platform.navigators.follower.plan import Hint, PlannedLeg, Sureness
from virl.platform.navigators.follower.streets import Exit

STRAIGHT_DEG = 45.0  # chosen: half way to a right angle
"""Degrees of a turn below which a way counts as straight on."""
BEND_DEG = 70.0  # chosen: what some call a turn and some a bend of the street
"""Degrees of a turn below which the straightest way counts as a bend."""
MOST_FEWER = 0.5  # chosen: nobody counts worse
FURTHEST = 5  # chosen: crossings beyond the one that the text means


def ordinal_weights(
    ordinal: int, sureness: Sureness, remarks: int, p: Parameters, *, passed: int | None = None
) -> dict[int, float]:
    """Return the probability of each crossing, by number, for one that the text numbers `ordinal`.

    Each crossing that the text passes before it (`passed`, else one less than the ordinal) may be one too
    many, and each landmark that it names on the way makes a later one likelier.

    Args:
        ordinal: of the text, from 1.
        sureness: of the text.
        remarks: landmarks that it names on the way.
        p: of the follower.
        passed: crossings that it passes; `None` for one less than the ordinal.
    """
    counted = max(ordinal - 1, 0) if passed is None else passed
    further, growth = (
        (p.further, p.further_remark) if sureness == "open" else (p.named_further, p.named_further_remark)
    )
    further = min(further + growth * remarks, p.further_most)
    fewer = min(p.fewer_least + p.fewer * counted, MOST_FEWER)
    later = max(further, p.further_again)
    weights: dict[int, float] = {}
    for offset in range(-2, FURTHEST + 1):
        if offset < 0:
            share = fewer * (p.fewer_again if offset == -2 else 1.0 - p.fewer_again)
        elif offset == 0:
            share = (1.0 - fewer) * (1.0 - further)
        else:
            share = (1.0 - fewer) * further * (1.0 - later) * later ** (offset - 1)
        meant = max(ordinal + offset, 0)
        weights[meant] = weights.get(meant, 0.0) + share
    return weights


def turn_fit(leg: PlannedLeg, way: Exit, exits: Sequence[Exit], p: Parameters) -> float:
    """Return the factor, 0 to 1, for taking a way where the text asks for the turn of a leg.

    Args:
        leg: with a turn.
        way: that is taken.
        exits: all ways, from left to right.
        p: of the follower.
    """
    angle = way.turn if leg.side == "right" else -way.turn
    aim = p.slight_angle if leg.slight else p.turn_angle
    spread = p.rough_spread if way.rough else p.slight_spread if leg.slight else p.turn_spread
    fit = exp(-0.5 * ((angle - aim) / spread) ** 2)
    if way is not (exits[-1] if leg.side == "right" else exits[0]):
        fit *= p.rough_not_outermost if way.rough else p.not_outermost
    if leg.kind in ("tee", "end") and min(abs(other.turn) for other in exits) < STRAIGHT_DEG:
        fit *= p.tee_with_way_ahead
    return fit


def pass_fit(way: Exit, straight: Exit, exits: Sequence[Exit], p: Parameters) -> float:
    """Return the factor, 0 to 1, for taking a way at a crossing that the text passes without a turn.

    Args:
        way: that is taken.
        straight: the way nearest to straight on.
        exits: all ways, from left to right.
        p: of the follower.
    """
    bend = abs(way.turn)
    if way is not straight:
        if bend >= STRAIGHT_DEG:
            return p.untold_turn
        return max(p.bear, exp(-0.5 * ((bend - abs(straight.turn)) / p.bear_spread) ** 2))
    if bend < STRAIGHT_DEG or (way.rough and len(exits) == 3):
        return 1.0
    return p.forced_bend if len(exits) == 1 or bend < BEND_DEG else p.forced_turn


def hint_fit(hint: Hint, links: int, exits: Sequence[Exit], p: Parameters) -> float:
    """Return the factor, 0 to 1, for a crossing by its remark in the text and the links since the one before.

    Args:
        hint: on a crossing.
        links: since the crossing before.
        exits: of the crossing, from left to right.
        p: of the follower.
    """
    return _gap_fit(hint.gap, links, p) * (1.0 if _has_shape(hint.kind, exits) else p.other_shape)


def _gap_fit(gap: Gap | None, links: int, p: Parameters) -> float:
    """Return the factor for a crossing `links` on where the text says near or far; 1 without either."""
    if gap is None:
        return 1.0
    middle, spread = (p.gap_near, -p.gap_near_spread) if gap == "near" else (p.gap_far, p.gap_far_spread)
    return p.gap_least + (1.0 - p.gap_least) / (1.0 + exp((middle - links) / spread))


def _has_shape(kind: Kind | None, exits: Sequence[Exit]) -> bool:
    """Return whether a crossing has as many ways on as its kind says; true for kinds without a number."""
    match kind:
        case "three" | "tee" | "side":
            return len(exits) == 2
        case "four":
            return len(exits) == 3
        case "many":
            return len(exits) > 3
        case _:
            return True


def count_chance(exits: Sequence[Exit], straight: Exit, p: Parameters) -> float:
    """Return the probability that people count a crossing that they pass.

    Args:
        exits: of the crossing, from left to right.
        straight: the way nearest to straight on.
        p: of the follower.
    """
    if len(exits) >= 3:
        return p.counted_fourway
    return p.counted_tee if abs(straight.turn) > STRAIGHT_DEG else p.counted_side
