"""R2R as a trial: how walks start, are scored and are shown."""

from collections.abc import Mapping

from virl.platform.movement.discrete.rules import WalkState

from ..following.trial import Scores, Trial
from .dataset import Data
from .published import COLUMNS, NAVGPT

COMPARABLE = "val_unseen"
"""The split that the published results are of."""
ABOUT = "Viewpoints from above, north up, all storeys in one."


def open_trial(data: Data, split: str) -> Trial:
    """The trial of a split."""
    graphs = {scan: building.graph for scan, building in data.buildings.items()}
    return Trial(
        title=f"R2R, {split}",
        about=ABOUT,
        source=str(data.folder),
        graphs=graphs,
        episodes=data.episodes,
        faults=data.faults,
        start=lambda episode: WalkState(graphs[episode.scan].number(episode.start), episode.heading),
        score=lambda episode, walked: (
            data.buildings[episode.scan]
            .score([graphs[episode.scan].ids[node] for node in walked], episode.path)
            .finite()
        ),
        columns=COLUMNS,
        success="success",
        successes=("success", "spl", "SDTW"),
        figures=_figures,
        published=[NAVGPT] if split == COMPARABLE else (),
    )


def _figures(scores: Scores) -> Mapping[str, str]:
    error = "no way" if scores["nav_error"] is None else f"{scores['nav_error']:.1f} m"
    return {
        "TL": f"{scores['trajectory_lengths']:.1f} m",
        "NE": error,
        "SPL": f"{scores['spl']:.2f}",
        "nDTW": f"{scores['nDTW']:.2f}",
    }
