"""Touchdown and Map2seq as a trial: how walks start, are scored and are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from virl.bench.metrics.street import score_paths, score_walks
from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.start import start_state

from ..following.trial import Scores, Trial
from ..tables import Column
from .dataset import Data, Selection
from .published import published_rows

COLUMNS = (
    Column("tc", "TC %", percent=True, digits=1),
    Column("spd", "SPD", digits=1),
    Column("kpa", "KPA %", percent=True, digits=1),
    Column("kpa_published", "KPA* %", percent=True, digits=1),
    Column("nDTW", "nDTW"),
    Column("SDTW", "SDTW"),
    Column("CLS", "CLS"),
)
ABOUT = (
    "Episodes on the street map, north up. KPA* is the key point accuracy as the published code computes it."
)


def open_trial(data: Data, chosen: Selection) -> Trial:
    """The trial of a data set."""
    return Trial(
        title=f"{chosen.dataset}, {chosen.scenario} {chosen.split}",
        about=ABOUT,
        source=data.source,
        graphs={"": data.graph},
        episodes=data.episodes,
        faults=data.faults,
        start=lambda episode: start_state(data.graph, episode, chosen.dataset),
        score=lambda episode, walked: score_walk(data.graph, episode, walked),
        columns=COLUMNS,
        success="tc",
        successes=("tc", "SDTW"),
        figures=_figures,
        published=published_rows(chosen.dataset, chosen.scenario, chosen.split) if data.is_published else (),
    )


def score_walk(graph: NavigationGraph, episode: Episode, walked: Sequence[int]) -> Scores:
    """The metrics of one walk; `None` for the SPD where no way leads from its end to the target."""
    nodes = walked, [graph.number(node) for node in episode.path]
    street, paths = score_walks(graph, [nodes])[0], score_paths(graph, [nodes])[0]
    scores: Scores = asdict(street) | asdict(paths)
    return scores if np.isfinite(street.spd) else scores | {"spd": None}


def _figures(scores: Scores) -> Mapping[str, str]:
    spd = "no way" if scores["spd"] is None else f"{scores['spd']:.0f}"
    return {"SPD": spd, "KPA": f"{scores['kpa']:.0%}", "nDTW": f"{scores['nDTW']:.2f}"}
