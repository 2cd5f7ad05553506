import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import FRAME

from virl.geo.globe import LatLng
from virl.journal.records import PlaceRecord, PoseRecord, StepRecord
from virl.journal.walk_map import walk_map
from virl.pages.exhibits import MapExhibit, MapLine, MapPoint
from virl.pages.ground import Area, MapGround, Way, ground_of_lines
from virl.pages.paper import Extent, Paper

metres = st.floats(-2000, 2000)


def walked(points: list[tuple[float, float]], places: tuple[PlaceRecord, ...] = ()) -> list[StepRecord]:
    steps = []
    for index, (x, y) in enumerate(points):
        lat, lng = FRAME.position(x, y)
        pose = PoseRecord(pano_id=f"p{index}", heading=0, lat=lat, lng=lng)
        last = places if index == len(points) - 1 else ()
        steps.append(StepRecord(seq=index + 1, step=index, pose=pose, distance_m=0, decided="", places=last))
    return steps


def inside(paper: Paper, x: float, y: float, margin: float) -> bool:
    across = paper.left + margin <= x <= paper.left + paper.width - margin
    return across and paper.top + margin <= y <= paper.top + paper.height - margin


@settings(max_examples=60)
@given(st.lists(st.tuples(metres, metres), min_size=1, max_size=8))
def test_the_whole_way_lies_on_the_map_with_room_around(points: list[tuple[float, float]]) -> None:
    drawn = walk_map(walked(points), MapGround())
    paper = drawn.paper
    assert paper.width == pytest.approx(Extent().aspect * paper.height)
    assert all(inside(paper, mark.x, mark.y, Extent().margin_m - 1e-6) for mark in drawn.marks)
    assert paper.width / 13 < paper.scale_m <= paper.width / 5
    assert str(paper.scale_m).rstrip("0") in {"1", "2", "5"}


def test_north_is_up_and_east_is_right_in_metres() -> None:
    drawn = walk_map(walked([(0, 0), (0, 100), (50, 100)]), MapGround())
    (start, corner, end) = sorted(drawn.marks, key=lambda mark: mark.href)
    assert (corner.x - start.x, corner.y - start.y) == pytest.approx((0, -100), abs=0.1)
    assert (end.x - corner.x, end.y - corner.y) == pytest.approx((50, 0), abs=0.1)


def test_arrows_point_the_way_walked() -> None:
    (there_and_back,) = walk_map(walked([(0, 0), (100, 0), (0, 0)]), MapGround()).paths
    assert {round(arrow.heading) for arrow in there_and_back.arrows} == {90, -90}


def test_the_street_that_was_walked_is_named_beside_the_way_and_the_result_at_its_place() -> None:
    street = Way([FRAME.position(0, y) for y in (-900, 900)], "street", "Long Street")
    lat, lng = FRAME.position(10, 60)
    spots = [MapPoint(lat=lat, lng=lng, label="Noodle House", style="pick")]
    spots += [MapPoint(lat=lat, lng=lng + move, label="A rival", style="stop") for move in (-3e-4, 0, 3e-4)]
    spots.append(MapPoint(lat=FRAME.origin.lat, lng=FRAME.origin.lng, label="Home", style="start"))
    drawn = walk_map(
        walked([(0, 0), (0, 60)]), MapGround([street]), MapExhibit(title="", points=tuple(spots))
    )
    (beside,) = (name for name, has_room in drawn.names if has_room)
    assert abs(beside.aside) > 10
    assert inside(drawn.paper, beside.x, beside.y, 0)
    assert next(mark.side for mark in drawn.marks if mark.label == "Noodle House")
    named = [words for _, words in drawn.legend]
    assert named == ["way walked", "chosen place", "place to visit", "start", "end"]


def test_a_way_below_the_walk_is_not_in_the_legend_and_an_area_in_sight_is() -> None:
    park, far = (Area(shapely.box(*FRAME.position(x, 30)[::-1], *FRAME.position(x + 20, 90)[::-1]), kind)
                 for x, kind in ((10, "park"), (900, "water")))  # fmt: skip
    told = [MapLine(points=(FRAME.origin, FRAME.position(x, 60)), style="other") for x in (0, 50)]
    point = MapPoint(lat=FRAME.origin.lat, lng=FRAME.origin.lng, label="A", style="pick")
    for lines, words in ((told[:1], []), (told, ["way"])):
        shown = MapExhibit(title="", points=(point,), lines=tuple(lines))
        drawn = walk_map(walked([(0, 0), (0, 60)]), MapGround(areas=[park, far]), shown)
        named = [one for _, one in drawn.legend]
        assert named == ["way walked", "chosen place", *words, "start", "end", "park"]


def test_who_did_not_walk_has_no_way_in_the_legend() -> None:
    assert [words for _, words in walk_map(walked([(0, 0)]), MapGround()).legend] == ["start"]


def test_streets_far_off_are_left_out() -> None:
    def street(x: float) -> list[LatLng]:
        return [FRAME.position(x, -50), FRAME.position(x, 50)]

    lines = [street(0), street(300), street(5000), [FRAME.origin]]
    drawn = walk_map(walked([(0, 0), (100, 0)]), ground_of_lines(lines))
    (layer,) = drawn.paper.layers
    assert len(layer.shapes) == 2


def test_a_place_that_was_considered_lies_on_the_map() -> None:
    lat, lng = FRAME.position(400, -30)
    place = PlaceRecord(id="a", name="A", types=(), lat=lat, lng=lng, decision="enter", reason="")
    drawn = walk_map(walked([(0, 0), (10, 0)], (place,)), MapGround())
    (pin,) = (mark for mark in drawn.marks if mark.kind == "pin enter")
    assert inside(drawn.paper, pin.x, pin.y, Extent().margin_m - 1e-6)
    assert (pin.href, pin.label) == ("#step-1", "A")


def test_the_ends_are_pins_and_one_where_the_walk_comes_back() -> None:
    ends = [
        mark.label for mark in walk_map(walked([(0, 0), (90, 0)]), MapGround()).marks if mark.shape == "pin"
    ]
    assert ends == ["Start", "End"]
    back = walk_map(walked([(0, 0), (90, 0), (0, 0)]), MapGround())
    assert [mark.label for mark in back.marks if mark.shape == "pin"] == ["Start"]
