"""Walks by clauses alone: written from their documented meaning, without the code that made them."""

from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, hypot, radians, sin
from typing import Any

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.graph import NavigationGraph

SHARES = {"1/4": 0.25, "1/3": 1 / 3, "1/2": 0.5, "2/3": 2 / 3, "3/4": 0.75}
BEHIND_FRONT_M = 2.5  # a place's own position lies a little behind its front
ABEAM_M = 6.0 + BEHIND_FRONT_M
CORNER_M = 20.0 + BEHIND_FRONT_M

Record = dict[str, Any]


@dataclass(frozen=True)
class Surroundings:
    graph: NavigationGraph
    lights: list[LatLng]
    places: dict[str, LatLng]

    def metres(self, a: LatLng, b: LatLng) -> tuple[float, float]:
        return LocalFrame(a).point(b)

    def lit(self, node: int) -> bool:
        here = self.graph.position(node)
        return sum(hypot(*self.metres(here, light)) <= 23.0 for light in self.lights) >= 4

    def ahead_and_right(self, node: int, heading: float, name: str) -> tuple[float, float]:
        east, north = self.metres(self.graph.position(node), self.places[name])
        sine, cosine = sin(radians(heading)), cos(radians(heading))
        return east * sine + north * cosine, east * cosine - north * sine


@dataclass
class Walker:
    around: Surroundings
    path: list[int]
    way: int
    """The node that the next step leads to."""
    said_since_turn: list[Record] = field(default_factory=list)
    turned_at: int = 0

    def step(self) -> None:
        before, node = self.path[-1], self.way
        self.path.append(node)
        onward = [(t, h) for t, h in self.ways(node) if t != before]
        if not onward:
            self.way = before
            return
        arrival = self.heading(before, node)
        ranked = sorted((abs(turn(arrival, heading)), target) for target, heading in onward)
        self.way = ranked[0][1]

    def ways(self, node: int) -> list[tuple[int, float]]:
        links = self.around.graph.links(node)
        graph = self.around.graph
        return list(zip(graph.target[links].tolist(), graph.heading[links].tolist(), strict=True))

    def heading(self, source: int, target: int) -> float:
        return dict(self.ways(source))[target]

    def arrival(self, index: int = -1) -> float:
        index %= len(self.path)
        return self.heading(self.path[index - 1], self.path[index])

    def at_crossing(self) -> bool:
        return len(self.ways(self.path[-1])) >= 3

    def turns(self) -> dict[int, float]:
        """The ways out of where the walker has come to, and how far right of its heading each is."""
        before, node = self.path[-2:]
        return {target: turn(self.arrival(), h) for target, h in self.ways(node) if target != before}

    def straight(self) -> int | None:
        """The way that anyone would call straight on, if there is one."""
        ranked = sorted((abs(angle), target) for target, angle in self.turns().items())
        unclear = len(ranked) > 1 and ranked[1][0] < ranked[0][0] + 20
        return None if ranked[0][0] > 40 or unclear else ranked[0][1]

    def to_crossing(self, count: int, unit: str) -> None:
        while count:
            self.step()
            if len(self.path) > 200:
                raise AssertionError("walked far beyond any path")
            if self.at_crossing() and (unit == "intersection" or self.around.lit(self.path[-1])):
                count -= 1
            if count and self.at_crossing():
                assert self.straight() == self.way, "told to pass where no way goes straight on"

    def to_street_end(self) -> None:
        while True:
            self.to_crossing(1, "intersection")
            if self.straight() is None:
                return

    def take(self, way: str) -> None:
        side = way.rpartition(" ")[2]
        beside = sorted(
            (abs(angle), target)
            for target, angle in self.turns().items()
            if target != self.straight() and (angle > 0) == (side == "right") and abs(angle) >= 12
        )
        if way.startswith("sharp"):
            assert len(beside) == 1 or beside[-1][0] > beside[0][0] + 30
            self.way = beside[-1][1]
        else:
            assert len(beside) == 1 or way.startswith("slight"), f"{way} may mean two ways"
            self.way = beside[0][1]
        angle = abs(self.turns()[self.way])
        assert angle < 66 if way.startswith("slight") else angle > 45


def turn(source: float, target: float) -> float:
    return (target - source + 180) % 360 - 180


def follow(around: Surroundings, start: str, heading: float, clauses: list[Record]) -> list[str]:
    """The ids of the panoramas that one walks who does what the clauses say; checks what they claim."""
    node = around.graph.number(start)
    walker = Walker(around, [node], node)
    links = walker.ways(node)
    if clauses[0]["say"] == "face":
        walker.way = _faced(around, node, links, clauses[0])
    else:
        (walker.way,) = [target for target, link in links if link == heading]
    for clause in clauses:
        match clause["say"]:
            case "pass":
                walker.to_crossing(clause["count"], clause["unit"])
                assert walker.straight() == walker.way
            case "see":
                walker.said_since_turn.append(clause["landmark"])
            case "turn":
                _turn(walker, clause)
            case "stop":
                _stop(walker, clause)
    return [around.graph.ids[number] for number in walker.path]


def _faced(around: Surroundings, node: int, links: list[tuple[int, float]], face: Record) -> int:
    if face["by"] == "traffic":
        ranked = sorted(links, key=lambda link: abs(turn(float(around.graph.yaw[node]), link[1])))
        return ranked[0 if face["along"] else -1][0]
    told = face["landmark"]
    (found,) = [
        target
        for target, heading in links
        if (around.ahead_and_right(node, heading, told["name"])[1] > 0) == (told["side"] == "right")
    ]
    return found


def _turn(walker: Walker, clause: Record) -> None:
    if clause["at"] == "end":
        walker.to_street_end()
    else:
        walker.to_crossing(clause["count"], clause["at"])
    if told := clause.get("landmark"):
        ahead, right = walker.around.ahead_and_right(walker.path[-1], walker.arrival(), told["name"])
        assert hypot(ahead, right) <= CORNER_M
        assert (right > 0) == (told["side"] == "right")
        assert (ahead > 0) == (told["depth"] == "far")
    _check_sights(walker)
    walker.take(clause["way"])


def _stop(walker: Walker, clause: Record) -> None:
    match clause["at"]:
        case "after":
            for _ in range(clause["count"]):
                walker.step()
        case "before":
            walker.to_crossing(1, "intersection")
            assert clause["unit"] == "intersection" or walker.around.lit(walker.path[-1])
            del walker.path[-clause["count"] :]
        case "crossing":
            walker.to_crossing(clause["count"], clause["unit"])
        case "dead end":
            while len(walker.ways(walker.path[-1])) > 1:
                walker.step()
        case _:
            _stop_in_block(walker, clause)
    if told := clause.get("landmark"):
        ahead, right = walker.around.ahead_and_right(walker.path[-1], walker.arrival(), told["name"])
        assert abs(ahead) <= ABEAM_M
        assert (right > 0) == (told["side"] == "right")
    _check_sights(walker)


def _stop_in_block(walker: Walker, clause: Record) -> None:
    since = len(walker.path) - 1
    walker.to_crossing(1, "intersection")
    graph, block = walker.around.graph, walker.path[since:]
    if clause["at"] == "share":
        gaps = [
            hypot(*walker.around.metres(graph.position(a), graph.position(b))) for a, b in pairwise(block)
        ]
        wanted = SHARES[clause["share"]] * sum(gaps)
        away = [abs(sum(gaps[:index]) - wanted) for index in range(len(block))]
    else:
        place = walker.around.places[clause["landmark"]["name"]]
        away = [hypot(*walker.around.metres(graph.position(node), place)) for node in block]
    del walker.path[since + away.index(min(away)) + 1 :]


def _check_sights(walker: Walker) -> None:
    """Each landmark said to be passed lies abeam of a panorama walked since the last turn, on its side."""
    for told in walker.said_since_turn:
        indices = range(walker.turned_at + 1, len(walker.path))
        seen = [
            walker.around.ahead_and_right(walker.path[index], walker.arrival(index), told["name"])
            for index in indices
        ]
        assert any(
            abs(ahead) <= ABEAM_M and (right > 0) == (told["side"] == "right") for ahead, right in seen
        ), f"{told['name']} is not passed"
    walker.said_since_turn.clear()
    walker.turned_at = len(walker.path) - 1
