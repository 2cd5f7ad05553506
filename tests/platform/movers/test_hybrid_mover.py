import pytest
from made_streets import MadeStreetView, plus_sign

from benchmarks.perf.movers import CountingStreetView
from virl.errors import BadInput
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import LinksMover
from virl.platform.movers.grid import GridMover, HybridMover


def gappy() -> MadeStreetView:
    """A street `a`, `b`, `d` from south to north, 10 m apart; `b` lists no link to `d`, nor `d` to `b`."""
    return MadeStreetView({"a": (0, 0), "b": (0, 10), "d": (0, 20)}, ["a-b"])


def hybrid(made: MadeStreetView) -> tuple[HybridMover, CountingStreetView]:
    counting = CountingStreetView(made)
    return HybridMover(LinksMover(made), GridMover(counting)), counting


def names(mover: HybridMover, pose: Pose, toward: float | None = None) -> list[str]:
    return [link.pano_id for link in mover.links(pose, toward)]


def test_the_grid_is_asked_only_where_no_link_leads_the_wanted_way() -> None:
    mover, counting = hybrid(gappy())
    assert names(mover, Pose("b", 175.0)) == ["a"]
    assert names(mover, Pose("b", 0.0), toward=195.0) == ["a"]
    assert counting.requests.total() == 0
    assert names(mover, Pose("b", 0.0)) == ["d", "a"]
    assert counting.requests.total() > 0


def test_the_wanted_heading_may_differ_from_the_poses_and_wraps_at_north() -> None:
    mover, counting = hybrid(plus_sign())
    assert names(mover, Pose("c", 350.0)) == ["n1", "e1", "s1", "w1"]
    assert names(mover, Pose("n3", 0.0), toward=160.0) == ["n2"]
    assert counting.requests.total() == 0
    names(mover, Pose("n3", 180.0), toward=211.0)
    assert counting.requests.total() > 0


def test_what_the_grid_found_stays_and_can_be_taken_and_listed_links_are_unchanged() -> None:
    made = gappy()
    mover, _ = hybrid(made)
    found = mover.links(Pose("b", 0.0))
    assert mover.links(Pose("b", 180.0)) == found
    assert made.panorama("b").links[0] in found
    assert mover.take(Pose("b", 180.0), found[0]) == Pose("d", found[0].heading)


def test_a_grid_link_is_refused_before_it_was_asked_for() -> None:
    mover, _ = hybrid(gappy())
    other, _ = hybrid(gappy())
    to_d = other.links(Pose("b", 0.0))[0]
    with pytest.raises(BadInput, match="no link to 'd' leaves panorama 'b'"):
        mover.take(Pose("b", 180.0), to_d)
