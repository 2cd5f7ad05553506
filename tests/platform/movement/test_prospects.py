"""Roads seen and not walked are remembered with what they promised."""

from made_streets import plus_sign

from virl.geo import destination
from virl.platform.movement.intention.navigator import left_in_words
from virl.platform.movement.intention.prospects import Prospects
from virl.platform.perception.road_fronts import SeenFront, SeenRoad
from virl.platform.streetview import Link, Pose


def test_a_road_with_fronts_is_worth_going_back_for_until_they_are_passed() -> None:
    streets, known = plus_sign(), Prospects()

    def look(link: Link) -> SeenRoad:
        here = streets.panorama("c").position
        return SeenRoad((SeenFront(destination(here, 90.0, 30.0), 30.0),) if link.pano_id == "e1" else ())

    for pano_id in ("s1", "c", "n1"):
        known.visit(streets.panorama(pano_id), streets.panorama(pano_id).links, look)
    best = known.ways(Pose("n1", 0.0))[0]
    assert left_in_words(known.ways(Pose("n1", 0.0))).endswith("not reached is 40 m away")
    assert (best.pano_id, best.link.pano_id, best.first.pano_id, best.fronts) == ("c", "e1", "c", 1)
    for pano_id in ("c", "e1", "e2", "e3"):
        known.visit(streets.panorama(pano_id), streets.panorama(pano_id).links, look)
    assert left_in_words(known.ways(Pose("e3", 90.0))) == "no board of a shop that was seen is left to go to"
    assert all(way.fronts == 0 for way in known.ways(Pose("e3", 90.0)))


def test_without_fronts_the_road_with_less_green_promises_more() -> None:
    streets, known = plus_sign(), Prospects()
    green = {"e1": 0.1, "n1": 0.8, "w1": None}
    known.visit(
        streets.panorama("c"),
        streets.panorama("c").links,
        lambda link: SeenRoad((), green.get(link.pano_id, 0.5)),
    )
    ways = [way.link.pano_id for way in sorted(known.ways(Pose("c", 0.0)), key=lambda way: -way.promise)]
    assert ways == ["e1", "w1", "s1", "n1"]


def test_a_road_that_leads_to_where_fronts_were_seen_promises_more() -> None:
    streets = plus_sign()
    front = SeenFront(destination(streets.panorama("c").position, 90.0, 10.0), 10.0)

    def promised(*fronts: SeenFront) -> float:
        known = Prospects()
        known.visit(
            streets.panorama("c"),
            streets.panorama("c").links,
            lambda link: SeenRoad(fronts if link.pano_id == "e1" else ()),
        )
        return next(way.promise for way in known.ways(Pose("c", 0.0)) if way.link.pano_id == "n1")

    assert promised(front) > promised()
