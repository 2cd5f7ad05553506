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
"""How an episode ended; "open" without a score."""
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
class Tile:
    """An episode in the grid."""

    case: str
    outcome: str
    state: State
    path: str
    """Path of the episode's page, relative to the report."""
    picture: str = ""
    """Data URI of its first picture; empty if it has none or is shown as a map."""
    map: MapFigure | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """An episode that may have a tile: its record, contents, page, and the folder of its files."""

    record: Record
    shown: Shown
    path: str
    folder: Path


def state_of(record: Record, shown: Shown) -> State:
    """Return how an episode ended, by its status and score."""
    if record.status == "failed":
        return "failed"
    if shown.score is None:
        return "open"
    return "right" if shown.score > 1 - 1e-9 else "wrong" if shown.score < 1e-9 else "partly"


def make_tiles(
    scenes: Sequence[Scene], draw: Callable[[Shown], MapFigure | None], most: int
) -> tuple[Tile, ...]:
    """Return tiles for at most `most` episodes that can be seen, the worst first, each state by its share.

    Args:
        scenes: the episodes.
        draw: returns the small map of an episode that walked.
        most: most pictures; of small maps half as many.
    """
    seen = [scene for scene in scenes if scene.path and (len(scene.shown.path) > 1 or scene.shown.views)]
    seen.sort(key=lambda one: list(STATES).index(state_of(one.record, one.shown)))
    if any(len(scene.shown.path) > 1 for scene in seen):
        most //= 2
    count = min(most, len(seen))
    chosen = [seen[number * len(seen) // count] for number in range(count)]
    files = {
        scene.path: (scene.folder, scene.shown.views[0].file)
        for scene in chosen
        if scene.shown.views and len(scene.shown.path) < 2
    }
    pictures = embed_all(files.values(), _GRADES, _BUDGET * most // MOST_TILES)
    tiles = [
        Tile(
            scene.record.case,
            scene.shown.outcome,
            state_of(scene.record, scene.shown),
            scene.path,
            pictures.get(files[scene.path], "") if scene.path in files else "",
            draw(scene.shown) if len(scene.shown.path) > 1 else None,
        )
        for scene in chosen
    ]
    return tuple(tile for tile in tiles if tile.picture or tile.map)
