"""The navigator by sight: who is asked where, when a walk ends, and what a walker remembers."""

from collections.abc import Sequence

import pytest
from made_streets import MadeStreetView, plus_sign, ring

from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Pose
from virl.platform.movers.base import Choice, LinksMover
from virl.platform.navigators.sight.explorer import ELSEWHERE_DEG, SeenMap
from virl.platform.navigators.sight.navigator import SPENT, SightNavigator


class Scripted:
    """Goes to the panoramas named, and stops at one of them."""

    def __init__(self, *ways: str, end: str = "") -> None:
        self._ways, self._end = iter(ways), end
        self.asked: list[tuple[str, str]] = []
        self.arrived: list[str] = []

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        self.arrived.append(pose.pano_id)
        return Outcome("found", "here it is") if pose.pano_id == self._end else None

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        self.asked.append((pose.pano_id, back.pano_id if back else ""))
        way = next(self._ways)
        return Choice(next(link for link in links if link.pano_id == way), "scripted")


def walked(
    streets: MadeStreetView, explorer: Scripted, start: Pose, decisions: int = 9, moves: int = 99
) -> list[str]:
    navigator = SightNavigator(
        streets, LinksMover(streets), explorer, max_decisions=decisions, max_moves=moves, task="find it"
    )
    steps = list(navigator.walk(start))
    assert all(step.task == "find it" for step in steps)
    return [f"{step.pose.pano_id}" for step in steps] + [steps[-1].choice.reason]


def test_only_junctions_are_decided_and_dead_ends_are_left_by_themselves() -> None:
    explorer = Scripted("e1", "n1", end="n3")
    way = walked(plus_sign(), explorer, Pose("w3", 90.0))
    assert way == ["w3", "w2", "w1", "c", "e1", "e2", "e3", "e2", "e1", "c", "n1", "n2", "n3", "here it is"]
    assert explorer.asked == [("c", "w1"), ("c", "e1")]


def test_the_start_is_decided_where_two_ways_lead_on() -> None:
    explorer = Scripted("w3", end="w3")
    assert walked(plus_sign(), explorer, Pose("w2", 0.0)) == ["w2", "w3", "here it is"]
    assert explorer.asked == [("w2", "")]


def test_a_walk_ends_at_the_junction_after_its_last_decision_or_with_its_last_move() -> None:
    explorer = Scripted("c", "e1")
    way = walked(plus_sign(), explorer, Pose("w1", 90.0), decisions=2)
    assert way[-2:] == ["c", SPENT.sentence]
    assert way.count("c") == 2
    assert walked(plus_sign(), Scripted("c"), Pose("w1", 90.0), moves=1)[-2:] == ["c", SPENT.sentence]


def test_who_arrives_with_the_last_move_has_arrived() -> None:
    assert walked(plus_sign(), Scripted("c", end="c"), Pose("w1", 90.0), moves=1)[-2:] == ["c", "here it is"]


def seen(streets: MadeStreetView, *names: str) -> SeenMap:
    known = SeenMap()
    for name in names:
        known.visit(streets.panorama(name))
    return known


def test_the_nearest_ways_not_taken_come_first_and_the_way_there_is_over_what_was_walked() -> None:
    streets = plus_sign()
    known = seen(streets, "w1", "c", "e1", "e2")
    found = known.frontiers(Pose("e2", 90.0), streets.panorama("e2").links)
    told = [(one.pano_id, one.link.pano_id, one.first.pano_id, one.junctions) for one in found]
    assert told[0] == ("e2", "e3", "e3", 0)
    assert set(told[1:3]) == {("c", "n1", "e1", 1), ("c", "s1", "e1", 1)}
    assert told[3] == ("w1", "w2", "e1", 1)
    assert [round(one.metres) for one in found] == [0, 20, 20, 30]
    assert found[0].turn == pytest.approx(0.0, abs=0.001)
    assert {one.turn for one in found[1:]} == {ELSEWHERE_DEG}


def test_nothing_is_left_where_everything_was_walked() -> None:
    streets = ring(2)
    known = seen(streets, *(f"r{number}" for number in range(8)), "s1", "s2")
    assert known.frontiers(Pose("r3", 0.0), streets.panorama("r3").links) == []
    known.visit(streets.panorama("r3"))
    assert (known.visits("r3"), known.visits("nowhere")) == (2, 0)
