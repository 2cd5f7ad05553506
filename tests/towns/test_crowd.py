"""People and traffic in views: where they stand, what the truth says of them, and towns without them."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from made_corner import bare_plan
from real_data import real_data

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.osm.box import ExtractPart, region_around
from virl.osm.mapped import read_twin
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import Access, opened_city
from virl.platform.providers.offline.city import kept_plan
from virl.towns.plan.crowd import crowd_of
from virl.towns.plan.furnish import EYE_M, metres_to_cars
from virl.towns.plan.town_plan import Furniture
from virl.towns.render.cars import AXLES, BUILDS, PAINTS, WHEEL_M, car
from virl.towns.render.cutouts import car_side
from virl.towns.render.lens import lens_at
from virl.towns.render.mesh import CARD, quads
from virl.towns.render.raster import mark_facing
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.scene import build_scene
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.trees import SPECIES, crown_of, tree


@pytest.fixture(scope="module")
def plan():
    return replace(kept_plan(0), crowd=1.0)


@pytest.fixture(scope="module")
def crowd(plan):
    return crowd_of(plan)


def places(things, *kinds):
    return np.array([(one.x, one.y) for one in things if one.kind in kinds])


def test_a_crowd_is_the_same_each_time_and_none_is_none(plan, crowd):
    assert crowd == crowd_of(plan)
    assert {one.kind for one in crowd} == {"person", "bicycle", "car", "cafe table"}
    assert crowd_of(replace(plan, crowd=0.0)) == ()
    assert len(places(crowd_of(replace(plan, crowd=2.0)), "person")) > 1.6 * len(places(crowd, "person"))


def test_nobody_walks_and_tables_are_nowhere_where_no_house_is():
    assert {one.kind for one in crowd_of(replace(bare_plan(), crowd=1.0))} <= {"car"}


def test_nobody_stands_in_a_house_on_a_bin_or_before_a_camera(plan, crowd):
    eyes, xy = plan.layout.panoramas.xy, places(crowd, "person", "bicycle", "cafe table")
    gaps = np.hypot(*(eyes[:, None] - xy).transpose(2, 0, 1)).min(axis=0)
    assert gaps.min() >= 2.5
    houses = shapely.union_all([house.footprint for house in plan.layout.buildings])
    assert not shapely.contains_xy(houses, xy[:, 0], xy[:, 1]).any()
    things = places(plan.layout.furniture, "trash bin", "fire hydrant", "bench")
    assert np.hypot(*(things[:, None] - xy).transpose(2, 0, 1)).min() > 1.2


def test_people_stand_on_pavements_and_nobody_beside_a_road_without_one(plan, crowd):
    streets = plan.layout.streets
    walked = shapely.union_all(
        [shapely.LineString(one.line).buffer(one.road / 2 + one.pavement + 0.1) for one in streets]
    )
    xy = places(crowd, "person")
    assert shapely.contains_xy(walked, xy[:, 0], xy[:, 1]).all()
    bare = tuple(replace(one, has_kerb=False) for one in streets)
    assert not len(places(crowd_of(replace(plan, layout=replace(plan.layout, streets=bare))), "person"))


def test_more_people_walk_where_shops_are(plan, crowd):
    shops = {shop.frontage for shop in plan.shops}
    fronts = np.array([front.left for front in plan.layout.frontages if front.id in shops])
    others = np.array([front.left for front in plan.layout.frontages if front.commercial < 0.1])
    xy = places(crowd, "person")
    gaps = [np.hypot(*(some[:, None] - xy).transpose(2, 0, 1)) for some in (fronts, others)]
    near = [np.mean((one < 10).sum(axis=1)) for one in gaps]
    assert near[0] > 2 * near[1]


def town_of(name):
    """The plan of a made town by its seed, or that of a part of an extract."""
    if isinstance(name, int):
        return replace(kept_plan(name), crowd=1.0)
    file = real_data("osm") / f"{name}.osm.pbf"
    part = region_around(LatLng(47.1410, 9.5209), 900.0) if name == "liechtenstein" else None
    return replace(read_twin(ExtractPart(file, name, part)).plan, crowd=1.0)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("helsinki", "liechtenstein")]


@pytest.mark.parametrize("name", [0, 1, *SLOW])
def test_no_car_stands_nearer_to_a_camera_than_1_8_metres(name):
    plan = town_of(name)
    cars = [one for one in (*plan.layout.furniture, *crowd_of(plan)) if one.kind in {"car", "parked car"}]
    rows = np.array([(one.x, one.y, one.heading) for one in cars])
    assert metres_to_cars(rows, plan.layout.panoramas.xy).min() >= EYE_M


def test_people_are_in_the_truth_and_hide_what_is_behind():
    bin_ = Furniture("b", "trash bin", 0.0, 9.0, 180.0, 0)
    person = Furniture("p", "person", 0.0, 7.5, 180.0, 0)
    ahead = Camera(0.0, 0.0, 60.0)
    (alone,) = CityRenderer(bare_plan(furniture=(bin_,))).visible(0.0, 0.0, ahead)
    both = CityRenderer(bare_plan(furniture=(bin_, person))).visible(0.0, 0.0, ahead)
    shares = {one.kind: one.visible_fraction for one in both}
    assert alone.visible_fraction > 0.97
    assert shares["trash bin"] < 0.7
    assert shares["person"] > 0.97


@pytest.mark.parametrize("heading", range(0, 360, 15))
def test_a_person_is_seen_whole_from_all_sides(heading):
    person = Furniture("p", "person", 0.0, 6.0, float(heading), 5)
    (seen,) = CityRenderer(bare_plan(furniture=(person,))).visible(0.0, 0.0, Camera(0.0, -5.0, 60.0))
    left, top, right, bottom = seen.box
    assert 2.3 < (bottom - top) / (right - left) < 7.0
    assert seen.visible_fraction > 0.97


def test_a_town_is_opened_without_a_crowd():
    with opened_city("virlton", Access(crowd=0.0)) as town:
        kinds = set(town.truth._renderer()._owners)
    assert "parked car" in kinds
    assert not kinds & {"person", "bicycle", "car", "cafe table"}
    with pytest.raises(BadInput, match="is not drawn"), opened_city("manhattan", Access(crowd=0.0)):
        pass


def test_wheels_are_round_where_they_come_out_below_the_body():
    for build, (length, half, *_) in enumerate(BUILDS):
        low = car(build * len(PAINTS)).corners.reshape(-1, 3)
        low = low[(low[:, 2] < 0.11) & (np.abs(low[:, 0]) > half - 0.1)]
        axles = length * (0.5 - np.array(AXLES))
        away = np.hypot(np.abs(low[:, 1:2] - axles).min(axis=1), low[:, 2] - WHEEL_M)
        assert away == pytest.approx(WHEEL_M, abs=1e-3)


def test_leaves_show_unless_they_are_seen_edge_on():
    turns = np.radians([0, 30, 60, 75, 85, 90])
    way = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    middle, up = np.array([0.0, 10.0, 2.5]), np.array([0.0, 0.0, 1.0])
    cards = np.stack([middle - way - up, middle + way - up, middle + way + up, middle - way + up], axis=1)
    marks = np.empty(6, bool)
    scene = build_scene(quads(cards, mode=CARD, seed=range(6)), np.zeros(6, np.float32))
    mark_facing(scene, np.argsort(scene.seed), lens_at(0.0, 0.0, Camera(0.0)), marks)
    assert marks.tolist() == [True, True, True, False, False, False]


def test_leaves_stay_in_the_crown_and_no_card_outshines_it():
    for variant in range(20):
        mesh, crown, species = tree(variant), crown_of(variant), SPECIES[variant % len(SPECIES)]
        leaves = mesh.texture == TILE_INDEX[f"leaves/{species.leaves}"]
        assert 40 <= leaves.sum() <= 60
        middle = mesh.corners[leaves].mean(axis=1)
        assert np.hypot(middle[:, 0], middle[:, 1]).max() < crown.radius
        assert crown.foot < middle[:, 2].min() < middle[:, 2].max() < crown.height
        assert (mesh.paint[leaves] <= 1.09 * np.array(species.tint)).all()


def test_trees_differ_in_height_and_far_ones_are_flat():
    tops = [tree(variant).corners[..., 2].max() for variant in range(20)]
    assert min(tops) < 7.0
    assert max(tops) > 13.0
    for metres in (70.0, 90.0):
        plan = bare_plan(furniture=(Furniture("t", "tree", 0.0, metres, 0.0, 6),))
        (seen,) = CityRenderer(plan).visible(0.0, 0.0, Camera(0.0, 2.0, 20.0))
        assert seen.visible_fraction > 0.97


def test_the_arch_of_a_wheel_has_a_smooth_edge() -> None:
    around_rear_wheel = car_side()[76:166, 23:71, 3]  # what of the paint shows: none on the tyre
    between = (around_rear_wheel > 0.05) & (around_rear_wheel < 0.95)
    assert between.sum() > 40
