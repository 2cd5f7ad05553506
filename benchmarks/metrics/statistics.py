"""Numbers over many episodes, and SPL."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2000  # chosen: the ends of a 95 % interval move by less than a point between seeds


def success_weighted_path_length(success: bool, walked: float, shortest: float) -> float:
    """SPL of one episode, [0, 1] (Anderson et al. 2018, equation 1). Lengths in metres."""
    if not success:
        return 0.0
    longest = max(walked, shortest)
    return shortest / longest if longest else 1.0


def mean_with_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float, float]:
    """Mean and the ends of its 95 % bootstrap interval (percentile method).

    Raises:
        ValueError: there are no values; nothing scored is not zero.
    """
    if not values:
        raise ValueError("no values to average")
    data = np.asarray(values, float)
    chosen = np.random.default_rng(seed).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.percentile(data[chosen].mean(axis=1), [2.5, 97.5])
    return float(data.mean()), float(low), float(high)
