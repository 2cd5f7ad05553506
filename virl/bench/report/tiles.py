"""The grid of a report's episodes: each a picture or a small map, marked right, wrong or failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.bench.benchmark import Shown
from virl.bench.episode import Record
from virl.pages.maps import MapFigure
from virl.pages.pictures import Grades, embed_all

State = Literal["right", "partly", "wrong", "failed", "open"]
"""The end of an episode; "open" without a score."""
STATES: Mapping[State, str] = {
    "failed": "failed",
    "wrong": "wrong",
    "partly": "partly right",
    "right": "right",
    "open": "not scored",
}
"""Words for each state, the worst first."""
MOST_TILES = 48
"""Most pictures of all grids of a report together, and twice the most small maps; chosen."""
_GRADES: Grades = ((240, 60), (200, 55), (160, 50))  # chosen
_BUDGET = 600_000  # bytes of all pictures; chosen


@dataclass(frozen=True, slots=True)
class Scene:
    """One episode in a report: its record, the contents and path of its page, and the folder of its files."""

    record: Record
    shown: Shown
    path: str
    """Path of the page relative to the report; empty if the episode has no page."""
    folder: Path

    @property
    def title(self) -> str:
        """Return the title of the episode's page; its case if it has none."""
        return self.shown.title or self.record.case

    @property
    def state(self) -> State:
        """Return the end of the episode, by its status and score."""
        if self.record.status == "failed":
            return "failed"
        return "open" if self.shown.score is None else state_of(self.shown.score)


def state_of(score: float) -> State:
    """Return how right a score in [0, 1] is."""
    return "right" if score > 1 - 1e-9 else "wrong" if score < 1e-9 else "partly"


@dataclass(frozen=True, slots=True)
class Tile:
    """An episode in the grid, as a picture or a small map."""

    scene: Scene
    picture: str = ""
    """Data URI of its first picture; empty if it is shown as a map."""
    map: MapFigure | None = None


def make_tiles(
    scenes: Sequence[Scene], draw: Callable[[Shown], MapFigure | None], most: int
) -> tuple[Tile, ...]:
    """Return tiles for at most `most` episodes that can be seen, the worst first, each state by its share.

    Args:
        scenes: the episodes.
        draw: returns the small map of an episode that walked.
        most: most pictures; of small maps half as many.
    """
    moves = any(len(scene.shown.path) > 1 for scene in scenes)  # one who stayed at the start has a map, too
    walks = [scene for scene in scenes if moves and scene.path and scene.shown.path]
    seen = walks or [scene for scene in scenes if scene.path and scene.shown.views]
    seen.sort(key=lambda scene: list(STATES).index(scene.state))
    count = min(most // 2 if walks else most, len(seen))
    chosen = [seen[number * len(seen) // count] for number in range(count)]
    if walks:
        return tuple(Tile(scene, map=drawn) for scene in chosen if (drawn := draw(scene.shown)))
    files = {scene.path: (scene.folder, scene.shown.views[0].file) for scene in chosen}
    pictures = embed_all(files.values(), _GRADES, _BUDGET * most // MOST_TILES)
    return tuple(Tile(one, pictures[where]) for one in chosen if (where := files[one.path]) in pictures)
