"""Roads seen and not walked are remembered with what they promised."""

import pytest
from made_streets import plus_sign

from virl.geo.globe import destination
from virl.mind.lexicon import load_lexicon
from virl.platform.city.streetview import Link, Pose
from virl.platform.navigators.intention.navigator import UNKNOWN, Prospects, left_in_words
from virl.platform.navigators.intention.rules import RoadQuestion, choose_road
from virl.platform.perception.road_sight import RoadSight, SeenFront


def test_a_road_with_fronts_is_worth_going_back_for_until_they_are_passed() -> None:
    streets, known = plus_sign(), Prospects()

    def look(link: Link) -> RoadSight:
        here = streets.panorama("c").position
        fronts = (SeenFront(destination(here, 90.0, 30.0), 30.0),) if link.pano_id == "e1" else ()
        return RoadSight(fronts)

    for pano_id in ("s1", "c", "n1"):
        known.visit(streets.panorama(pano_id), streets.panorama(pano_id).links, look)
    best = known.ways(Pose("n1", 0.0))[0]
    assert left_in_words(known.ways(Pose("n1", 0.0))).endswith("not reached is 40 m away")
    assert (best.pano_id, best.link.pano_id, best.first.pano_id, best.fronts) == ("c", "e1", "c", 1)
    for pano_id in ("c", "e1", "e2", "e3"):
        known.visit(streets.panorama(pano_id), streets.panorama(pano_id).links, look)
    assert left_in_words(known.ways(Pose("e3", 90.0))) == "no board of a shop that was seen is left to go to"
    assert all(way.fronts == 0 for way in known.ways(Pose("e3", 90.0)))


@pytest.mark.parametrize(
    ("fronts", "costs", "index"),
    [((0, 0), (25.0, 25.0), 1), ((0, 1), (25.0, 25.0), 0), ((0, 0), (25.0, 29.0), 0)],
    ids=["as good and empty", "a board in sight", "one is nearer"],
)
def test_houses_decide_between_roads_that_are_as_good_and_show_no_board(
    fronts: tuple[int, int], costs: tuple[float, float], index: int
) -> None:
    roads = [{"index": number, "description": ""} for number in (0, 1)]
    outlooks = [
        {"promise": UNKNOWN, "cost": cost, "fronts": number, "town": town}
        for cost, number, town in zip(costs, fronts, (-0.4, 0.8), strict=True)
    ]
    asked = {"intention": "", "place_type": "bar", "roads": roads, "outlooks": outlooks}
    assert choose_road(RoadQuestion.model_validate(asked), load_lexicon()).index == index
