"""The metrics of R2R: TL, NE, OSR, SR and SPL, with nDTW, SDTW and CLS; distances are metres along links."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import isfinite

from virl.bench.metrics.paths import cls, ndtw, sdtw, success_weighted_path_length
from virl.geo.globe import Floats

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
