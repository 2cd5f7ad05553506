"""Parts, overhangs, passages, colours and roofs of a town that is written as an extract and rebuilt."""

import numpy as np
import pytest
import shapely
from written_extract import FRAME, Writer, box, opened, rebuilt, written

from virl.osm.extract import read_extract
from virl.osm.houses import colour
from virl.osm.parts import base_of, walls_top
from virl.osm.plan import build_twin
from virl.platform.city.streetview import Camera
from virl.platform.providers.osm.city import twin_statistics
from virl.sheets.town_page import town_facts
from virl.towns.plan.town_plan import Building
from virl.towns.render.buildings import building_mesh
from virl.towns.render.roofs import roof_mesh


def test_parts_stand_for_the_building_that_they_cover(made: Writer) -> None:
    made.way(*box(10, 10, 50, 30), building="office", height="20", building__colour="#3366cc")
    made.way(*box(10, 10, 30, 30), building__part="yes", height="8", building__material="brick")
    made.way(*box(30, 10, 50, 30), building__part="yes", height="20", min_height="5")
    twin = rebuilt(made)
    assert twin.houses.heights.tolist() == [8.0]
    above = twin.houses.above
    assert (above.bases.tolist(), above.heights.tolist()) == ([5.0], [20.0])
    assert written(twin, twin.houses.footprints[0]).bounds == pytest.approx((10, 10, 30, 30), abs=0.2)
    ground, air = twin.plan.layout.buildings
    assert (ground.base, ground.material, air.base, air.material) == (0.0, "brick", 5.0, "")
    assert ground.variant == air.variant  # pieces of one house
    assert air.paint == ground.paint != None  # noqa: E711 - both have the colour of the whole
    assert len(air.posts) >= 4
    known = twin_statistics(twin)
    assert (known.houses, known.parts, known.houses_with_height) == (1, 2, 1)


def test_what_parts_leave_of_an_outline_is_drawn_below_the_tower(made: Writer) -> None:
    made.way(*box(10, 10, 60, 40), building="yes", height="60")
    made.way(*box(10, 10, 20, 20), building__part="yes", building__levels="15", building__min_level="3")
    made.way(*box(40, 10, 60, 40), building__part="yes", height="9")
    twin = rebuilt(made)
    heights = sorted(twin.houses.heights.tolist())
    assert heights == pytest.approx([9.0, base_of({"building:min_level": "3"})])
    assert shapely.area(twin.houses.footprints).sum() == pytest.approx(50 * 30, rel=0.02)


def test_a_house_whose_lower_storeys_are_not_mapped_does_not_hang_in_the_air(made: Writer) -> None:
    levels = {"building__levels": "5", "building__min_level": "3"}
    made.way(*box(10, 10, 50, 30), building="school", building__part="yes", **levels)
    twin = rebuilt(made)
    assert twin.houses.heights.tolist() == pytest.approx([16.8])
    assert not twin.houses.above.ids


def test_no_panorama_stands_at_a_wall(made: Writer) -> None:
    made.way((0, 0), (0, 10), (60, 10), highway="footway")
    made.way(*box(10, 10.3, 50, 30), building="yes", building__levels="3")
    twin = rebuilt(made)
    away = shapely.distance(shapely.points(twin.plan.layout.panoramas.xy), twin.houses.footprints[0])
    assert away.min() > 0.7
    eyes = [written(twin, shapely.Point(xy)) for xy in twin.plan.layout.panoramas.xy]
    assert max(eye.x for eye in eyes if eye.y > 9) == pytest.approx(60, abs=0.5)  # its far end is reached


def test_people_walk_below_a_roof_on_posts(made: Writer) -> None:
    made.way(*box(-10, -6, 30, 6), building="roof", height="5")
    twin = rebuilt(made)
    assert len(twin.houses.ids) == 0
    assert len(twin.plan.layout.panoramas.xy) == 21
    [roof] = twin.plan.layout.buildings
    assert roof.base == pytest.approx(4.6)
    road = shapely.LineString(twin.plan.layout.streets[0].line).union(
        shapely.LineString(twin.plan.layout.streets[-1].line)
    )
    assert roof.posts
    assert min(road.distance(shapely.Point(post)) for post in roof.posts) > 3.0


@pytest.mark.parametrize(("foot", "base"), [("16", 16.0), ("3", 15.0), ("", 17.6), ("20", 20.0)])
def test_a_high_roof_is_as_thick_as_it_is_mapped_and_no_plank(foot: str, base: float, made: Writer) -> None:
    made.way(*box(-10, -6, 30, 6), building="roof", height="18", **({"min_height": foot} if foot else {}))
    [roof] = rebuilt(made).plan.layout.buildings
    assert roof.base == pytest.approx(base)


@pytest.mark.slow
@pytest.mark.parametrize("tag", [{"tunnel": "building_passage"}, {"covered": "yes"}, {}])
def test_a_passage_is_an_opening_that_people_see_and_walk_through(tag: dict[str, str], made: Writer) -> None:
    made.way((0, 0), (0, 8), highway="footway")
    made.way((0, 8), (0, 28), highway="footway", **tag)
    made.way((0, 28), (0, 60), highway="footway", name="Court")
    made.way(*box(-40, 8, 40, 28), building="yes", building__levels="5")
    made.node(0.8, 45, amenity="bench")
    city = opened(made)
    twin = build_twin(read_extract(made.path))
    away, panorama = min(
        (np.hypot(*np.subtract(FRAME.point(city.streetview.panorama(name).position), (0, 0))), name)
        for name in city.street_map.panorama_ids()
    )
    assert away < 1
    assert city.truth
    seen = city.truth.visible(panorama, Camera(0.0, 0.0, 60.0, 640, 640), 12, {"bench"})
    assert [one.kind for one in seen] == (["bench"] if tag else [])
    eyes = [written(twin, shapely.Point(xy)) for xy in twin.plan.layout.panoramas.xy]
    assert any(eye.y > 30 for eye in eyes) == bool(tag)  # the court is reached, or cut off
    assert not any(-40 < eye.x < 40 and 8 < eye.y < 28 for eye in eyes)
    facts = dict(town_facts(city).streets)
    assert facts["Drawn level: passages through houses"] == ("20 m" if tag else "0 m")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("red", (255, 0, 0)), ("#00ff00", (0, 255, 0)), ("#ABC", (170, 187, 204)),
        ("Light_Grey", (211, 211, 211)),
        ("dark green", (0, 100, 0)), ("white;red", (255, 255, 255)), ("brick", None), ("#12345", None),
        ("rgb(1,2,3)", None), ("", None),
    ],
)  # fmt: skip
def test_colours(text: str, expected: tuple[int, int, int] | None) -> None:
    found = colour(text)
    assert (tuple(round(part * 255) for part in found) if found else None) == expected


def test_colours_and_materials_that_cannot_be_read_are_counted(made: Writer) -> None:
    made.way(
        *box(10, 10, 20, 20), building="yes", building__colour="sort of red", building__material="cheese"
    )
    made.way(*box(30, 10, 40, 20), building="yes", building__material="wood", roof__material="copper")
    twin = rebuilt(made)
    assert dict(twin_statistics(twin).looks_unread) == {
        "building:colour=sort of red": 1,
        "building:material=cheese": 1,
    }
    odd, wooden = twin.plan.layout.buildings
    assert (odd.paint, odd.material) == (None, "")
    assert wooden.material == "wood"
    assert wooden.roof_paint is not None


def test_a_mapped_height_is_that_of_the_roof_and_levels_are_those_of_the_walls() -> None:
    house = shapely.box(0, 0, 12, 8)
    tags = {"building": "house", "height": "9", "roof:shape": "gabled", "roof:height": "3"}
    assert walls_top(tags, house) == pytest.approx(6)
    assert walls_top(
        {"building": "house", "building:levels": "2", "roof:levels": "1"}, house
    ) == pytest.approx(7.2)
    assert walls_top({"building": "yes", "height": "9000"}, house) is None


L_SHAPED = shapely.Polygon([(0, 0), (20, 0), (20, 8), (8, 8), (8, 20), (0, 20)])


@pytest.mark.parametrize("shape", ["gabled", "hipped", "mansard", "pyramidal", "dome"])
@pytest.mark.parametrize("footprint", [L_SHAPED, shapely.box(0, 0, 14, 9)], ids=["L", "box"])
def test_roofs_stand_over_their_walls_on_any_footprint(shape: str, footprint: shapely.Polygon) -> None:
    house = Building(0, footprint, 6.0, 1, roof=shape, roof_height=3.0)  # type: ignore[arg-type]
    roof = roof_mesh([house], [np.ones(3)], np.ones((1, 3)))
    assert len(roof) >= 4
    corners = roof.corners.reshape(-1, 3)
    points = shapely.points(corners[:, :2])
    assert shapely.distance(points, footprint).max() < 0.75  # eaves
    assert corners[:, 2].min() >= 6.0 - 0.75
    assert corners[:, 2].max() <= 9.001
    assert (roof.normal[:, 2] >= -1e-6).all()  # nothing is turned over


def test_a_wall_beside_a_lower_piece_of_its_house_has_windows() -> None:
    low, tall = shapely.box(0, 0, 10, 10), shapely.box(10, 0, 20, 10)

    def blank_walls(variants: tuple[int, int]) -> int:
        mesh = building_mesh([Building(0, low, 5.0, variants[0]), Building(1, tall, 20.0, variants[1])])
        return len(mesh)

    assert blank_walls((7, 7)) > blank_walls((7, 8 * 12 + 7))
