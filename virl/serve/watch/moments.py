"""Where somebody was in an episode of a benchmark, and what was decided there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.bench.benchmark import Shown
from virl.bench.episode import Data, Record
from virl.geo import LatLng, bearing

_WALK = {"start", "states", "actions", "pano_path", "line"}
"""What the data of a walk on a graph holds, see `virl.bench.walks`."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A step of an episode."""

    position: LatLng
    heading: float
    """Degrees clockwise from north."""
    title: str
    """What was seen or done; empty where nothing is told."""
    decided: str


def moments(record: Record, shown: Shown) -> Iterator[Moment]:
    """The steps of an episode: of a walk on a graph each action, else each position of the way shown.

    Args:
        record: of the episode.
        shown: what its page tells.
    """
    if record.data.keys() >= _WALK:
        yield from _actions(record.data, shown.decisions)
        return
    path, decisions = shown.path, shown.decisions
    last = len(path) - 1
    for number, position in enumerate(path):
        before, after = path[max(number - 1, 0)], path[min(number + 1, last)]
        heading = bearing(before, position) if number == last and last else bearing(position, after)
        title, decided = decisions[number] if len(decisions) == len(path) else ("", "")
        yield Moment(position, heading, title, decided)


def _actions(data: Data, decisions: Sequence[tuple[str, str]]) -> Iterator[Moment]:
    """The states of a walk, each with the action that was decided there."""
    where = dict(zip(data["pano_path"], data["line"], strict=True))
    for number, (node, heading) in enumerate([data["start"], *data["states"]]):
        action, why = decisions[number] if number < len(decisions) else ("the end", "")
        yield Moment(LatLng(*where[node]), float(heading), action, why)
