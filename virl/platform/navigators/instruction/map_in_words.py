"""The street map around a walker in words: how far the next crossing is each way."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from virl.geo.globe import signed_float_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.navigators.follower.streets import MapLinks, Segment, Streets

Side = Literal["ahead", "left", "right", "behind"]
"""Sides of a walker."""
AHEAD_DEG, BEHIND_DEG = 45.0, 135.0  # turns that are none, and turns back; chosen: half of a right angle off


@dataclass(frozen=True, slots=True)
class StreetEnd:
    """The next crossing, bend or dead end of a street."""

    links: int
    """Ways that meet there, the one that leads there included."""
    steps: int
    """Steps to it along the street."""

    def __str__(self) -> str:
        """Return the end in words, such as `"a crossing of 4 ways in 5 steps"`."""
        what = (
            f"crossing of {self.links} ways" if self.links > 2 else "bend" if self.links == 2 else "dead end"
        )
        return f"a {what} in {self.steps} steps"


@dataclass(frozen=True, slots=True)
class MapWay:
    """A way that leaves a node, by the side of the walker and where its street ends."""

    side: Side
    end: StreetEnd


@dataclass(frozen=True)
class MapInWords:
    """A map that describes the ways which leave a node of a graph."""

    graph: NavigationGraph
    _streets: Streets = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_streets", Streets(MapLinks(self.graph)))

    def ways(self, node: int, heading: float) -> tuple[MapWay, ...]:
        """Return all ways from a node, that of the least turn first.

        Args:
            node: where the walker stands.
            heading: which way it faces, degrees clockwise from north.
        """
        turns = ((signed_float_turn(heading, way.headings[0]), way) for way in self._streets.starts(node))
        return tuple(
            MapWay(_side(turn), self._end_of(way)) for turn, way in sorted(turns, key=lambda one: abs(one[0]))
        )

    def street_ends(self, node: int) -> dict[str, StreetEnd]:
        """Return the end of the way over each neighbour, by the neighbour's id."""
        return {self.graph.ids[way.nodes[1]]: self._end_of(way) for way in self._streets.starts(node)}

    def _end_of(self, way: Segment) -> StreetEnd:
        """Return the end of a street by the links of its last node and the steps there."""
        return StreetEnd(int(self.graph.degree[way.nodes[-1]]), way.steps)


def map_sentence(ways: Sequence[MapWay]) -> str:
    """Return the ways with their ends in a sentence; empty without ways."""
    return f"Map: {'; '.join(f'{way.side}, {way.end}' for way in ways)}." if ways else ""


def steps_by_side(ways: Sequence[MapWay]) -> dict[Side, int]:
    """Return the steps to the next crossing by side; of two ways on a side the first."""
    return {way.side: way.end.steps for way in reversed(ways)}


def _side(turn: float) -> Side:
    """Return the side of a way by its turn, degrees, positive to the right."""
    if abs(turn) <= AHEAD_DEG:
        return "ahead"
    if abs(turn) >= BEHIND_DEG:
        return "behind"
    return "left" if turn < 0 else "right"
