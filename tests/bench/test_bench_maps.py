"""Maps of a report: what several episodes show at one place is one dot."""

import shapely

from virl.bench.benchmark import Shown, ShownPoint
from virl.bench.plan import CityPlan
from virl.bench.report.page import city_map, merge_steps
from virl.geo.globe import LatLng
from virl.pages.ground import Area, MapGround

HERE, THERE = LatLng(40.0, -74.0), LatLng(40.001, -74.0)


def test_a_point_of_several_episodes_is_drawn_once_with_its_mean() -> None:
    shown = [
        (Shown("", points=[ShownPoint(HERE, 1.0, "Bar"), ShownPoint(THERE, 1.0, "Bank")]), "good.html"),
        (Shown("", points=[ShownPoint(HERE, 0.0, "Bar")]), "bad.html"),
    ]
    drawn = city_map(CityPlan(title="Here", streets=()), shown)
    assert drawn is not None
    assert [(dot.title, dot.kind, dot.href) for dot in drawn.marks] == [
        ("Bank", "right", "good.html"),
        ("Bar", "partly", "bad.html"),
    ]


def test_two_names_at_one_position_stay_two() -> None:
    shown = [(Shown("", points=[ShownPoint(HERE, 1.0, "Bar"), ShownPoint(HERE, 0.0, "Bank")]), "")]
    drawn = city_map(CityPlan(title="Here", streets=()), shown)
    assert drawn is not None
    assert [dot.title for dot in drawn.marks] == ["Bar", "Bank"]
    right, wrong = drawn.marks
    assert right.shape != wrong.shape
    assert drawn.legend == (("right", "right"), ("wrong", "wrong"))


def test_the_map_of_one_walk_shows_where_it_begins_and_ends() -> None:
    bar = ShownPoint(THERE, 1.0, "Bar", "goal")
    shown = Shown("", points=[bar], path=[HERE, LatLng(40.0, -74.001), THERE])
    drawn = city_map(CityPlan(title="Here", streets=()), [(shown, "")])
    assert drawn is not None
    assert [mark.title for mark in drawn.marks] == ["Bar", "start", "end of the walk"]
    assert [words for _, words in drawn.legend] == ["way walked", "goal", "start", "end of the walk"]
    both = city_map(CityPlan(title="Here", streets=()), [(shown, ""), (shown, "")])
    assert both is not None
    assert [mark.title for mark in both.marks] == ["Bar"]


def test_the_place_entered_has_a_mark_that_tells_whether_it_was_right() -> None:
    points = [ShownPoint(HERE, 0.0, "Bar", "goal"), ShownPoint(THERE, 0.0, "Bank", "entered")]
    drawn = city_map(CityPlan(title="Here"), [(Shown("", points=points, path=[HERE, THERE]), "")])
    assert drawn is not None
    assert [(mark.title, mark.kind) for mark in drawn.marks[:2]] == [("Bar", "goal"), ("Bank", "wrong")]
    assert ("wrong", "entered, wrong") in drawn.legend


def test_a_walk_indoors_fills_its_map() -> None:
    shown = Shown("", path=[LatLng(40.0, -74.0), LatLng(40.0001, -74.0)])
    indoors = city_map(CityPlan(title="House"), [(shown, "")])
    street = city_map(CityPlan(title="Town", streets=[[HERE, THERE]]), [(shown, "")])
    assert indoors is not None
    assert street is not None
    (a, b), (c, d) = (one.paths[0].points for one in (indoors, street))
    assert 0.3 < (a[1] - b[1]) / indoors.paper.height < 1
    assert (c[1] - d[1]) / street.paper.height < 0.15


def test_two_walkers_differ_on_the_map_and_the_legend_names_them_and_the_ground() -> None:
    shown = Shown("", path=[HERE, THERE])
    park = MapGround(areas=[Area(shapely.box(-74.001, 39.999, -73.999, 40.002), "park")])
    both = [(shown, "a"), (shown, "b")]
    drawn = city_map(CityPlan(title="Here"), both, ["hiro", "random"], ground=park)
    assert drawn is not None
    assert [path.kind for path in drawn.paths] == ["c0", "c1"]
    assert drawn.legend == (("line c0", "hiro"), ("line c1", "random"), ("park", "park"))


def test_equal_steps_in_a_row_are_one() -> None:
    steps = [("forward", "on"), ("forward", "on"), ("left", "a bar"), ("forward", "on")]
    assert [(first, last) for first, last, *_ in merge_steps(steps)] == [(1, 2), (3, 3), (4, 4)]


def test_steps_to_viewpoints_that_differ_in_numbers_are_one_and_ids_are_short() -> None:
    ids = [letter * 32 for letter in "abc"]
    steps = [(one, f"turns by {turn} degrees") for one, turn in zip(ids, (7, 2.5, 9), strict=True)]
    assert merge_steps([*steps, ("stop", "")]) == [
        (1, 3, "to aaaaaa … cccccc", ", ".join(ids), "turns by 2.5\N{EN DASH}9 degrees"),
        (4, 4, "stop", "", ""),
    ]
    assert merge_steps([("left", "2 ways"), ("left", "3 signs")])[0][:2] == (1, 1)
    [row] = merge_steps([(f"go to {one}", "at 07:05, 1234567 m") for one in ids])
    assert row == (1, 3, "go to aaaaaa … cccccc", ", ".join(ids), "at 07:05, 1234567 m")
