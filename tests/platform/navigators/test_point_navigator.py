from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from made_life import virlton
from made_streets import FRAME, MadeStreetView, plus_sign, ring

from virl.errors import BadInput, NoRoute
from virl.geo.globe import LatLng, distance
from virl.platform.city.maps import Route, TravelMode
from virl.platform.city.streetview import Link, Pose, StreetView
from virl.platform.movers.base import LinksMover, Mover, Step
from virl.platform.movers.open_mover import open_mover
from virl.platform.navigators.point import PointNavigator, plan_path, plan_route


@cache
def trips(count: int) -> list[tuple[str, str]]:
    """Random pairs of panoramas of Virlton."""
    street_map = virlton().street_map
    assert street_map is not None
    ids = street_map.panorama_ids()
    return [
        (ids[a], ids[b])
        for a, b in np.random.default_rng(5).choice(len(ids), (count, 2), replace=False).tolist()
    ]


def at(*points: tuple[float, float]) -> list[LatLng]:
    return [FRAME.position(x, y) for x, y in points]


def navigator(
    streets: StreetView, positions: Iterable[LatLng], max_steps: int = 100, mover: Mover | None = None
) -> PointNavigator:
    plan = plan_path(streets, list(positions))
    return PointNavigator(streets, mover or LinksMover(streets), plan, max_steps=max_steps)


def ids(steps: Iterable[Step]) -> list[str]:
    return [step.pose.pano_id for step in steps]


def reached(one: PointNavigator) -> list[bool]:
    return [outcome.reached for outcome in one.outcomes]


def test_goes_straight_to_one_destination_and_stops_there() -> None:
    streets = plus_sign()
    walk = navigator(streets, at((0, 30)))
    steps = list(walk.walk(Pose("s3", 180.0)))
    assert ids(steps) == ["s3", "s2", "s1", "c", "n1", "n2", "n3"]
    assert [step.index for step in steps] == list(range(7))
    assert steps[0].pose == Pose("s3", 180.0)
    assert [step.distance for step in steps] == pytest.approx([0, *[10] * 6], rel=1e-3)
    assert steps[-1].choice.link is None
    assert steps[-1].choice.reason == "1 of 1 destinations reached"
    assert reached(walk) == [True]


def test_several_destinations_are_visited_in_their_order() -> None:
    streets = plus_sign()
    walk = navigator(streets, at((0, 30), (30, 0), (-30, 0)))
    steps = ids(walk.walk(Pose("s1", 0.0)))
    assert [one for one in steps if one in {"n3", "e3", "w3"}] == ["n3", "e3", "w3"]
    assert len(steps) == 1 + 4 + 6 + 6
    assert reached(walk) == [True] * 3


def test_destinations_at_one_panorama_are_reached_together_and_a_start_there_at_once() -> None:
    streets = plus_sign()
    walk = navigator(streets, at((1, 29), (-2, 31), (0, 30)))
    steps = list(walk.walk(Pose("n3", 0.0)))
    assert ids(steps) == ["n3"]
    assert reached(walk) == [True] * 3
    assert "2 m from it" in walk.outcomes[0].reason or "1 m from it" in walk.outcomes[0].reason


def test_a_destination_without_imagery_is_named_and_the_others_are_visited() -> None:
    streets = plus_sign()
    walk = navigator(streets, at((0, 30), (5000, 0), (30, 0)))
    steps = list(walk.walk(Pose("c", 0.0)))
    assert reached(walk) == [True, False, True]
    assert "no street view within 50 m" in walk.outcomes[1].reason
    assert "2 of 3 destinations reached; 2: no street view" in steps[-1].choice.reason


def test_where_nothing_has_imagery_it_does_not_move() -> None:
    walk = navigator(plus_sign(), at((5000, 0)))
    steps = list(walk.walk(Pose("c", 0.0)))
    assert ids(steps) == ["c"]
    assert "0 of 1" in steps[0].choice.reason


def test_an_unreachable_destination_is_given_up_and_the_next_one_reached() -> None:
    points = {"a": (0.0, 0.0), "b": (10.0, 0.0), "c": (20.0, 0.0), "island": (60.0, 0.0)}
    streets = MadeStreetView(points, ["a-b", "b-c"])
    walk = navigator(streets, at((60, 0), (0, 0)))
    steps = ids(walk.walk(Pose("b", 0.0)))
    assert steps == ["b", "c", "b", "a"]
    assert reached(walk) == [False, True]
    assert walk.outcomes[0].reason == "no link seen leads there"


def test_far_ways_round_end() -> None:
    """An island beside a street that goes on for kilometres is not looked for at its end."""
    count = 300
    points = {f"r{step}": (10.0 * step, 0.0) for step in range(count)} | {"island": (0.0, 40.0)}
    streets = MadeStreetView(points, [f"r{step}-r{step + 1}" for step in range(count - 1)])
    walk = navigator(streets, at((0, 40)), max_steps=1000)
    steps = list(walk.walk(Pose("r0", 0.0)))
    assert reached(walk) == [False]
    assert "bearable distance" in walk.outcomes[0].reason
    assert len(steps) < 50


def test_a_dead_end_that_points_at_the_destination_is_left_for_the_way_round() -> None:
    """North of the start is a cul-de-sac; the way goes back, west and round a long block."""
    points = {f"up{step}": (0.0, 10.0 * step) for step in range(6)}
    points |= {f"w{step}": (-10.0 * step, 0.0) for step in range(1, 6)}
    points |= {f"n{step}": (-50.0, 10.0 * step) for step in range(1, 9)}
    points |= {f"e{step}": (-50.0 + 10.0 * step, 80.0) for step in range(1, 6)}
    names = ["up5", "up4", "up3", "up2", "up1", "up0"]
    way = ["up0", *(f"w{k}" for k in range(1, 6)), *(f"n{k}" for k in range(1, 9))]
    way += [f"e{k}" for k in range(1, 6)]
    edges = [f"{a}-{b}" for a, b in [*pairwise(names), *pairwise(way)]]
    walk = navigator(MadeStreetView(points, edges), at((0, 80)))
    steps = ids(walk.walk(Pose("up0", 0.0)))
    assert reached(walk) == [True]
    assert steps == ["up0", "up1", "up2", "up3", "up4", "up5", "up4", "up3", "up2", "up1", *way]


def test_it_never_goes_to_and_fro() -> None:
    """Round a ring, towards an island in its middle that no link leads to."""
    streets = ring(4)
    plus = {f"r{k}": streets.panorama(f"r{k}").position for k in range(16)}
    points = {name: FRAME.point(position) for name, position in plus.items()} | {"middle": (20.0, 20.0)}
    made = MadeStreetView(points, [f"r{k}-r{(k + 1) % 16}" for k in range(16)])
    walk = navigator(made, at((20, 20)))
    steps = ids(walk.walk(Pose("r0", 0.0)))
    assert reached(walk) == [False]
    assert len(steps) <= 16 + 8
    assert max(steps.count(one) for one in steps) <= 2


def test_the_limit_of_steps_holds_and_is_the_reason() -> None:
    walk = navigator(plus_sign(), at((0, 30), (30, 0)), max_steps=4)
    steps = list(walk.walk(Pose("s1", 0.0)))
    assert [step.index for step in steps] == [0, 1, 2, 3, 4]
    assert reached(walk) == [True, False]
    assert "limit of 4 steps" in steps[-1].choice.reason
    assert "limit of 4 steps" in walk.outcomes[1].reason


def test_arriving_at_the_limit_counts() -> None:
    walk = navigator(plus_sign(), at((0, 30)), max_steps=3)
    steps = list(walk.walk(Pose("c", 0.0)))
    assert reached(walk) == [True]
    assert steps[-1].choice.reason == "1 of 1 destinations reached"


def test_within_five_metres_is_there() -> None:
    points = {"a": (0.0, 0.0), "b": (10.0, 0.0), "behind": (14.0, 0.0)}
    streets = MadeStreetView(points, ["a-b", "b-behind"])
    assert ids(navigator(streets, at((14, 0))).walk(Pose("a", 0.0))) == ["a", "b"]
    plan = plan_path(streets, at((14, 0)))
    closer = PointNavigator(streets, LinksMover(streets), plan, max_steps=9, arrive=1.0)
    assert ids(closer.walk(Pose("a", 0.0))) == ["a", "b", "behind"]


def test_no_way_leads_on_from_a_lonely_panorama() -> None:
    streets = MadeStreetView({"a": (0, 0), "b": (30, 0)}, [])
    walk = navigator(streets, at((30, 0)))
    assert ids(walk.walk(Pose("a", 0.0))) == ["a"]
    assert reached(walk) == [False]


def test_the_choice_is_made_when_it_is_read() -> None:
    class Watched(LinksMover):
        asked = 0

        def links(self, pose: Pose) -> tuple[Link, ...]:
            self.asked += 1
            return super().links(pose)

    streets = plus_sign()
    mover = Watched(streets)
    step = next(navigator(streets, at((0, 30)), mover=mover).walk(Pose("c", 0.0)))
    assert mover.asked == 0
    assert step.choice is step.choice
    assert mover.asked == 1


@pytest.mark.parametrize(
    "positions", [[(0, 30), (30, 0)], [(60, 300), (0, -30)], [(5000, 0), (-30, 0), (-29, 0), (30, 0)]]
)
def test_a_resumed_walk_goes_on_as_the_whole_one(positions: list[tuple[float, float]]) -> None:
    streets = plus_sign()
    walk = navigator(streets, at(*positions))
    whole = list(walk.walk(Pose("w2", 0.0)))
    for cut in range(1, len(whole)):
        again = navigator(streets, at(*positions))
        rest = list(again.walk(whole[cut].pose, ids(whole[:cut])))
        assert [(step.index, step.pose, step.distance, step.choice) for step in rest] == [
            (step.index, step.pose, step.distance, step.choice) for step in whole[cut:]
        ]
        assert again.outcomes == walk.outcomes


class Ways:
    """Maps that know one path; counts what it is asked."""

    def __init__(self, path: Sequence[LatLng], no_way_to: LatLng | None = None) -> None:
        self.asked: list[tuple[LatLng, ...]] = []
        self._path = tuple(path)
        self._no_way_to = no_way_to

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        self.asked.append(tuple(stops))
        if stops[-1] == self._no_way_to:
            raise NoRoute("no way leads there")
        return Route((stops[0], *self._path, stops[-1]), 0.0, 0.0)

    def geocode(self, address: str) -> LatLng:
        raise NotImplementedError

    def travel_times(self, *_: object) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        raise NotImplementedError


def test_a_route_is_followed_round_its_corners_and_straight_parts_are_one_goal() -> None:
    streets = ring(4)
    way_round = at((0, 10), (0, 20), (0, 30), (0, 40), (20, 40), (40, 40), (40, 20))
    plan = plan_route(streets, Ways(way_round), FRAME.origin, at((40, 0)))
    assert [goal.pano_id for goal in plan.goals] == ["r12", "r8", "r4"]
    walk = PointNavigator(streets, LinksMover(streets), plan, max_steps=99)
    assert ids(walk.walk(Pose("r0", 0.0))) == [f"r{k % 16}" for k in range(16, 3, -1)]


def test_a_destination_that_no_route_leads_to_is_named_and_the_next_leg_starts_before_it() -> None:
    streets = plus_sign()
    north, east, west = (streets.panorama(one).position for one in ("n3", "e3", "w3"))
    maps = Ways([], no_way_to=east)
    plan = plan_route(streets, maps, streets.panorama("c").position, [north, east, west])
    assert maps.asked[-1] == (north, west)
    assert plan.unplanned == ((1, "no way leads there"),)
    walk = PointNavigator(streets, LinksMover(streets), plan, max_steps=99)
    assert ids(walk.walk(Pose("c", 0.0)))[-1] == "w3"
    assert reached(walk) == [True, False, True]


def test_bad_values_are_refused() -> None:
    streets = plus_sign()
    plan = plan_path(streets, at((0, 0)))
    with pytest.raises(BadInput, match="destination"):
        plan_path(streets, [])
    with pytest.raises(BadInput, match="steps"):
        PointNavigator(streets, LinksMover(streets), plan, max_steps=-1)
    for arrive in (0.0, float("nan")):
        with pytest.raises(BadInput, match="arriving"):
            PointNavigator(streets, LinksMover(streets), plan, max_steps=1, arrive=arrive)


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_arrives_in_virlton_along_routes(count: int) -> None:
    city = virlton()
    for start, end in trips(count):
        here, there = (city.streetview.panorama(one).position for one in (start, end))
        plan = plan_route(city.streetview, city.maps, here, [there])
        walk = PointNavigator(city.streetview, LinksMover(city.streetview), plan, max_steps=1000)
        steps = list(walk.walk(Pose(start, 0.0)))
        assert distance(steps[-1].panorama.position, there) <= 5
        assert reached(walk) == [True]
        walked = sum(step.distance for step in steps)
        assert walked <= 1.05 * city.maps.route([here, there]).distance + 10


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_arrives_in_virlton_without_a_route(count: int) -> None:
    """Towards the destination by heading alone; the way found is not much longer than the shortest."""
    city = virlton()
    for start, end in trips(count):
        here, there = (city.streetview.panorama(one).position for one in (start, end))
        walk = navigator(city.streetview, [there], max_steps=1000)
        steps = list(walk.walk(Pose(start, 0.0)))
        assert distance(steps[-1].panorama.position, there) <= 5
        assert sum(step.distance for step in steps) <= 2.0 * city.maps.route([here, there]).distance + 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grid", "hybrid"])
def test_other_movers_arrive_too(name: str) -> None:
    city = virlton()
    with open_mover(name, city.streetview) as mover:
        for start, end in trips(2):
            there = city.streetview.panorama(end).position
            walk = navigator(city.streetview, [there], max_steps=1000, mover=mover)
            steps = list(walk.walk(Pose(start, 0.0)))
            assert distance(steps[-1].panorama.position, there) <= 5
