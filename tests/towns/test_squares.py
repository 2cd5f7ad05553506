"""A large town is meshed by squares: from each of them it looks as if all of it were there."""

import numpy as np
import pytest

from virl.platform.city.streetview import Camera
from virl.platform.providers.offline.city import draw_plan
from virl.towns.plan.town_plan import CityPlan
from virl.towns.render import raster, renderer, scene, squares
from virl.towns.render.lens import lens_at
from virl.towns.render.light import brightness
from virl.towns.render.scene import Scene, Scenes

QUAD_FIELDS = [name for name in Scene._fields if name not in {"cells", "starts"}]


@pytest.fixture(scope="module")
def plan() -> CityPlan:
    return draw_plan(1, "Virlton")


def small_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squares, "WHOLE_M", 0.0)
    monkeypatch.setattr(squares, "SQUARE_M", 120.0)
    for module in (scene, renderer):
        monkeypatch.setattr(module, "REACH_M", 80.0)


@pytest.mark.slow
def test_a_square_shows_the_same_quads_as_the_whole_town(
    plan: CityPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_squares(monkeypatch)
    of_town = Scenes(plan)
    whole = of_town.whole.scene
    for number in range(0, len(plan.layout.panoramas.xy), 40):
        x, y = plan.layout.panoramas.xy[number].tolist()
        near = of_town.scene_around(x, y).scene
        assert len(near.seed) < len(whole.seed) / 2
        lens = lens_at(x, y, Camera(heading=number * 7.0 % 360, fov=110.0))
        seen, wanted = renderer._in_sight(near, lens), renderer._in_sight(whole, lens)
        for name in QUAD_FIELDS:
            assert np.array_equal(getattr(near, name)[seen], getattr(whole, name)[wanted]), name


@pytest.mark.slow
def test_all_quads_of_a_thing_in_sight_are_in_its_square(
    plan: CityPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_squares(monkeypatch)
    of_town = Scenes(plan)
    near = of_town.scene_around(0.0, 0.0)
    low, high = of_town._squares.box_around(of_town._squares.at(0.0, 0.0), 80.0)
    first = len(plan.signs)
    inside = [
        first + number
        for number, thing in enumerate(plan.layout.furniture)
        if low[0] <= thing.x <= high[0] and low[1] <= thing.y <= high[1]
    ]
    assert inside
    for owner in inside:
        assert len(near.members(owner)) == len(of_town.whole.members(owner)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [16, 84, 200])
def test_what_is_left_out_as_hidden_would_have_changed_no_pixel(plan: CityPlan, size: int) -> None:
    whole, drawer, drawn_of = Scenes(plan).whole.scene, renderer.CityRenderer(plan), {}
    for number in range(0, len(plan.layout.panoramas.xy), 60):
        x, y = plan.layout.panoramas.xy[number].tolist()
        pitch = (0.0, 20.0, -30.0)[number // 60 % 3]
        lens = lens_at(x, y, Camera(number * 7.0 % 360, pitch, 100.0, size, size))
        order = renderer._in_sight(whole, lens)
        every = drawer._first_pass(whole, lens, order)
        few = drawer._draw_in_sight(whole, lens, lens, raster.NO_OWNER)
        drawn_of[number] = len(few.order), len(order)
        assert np.array_equal(few.depth, every.depth)
        for drawn in (few, every):
            drawn.shown[drawn.shown >= 0] = drawn.order[drawn.shown[drawn.shown >= 0]]
        assert np.array_equal(few.shown, every.shown)
    few, every = np.array(list(drawn_of.values())).sum(axis=0)
    assert few < every * (0.95 if size == 16 else 0.5)  # less in tiny pictures: tiles of 2 pixels


def test_far_outside_the_town_there_is_nothing(plan: CityPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    small_squares(monkeypatch)
    assert len(Scenes(plan).scene_around(90_000.0, 0.0).scene.seed) == 0


def test_a_small_town_is_one_square(plan: CityPlan) -> None:
    of_town = Scenes(plan)
    assert of_town.scene_around(0.0, 0.0) is of_town.scene_around(500.0, 0.0) is of_town.whole


def test_the_light_on_a_face_does_not_depend_on_the_other_faces() -> None:
    normals = np.random.default_rng(3).normal(size=(20_000, 3)).astype(np.float32)
    shade = np.zeros(len(normals), np.float32)
    together = brightness(normals, shade)
    assert np.array_equal(together[:100], brightness(normals[:100], shade[:100]))
    assert np.array_equal(together[7:1000], brightness(normals[7:1000], shade[7:1000]))
