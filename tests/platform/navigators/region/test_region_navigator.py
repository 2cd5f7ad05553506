from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from made_streets import FRAME, MadeStreetView

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, bearing, distance
from virl.geo.region import Region
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.movers.base import Step
from virl.platform.navigators.region import RegionNavigator


def square(half: float) -> Region:
    corners = ((-half, -half), (half, -half), (half, half), (-half, half))
    return Region(tuple(FRAME.position(x, y) for x, y in corners))


def street() -> MadeStreetView:
    """Panoramas each 10 m from 100 m west to 100 m east, numbered from -10 to 10 as p-10 or q10."""
    names = {step: f"{'p' if step < 0 else 'q'}{abs(step)}" for step in range(-10, 11)}
    points = {names[step]: (10.0 * step, 0.0) for step in names}
    return MadeStreetView(points, [f"{names[step]}-{names[step + 1]}" for step in range(-10, 10)])


def ids(steps: Sequence[Step]) -> list[str]:
    return [step.panorama.id for step in steps]


WEST_TO_EAST = ["p4", "p3", "p2", "p1", "q0", "q1", "q2", "q3", "q4"]


def test_visits_each_panorama_once_in_a_short_order_from_a_start_inside() -> None:
    steps = list(RegionNavigator(street(), square(45)).walk(Pose("p4", 12.0)))
    assert ids(steps) == WEST_TO_EAST
    assert steps[0].pose == Pose("p4", 12.0)
    assert [step.index for step in steps] == list(range(9))
    assert steps[0].distance == 0
    for before, step in pairwise(steps):
        link = before.choice.link
        assert link is not None
        assert (link.pano_id, link.distance) == (step.panorama.id, step.distance)
        assert step.distance == distance(before.panorama.position, step.panorama.position)
        assert step.pose.heading == bearing(before.panorama.position, step.panorama.position)
    assert steps[-1].choice.link is None
    assert "every panorama" in steps[-1].choice.reason


def test_a_start_outside_is_no_step_and_its_side_comes_first() -> None:
    steps = list(RegionNavigator(street(), square(45)).walk(Pose("q9", 0.0)))
    assert ids(steps) == WEST_TO_EAST[::-1]
    assert steps[0].distance == pytest.approx(50, rel=1e-3)
    assert steps[0].pose.heading == pytest.approx(270, abs=0.1)


def test_a_region_without_street_view_is_said_to_be_so() -> None:
    empty = Region(tuple(FRAME.position(x, 500 + y) for x, y in ((0, 0), (50, 0), (50, 50))))
    navigator = RegionNavigator(street(), empty)
    with pytest.raises(NoStreetView, match="no street view at any of"):
        next(navigator.walk(Pose("q0", 0.0)))
    with pytest.raises(NoStreetView, match="no street view at any of"):
        navigator.panoramas()


def test_nothing_is_asked_before_the_walk_begins() -> None:
    asked: list[tuple[int, int, int]] = []
    navigator = RegionNavigator(street(), square(45), progress=lambda *told: asked.append(told))
    walk = navigator.walk(Pose("q0", 0.0))
    assert asked == []
    next(walk)
    assert asked[-1][2] == 9 == len(navigator.panoramas())


def shuffled(positions: Sequence[LatLng]) -> list[int]:
    """An order that no second call gives again."""
    shuffled.calls += 1  # type: ignore[attr-defined]
    rest = list(range(1, len(positions)))
    turn = shuffled.calls % len(rest)  # type: ignore[attr-defined]
    return [0, *rest[turn:], *rest[:turn]]


shuffled.calls = 0  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("start", [Pose("q0", 0.0), Pose("q9", 0.0)])
def test_a_resumed_walk_goes_on_in_the_order_kept(tmp_path: Path, start: Pose) -> None:
    file = tmp_path / "region.jsonl"

    def navigator() -> RegionNavigator:
        return RegionNavigator(street(), square(45), file=file, order=shuffled)

    whole = list(navigator().walk(start))
    assert ids(list(navigator().walk(start))) == ids(whole)
    for cut in range(1, len(whole)):
        rest = list(navigator().walk(whole[cut].pose, ids(whole[:cut])))
        assert [(step.index, step.pose, step.distance) for step in rest] == [
            (step.index, step.pose, step.distance) for step in whole[cut:]
        ]


def test_without_a_file_a_resumed_walk_visits_what_is_left() -> None:
    rest = list(RegionNavigator(street(), square(45)).walk(Pose("q1", 90.0), ["p4", "p3", "q0"]))
    assert ids(rest)[0] == "q1"
    assert sorted(ids(rest)) == sorted({*WEST_TO_EAST} - {"p4", "p3", "q0"})
    assert rest[0].index == 3
    assert rest[0].distance == pytest.approx(10, rel=1e-3)


def test_a_panorama_taken_away_meanwhile_is_left_out_and_named() -> None:
    class Losing(MadeStreetView):
        def panorama(self, pano_id: str) -> Panorama:
            if pano_id in {"q1", "q4"}:
                raise NoStreetView(f"no panorama {pano_id!r}")
            return super().panorama(pano_id)

        def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
            return street().nearest(position, radius)

    points = {f"{'p' if step < 0 else 'q'}{abs(step)}": (10.0 * step, 0.0) for step in range(-10, 11)}
    navigator = RegionNavigator(Losing(points, []), square(45))
    steps = list(navigator.walk(Pose("p4", 0.0)))
    assert ids(steps) == [one for one in WEST_TO_EAST if one not in {"q1", "q4"}]
    assert navigator.skipped == {"q1": "no panorama 'q1'", "q4": "no panorama 'q4'"}
