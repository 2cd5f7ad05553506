from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_streets import FRAME, MadeStreetView

from benchmarks.perf.movers import CountingBatchStreetView, CountingStreetView
from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.movers.grid import Answer, GridMover, Rings, Survey


def star(spacing: float, turn: float = 0.0, arms: Sequence[float] = (0, 90, 180, 270)) -> MadeStreetView:
    """A crossing `c` with arms at these headings plus `turn`, each of three panoramas such as `90.1`."""
    points = {"c": (0.0, 0.0)}
    edges = []
    for arm in arms:
        east, north = sin(radians(arm + turn)), cos(radians(arm + turn))
        for k in (1, 2, 3):
            points[f"{arm}.{k}"] = (spacing * k * east, spacing * k * north)
            edges.append(f"{arm}.{k}-{'c' if k == 1 else f'{arm}.{k - 1}'}")
    return MadeStreetView(points, edges)


def found(mover: GridMover, name: str) -> set[str]:
    return {link.pano_id for link in mover.links(Pose(name, 0))}


@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("turn", [0.0, 7.0, 22.5])
@pytest.mark.parametrize("spacing", [5.0, 10.0, 15.0, 20.0, 25.0, 30.0])
def test_finds_all_neighbours_within_its_reach(spacing: float, turn: float, batch: bool) -> None:
    made = star(spacing, turn)
    counting = CountingBatchStreetView(made) if batch else CountingStreetView(made)
    mover = GridMover(counting, Rings.with_reach(spacing * 1.01))
    assert found(mover, "c") == {"0.1", "90.1", "180.1", "270.1"}


@pytest.mark.parametrize("turn", [0.0, 7.0, 22.5])
@pytest.mark.parametrize("spacing", [5.0, 10.0, 15.0, 20.0, 25.0, 30.0])
def test_on_a_straight_street_it_finds_nothing_else(spacing: float, turn: float) -> None:
    made = star(spacing, turn, arms=(0, 180))
    mover = GridMover(made, Rings.with_reach(spacing * 1.01))
    for name in ("c", "0.1", "0.2", "0.3", "180.1"):
        assert found(mover, name) == {link.pano_id for link in made.panorama(name).links}


def test_the_published_rings_do_not_reach_twenty_metres() -> None:
    assert found(GridMover(star(20.0)), "c") == set()
    assert len(found(GridMover(star(16.0, 22.5)), "c")) == 4
    assert Rings().reach == pytest.approx(16.6, abs=0.05)


def test_ways_on_both_sides_of_north_are_one_within_the_heading_range() -> None:
    made = star(10.0, arms=(0, 11, 90))
    names = {"0.1", "11.1"}
    assert len(found(GridMover(made), "c") & names) == 1
    west = star(10.0, turn=-5.0, arms=(0, 10, 90))
    assert len(found(GridMover(west), "c") & {"0.1", "10.1"}) == 1


def test_a_link_is_known_at_its_other_end_and_panoramas_are_not_asked_for_twice() -> None:
    counting = CountingBatchStreetView(star(10.0, arms=(0, 180)))
    mover = GridMover(counting)
    mover.links(Pose("c", 0))
    assert counting.requests == {"tiles_pano_ids": 1, "tiles_metadata": 5}
    there = mover.take(Pose("c", 0), mover.links(Pose("c", 0))[0])
    assert "c" in {link.pano_id for link in mover.links(there)}
    assert counting.requests == {"tiles_pano_ids": 2, "tiles_metadata": 6}
    for name in ("c", there.pano_id):
        mover.links(Pose(name, 123))
    assert counting.requests.total() == 8


def test_links_learnt_elsewhere_stay_as_they_are() -> None:
    made = star(10.0, arms=(0, 180))
    mover = GridMover(CountingStreetView(made))
    mover.learn("c", made.panorama("c").links)
    assert set(mover.links(Pose("c", 0))) == set(made.panorama("c").links)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(-30, 30), st.floats(-30, 30)), min_size=1, max_size=8, unique=True),
    st.lists(st.tuples(st.floats(-20, 20), st.floats(-20, 20)), min_size=1, max_size=12),
)
def test_what_follows_from_answers_is_what_would_have_been_answered(
    others: list[tuple[float, float]], asked: list[tuple[float, float]]
) -> None:
    points = {"here": (0.0, 0.0)} | {f"p{k}": point for k, point in enumerate(others)}
    made = MadeStreetView(points, [])
    survey = Survey(made, made.panorama("here"))
    xy = {name: np.array(point) for name, point in points.items()}
    for point in asked:
        answer = survey.nearest(FRAME.position(*point))
        assert answer is not None
        away = np.linalg.norm(xy[answer.id] - point)
        assert away <= min(np.linalg.norm(other - point) for other in xy.values()) + 0.03


def test_an_empty_street_says_so_for_the_nearer_positions_too() -> None:
    asked: list[LatLng] = []

    class Noting(MadeStreetView):
        def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
            asked.append(position)
            return super().nearest(position, radius)

    made = Noting({"a": (0.0, 0.0)}, [])
    survey = Survey(made, made.panorama("a"))
    assert survey.nearest(FRAME.position(9, 0)) == made.panorama("a")
    assert survey.nearest(FRAME.position(6, 0)) == made.panorama("a")
    assert survey.nearest(FRAME.position(3, 0)) == made.panorama("a")
    assert len(asked) == 1
    assert survey.gained == [Answer(asked[0], made.panorama("a"))]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Rings(radii=()), "ascend"),
        (lambda: Rings(radii=(6, 3)), "ascend"),
        (lambda: Rings(radii=(3, 60)), r"\(0, 50\] metres"),
        (lambda: Rings(headings=2), "three headings"),
        (lambda: Rings(heading_range=180), r"\[0, 180\)"),
        (lambda: Rings.with_reach(0), "reach 0"),
        (lambda: Rings.with_reach(91), "reach 91"),
    ],
)
def test_rings_that_make_no_sense_are_refused(make: object, why: str) -> None:
    assert callable(make)
    with pytest.raises(BadInput, match=why):
        make()


@given(st.floats(1, 90))
def test_rings_reach_what_was_asked_for(metres: float) -> None:
    assert Rings.with_reach(metres).reach >= metres - 1e-9
