"""How well a way on at a crossing fits what the text says, or leaves out. All are factors in [0, 1]."""

from collections.abc import Sequence
from math import exp

from virl.platform.movement.instruction.follower.parameters import Parameters
from virl.platform.movement.instruction.follower.plan import Leg, Sureness
from virl.platform.movement.instruction.follower.streets import Exit

STRAIGHT_DEG = 45.0  # chosen: half way to a right angle
BEND_DEG = 70.0  # chosen: what some call a turn and some a bend of the street
FIRST_OFFSET = -2


def ordinal_weights(ordinal: int, sureness: Sureness, remarks: int, p: Parameters) -> dict[int, float]:
    """Which crossing of a leg is meant: shares by ordinal, for one that the text calls `ordinal`.

    Where it names no crossing, each landmark that it names on the way makes a later one likelier.
    """
    table = p.said if sureness == "said" else p.implied if sureness == "implied" else _open(remarks, p)
    weights: dict[int, float] = {}
    for offset, share in enumerate(table, FIRST_OFFSET):
        meant = max(ordinal + offset, 0)
        weights[meant] = weights.get(meant, 0.0) + share
    return weights


def _open(remarks: int, p: Parameters) -> Sequence[float]:
    further = min(p.further + p.further_remark * remarks, p.further_most)
    return [
        *p.open_before,
        *((1 - sum(p.open_before)) * (1 - further) * further**offset for offset in range(6)),
    ]


def turn_fit(leg: Leg, way: Exit, exits: Sequence[Exit], p: Parameters) -> float:
    """How well taking a way is the turn of a leg."""
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
    """How well taking a way goes with a text that says nothing of it."""
    bend = abs(way.turn)
    if way is not straight:
        return p.bear if bend < STRAIGHT_DEG else p.untold_turn
    if bend < STRAIGHT_DEG or (way.rough and len(exits) == 3):
        return 1.0
    return p.forced_bend if len(exits) == 1 or bend < BEND_DEG else p.forced_turn


def counted(exits: Sequence[Exit], straight: Exit, p: Parameters) -> float:
    """How likely people count a crossing that they pass."""
    if len(exits) >= 3:
        return p.counted_fourway
    return p.counted_tee if abs(straight.turn) > STRAIGHT_DEG else p.counted_side
