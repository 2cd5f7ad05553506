"""Walks on which somebody else decides for a while: how navigators go on from there, resumed or not."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from made_streets import FRAME, MadeStreetView, plus_sign

from virl.geo.region import Region
from virl.platform.city.streetview import Pose, StreetView
from virl.platform.movers.base import Choice, LinksMover, Step, is_steered, steered_by
from virl.platform.navigators.point import Goal, PointNavigator, PointPlan, plan_path
from virl.platform.navigators.region import RegionNavigator


class Leads:
    """Leads a walk to some panoramas, then lets it go."""

    def __init__(self, *to: str) -> None:
        self._to = list(to)

    def decide(self, step: Step) -> Choice | None:
        if not self._to:
            return None
        onward = self._to.pop(0)
        [link] = [link for link in step.links if link.pano_id == onward]
        return Choice(link, f"to {onward}", decided_by="user")


def led(walk: Iterator[Step], *to: str) -> list[Step]:
    with steered_by(Leads(*to)):
        return list(walk)


def ids(steps: Iterable[Step]) -> list[str]:
    return [step.pose.pano_id for step in steps]


def to_the_north(streets: StreetView, max_steps: int = 40) -> PointNavigator:
    plan = plan_path(streets, [FRAME.position(0, 30)])
    return PointNavigator(streets, LinksMover(streets), plan, max_steps=max_steps)


def test_nobody_is_asked_outside_of_the_block_nor_in_a_walk_that_is_planned() -> None:
    with steered_by(Leads("c")):
        assert is_steered()
        with steered_by(None):
            steps = list(to_the_north(plus_sign()).walk(Pose("s1", 0.0)))
    assert not is_steered()
    assert not any(step.decided_by for step in steps)


def test_a_walk_to_a_point_sets_out_anew_from_where_it_was_led() -> None:
    navigator = to_the_north(plus_sign())
    steps = led(navigator.walk(Pose("c", 0.0)), "e1", "e2", "e3")
    assert ids(steps) == ["c", "e1", "e2", "e3", "e2", "e1", "c", "n1", "n2", "n3"]
    assert [step.decided_by for step in steps[:4]] == ["user", "user", "user", ""]
    assert navigator.outcomes[0].reached


@pytest.mark.parametrize("at", range(1, 9))
def test_a_led_walk_that_is_cut_off_goes_on_as_it_would_have(at: int) -> None:
    streets = plus_sign()
    whole = led(to_the_north(streets).walk(Pose("c", 0.0)), "e1", "e2", "e3")
    before, rest = whole[:at], whole[at:]
    navigator = to_the_north(streets)
    steered = [step.index for step in before if step.decided_by]
    again = led(navigator.walk(rest[0].pose, ids(before), steered), *["e1", "e2", "e3"][at:])
    assert ids(again) == ids(rest)
    assert [step.index for step in again] == [step.index for step in rest]
    assert navigator.outcomes[0].reached


def test_the_last_step_belongs_to_the_navigator() -> None:
    steps = led(to_the_north(plus_sign(), max_steps=2).walk(Pose("c", 0.0)), "e1", "e2", "e3")
    assert ids(steps) == ["c", "e1", "e2"]
    assert steps[-1].choice.link is None
    assert "limit of 2 steps" in steps[-1].choice.reason


def around_the_block() -> MadeStreetView:
    """A block: from `a` east along the south side to `d` and north to `f`, or north first and then east."""
    points = {
        "a": (0.0, 0.0), "b": (10.0, 0.0), "c": (20.0, 0.0), "d": (30.0, 0.0), "e": (30.0, 10.0),
        "f": (30.0, 20.0), "g": (20.0, 20.0), "h": (10.0, 20.0), "i": (0.0, 20.0), "j": (0.0, 10.0),
    }  # fmt: skip
    ring = "abcdefghij"
    return MadeStreetView(
        points, [f"{one}-{two}" for one, two in zip(ring, ring[1:] + ring[:1], strict=True)]
    )


def test_corners_that_another_way_has_passed_are_left_out() -> None:
    streets = around_the_block()
    corner, end = streets.panorama("d"), streets.panorama("f")
    goals = (Goal(corner.id, corner.position), Goal(end.id, end.position, 0))
    navigator = PointNavigator(streets, LinksMover(streets), PointPlan((end.position,), goals), max_steps=40)
    assert ids(navigator.walk(Pose("a", 90.0))) == list("abcdef")
    assert ids(led(navigator.walk(Pose("a", 90.0)), *"jih")) == list("ajihgf")


def a_street() -> MadeStreetView:
    points = {f"p{number}": (10.0 * number, 0.0) for number in range(9)}
    return MadeStreetView(points, [f"p{number}-p{number + 1}" for number in range(8)])


def over_the_street(streets: StreetView, file: Path | None = None) -> RegionNavigator:
    corners = ((-5, -5), (65, -5), (65, 5), (-5, 5))  # p0 to p6
    return RegionNavigator(streets, Region(tuple(FRAME.position(x, y) for x, y in corners)), file=file)


def check_covered(steps: Sequence[Step]) -> None:
    assert {f"p{number}" for number in range(7)} <= set(ids(steps))
    own = [step.pose.pano_id for step in steps]
    assert steps[-1].choice.link is None
    assert "every panorama" in steps[-1].choice.reason
    assert len(own) <= 12


def test_a_region_is_covered_whole_though_the_walk_was_led_out_of_it_and_back() -> None:
    steps = led(over_the_street(a_street()).walk(Pose("p5", 0.0)), "p6", "p7", "p8", "p7")
    assert ids(steps)[:5] == ["p5", "p6", "p7", "p8", "p7"]
    check_covered(steps)


@pytest.mark.parametrize("at", range(1, 8))
def test_a_led_survey_that_is_cut_off_covers_the_rest(at: int, tmp_path: Path) -> None:
    streets, to = a_street(), ["p3", "p4", "p5", "p6", "p7"]
    whole = led(over_the_street(streets, tmp_path / "region.jsonl").walk(Pose("p2", 0.0)), *to)
    before = whole[:at]
    onward = before[-1].choice.link
    assert onward is not None
    steered = [step.index for step in before if step.decided_by]
    again = over_the_street(streets, tmp_path / "region.jsonl")
    rest = led(again.walk(Pose(onward.pano_id, onward.heading), ids(before), steered))
    assert rest[0].pose.pano_id == onward.pano_id
    check_covered([*before, *rest])
