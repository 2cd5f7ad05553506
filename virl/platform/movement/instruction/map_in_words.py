"""The street map around a walker in words: how far the next crossing is each way."""

import re
from dataclasses import dataclass, field
from typing import Literal

from virl.geo import signed_float_turn
from virl.platform.graph import NavigationGraph
from virl.platform.movement.instruction.follower.streets import MapLinks, Segment, Streets

Side = Literal["ahead", "left", "right", "behind"]
AHEAD_DEG, BEHIND_DEG = 45.0, 135.0  # turns that are none, and turns back; chosen: half of a right angle off
_TOLD = re.compile(r"(ahead|left|right|behind), a (?:crossing of \d+ ways|bend|dead end) in (\d+) steps")


@dataclass(frozen=True, slots=True)
class MapInWords:
    """Tells what lies on each way that leaves a node of a graph."""

    graph: NavigationGraph
    _streets: Streets = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_streets", Streets(MapLinks(self.graph)))

    def sentence(self, node: int, heading: float) -> str:
        """All ways, that of the least turn first; empty where none leaves.

        Args:
            node: where the walker stands.
            heading: which way it faces, degrees clockwise from north.
        """
        ways = sorted(
            self._streets.starts(node), key=lambda way: abs(signed_float_turn(heading, way.headings[0]))
        )
        told = [f"{_side(signed_float_turn(heading, way.headings[0]))}, {self._end_of(way)}" for way in ways]
        return f"Map: {'; '.join(told)}." if told else ""

    def beyond(self, node: int) -> dict[str, str]:
        """What the way over each neighbour leads to, by the neighbour's id."""
        return {self.graph.ids[way.nodes[1]]: self._end_of(way) for way in self._streets.starts(node)}

    def _end_of(self, way: Segment) -> str:
        links = int(self.graph.degree[way.nodes[-1]])
        what = f"crossing of {links} ways" if links > 2 else "bend" if links == 2 else "dead end"
        return f"a {what} in {way.steps} steps"


def steps_told(text: str) -> dict[str, int]:
    """Steps to the next crossing by side, as a `sentence` tells them; of two ways on a side the first."""
    told: dict[str, int] = {}
    for side, steps in _TOLD.findall(text):
        told.setdefault(side, int(steps))
    return told


def _side(turn: float) -> Side:
    if abs(turn) <= AHEAD_DEG:
        return "ahead"
    if abs(turn) >= BEHIND_DEG:
        return "behind"
    return "left" if turn < 0 else "right"
