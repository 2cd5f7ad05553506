"""The look of a road is measured from pixels: in drawings, in a made town and in photographs."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from odd_extracts import MIDDLE, OddTown
from real_data import real_data

from virl.mind.lexicon import load_lexicon, phrase_pattern, words_of
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.ground import CAMERA_HEIGHT_M
from virl.platform.perception.images import decode
from virl.platform.perception.road_sight import (
    GREEN,
    HOUSES,
    THINGS,
    RoadScene,
    RoadSight,
    far_camera,
    measure_scene,
)
from virl.platform.providers.cities import open_city

SKY, WALL, GRASS, ASPHALT, FLAGS = (
    (150, 190, 235),
    (200, 180, 150),
    (90, 150, 60),
    (90, 90, 95),
    (190, 190, 188),
)


def drawn(sky: float, road_m: float, ground: tuple[int, int, int] = FLAGS, awning: int = 0) -> View:
    """Return a road between walls that leave this share of sky above the horizon."""
    camera = far_camera(0.0)
    pixels = np.full((camera.height, camera.width, 3), WALL, np.uint8)
    middle, horizon = camera.width // 2, camera.height // 2
    half = round(sky * camera.width / 2)
    pixels[:horizon, middle - half : middle + half] = SKY
    pixels[horizon:] = ground
    for row in range(horizon + 1, camera.height):
        side = round(road_m / 2 * (row - horizon) / CAMERA_HEIGHT_M)
        pixels[row, middle - side : middle + side] = ASPHALT
    pixels[horizon - awning : horizon, :100] = (200, 30, 30)
    return View("drawn", camera, pixels)


@pytest.mark.parametrize(
    ("view", "sky", "green", "built", "width_m"),
    [
        (drawn(0.1, 8.0), 0.1, 0.0, 0.9, 8.0),
        (drawn(0.6, 5.0), 0.6, 0.0, 0.4, 5.0),
        (drawn(1.0, 6.0, GRASS), 1.0, 0.4, 0.0, 6.0),
        (drawn(1.0, 0.0, GRASS), 1.0, 0.5, 0.0, None),
    ],
    ids=["tall houses", "low houses", "a road through a field", "a field"],
)
def test_a_drawing_is_measured_as_it_was_drawn(
    view: View, sky: float, green: float, built: float, width_m: float | None
) -> None:
    scene = measure_scene(view)
    assert (scene.sky, scene.green, scene.built) == pytest.approx((sky, green, built), abs=0.06)
    assert scene.width_m == (width_m and pytest.approx(width_m, rel=0.1))


def test_an_awning_makes_a_road_more_colourful_and_detailed() -> None:
    plain, shop = (measure_scene(drawn(0.1, 8.0, awning=height)) for height in (0, 40))
    assert plain.colourful == 0.0
    assert shop.colourful > 0.02
    assert shop.detail > plain.detail


@pytest.mark.slow
def test_a_street_of_tall_houses_and_a_field_with_trees_of_a_made_town_differ(tmp_path: Path) -> None:
    town = OddTown()
    for x in range(10, 140, 13):
        town.house(x, 6, height="15")
        town.house(x, -16, height="15")
        town.n(-x, 7, natural="tree")
        town.n(-x, -7, natural="tree")
    town.w(town.ring((-150, -60), (-8, -60), (-8, 60), (-150, 60)), landuse="grass")
    (tmp_path / "town.osm").write_text(town.xml(), "utf-8")
    views = open_city(str(tmp_path / "town.osm")).streetview
    here = views.nearest(MIDDLE)
    assert here is not None
    street, field = (measure_scene(views.view(here.id, far_camera(heading))) for heading in (90.0, 270.0))
    assert street.built > field.built + 0.3
    assert field.green > street.green + 0.2


@pytest.mark.slow
def test_a_photograph_of_a_wood_and_one_of_a_front_differ() -> None:
    photos = real_data("photos")
    panorama = decode((photos / "panorama.jpg").read_bytes())
    height, width = panorama.shape[:2]
    wood = panorama[height // 2 - 300 : height // 2, width // 2 - 350 : width // 2]
    front = decode((photos / "signposts-fr.jpg").read_bytes())
    built, green = (
        measure_scene(View("photo", Camera(0.0, fov=60.0, width=one.shape[1], height=one.shape[0]), one))
        for one in (front, wood)
    )
    assert built.built > 0.8 > green.built
    assert green.green > built.green + 0.2


def test_words_on_a_road_are_words_of_no_place_type() -> None:
    """Rules search descriptions of roads for the words of the place type that is looked for."""
    things = tuple((thing, 2) for thing in THINGS)
    told = [
        str(RoadSight((), things, RoadScene(0.1, green, built, 0.1, 0.1, 8.0)))
        for green in GREEN
        for built in HOUSES
    ]
    lexicon = load_lexicon()
    phrases = {*map(words_of, lexicon.place_types), *chain(*lexicon.place_types.values())}
    assert phrase_pattern(tuple(sorted(phrases))).findall(words_of(" ; ".join(told))) == []
