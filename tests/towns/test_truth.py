"""Ground truth: what is visible, where, how much of it, and how far off."""

from typing import get_args

import numpy as np
import pytest
from made_corner import FRONT_Y, bare_plan, made_corner, made_shop, made_sign
from shapely import Polygon, box

from virl.errors import NoStreetView, NotFound
from virl.geo import globe
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import Building, CityPlan, Furniture, FurnitureKind
from virl.towns.render.lens import lens_at
from virl.towns.render.raster import MAX_CORNERS, project
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.storefronts import colours
from virl.towns.streetview import renderer_on_demand
from virl.towns.truth import OfflineTruth

AHEAD = Camera(0.0, 5.0, 75.0, 640, 640)
PANO = "vt-00010"  # at the origin


def truth_of(plan: CityPlan) -> OfflineTruth:
    return OfflineTruth(plan, renderer_on_demand(plan))


def test_a_sign_in_the_open_is_seen_whole():
    (sign,) = truth_of(bare_plan(made_shop(made_sign()))).visible(PANO, AHEAD)
    assert (sign.kind, sign.label, sign.place_id) == (
        "sign",
        "Golden Lotus Bakery",
        "place-Golden Lotus Bakery",
    )
    assert sign.visible_fraction == 1.0
    assert sign.distance == pytest.approx(np.hypot(7.88, 3.45 - 2.5), abs=0.01)


def test_its_box_holds_exactly_the_pixels_in_its_colours():
    sign = made_sign(variant=5)  # red board, cream letters: like nothing else in the picture
    plan = bare_plan(made_shop(sign))
    (seen,) = truth_of(plan).visible(PANO, AHEAD)
    picture = CityRenderer(plan).picture(0.0, 0.0, AHEAD).astype(float)
    board = np.array(colours(sign)[0])
    red = (picture[..., 0] > 2.5 * picture[..., 1]) & (picture[..., 0] > 60)
    assert board[0] > 3 * board[1]
    rows, columns = np.nonzero(red)
    measured = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert seen.box == pytest.approx(measured, abs=1.0)


def test_a_wall_hides_a_sign():
    wall = Building(0, box(-10.0, 3.0, 10.0, 4.0), 9.0, 0)
    assert truth_of(bare_plan(made_shop(made_sign()), buildings=(wall,))).visible(PANO, AHEAD) == []


def test_half_a_wall_hides_half_a_sign():
    wall = Building(0, box(0.0, 3.0, 10.0, 4.0), 9.0, 0)
    (sign,) = truth_of(bare_plan(made_shop(made_sign()), buildings=(wall,))).visible(PANO, AHEAD)
    assert sign.visible_fraction == pytest.approx(0.5, abs=0.06)  # its cornice stands out a little
    assert sign.box[2] <= 325


def test_the_edge_of_the_picture_hides_too():
    camera = Camera(37.5, 5.0, 75.0, 640, 640)
    (sign,) = truth_of(bare_plan(made_shop(made_sign()))).visible(PANO, camera)
    polygon = np.empty((MAX_CORNERS, 2))
    corners = np.array([[-3, 7.88, 3.0], [3, 7.88, 3.0], [3, 7.88, 3.9], [-3, 7.88, 3.9]], np.float32)
    project(corners, lens_at(0.0, 0.0, camera), np.empty((4, 3)), polygon)
    outline = Polygon(polygon[:4])
    inside = outline.intersection(box(0, 0, 640, 640)).area / outline.area
    assert 0.1 < inside < 0.9
    assert sign.visible_fraction == pytest.approx(inside, abs=0.01)
    assert sign.box[0] == 0.0


def test_the_back_of_a_sign_is_no_sign():
    plan = bare_plan(made_shop(made_sign(kind="board")))
    renderer = CityRenderer(plan)
    assert renderer.visible(0.0, 20.0, Camera(180.0)) == []
    assert len(renderer.visible(0.0, 0.0, Camera(0.0))) == 1


def test_a_blade_is_read_from_both_sides():
    blade = made_sign("Kafé", left=(0.0, FRONT_Y), right=(0.0, FRONT_Y - 1.2), kind="blade")
    renderer = CityRenderer(bare_plan(made_shop(blade)))
    for x, heading in ((-6.0, 40.0), (6.0, 320.0)):
        (seen,) = renderer.visible(x, 0.0, Camera(heading, 5.0))
        assert seen.label == "Kafé"


@pytest.mark.parametrize("kind", get_args(FurnitureKind))
def test_every_kind_of_furniture_is_found_at_its_place(kind):
    thing = Furniture("f0", kind, 1.0, 10.0, 180.0, 1)
    (seen,) = truth_of(bare_plan(furniture=(thing,))).visible(PANO, Camera(0.0, 0.0, 90.0))
    assert (seen.id, seen.kind, seen.place_id) == ("f0", kind, None)
    assert seen.distance == pytest.approx(np.hypot(1, 10), abs=0.01)
    middle = (seen.box[0] + seen.box[2]) / 2
    assert abs(middle - (320 + 32)) < 40
    assert seen.visible_fraction > 0.97


def test_nearest_first_and_tiny_things_left_out():
    truth = truth_of(made_corner())
    found = truth.visible(PANO, Camera(300.0, 0.0, 100.0))
    assert [seen.distance for seen in found] == sorted(seen.distance for seen in found)
    assert len(truth.visible(PANO, Camera(300.0, 0.0, 100.0), min_pixels=400)) < len(found)


def test_boxes_lie_in_the_picture_and_fractions_in_their_range():
    truth = truth_of(made_corner())
    for heading in range(0, 360, 40):
        for seen in truth.visible(PANO, Camera(heading, 5.0, 100.0, 320, 240)):
            x0, y0, x1, y1 = seen.box
            assert 0 <= x0 < x1 <= 320
            assert 0 <= y0 < y1 <= 240
            assert 0 < seen.visible_fraction <= 1


def test_kinds_asked_for_are_seen_as_among_all_others():
    truth = truth_of(made_corner())
    for heading in range(0, 360, 30):
        camera = Camera(heading, -5.0, 100.0, 320, 240)
        every = truth.visible(PANO, camera)
        for kinds in ({"tree"}, {"sign", "trash bin"}, {"unicorn"}, set()):
            assert truth.visible(PANO, camera, kinds=kinds) == [one for one in every if one.kind in kinds]


def test_a_wall_hides_the_kind_asked_for_too():
    wall = Building(0, box(-10.0, 3.0, 10.0, 4.0), 9.0, 0)
    thing = Furniture("b0", "bench", 1.0, 10.0, 180.0, 1)
    open_air, walled = (truth_of(bare_plan(furniture=(thing,), buildings=walls)) for walls in ((), (wall,)))
    assert [one.id for one in open_air.visible(PANO, AHEAD, kinds={"bench"})] == ["b0"]
    assert walled.visible(PANO, AHEAD, kinds={"bench"}) == []


def test_things_stand_where_the_plan_puts_them():
    bench, tree = Furniture("b0", "bench", 30.0, 40.0, 0.0, 0), Furniture("a0", "tree", -5.0, 2.0, 0.0, 0)
    plan = bare_plan(furniture=(bench, tree))
    truth = truth_of(plan)
    assert [one.id for one in truth.things()] == ["a0", "b0"]
    (found,) = truth.things({"bench"})
    assert (found.id, found.kind) == ("b0", "bench")
    assert globe.distance(plan.layout.frame.origin, found.position) == pytest.approx(50.0, abs=0.01)
    assert truth.things(()) == []


def test_attributes_are_those_of_the_plan():
    truth = truth_of(bare_plan(made_shop(made_sign())))
    assert truth.attributes("place-Golden Lotus Bakery") == {"quiet": True}
    with pytest.raises(NotFound, match="no place has the id 'nowhere'"):
        truth.attributes("nowhere")


@pytest.mark.parametrize("pano_id", ["vt-00021", "vt-", "xx-00001", "vt--1", ""])
def test_an_unknown_panorama_is_an_error(pano_id):
    with pytest.raises(NoStreetView):
        truth_of(bare_plan()).visible(pano_id, AHEAD)
