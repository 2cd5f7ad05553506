"""What a stop phrase says about where on a street to stop: distances in links, as shares that sum to one.

Phrases of one group are tied to a crossing: "in the intersection", "just before the light", "a few steps
after turning". They give shares over the links after (before: negative) that crossing. The others are tied to
a block, from one crossing to the next: "halfway down", "at the second building", "at the bank". They give
shares over the nodes of a block.
"""

from collections.abc import Sequence
from math import exp, log

from virl.platform.navigators.follower.fit import ordinal_weights
from virl.platform.navigators.follower.parameters import Parameters
from virl.platform.navigators.follower.plan import End

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
