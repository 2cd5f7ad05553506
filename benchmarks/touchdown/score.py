"""How walks in the street are scored, and which metrics are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from virl.bench.benchmark import Metric
from virl.bench.metrics.paths import score_paths, score_walks
from virl.bench.walks import WalkScores
from virl.pages.numbers import show_share
from virl.platform.city.graph import InstructionEpisode, NavigationGraph

METRICS = (
    Metric("tc", "TC", about="task completion: stops at the target or beside it"),
    Metric("spd", "SPD", percent=False, about="links from the end to the target"),
    Metric("kpa", "KPA", about="key point accuracy: right decisions at crossings"),
    Metric("kpa_published", "KPA*", about="KPA as VELMA's code counts it"),
    Metric("nDTW", "nDTW", about="normalized dynamic time warping: likeness to the gold path"),
    Metric("SDTW", "SDTW", about="nDTW of walks that succeed, else 0"),
    Metric("CLS", "CLS", about="coverage weighted by length score"),
)
"""Metrics of walks in streets; KPA* is the key point accuracy that VELMA's published code computes."""

SUCCESS = "tc"
SUCCESSES = ("tc", "SDTW")


def score_walk(graph: NavigationGraph, episode: InstructionEpisode, walked: Sequence[int]) -> WalkScores:
    """Return the metrics of one walk, given by its nodes; SPD is `None` if no way leads to the target.

    Args:
        graph: links between the panoramas.
        episode: with its gold path.
        walked: nodes of the walk.
    """
    nodes = walked, [graph.number(node) for node in episode.path]
    street, paths = score_walks(graph, [nodes])[0], score_paths(graph, [nodes])[0]
    scores: WalkScores = asdict(street) | asdict(paths)
    return scores if np.isfinite(street.spd) else scores | {"spd": None}


def figures(scores: WalkScores) -> Mapping[str, str]:
    """Return the metrics that a walk's page shows, as texts by heading."""
    spd = "no way" if scores["spd"] is None else f"{scores['spd']:.0f}"
    return {
        "links from end to goal (SPD)": spd,
        "right decisions (KPA)": show_share(scores["kpa"]),
        "likeness to gold path (nDTW)": show_share(scores["nDTW"]),
    }
