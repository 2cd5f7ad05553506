"""Roads seen and not walked are remembered with what they promised."""

from made_streets import plus_sign

from virl.geo import destination
from virl.platform.movement.intention.navigator import left_in_words
from virl.platform.movement.intention.prospects import Prospects
from virl.platform.perception.road_fronts import RoadSight, SeenFront
from virl.platform.streetview import Link, Pose


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
