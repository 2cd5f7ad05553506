"""Metrics of walks, and how sure their means are."""

from virl.bench.metrics.paths import (
    IndoorScore,
    PathScore,
    StreetScore,
    cls,
    dtw,
    kpa,
    kpa_published,
    ndtw,
    score_indoor,
    score_paths,
    score_walks,
    sdtw,
    shortest_path_distances,
    success_weighted_path_length,
    task_completion,
)
from virl.bench.statistics import Interval, mean_with_interval

__all__ = [
    "IndoorScore",
    "Interval",
    "PathScore",
    "StreetScore",
    "cls",
    "dtw",
    "kpa",
    "kpa_published",
    "mean_with_interval",
    "ndtw",
    "score_indoor",
    "score_paths",
    "score_walks",
    "sdtw",
    "shortest_path_distances",
    "success_weighted_path_length",
    "task_completion",
]
