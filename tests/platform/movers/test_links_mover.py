import pytest
from made_streets import plus_sign

from virl.errors import BadInput, NoStreetView
from virl.platform.city.streetview import Link, Pose
from virl.platform.movers.base import LinksMover


def test_lists_links_by_heading_and_takes_one() -> None:
    mover = LinksMover(plus_sign())
    links = mover.links(Pose("c", 0))
    assert [link.pano_id for link in links] == ["n1", "e1", "s1", "w1"]
    assert [link.distance for link in links] == pytest.approx([10] * 4, rel=1e-3)
    arrived = mover.take(Pose("c", 0), links[1])
    assert arrived.pano_id == "e1"
    assert arrived.heading == pytest.approx(90, abs=1e-3)


def test_refuses_links_of_other_panoramas() -> None:
    mover = LinksMover(plus_sign())
    with pytest.raises(BadInput, match="no link to 'n2' leaves panorama 'c'"):
        mover.take(Pose("c", 0), Link("n2", 0, 10))
    with pytest.raises(NoStreetView, match="nowhere"):
        mover.links(Pose("nowhere", 0))
