"""Streets as a walker reads them: segments between crossings, the ways on there, and both in words.

The same reading serves the map, where every node is known, and what a walker has seen, where a segment may
lead to a node at which nobody has stood yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import atan2, cos, degrees, radians, sin
from typing import Literal, Protocol

from virl.geo.globe import signed_float_turn
from virl.platform.city.graph import NavigationGraph

SMOOTH = 3
"""Number of links over which a street's direction is averaged: panoramas at crossings are off by metres.
Measured on the gold walks of map2seq_seen/dev that take the middle way of three: 90 % of them turn less
than 15 degrees averaged over three links, less than 100 over one."""
MAX_SEGMENT = 120  # chosen: more links than a walk has
"""Largest number of links of a segment."""


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    """A link that leaves a node of the street graph: the node that it leads to, and its heading."""

    to: int
    """Number of the node that the link leads to."""
    heading: float
    """Direction in which the link leaves, degrees clockwise from north."""


class Links(Protocol):
    """A source of the links that leave a node."""

    def ways(self, node: int) -> Sequence[OutgoingLink] | None:
        """Return the links that leave a node; `None` where they are not known."""
        ...


class MapLinks:
    """A source of the links of every node of a graph."""

    def __init__(self, graph: NavigationGraph) -> None:
        """Read the links of all nodes of a graph."""
        self._first = graph.first.tolist()
        self._target = graph.target.tolist()
        self._heading = graph.heading.tolist()

    def ways(self, node: int) -> Sequence[OutgoingLink]:
        """Return the links that leave a node."""
        start, end = self._first[node], self._first[node + 1]
        return [OutgoingLink(self._target[link], self._heading[link]) for link in range(start, end)]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A street from one crossing to the next one, a dead end or an unvisited node, in one direction."""

    nodes: tuple[int, ...]
    """Numbers of the nodes from the crossing where it starts to where it ends, both included."""
    headings: tuple[float, ...]
    """Heading of each link, degrees clockwise from north."""
    known: bool
    """True if the links of the last node are known; False if the street may go on there."""

    @property
    def steps(self) -> int:
        """Number of links from the first to the last node."""
        return len(self.headings)


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """A way that leads on from the end of a segment."""

    segment: Segment
    turn: float
    """Angle of the turn in degrees, (-180, 180], positive to the right, between averaged directions."""
    rank: int
    """Place of the way among the ways on from left to right, 0 for the leftmost."""
    rough: bool
    """True if the way's direction is averaged over fewer than `SMOOTH` links, as no more were seen."""


@dataclass
class Streets:
    """A reader of segments and exits from links, which keeps what it has read."""

    links: Links
    _segments: dict[tuple[int, int], Segment] = field(default_factory=dict)
    _exits: dict[tuple[int, int, int], tuple[Exit, ...]] = field(default_factory=dict)

    def starts(self, node: int) -> list[Segment]:
        """Return the segments that leave a node."""
        return [self.segment(node, way) for way in self.links.ways(node) or ()]

    def segment(self, node: int, way: OutgoingLink) -> Segment:
        """Return the segment that begins at a node with one of its links."""
        key = (node, way.to)
        if key not in self._segments:
            self._segments[key] = self._follow(node, way)
        return self._segments[key]

    def _follow(self, node: int, way: OutgoingLink) -> Segment:
        """Return the segment from a node over a link up to the next crossing, dead end or unknown node."""
        nodes, headings = [node, way.to], [way.heading]
        # Bounded: a ring without a crossing would be followed forever.
        while len(headings) < MAX_SEGMENT:
            ways = self.links.ways(nodes[-1])
            if ways is None:
                return Segment(tuple(nodes), tuple(headings), known=False)
            onward = [option for option in ways if option.to != nodes[-2]]
            if len(ways) > 2 or len(onward) != 1:
                break
            nodes.append(onward[0].to)
            headings.append(onward[0].heading)
        return Segment(tuple(nodes), tuple(headings), known=True)

    def exits(self, segment: Segment) -> tuple[Exit, ...]:
        """Return the ways on at the end of a segment, from left to right, the way back left out."""
        end, before = segment.nodes[-1], segment.nodes[-2]
        key = (segment.nodes[0], before, end)
        if key not in self._exits:
            arriving = self._direction_in(segment)
            onward = [self.segment(end, way) for way in self.links.ways(end) or () if way.to != before]
            turned = sorted(
                ((signed_float_turn(arriving, self._direction_out(way)), way) for way in onward),
                key=lambda pair: pair[0],
            )
            self._exits[key] = tuple(
                Exit(way, turn, rank, rough=not way.known and way.steps < SMOOTH)
                for rank, (turn, way) in enumerate(turned)
            )
        return self._exits[key]

    def _direction_in(self, segment: Segment) -> float:
        """Return the mean heading, degrees, of the last `SMOOTH` links up to a segment's end or before it."""
        headings = list(segment.headings[-SMOOTH:])
        node, heading = segment.nodes[0], segment.headings[0]
        while len(headings) < SMOOTH:
            back = self._straight(node, heading + 180.0)
            if back is None:
                break
            headings.insert(0, back.heading + 180.0)
            node, heading = back.to, back.heading + 180.0
        return mean_heading(headings)

    def _direction_out(self, segment: Segment) -> float:
        """Return the mean heading, degrees, of the first `SMOOTH` links from a segment's start or past it."""
        headings = list(segment.headings[:SMOOTH])
        node = segment.nodes[-1]
        while len(headings) < SMOOTH:
            onward = self._straight(node, headings[-1])
            if onward is None:
                break
            headings.append(onward.heading)
            node = onward.to
        return mean_heading(headings)

    def _straight(self, node: int, heading: float) -> OutgoingLink | None:
        """Return the link of a node that turns least from a heading, degrees; `None` from 60 degrees on."""
        ways = self.links.ways(node)
        if not ways:
            return None
        best = min(ways, key=lambda way: abs(signed_float_turn(heading, way.heading)))
        return best if abs(signed_float_turn(heading, best.heading)) < 60.0 else None


def straight_on(exits: Sequence[Exit]) -> Exit:
    """Return the way on with the least turn; the middle one of three if the direction of any is rough."""
    if len(exits) == 3 and any(way.rough for way in exits):
        return exits[1]
    return min(exits, key=lambda way: abs(way.turn))


def mean_heading(headings: Sequence[float]) -> float:
    """Return the mean of headings, degrees clockwise from north: the direction of the sum of unit steps."""
    east = sum(sin(radians(heading)) for heading in headings)
    north = sum(cos(radians(heading)) for heading in headings)
    return degrees(atan2(east, north)) % 360.0


Side = Literal["ahead", "left", "right", "behind"]
"""Sides of a walker to which a way can leave."""
AHEAD_DEG, BEHIND_DEG = 45.0, 135.0  # turns that are none, and turns back; chosen: half of a right angle off


@dataclass(frozen=True, slots=True)
class StreetEnd:
    """The next crossing, bend or dead end of a street."""

    links: int
    """Number of ways that meet at the end, the way that leads there included."""
    steps: int
    """Number of steps to the end along the street."""

    def __str__(self) -> str:
        """Return the end of a street in words, such as `"a crossing of 4 ways in 5 steps"`."""
        kind = "bend" if self.links == 2 else "dead end"
        if self.links > 2:
            kind = f"crossing of {self.links} ways"
        return f"a {kind} in {self.steps} steps"


@dataclass(frozen=True, slots=True)
class MapWay:
    """A way that leaves a node: its side of the walker and where its street ends."""

    side: Side
    end: StreetEnd


@dataclass(frozen=True)
class MapInWords:
    """A map that describes in words the ways which leave a node of a graph."""

    graph: NavigationGraph

    @cached_property
    def _streets(self) -> Streets:
        """Streets of the graph, read once."""
        return Streets(MapLinks(self.graph))

    def ways(self, node: int, heading: float) -> tuple[MapWay, ...]:
        """Return the ways that leave a node, for one who faces `heading` (degrees): the least turn first."""
        turns = ((signed_float_turn(heading, way.headings[0]), way) for way in self._streets.starts(node))
        return tuple(
            MapWay(_side(turn), self._end_of(way)) for turn, way in sorted(turns, key=lambda one: abs(one[0]))
        )

    def street_ends(self, node: int) -> dict[str, StreetEnd]:
        """Return where the street over each neighbour of a node ends, by the neighbour's panorama id."""
        return {self.graph.ids[way.nodes[1]]: self._end_of(way) for way in self._streets.starts(node)}

    def _end_of(self, way: Segment) -> StreetEnd:
        """Return the end of a segment: how many links its last node has, and the steps to it."""
        return StreetEnd(int(self.graph.degree[way.nodes[-1]]), way.steps)


def map_sentence(ways: Sequence[MapWay]) -> str:
    """Return a sentence that says where the street of each way ends, in order; empty without ways."""
    return f"Map: {'; '.join(f'{way.side}, {way.end}' for way in ways)}." if ways else ""


def steps_by_side(ways: Sequence[MapWay]) -> dict[Side, int]:
    """Return the steps to the end of each way's street, by side; of two ways on a side the first."""
    return {way.side: way.end.steps for way in reversed(ways)}


def _side(turn: float) -> Side:
    """Return the side of the walker to which a turn in degrees, positive to the right, leads."""
    if abs(turn) <= AHEAD_DEG:
        return "ahead"
    if abs(turn) >= BEHIND_DEG:
        return "behind"
    return "left" if turn < 0 else "right"
