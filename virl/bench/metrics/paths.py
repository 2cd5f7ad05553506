"""How like two paths are: nDTW, SDTW, CLS and SPL, and the metrics of R2R, which are made of them.

Distances are in any unit, as long as lengths and the threshold are in the same one; R2R's are metres along
links.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import exp, inf, isfinite

import numpy as np

from virl.geo.globe import Floats


def dtw(distances: Floats) -> float:
    """Return the dynamic time warping: the cheapest alignment of a walk with the gold path, both in order.

    Args:
        distances: from each node walked to each node of the gold path, shape (walked, gold), none empty.
    """
    before = [0.0] + [inf] * distances.shape[1]
    for row in distances.tolist():
        after = [inf]
        for column, distance in enumerate(row):
            after.append(distance + min(before[column], before[column + 1], after[column]))
        before = after
    return before[-1]


def ndtw(distances: Floats, threshold: float) -> float:
    """Return the normalised dynamic time warping, [0, 1] (Magalhaes et al. 2019).

    Args:
        distances: as for `dtw`.
        threshold: the distance within which an episode succeeds.
    """
    return exp(-dtw(distances) / (distances.shape[1] * threshold))


def sdtw(distances: Floats, threshold: float, success: bool) -> float:
    """Return the success weighted by nDTW, [0, 1] (Magalhaes et al. 2019).

    Args:
        distances: metres from each step of the walk to each step of the gold path.
        threshold: metres within which the target counts as reached.
        success: whether the walk succeeded.
    """
    return ndtw(distances, threshold) if success else 0.0


def cls(distances: Floats, threshold: float, walked_length: float, gold_length: float) -> float:
    """Return the coverage weighted by length score, [0, 1] (Jain et al. 2019).

    Args:
        distances: as for `dtw`.
        threshold: the distance at which the coverage of a node has fallen to 1/e.
        walked_length: of the walk.
        gold_length: of the gold path.
    """
    coverage = float(np.exp(-distances.min(axis=0) / threshold).mean())
    expected = coverage * gold_length
    longest = expected + abs(expected - walked_length)
    return coverage * (expected / longest if longest else 1.0)


def success_weighted_path_length(success: bool, walked: float, shortest: float) -> float:
    """Return the SPL of one episode, [0, 1] (Anderson et al. 2018, equation 1). Lengths in metres.

    Args:
        success: whether the walk succeeded.
        walked: length of the walk.
        shortest: length of the shortest way; 0 where the start is the target.
    """
    if not success:
        return 0.0
    longest = max(walked, shortest)
    return shortest / longest if longest else 1.0


SUCCESS_M = 3.0  # Anderson et al. 2018 (R2R): closer than 3 m to the goal
_SHORTEST_M = 0.01  # the published code divides by no less than this


@dataclass(frozen=True, slots=True)
class IndoorScore:
    """The metrics of one episode, under the names that published results use."""

    trajectory_lengths: float
    """TL: metres walked."""
    nav_error: float
    """NE: metres from the end of the walk to the goal."""
    oracle_error: float
    """Metres from the node of the walk that is nearest to the goal."""
    success: float
    """SR: 1 if NE is less than `SUCCESS_M`, else 0."""
    oracle_success: float
    """OSR: 1 if the oracle error is less than `SUCCESS_M`, else 0."""
    spl: float
    """SPL, [0, 1]: weighed by the length of the gold path, which need not be the shortest."""
    nDTW: float  # noqa: N815 - the published name
    SDTW: float
    CLS: float

    def finite(self) -> dict[str, float | None]:
        """Return all metrics by name; `None` for a distance where no way leads, as JSON has no infinity."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


def score_indoor(distances: Floats, walked: Sequence[int], gold: Sequence[int]) -> IndoorScore:
    """Score one walk.

    Args:
        distances: metres along links between all nodes of the scan, shape (nodes, nodes).
        walked: node numbers, the start first, not empty. Where nodes that follow each other are not linked,
            the shortest way between them counts.
        gold: node numbers of the gold path, not empty.
    """
    to_goal = distances[list(walked), gold[-1]]
    error, oracle_error = float(to_goal[-1]), float(to_goal.min())
    walked_m, gold_m = _path_length(distances, walked), _path_length(distances, gold)
    success = error < SUCCESS_M
    between = distances[list(walked)][:, list(gold)]
    return IndoorScore(
        trajectory_lengths=walked_m,
        nav_error=error,
        oracle_error=oracle_error,
        success=float(success),
        oracle_success=float(oracle_error < SUCCESS_M),
        spl=success_weighted_path_length(success, max(walked_m, _SHORTEST_M), gold_m),
        nDTW=ndtw(between, SUCCESS_M),
        SDTW=sdtw(between, SUCCESS_M, success),
        CLS=cls(between, SUCCESS_M, walked_m, gold_m),
    )


def _path_length(distances: Floats, path: Sequence[int]) -> float:
    """Return the length of a path, in the unit of `distances`, which has all pairs of nodes."""
    return float(sum(distances[a, b] for a, b in pairwise(path)))
