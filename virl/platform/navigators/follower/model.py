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

from virl.platform.navigators.follower.clauses import End, Gap, Hint, Kind, PlannedLeg, Sureness
from virl.platform.navigators.follower.streets import Exit
from virl.resources import data_folder
from virl.settings.model import Settings, load_settings

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Landmarks = tuple[Positive, float, Positive]
"""Place of a landmark on a block: median in links on a block of nine, growth with its length, spread."""


class Parameters(Settings):
    """Probabilities, angles in degrees and distances in links; the file says where each is from."""

    named_further: Share
    """Probability that the crossing is a later one than the text counts to, where the text names it."""
    named_further_remark: Share
    """Growth of that with each remark that the text makes on the way."""
    further: Share
    """The same where it names none, as in "turn left at the bank"."""
    further_remark: Share
    further_most: Share
    further_again: Share
    """Probability that a later one is not the next but one later still; as `further` if that is more."""
    fewer_least: Share
    """Probability that it is an earlier one, where the text passes none before it."""
    fewer: Share
    """Growth of that with each crossing that the text passes."""
    fewer_again: Share
    """Probability that an earlier one is earlier by two."""
    separate: tuple[Share, ...]
    """Probabilities that two crossings 1, 2, ... links apart are two to people; the last for all more."""
    counted_fourway: Share
    """Probability that people count a crossing of four ways that they pass."""
    counted_tee: Share
    """The same where no way leads straight on."""
    counted_side: Share
    """The same where one street joins from the side."""

    pair_separate: Share
    """Probability that the second light of two, which the text counts as one crossing, is another one."""
    near_separate: Share
    """Probability that two crossings are two to people where the text says that one follows right away."""
    gap_near: Positive
    """Links to a crossing "immediately after", of which half of the factor on it is left."""
    gap_near_spread: Positive
    gap_far: Positive
    """Links of a "long block", at which the factor on it reaches half."""
    gap_far_spread: Positive
    gap_least: Share
    """The least of these two factors."""
    other_shape: Share
    """Factor on a crossing that has not the ways of "the four-way intersection" or "the side street"."""
    shape_told: Share
    """Probability that people count a crossing whose shape they tell."""

    turn_angle: float
    turn_spread: Positive
    slight_angle: float
    slight_spread: Positive
    rough_spread: Positive
    """Spread where only one link of the way is seen."""
    not_outermost: Share
    """Factor on a left turn that is not the leftmost way, or a right one not the rightmost."""
    rough_not_outermost: Share
    tee_with_way_ahead: Share
    """Factor on a turn "at the T" or "where the road ends" where a way leads on."""
    forced_bend: Share
    """Factor on a turn of 45 to 70 degrees that the text leaves out where it is the straightest way."""
    forced_turn: Share
    """The same from 70 degrees on, at a crossing with several ways on."""
    bear_spread: Positive
    """Degrees by which one of two ways within 45 degrees may bend more and still be straight on."""
    bear: Share
    """The least factor on another way than the straightest, within 45 degrees, that the text leaves out."""
    untold_turn: Share
    """The same beyond 45 degrees."""

    stop_phrases: bool
    """True if stop phrases are told apart; if not, each means anywhere on its block."""
    neighbours: bool
    """True if the end is picked together with its neighbours, as task completion counts them."""
    in_aim: float
    in_spread: Positive
    before_aim: Positive
    before_step: float
    before_slope: float
    """Links for each step that the text says before a crossing."""
    before_spread: Positive
    after_aim: float
    after_step: float
    after_spread: Positive
    turned_aim: float
    turned_step: float
    turned_spread: Positive
    step_spread: float
    """Growth of the spread with each step that the text says."""
    fraction_most: Share
    """The greatest fraction of a block that people mean, even by "almost all the way"."""
    fraction_spread: Positive
    building_first: Positive
    building_next: Positive
    building_spread: Positive
    corner_aim: Positive
    """Links of a landmark that is at a corner from the nearer end of the block."""
    corner_spread: Positive
    corner_ahead: Share
    """Probability that such a landmark is at the corner at the end of the block."""
    landmark: Landmarks
    remark: float
    """Growth of the logarithm of that median with each remark that the text makes on the block."""
    open_end: Landmarks
    """Place on a block of the end, where the text just ends."""
    anywhere: Share
    """Share spread evenly over the block, whatever the phrase."""
    block_pull: float
    """Power of a block's length in its weight: 0 if all blocks are alike, 1 if all their nodes are."""

    with_traffic: Share
    """Probability that "with the flow of traffic" is the way the capturing car drove."""
    against_traffic: Share
    """Probability that "against the traffic" is the other way."""
    traffic_untold: Share
    """Probability that a walk starts the way the car drove where the text says nothing of traffic."""
    crossing_told: Share
    """Probability that "towards the intersection" is the way to the nearer one."""

    near_turn: Share
    """Factor on setting out another way than straight on from a crossing within two links of the start."""

    explore: float
    """A way not seen yet is tried for this share of the best end's weight, if there is time to return."""
    commit: float
    """The same where there is no time to return."""
    far: Positive
    """Links over which the weight of a way not seen yet falls by a factor e."""
    blocks: tuple[tuple[Annotated[int, Field(gt=0)], Share], ...]
    """Lengths of blocks in links and their shares, for blocks not seen to their end."""

    prior_links: tuple[Positive, Positive]
    """Mean and standard deviation of the links of Map2seq's routes; used with `--prior` only."""
    prior_links_touchdown: tuple[Positive, Positive]


@cache
def default_parameters() -> Parameters:
    """Return the shipped numbers.

    Raises:
        BadInput: the file was edited and does not hold what it should.
    """
    return load_settings(data_folder("platform/movement") / "follower.yaml", Parameters)


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


REACH = 12
"""Links from a crossing beyond which a phrase tied to it says nothing; chosen: longer than most blocks."""
TYPICAL_BLOCK = 9
"""Links of a block across Manhattan's avenues; measured, the most common distance between crossings."""
MOST_REMARKS = 7
"""Remarks on a block that count at most for its length; measured on the two sets of the model's tuning."""
TIED = frozenset({"in", "before", "after", "turned"})
"""Kinds of end that are counted from a crossing or turn."""


class Endings:
    """Probability of the end at each node of the blocks of the last street."""

    def __init__(self, end: End, parameters: Parameters) -> None:
        self._end, self._p = end, parameters
        self._tied = parameters.stop_phrases and end.kind in TIED
        self._near = offsets(end, parameters) if self._tied else {}
        anchor = end.passed + (self._tied and end.kind in ("in", "before"))
        remarks = 0 if end.kind == "turned" else end.remarks
        self.weights = ordinal_weights(anchor, end.sureness, remarks, parameters, passed=end.passed)
        """The weights by the crossing the phrase is tied to, or the last before the block it is tied to."""
        self._blocks: dict[tuple[int, int, int, float], Sequence[float]] = {}

    def block(self, steps: int, number: int, since: int, told: float) -> Sequence[float]:
        """Return the probability of each node of a block as the end, from its first crossing to its last.

        Args:
            steps: its links.
            number: crossings counted before it.
            since: links between the last of these and its beginning.
            told: how likely people count the crossing at its end.
        """
        key = steps, number, since, told
        if key not in self._blocks:
            self._blocks[key] = self._shares(*key)
        return self._blocks[key]

    def unseen(self, steps: int, number: int, since: int) -> Sequence[float]:
        """Return the expected probability of each node of a block of which `steps` links are seen.

        Args:
            steps: links that were seen.
            number: crossings counted before the block.
            since: links between the last of these and its beginning.
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
        """Return the probability of each node of a block of `steps` links as the end."""
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
    """Return the probability of each distance, in links after the crossing or turn that a phrase names."""
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
    """Return the probability of each node of a block of `steps` links as the end; 0 at its first crossing.

    Args:
        end: that the text tells.
        steps: links of the block, at least 1.
        p: of the follower.
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
    """Return weights that sum to one; equal ones if their sum is zero."""
    total = sum(weights.values())
    if total <= 0.0:
        return {key: 1 / len(weights) for key in weights}
    return {key: weight / total for key, weight in weights.items()}


def _gauss(offset: float, spread: float) -> float:
    """Return the value of a bell curve, 1 at offset 0, for an offset and spread in links."""
    return exp(-0.5 * (offset / spread) ** 2)
