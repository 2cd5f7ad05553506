"""Numbers over many episodes, and SPL."""

from virl.bench.statistics import RESAMPLES, mean_with_interval

__all__ = ["RESAMPLES", "mean_with_interval", "success_weighted_path_length"]


def success_weighted_path_length(success: bool, walked: float, shortest: float) -> float:
    """SPL of one episode, [0, 1] (Anderson et al. 2018, equation 1). Lengths in metres."""
    if not success:
        return 0.0
    longest = max(walked, shortest)
    return shortest / longest if longest else 1.0
