"""Metrics shared by the benchmarks: pure functions.

Formulas and sources are in `docs/reference/metrics.md`.
"""

from benchmarks.metrics.statistics import mean_with_interval, success_weighted_path_length

__all__ = ["mean_with_interval", "success_weighted_path_length"]
