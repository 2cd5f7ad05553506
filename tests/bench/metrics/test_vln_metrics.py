import pytest

from virl.bench.metrics.places import KeyPosition, VlnScore, WalkedPath, score_vln
from virl.geo.globe import LatLng, destination

START = LatLng(41.25, -38.75)
CORNER = destination(START, 0.0, 50.0)
GOAL = destination(CORNER, 90.0, 60.0)


def straight(start: LatLng, heading: float, steps: int) -> list[LatLng]:
    return [destination(start, heading, 10.0 * step) for step in range(1, steps + 1)]


NORTH = [START, *straight(START, 0.0, 5)]
EAST = straight(CORNER, 90.0, 6)
KEYS = [KeyPosition(CORNER, "turn east")]


def test_a_walk_by_the_book_is_right_throughout() -> None:
    actions = ["forward"] * 5 + ["turn east"] + ["forward"] * 5 + ["stop"]
    score = score_vln(WalkedPath([*NORTH, *EAST], actions), "forward", KEYS, GOAL)
    assert score == VlnScore(1.0, 1.0, 1.0, 1.0, 1.0)


def test_passing_the_destination_and_walking_on_arrives_without_success() -> None:
    beyond = [*NORTH, *straight(CORNER, 90.0, 10)]
    score = score_vln(WalkedPath(beyond, ["forward"] * 15), "turn north", KEYS, GOAL)
    assert (score.success, score.stop_arrival) == (0.0, 1.0)
    assert score.start_reaction == 0.0
    assert (score.intersection_arrival, score.intersection_reaction) == (1.0, 0.0)


@pytest.mark.parametrize(("late", "reacted"), [(-4, 0.0), (-3, 1.0), (0, 1.0), (2, 1.0), (3, 0.0)])
def test_a_turn_counts_from_three_actions_before_to_two_after(late: int, reacted: float) -> None:
    actions = ["forward"] * 12
    actions[5 + late] = "turn east"
    positions = [*NORTH, *straight(CORNER, 0.0, 6)]
    assert score_vln(WalkedPath(positions, actions), "forward", KEYS, GOAL).intersection_reaction == reacted


def test_a_route_without_turns_has_nothing_to_arrive_at() -> None:
    score = score_vln(WalkedPath(NORTH, ["forward"]), "forward", [], GOAL)
    assert score.intersection_arrival is None
    assert score.stop_arrival == 0.0
