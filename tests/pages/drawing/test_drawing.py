import itertools
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import FRAME

from virl.pages.exhibits import (
    Bar,
    BarsExhibit,
    Curve,
    CurvesExhibit,
    Exhibit,
    MapExhibit,
    MapLine,
    MapPoint,
    TableExhibit,
    TextExhibit,
)
from virl.pages.ground import Area, MapGround, Way, ground_of_lines
from virl.pages.map_picture import draw_picture
from virl.pages.map_svg import draw_legend, draw_svg, draw_whole, figure_data
from virl.pages.maps import NARROW, WIDE, draw_map, label_anchors
from virl.pages.marks import shape_box
from virl.pages.numbers import column_digits, price, show_area, show_length, tick_digits, ticks, write_number
from virl.pages.page import draw_bars, draw_curves, draw_exhibits
from virl.pages.symbols import symbol_of
from virl.pages.theme import EDGES_UP_TO_M, colour_of, colours, light_style, shapes

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@given(numbers, st.floats(1e-3, 1e6))
def test_ticks_are_few_even_and_within_the_scale(low: float, room: float) -> None:
    high = low + room
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 5
    assert low - 1e-6 * room <= marks[0]
    assert marks[-1] <= high + 1e-6 * room
    steps = [after - before for before, after in itertools.pairwise(marks)]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-3)


def test_two_decimals_are_for_ticks_and_numbers_below_one() -> None:
    assert column_digits([1, 2, None]) == 0
    assert column_digits([1, 2.5]) == 1
    assert column_digits([1.0, 1 / 3]) == 1
    assert column_digits([0.25, 1 / 3]) == 2
    assert [tick_digits(marks) for marks in ((0.0, 0.25, 0.5), (0.0, 0.5, 1.0), (0.0, 2.0))] == [2, 1, 0]
    assert column_digits([1, "two"]) is None
    assert column_digits([None]) is None
    assert write_number(-1234.5, 1) == "\N{MINUS SIGN}1,234.5"


def test_sizes_have_one_decimal_at_most() -> None:
    assert [show_length(metres) for metres in (80.4, 1000.0, 32_614.0)] == ["80 m", "1 km", "32.6 km"]
    assert [show_area(square) for square in (0.0, 176_400.0, 1_449_000.0)] == ["0 ha", "17.6 ha", "1.4 km²"]


def test_bars_are_as_long_as_their_share_of_the_longest() -> None:
    bars = (
        Bar(label="given", value=40),
        Bar(label="short", value=30, picked=True),
        Bar(label="none", value=0),
    )
    drawn = draw_bars(BarsExhibit(title="", unit="min", bars=bars))
    assert [row.share for row in drawn] == [1.0, 0.75, 0.0]
    assert [row.text for row in drawn] == ["40 min", "30 min", "0 min"]
    nothing = draw_bars(BarsExhibit(title="", unit="min", bars=bars[2:]))
    assert nothing[0].share == 0


def chart(*values: float | None, low: float | None = None, high: float | None = None) -> CurvesExhibit:
    points = tuple(f"{8 + hour}:00" for hour in range(len(values)))
    curves = (Curve(name="mood", values=values),)
    return CurvesExhibit(title="", unit="points", points=points, curves=curves, low=low, high=high)


def test_a_curve_is_cut_where_it_has_no_value() -> None:
    plot = draw_curves(chart(10, 20, None, 40))
    assert plot is not None
    (line,) = plot.lines
    assert [len(piece.split()) for piece in line.pieces] == [2, 1]
    assert line.texts == ("10", "20", "", "40")
    assert line.dots[2].title == "mood, 11:00: 40 points"


@pytest.mark.slow
@given(st.lists(numbers | st.none(), min_size=1, max_size=12), st.booleans())
def test_curves_stay_in_their_chart(values: list[float | None], bounded: bool) -> None:
    plot = draw_curves(chart(*values, low=0, high=100) if bounded else chart(*values))
    if plot is None:
        assert set(values) == {None}
        return
    for dot in plot.lines[0].dots:
        assert plot.left - 1e-6 <= dot.x <= plot.right + 1e-6
        assert 0 < dot.y < plot.base


def test_labels_below_a_chart_do_not_overlap() -> None:
    plot = draw_curves(chart(*range(60)))
    assert plot is not None
    places = [x for x, _ in plot.labels]
    assert len(places) > 5
    assert min(b - a for a, b in itertools.pairwise(places)) > 40


def test_names_at_the_ends_of_curves_do_not_cover_each_other() -> None:
    lines = {"mood": 50, "energy": 50, "hunger": 51, "sleep": 90}
    curves = tuple(Curve(name=name, values=(10, value)) for name, value in lines.items())
    plot = draw_curves(CurvesExhibit(title="", unit="", points=("a", "b"), curves=curves))
    assert plot is not None
    ends = sorted(line.end[1] for line in plot.lines if line.end)
    assert len(ends) == len(lines)
    assert min(b - a for a, b in itertools.pairwise(ends)) > 13
    assert all(line.end and line.end[0] > line.dots[-1].x for line in plot.lines)
    assert plot.right + 7 * len("energy") < plot.width


def spots(*where: tuple[float, float]) -> tuple[MapPoint, ...]:
    positions = [FRAME.position(*point) for point in where]
    return tuple(
        MapPoint(lat=lat, lng=lng, label=f"Shop number {number}", mark=str(number))
        for number, (lat, lng) in enumerate(positions)
    )


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(-800, 800), st.floats(-800, 800)), min_size=1, max_size=12), st.booleans()
)
def test_labels_on_a_map_cover_neither_each_other_nor_a_mark(
    where: list[tuple[float, float]], wide: bool
) -> None:
    drawn = draw_map(MapExhibit(title="", points=spots(*where)), MapGround(), across=WIDE if wide else NARROW)
    assert drawn is not None
    paper = drawn.paper
    boxes = []
    shown = [spot for spot in drawn.marks if not spot.is_joined]
    for spot in shown:
        x, y = (spot.x - paper.left) / paper.pixel, (spot.y - paper.top) / paper.pixel
        assert 0 < x < paper.across
        x, y = x + spot.shift[0], y + spot.shift[1]
        left, top, right, bottom = shape_box(spot.shape)
        boxes.append(("mark", shapely.box(x + left, y + top, x + right, y + bottom)))
        on_map = x + left >= 0 <= y + top and y + bottom <= paper.height / paper.pixel
        assert spot.shift == (0, 0) or on_map, "it is not moved over the edge"
        if spot.side:
            left = x + spot.side.x - spot.side.share * 80
            boxes.append(("label", shapely.box(left, y + spot.side.y - 10, left + 80, y + spot.side.y)))
    labels = [box for kind, box in boxes if kind == "label"]
    assert not any(a.intersects(b) for a in labels for _, b in boxes if a is not b)
    assert labels or len(where) > 3 or len(shown) < len(drawn.marks)
    marks = [box for kind, box in boxes if kind == "mark"]
    assert not any(a.intersects(b) for a, b in itertools.combinations(marks, 2))


@pytest.mark.parametrize(("count", "sign"), [(2, "0, 1"), (3, "0, 1, 2"), (5, "0 +4")])
def test_marks_that_are_close_together_are_one_with_their_numbers(count: int, sign: str) -> None:
    far = (600.0, 0.0)
    drawn = draw_map(
        MapExhibit(title="", points=spots(*((3.0 * at, 0.0) for at in range(count)), far)), MapGround()
    )
    assert drawn is not None
    shown = [mark for mark in drawn.marks if not mark.is_joined]
    assert sorted(mark.sign for mark in shown) == [sign, str(count)]
    [group] = [mark for mark in shown if mark.is_group]
    assert group.title.startswith(f"{', '.join(map(str, range(count)))}: Shop number 0; Shop number 1")
    names = (
        "0 Shop number 0 \N{MIDDLE DOT} 1 Shop number 1",
        f"0 Shop number 0 \N{MIDDLE DOT} {count - 1} more",
    )
    assert group.label == names[count > 2]
    assert f">{sign}</text>" in draw_svg(drawn)
    assert len(figure_data(drawn)["marks"]) == count + 1  # type: ignore[arg-type]  # scripts join anew


def test_a_label_of_wide_letters_keeps_inside_the_map() -> None:
    points = [MapPoint(lat=lat, lng=lng, label="") for lat, lng in (FRAME.position(x, 0) for x in (0, 300))]
    named = points[0].model_copy(update={"label": "春來畫廊" * 3})
    drawn = draw_map(MapExhibit(title="", points=(named, points[1])), MapGround(), across=NARROW)
    assert drawn is not None
    side = next(mark.side for mark in drawn.marks if mark.label)
    assert side is not None
    assert side.name.startswith("to-right"), "below it, half of 12 letters 14 pixels wide would be cut off"


def test_a_point_alone_has_its_label_and_a_crowd_has_not() -> None:
    alone = draw_map(MapExhibit(title="", points=spots((0, 0))), MapGround())
    crowd = draw_map(MapExhibit(title="", points=spots(*[(number, 0) for number in range(20)])), MapGround())
    assert alone is not None
    assert crowd is not None
    assert alone.marks[0].side == label_anchors(alone.marks[0].shape)[0]
    assert sum(spot.side is not None for spot in crowd.marks) < 8


def test_a_map_has_the_way_with_its_direction_and_streets_nearby() -> None:
    way = MapLine(points=tuple(tuple(FRAME.position(x, 0)) for x in (0, 300)), label="the way")
    other = MapLine(points=way.points[::-1], style="other")
    streets = [[FRAME.position(x, -50), FRAME.position(x, 50)] for x in (100, 90_000)]
    drawn = draw_map(MapExhibit(title="", lines=(way, other)), ground_of_lines(streets), across=WIDE)
    assert drawn is not None
    (layer,) = drawn.paper.layers
    assert len(layer.shapes) == 1
    under, over = drawn.paths
    assert (under.arrows, over.label) == ((), "the way")
    assert {round(arrow.heading) for arrow in over.arrows} == {90}
    assert drawn.paper.width == pytest.approx(2 * drawn.paper.height)


def test_narrow_exhibits_stand_in_pairs() -> None:
    text, bars = TextExhibit(title="", text="a"), BarsExhibit(title="", unit="", bars=())
    table = TableExhibit(title="", columns=("a", "b", "c", "d"), rows=())
    shown: list[Exhibit] = [text, bars, text, table, bars, chart(1)]
    widths = [drawn.wide for drawn in draw_exhibits(shown, MapGround())]
    assert widths == [False, False, True, True, True, True]
    assert [drawn.wide for drawn in draw_exhibits([bars, text, text, bars], MapGround())] == [False] * 4


def town() -> MapGround:
    """A named street between a house and a park."""
    house, park = (
        shapely.Polygon([FRAME.position(x, y)[::-1] for x, y in corners])
        for corners in (((0, 10), (20, 10), (20, 30), (0, 30)), ((30, 10), (90, 10), (90, 60), (30, 60)))
    )
    street = Way([FRAME.position(x, 0) for x in (-200, 200)], "main", "Long Street")
    return MapGround([street], [Area(house, "house"), Area(park, "park", "Oak Park")])


def test_a_map_has_houses_parks_and_the_names_of_streets() -> None:
    drawn = draw_map(MapExhibit(title="Town", points=spots((30, 20))), town())
    assert drawn is not None
    assert [layer.kind for layer in drawn.paper.layers] == ["park", "house", "main"]
    assert {name.text for name, has_room in drawn.names if has_room} == {"Long Street", "Oak Park"}
    markup = draw_svg(drawn)
    for part in ('class="house"', 'class="park"', 'class="casing"', ">Long Street<", ">Oak Park<"):
        assert part in markup


def test_a_map_of_a_whole_town_has_houses_too_without_edges() -> None:
    far = spots((0, 0), (2500, 0))
    drawn, bare = (draw_map(MapExhibit(title="Town", points=far), one) for one in (town(), MapGround()))
    assert drawn is not None
    assert bare is not None
    assert drawn.paper.pixel > EDGES_UP_TO_M
    assert '<path class="house far"' in draw_svg(drawn)
    assert ".house.far { stroke: none; }" in light_style()
    assert "<li hidden" not in draw_legend(drawn)
    parts = replace(drawn.paper, layers=tuple(one for one in drawn.paper.layers if one.kind == "house"))
    assert draw_picture(replace(bare, paper=parts), 1130) != draw_picture(bare, 1130)


def test_a_name_is_written_once_where_it_would_stand_beside_itself() -> None:
    corners = [[FRAME.position(x + e, y) for x, y in ((0, 0), (36, 0), (36, 30), (0, 30))] for e in (0, 40)]
    parks = [Area(shapely.Polygon([(lng, lat) for lat, lng in one]), "park", "Elms") for one in corners]
    drawn = draw_map(MapExhibit(title="", points=spots((40, -50))), MapGround(areas=parks))
    assert drawn is not None
    assert [has_room for _, has_room in drawn.names] == [True, False]


def test_symbols_keep_apart_leave_words_alone_and_stand_in_the_legend() -> None:
    shops = [("food", FRAME.position(x, y)) for x in range(-80, 81, 8) for y in (-9, 9)]
    ground = replace(town(), places=[*shops, ("bag", FRAME.position(60, -40))])
    drawn = draw_map(MapExhibit(title="Town", points=spots((30, 20))), ground)
    assert drawn is not None
    shown = [place for places in drawn.symbols.values() for place in places]
    apart = [math.dist(one, other) for one, other in itertools.combinations(shown, 2)]
    assert 5 < len(shown) < len(shops)
    assert min(apart) >= 28 * drawn.paper.pixel
    shapes = [words for _, words in drawn.legend]
    assert shapes == ["other place", "park", "house", "restaurants", "other shops"]
    assert draw_legend(drawn).count("<svg") == 5
    assert "at-food" in draw_svg(drawn)
    assert draw_picture(drawn, 400) != draw_picture(replace(drawn, symbols={}), 400)


@pytest.mark.parametrize(
    ("types", "symbol"),
    [
        (("ramen_restaurant", "store"), "food"),
        (("sports_bar",), "glass"),
        (("barber_shop",), "scissors"),
        (("light_rail_station",), "stop"),
        (("corporate_office",), "case"),
        ((), "case"),
    ],
)
def test_a_place_has_the_symbol_of_its_most_exact_type(types: tuple[str, ...], symbol: str) -> None:
    assert symbol_of(types) == symbol


def test_a_scale_bar_of_a_country_is_in_kilometres() -> None:
    way = MapLine(points=tuple(tuple(FRAME.position(x, 0)) for x in (0, 9000)), label="the way")
    drawn = draw_map(MapExhibit(title="", lines=(way,)), MapGround())
    assert drawn is not None
    assert ">1 km<" in draw_svg(drawn)


def test_colours_and_shapes_are_those_of_the_style_and_the_script() -> None:
    assert colours()["route"] == colour_of("main") == colour_of("anything") != colour_of("step enter")
    assert shapes()["disc"] == 10
    assert isinstance(shapes()["pin"], tuple)


def test_a_drawing_alone_brings_its_colours_along_and_its_texts_are_text() -> None:
    hostile = MapPoint(lat=FRAME.origin.lat, lng=FRAME.origin.lng, label="<script>alert(1)</script>")
    drawn = draw_map(MapExhibit(title="A & B", points=(hostile,)), town())
    assert drawn is not None
    whole = draw_whole([drawn])
    assert colours()["park"] in whole
    tags = {one.tag.rpartition("}")[2] for one in ET.fromstring(whole).iter()}  # noqa: S314 - our own
    assert "script" not in tags


def test_a_picture_of_a_map_has_its_colours() -> None:
    drawn = draw_map(MapExhibit(title="Town", points=spots((30, 20))), town())
    assert drawn is not None
    picture = draw_picture(drawn, 400)
    seen = {"#" + "".join(f"{part:02x}" for part in rgb) for _, rgb in picture.getcolors(1 << 20) or ()}
    assert {colours()[kind] for kind in ("land", "park", "house", "road", "soft")} <= seen


@pytest.mark.parametrize(("usd", "text"), [(5, "$5"), (4.5, "$4.50"), (0.0, "$0"), (1234.0, "$1,234")])
def test_a_price_has_cents_where_it_has_some(usd: float, text: str) -> None:
    assert price(usd) == text
