"""How like two paths are: nDTW, SDTW, CLS and SPL, from the distances between their nodes and their lengths.

Distances are in any unit, as long as lengths and the threshold are in the same one.
"""

from math import exp, inf

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
