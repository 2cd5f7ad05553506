"""The follower's model: its numbers, and how well ways on and places to stop fit what the text says.

The fit of a way on is a product of factors in [0, 1]. A place to stop has a share, and the shares sum to one.
Phrases of one group are tied to a crossing: "in the intersection", "just before the light", "a few steps
after turning". They give shares over the links after (before: negative) that crossing. The others are tied to
a block, from one crossing to the next: "halfway down", "at the second building", "at the bank". They give
shares over the nodes of a block.
"""

from collections.abc import Sequence
from functools import cache
from math import exp, log
from typing import Annotated

from pydantic import Field

from virl.platform.navigators.follower.clauses import End, Hint, Kind, PlannedLeg, Sureness
from virl.platform.navigators.follower.streets import Exit
from virl.resources import data_folder
from virl.settings.model import Settings, load_settings

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Landmarks = tuple[Positive, float, Positive]
"""(median of a place on a block of nine links, exponent of length / 9 that scales it, spread of its log)."""


class Parameters(Settings):
    """Probabilities, factors, angles in degrees and distances in links of the follower's model of walks."""

    named_further: Share
    """Probability that a turn is at a later crossing than the text says, where it names a crossing."""
    named_further_remark: Share
    """Growth of `named_further` with each remark that the text makes on the way."""
    further: Share
    """Probability that a turn's crossing is a later one where none is named: "turn left at the bank"."""
    further_remark: Share
    further_most: Share
    further_again: Share
    """Probability, for each later crossing, that the turn comes even later; at least `further`."""
    fewer_least: Share
    """Probability that a turn's crossing is an earlier one, where the text passes none before it."""
    fewer: Share
    """Growth of `fewer_least` with each crossing that the text passes."""
    fewer_again: Share
    """Probability that a turn earlier than told is two crossings before the one told, not one."""
    separate: tuple[Share, ...]
    """Probabilities that people count two crossings 1, 2, ... links apart as two; the last for any beyond."""
    counted_fourway: Share
    """Probability that people count a crossing of four ways that they pass."""
    counted_tee: Share
    """Probability that people count a crossing that they pass where no way leads straight on."""
    counted_side: Share
    """Probability that people count a crossing that they pass where one street joins from a side."""

    pair_separate: Share
    """Largest probability that the second of two lights, told as one, is a crossing of its own."""
    near_separate: Share
    """Least probability that two crossings count as two where the text says that one follows right away."""
    gap_near: Positive
    """Number of links to a crossing told as "immediately after" at which its fit has fallen to half."""
    gap_near_spread: Positive
    gap_far: Positive
    """Number of links to a crossing told as beyond a "long block" at which its fit has risen to half."""
    gap_far_spread: Positive
    gap_least: Share
    """Least fit of a crossing by its distance, where the text says that it is near or far."""
    other_shape: Share
    """Factor on a crossing with other ways than "the four-way intersection" or "the side street" has."""
    shape_told: Share
    """Least probability that people count a crossing whose shape the text gives."""

    turn_angle: float
    turn_spread: Positive
    slight_angle: float
    slight_spread: Positive
    rough_spread: Positive
    """Spread, degrees, of a turn that the text tells, into a way of which fewer than three links are seen."""
    not_outermost: Share
    """Factor on the fit of a left turn into a way with another farther left; likewise for right turns."""
    rough_not_outermost: Share
    tee_with_way_ahead: Share
    """Factor on a turn "at the T" or "where the road ends" at a crossing where a way leads on."""
    forced_bend: Share
    """Factor on an untold bend into the straightest way: 45 to 70 degrees, or more if it is the only way."""
    forced_turn: Share
    """Factor on a turn of 70 degrees or more, not mentioned, at a crossing where no way is straighter."""
    bear_spread: Positive
    """Spread, degrees, of how much more a way bends than the straightest, where the text tells of no turn."""
    bear: Share
    """Least factor on a turn within 45 degrees, not mentioned, into another way than the straightest."""
    untold_turn: Share
    """Factor on a turn of 45 degrees or more, not mentioned, into another way than the straightest."""

    stop_phrases: bool
    """True if stop phrases are told apart; False if each means anywhere on its block."""
    neighbours: bool
    """True to choose the end by its likelihood plus its neighbours', which task completion accepts too."""
    in_aim: float
    in_spread: Positive
    before_aim: Positive
    before_step: float
    before_slope: float
    """Growth of the distance before a crossing, in links, with each step that the text says."""
    before_spread: Positive
    after_aim: float
    after_step: float
    after_spread: Positive
    turned_aim: float
    turned_step: float
    turned_spread: Positive
    step_spread: float
    """Growth of the spread in links with each step that the text says."""
    fraction_most: Share
    """Largest share of a block that people mean, even by "almost all the way"."""
    fraction_spread: Positive
    building_first: Positive
    building_next: Positive
    building_spread: Positive
    corner_aim: Positive
    """Distance in links of a landmark at a corner from the nearer end of its block."""
    corner_spread: Positive
    corner_ahead: Share
    """Probability that a landmark at a corner is at the end of the block, not its beginning."""
    landmark: Landmarks
    remark: float
    """Growth of the logarithm of a landmark's median place with each remark on the block."""
    open_end: Landmarks
    """Place on a block where a walk ends whose text just ends."""
    anywhere: Share
    """Share of the likelihood that is spread evenly over the block, whatever the phrase."""
    block_pull: float
    """Power of a block's length in its weight: 0 if all blocks weigh the same, 1 if all nodes do."""

    with_traffic: Share
    """Probability that "with the flow of traffic" is the way the capturing car drove."""
    against_traffic: Share
    """Probability that "against the traffic" means the way opposite to the capturing car's."""
    traffic_untold: Share
    """Probability that a walk starts the way the car drove where the text says nothing of traffic."""
    crossing_told: Share
    """Probability that "towards the intersection" is the way to the nearer one."""

    near_turn: Share
    """Factor on a walk that sets out by a turn, untold, at a crossing within two links of the start."""

    explore: float
    """Share of the best end's weight from which an unseen way is tried, if there is time to return."""
    commit: float
    """Share of the best end's weight from which an unseen way is tried without time to return."""
    far: Positive
    """Number of links over which the weight of an unseen way falls by a factor e."""
    blocks: tuple[tuple[Annotated[int, Field(gt=0)], Share], ...]
    """(length in links, share of all blocks) for blocks that are not seen to their end."""

    prior_links: tuple[Positive, Positive]
    """Mean and standard deviation of the links of Map2seq's routes; used with `--prior` only."""
    prior_links_touchdown: tuple[Positive, Positive]


@cache
def default_parameters() -> Parameters:
    """Return the follower's parameters as they come with virl, in `follower.yaml`.

    Raises:
        BadInput: the file was edited and does not hold what it should.
    """
    return load_settings(data_folder("platform/movement") / "follower.yaml", Parameters)


STRAIGHT_DEG = 45.0  # chosen: half way to a right angle
"""Angle to straight ahead, in degrees, below which a way counts as straight on."""
BEND_DEG = 70.0  # chosen: what some call a turn and some a bend of the street
"""Angle, in degrees, below which the straightest way on counts as a bend of the street, not a turn."""
MOST_FEWER = 0.5  # chosen: nobody counts worse
FURTHEST = 5  # chosen: crossings beyond the one that the text means


def ordinal_weights(
    ordinal: int, sureness: Sureness, remarks: int, p: Parameters, *, passed: int | None = None
) -> dict[int, float]:
    """Return the chance, by number, of each crossing to be meant by `ordinal`, told after `passed` others.

    Each crossing that the text passes before it (`passed`, else one less than the ordinal) may be one too
    many, and each landmark that it names on the way makes a later one likelier.

    Args:
        ordinal: number that the text gives, from 1.
        sureness: certainty of that number.
        remarks: number of landmarks that the text names on the way.
        p: parameters of the follower.
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
    """Return the factor, 0 to 1, by which a way on fits the turn at the end of a leg.

    Args:
        leg: that ends in the turn.
        way: that is taken there.
        exits: all ways on at the crossing, from left to right.
        p: parameters of the follower.
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
    """Return the factor, 0 to 1, for taking `way` at a crossing where the text tells of no turn.

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


_WAYS_ON: dict[Kind | None, int] = {"three": 2, "tee": 2, "side": 2, "four": 3}
"""Number of ways on at a crossing of a kind, besides the way that leads there."""


def hint_fit(hint: Hint, links: int, exits: Sequence[Exit], p: Parameters) -> float:
    """Return the factor, 0 to 1, by which a crossing `links` after another fits the text's remark on it.

    Args:
        hint: on a crossing.
        links: number of links from the crossing before.
        exits: of the crossing, from left to right.
        p: of the follower.
    """
    fit = 1.0
    if hint.gap is not None:
        near = hint.gap == "near"
        middle, spread = (p.gap_near, -p.gap_near_spread) if near else (p.gap_far, p.gap_far_spread)
        fit = p.gap_least + (1.0 - p.gap_least) / (1.0 + exp((middle - links) / spread))
    has_shape = len(exits) > 3 if hint.kind == "many" else len(exits) == _WAYS_ON.get(hint.kind, len(exits))
    return fit if has_shape else fit * p.other_shape


def count_chance(exits: Sequence[Exit], straight: Exit, p: Parameters) -> float:
    """Return the probability that people who walk `straight` through a crossing count it, by its ways on.

    Args:
        exits: of the crossing, from left to right.
        straight: the way nearest to straight on.
        p: of the follower.
    """
    if len(exits) >= 3:
        return p.counted_fourway
    return p.counted_tee if abs(straight.turn) > STRAIGHT_DEG else p.counted_side


REACH = 12
"""Largest number of links between a crossing and a place that a phrase ties to it; chosen: a long block."""
TYPICAL_BLOCK = 9
"""Number of links of a block across Manhattan's avenues; measured: the most common distance."""
MOST_REMARKS = 7
"""Largest number of remarks on a block that count for its length; measured on the tuning sets."""
TIED = frozenset({"in", "before", "after", "turned"})
"""Kinds of end whose place is given from a crossing or turn, not by the block."""


class Endings:
    """The probabilities that a walk ends at each node of the last street's blocks."""

    def __init__(self, end: End, parameters: Parameters) -> None:
        """Work out the probability of each crossing that the end's phrase may be tied to."""
        self._end, self._p = end, parameters
        self._tied = parameters.stop_phrases and end.kind in TIED
        self._near = offsets(end, parameters) if self._tied else {}
        anchor = end.passed + (self._tied and end.kind in ("in", "before"))
        remarks = 0 if end.kind == "turned" else end.remarks
        self.weights = ordinal_weights(anchor, end.sureness, remarks, parameters, passed=end.passed)
        """Probability that the phrase is tied to a crossing, by the crossing's number on the street."""
        self._blocks: dict[tuple[int, int, int, float], Sequence[float]] = {}

    def block(self, steps: int, number: int, since: int, told: float) -> Sequence[float]:
        """Return the chance of an end at each node of a block; `told`: that people count the crossing ahead.

        Args:
            steps: number of links of the block.
            number: crossings of the street counted before the block.
            since: links between the last of these and the block's first node.
            told: probability that people count the crossing at the block's end.
        """
        key = steps, number, since, told
        if key not in self._blocks:
            self._blocks[key] = self._shares(*key)
        return self._blocks[key]

    def unseen(self, steps: int, number: int, since: int) -> Sequence[float]:
        """Return an end's mean chance at each node of a block of unknown length with `steps` links seen.

        Args:
            steps: number of links that were seen.
            number: crossings counted before the block.
            since: links between the last of these and the block's first node.
        """
        lengths = [(length, share) for length, share in self._p.blocks if length >= steps]
        lengths = lengths or [(steps + 2, 1.0)]
        total = sum(share for _, share in lengths)
        sums = [0.0] * (max(length for length, _ in lengths) + 1)
        for length, likely in lengths:
            for node, share in enumerate(self.block(length, number, since, 1.0)):
                sums[node] += share * likely / total
        return sums

    def _shares(self, steps: int, number: int, since: int, told: float) -> Sequence[float]:
        """Return, uncached, the chance that the walk ends at each node of a block of `steps` links."""
        here = self.weights.get(number, 0.0)
        if self._tied:
            ahead = self.weights.get(number + 1, 0.0) * told
            near = self._near
            return [
                here * near.get(since + node, 0.0) + ahead * near.get(node - steps, 0.0)
                for node in range(steps + 1)
            ]
        weight = here * ((since + steps) / TYPICAL_BLOCK) ** self._p.block_pull
        if not since:
            weight *= self._p.separate[min(steps, len(self._p.separate)) - 1]
        return [weight * share for share in block_shares(self._end, since + steps, self._p)[since:]]


def offsets(end: End, p: Parameters) -> dict[int, float]:
    """Return the probability of each distance of the end, in links after its crossing or turn."""
    steps = end.steps or 0.0
    match end.kind:
        case "in":
            aim, spread = p.in_aim, p.in_spread
        case "before":
            aim, spread = (
                -(p.before_step + p.before_slope * steps if steps else p.before_aim),
                p.before_spread,
            )
        case "turned":
            aim, spread = p.turned_step + steps if steps else p.turned_aim, p.turned_spread
        case _:
            aim, spread = p.after_step + steps if steps else p.after_aim, p.after_spread
    spread += p.step_spread * steps
    return _normalise({links: _gauss(links - aim, spread) for links in range(-REACH, REACH + 1)})


def block_shares(end: End, steps: int, p: Parameters) -> list[float]:
    """Return the probability of an end at each node of a block of `steps` links, from crossing to crossing.

    Args:
        end: place to stop, of a kind that goes by the block.
        steps: number of links of the block, at least 1.
        p: parameters of the follower.
    """
    inner = range(1, steps + 1)
    if not p.stop_phrases:
        return [0.0] + [1 / steps] * steps
    if end.kind == "fraction":
        aim = min(end.fraction or 0.5, p.fraction_most) * steps
        weights = {node: _gauss(node - aim, p.fraction_spread * steps + 0.5) for node in inner}
    elif end.kind == "building":
        number = end.building or 1
        aim = p.building_first + p.building_next * (number - 1)
        weights = {node: _gauss(node - aim, p.building_spread * (1 + 0.3 * number)) for node in inner}
    elif end.kind == "corner":
        weights = {
            node: (1 - p.corner_ahead) * _gauss(node - p.corner_aim, p.corner_spread)
            + p.corner_ahead * _gauss(steps - node - p.corner_aim, p.corner_spread)
            for node in inner
        }
    else:
        middle, growth, spread = p.open_end if end.kind == "open" else p.landmark
        aim = log(middle) + growth * log(max(steps, 2) / TYPICAL_BLOCK)
        aim += p.remark * min(end.remarks, MOST_REMARKS)
        weights = {node: _gauss(log(node) - aim, spread) / node for node in inner}
    tuned = _normalise(weights)
    return [0.0] + [(1 - p.anywhere) * tuned[node] + p.anywhere / steps for node in inner]


def _normalise(weights: dict[int, float]) -> dict[int, float]:
    """Return weights, by number of links or node, scaled to a sum of 1; equal shares if their sum is 0."""
    total = sum(weights.values())
    if total <= 0.0:
        return {key: 1 / len(weights) for key in weights}
    return {key: weight / total for key, weight in weights.items()}


def _gauss(offset: float, spread: float) -> float:
    """Return the height, 0 to 1, of a bell curve at an offset from its top; the spread has the same unit."""
    return exp(-0.5 * (offset / spread) ** 2)
