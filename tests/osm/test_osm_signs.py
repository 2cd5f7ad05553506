"""Which places of a rebuilt town have a sign, where it hangs, and who stands on a directory."""

from dataclasses import replace
from itertools import pairwise
from math import dist
from pathlib import Path

import numpy as np
import pytest
import shapely
from written_extract import FRAME, Writer, box, rebuilt

from virl.osm.extract import read_extract
from virl.osm.places import has_front
from virl.osm.plan import Twin, build_twin
from virl.osm.signing import MOST_NAMES, board_size, most_lines
from virl.platform.city.streetview import Camera
from virl.platform.providers.osm.city import open_twin
from virl.platform.providers.osm.city_file import OsmCity
from virl.towns.plan.town_plan import Shop, Sign
from virl.towns.render.buildings import GROUND_FLOOR_M, WALL_NAMES, building_mesh, looks_of
from virl.towns.render.mesh import NOBODY
from virl.towns.render.storefronts import letter, sign_mesh
from virl.towns.render.textures import TILE_INDEX


@pytest.fixture
def town(made: Writer) -> Writer:
    """The extract with a second street, to the north."""
    made.way((0, 0), (0, 80), highway="residential", name="Side Street")
    return made


def shops_of(twin: Twin) -> dict[str, Shop]:
    return {shop.place.name: shop for shop in twin.plan.shops}


def written(twin: Twin, x: float, y: float) -> tuple[float, float]:
    """A point of a twin in the metres of the writer."""
    return FRAME.point(twin.plan.layout.frame.position(x, y))


def middle(twin: Twin, sign: Sign) -> tuple[float, float]:
    return written(twin, (sign.left[0] + sign.right[0]) / 2, (sign.left[1] + sign.right[1]) / 2)


def test_the_front_of_an_area_is_nearest_to_where_it_is_mapped(town: Writer) -> None:
    town.way(*box(-90, 8, -10, 22), building="yes", amenity="library", name="Library")
    twin = rebuilt(town)
    [x, y] = middle(twin, shops_of(twin)["Library"].signs[0])
    assert abs(x + 50) < 6
    assert y == pytest.approx(8, abs=0.5)


def test_the_front_of_an_area_is_at_its_main_entrance(town: Writer) -> None:
    town.node(-80, 8, entrance="yes")
    town.node(-70, 8, entrance="main")
    outline = [(-90, 8), (-80, 8), (-70, 8), (-10, 8), (-10, 22), (-90, 22), (-90, 8)]
    town.way(*outline, building="yes", amenity="library", name="Library")
    twin = rebuilt(town)
    assert abs(middle(twin, shops_of(twin)["Library"].signs[0])[0] + 70) < 6


def test_a_place_on_a_path_has_its_board_beside_it(town: Writer) -> None:
    town.node(40, 0, shop="kiosk", name="Crossroads")
    town.way(*box(20, 40, 80, 70), leisure="sports_centre", name="Tennis Club")
    twin = rebuilt(town)
    shops = shops_of(twin)
    [post] = shops["Crossroads"].signs
    assert 3.5 < abs(middle(twin, post)[1]) <= 14  # off a carriageway of 6 m
    [gate] = shops["Tennis Club"].signs
    area = shapely.box(20, 40, 80, 70)
    assert shapely.distance(shapely.Point(middle(twin, gate)), area) < 12
    eyes = [written(twin, *xy) for xy in twin.plan.layout.panoramas.xy.tolist()]
    assert min(dist(eye, middle(twin, gate)) for eye in eyes) < 30


def test_what_is_open_ground_has_no_front() -> None:
    assert has_front(("cafe",), {"amenity": "cafe"})
    assert not has_front(("nature_preserve",), {"leisure": "nature_reserve"})
    assert has_front(("fitness_center",), {"leisure": "fitness_centre"})
    assert not has_front(("fitness_center",), {"leisure": "fitness_station"})


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A house with a café on the street, and twenty names inside."""
    town = Writer(tmp_path_factory.mktemp("osm") / "house.osm.pbf")
    town.way((-100, 0), (0, 0), (100, 0), highway="residential", name="Main Street")
    town.way((0, 0), (0, 80), highway="residential", name="Side Street")
    town.node(-30, 8, entrance="main")
    town.way(
        (-60, 8), (-30, 8), (-20, 8), (-20, 25), (-60, 25), (-60, 8), building="yes", building__levels="4"
    )
    town.node(-50, 10, amenity="cafe", name="Street Café", level="0-1")
    for number in range(19):
        town.node(-40 + number / 10, 15, office="lawyer", name=f"Lawyer {number:02}", level="2")
    town.node(-55, 20, shop="books", name="Reading Room", indoor="room")
    town.node(70, 60, shop="books", name="Far From All")
    town.close()
    return town.path


def test_what_is_upstairs_stands_on_directories_at_the_entrance(house: Path) -> None:
    twin = build_twin(read_extract(house))
    shops = shops_of(twin)
    assert shops["Street Café"].has_own_sign
    assert not shops["Street Café"].is_on_directory
    assert not shops["Far From All"].signs
    listed = [name for name, shop in shops.items() if shop.is_on_directory]
    assert len(listed) == 20
    lines = [shops[name].signs[0] for name in sorted(listed)]
    boards = sorted({middle(twin, line) for line in lines})
    assert len(boards) == 2
    assert min(abs(x + 30) for x, _ in boards) < 6
    for board in boards:
        own = [line for line in lines if middle(twin, line) == board]
        assert len(own) <= MOST_NAMES
        assert all(upper.bottom == pytest.approx(lower.top, abs=0.01) for upper, lower in pairwise(own))
        assert len({line.variant for line in own}) == 1
        assert 0.6 < own[-1].bottom < own[0].top <= 4.2
    front = shops["Street Café"].signs[0]
    assert all(abs(x - middle(twin, front)[0]) > 3 for x, _ in boards)


def test_truth_and_statistics_tell_directories_from_own_signs(house: Path) -> None:
    city = open_twin("house", OsmCity(provider="osm", title="House", about="", extract=str(house)))
    assert city.truth is not None
    assert city.inventory is not None
    known = city.inventory.statistics()
    assert (known.places, known.places_with_sign, known.places_on_directory) == (22, 1, 20)
    assert len(city.inventory.ids_with_sign()) == 1
    assert len(city.inventory.ids_on_directory()) == 20
    seen = {}
    assert city.street_map is not None
    for pano_id in city.street_map.panorama_ids():
        for heading in range(0, 360, 60):
            shown = city.truth.visible(pano_id, Camera(heading, 5, 60, 640, 640), kinds={"sign"})
            seen |= {thing.label: thing for thing in shown}
    assert seen["Lawyer 07"].on_directory
    assert seen["Lawyer 07"].place_types[0] == "lawyer"
    assert not seen["Street Café"].on_directory


def test_a_low_house_has_a_short_directory() -> None:
    assert most_lines(20) == MOST_NAMES
    assert 3 < most_lines(3.0) < MOST_NAMES
    assert most_lines(1.0) == 0


def test_the_signs_of_a_low_house_hang_under_its_eaves(town: Writer) -> None:
    town.way(*box(-60, 8, -20, 25), building="yes", height="4", shop="bakery", name="Coop")
    town.way(*box(20, 8, 60, 25), building="yes", height="3", amenity="fast_food", name="Hut")
    twin = rebuilt(town)
    shops = shops_of(twin)
    assert [sign.kind for sign in shops["Coop"].signs] == ["fascia"]
    assert shops["Coop"].signs[0].top <= 3.65
    assert shops["Hut"].signs[0].top <= 2.65
    frontages = {one.id: one for one in twin.plan.layout.frontages}
    assert frontages[shops["Hut"].frontage].building is None
    assert frontages[shops["Coop"].frontage].building is not None


@pytest.mark.parametrize(
    "name", ["Der Staat", "KIOSK", "Öl", "Burgruine Schalun / Wildschloss, Vaduz", "Кофе"]
)
def test_letters_keep_clear_of_the_posts_of_a_board(name: str) -> None:
    width, height = board_size(name, 2)
    sign = Sign("a", "a", name, "", "board", (0.0, 0.0), (width, 0.0), 1.2, 1.2 + height, 2)
    letters = np.flatnonzero(letter(sign).max(axis=0) > 128) / letter(sign).shape[1] * width
    assert letters.min() > 0.31
    assert letters.max() < width - 0.31


def test_houses_that_overlap_do_not_hang_signs_over_each_other(town: Writer) -> None:
    town.way(*box(-60, 8, -40, 25), building="yes", height="6")
    town.way(*box(-58, 8.2, -38, 25), building="yes", height="6")
    for number in range(3):
        town.node(-59.5 + number / 5, 9, shop="books", name=f"Reader {number}")
        town.node(-39.5 + number / 5, 9, shop="books", name=f"Writer {number}")
    twin = rebuilt(town)
    ends = {
        one.id: (written(twin, *one.left), written(twin, *one.right)) for one in twin.plan.layout.frontages
    }
    spans = sorted((left[0], right[0]) for left, right in ends.values() if abs(left[1] - 8.1) < 0.3)
    assert len(spans) >= 4
    assert all(first[1] <= second[0] + 0.1 for first, second in pairwise(spans))


@pytest.mark.parametrize(("bottom", "doors"), [(2.15, 1), (0.9, 0)])
def test_a_directory_hangs_on_an_entrance_of_stone_and_over_no_window(bottom: float, doors: int) -> None:
    sign = Sign("d", "d", "Lawyer", "", "directory", (0.0, 0.0), (3.0, 0.0), bottom, 2.6, 0)
    signs = [sign, replace(sign, id="e", top=bottom, bottom=bottom - 0.2)][: 2 - doors]
    mesh = sign_mesh(signs, np.arange(2 - doors), {})
    nobodys = mesh.owner == NOBODY
    stone = nobodys & (mesh.texture == TILE_INDEX["wall/stone"])
    corners = mesh.corners[stone].reshape(-1, 3)
    assert stone.sum() == 1
    assert corners.min(axis=0)[[0, 2]] == pytest.approx([-0.4, 0.0])
    assert corners.max(axis=0)[[0, 2]] == pytest.approx([3.4, 3.35])
    assert (corners[:, 1] > 0.0).all(), "behind the board, which faces south"
    assert (mesh.texture == TILE_INDEX["house door"]).sum() == doors


def test_windows_upstairs_begin_above_the_boards(town: Writer) -> None:
    for number, material in enumerate(("brick", "stone", "plaster", "concrete", "wood", "tiles")):
        west = -95 + 30 * number + 20 * (number > 2)
        town.way(
            *box(west, 8, west + 16, 22), building="yes", height=str(16 + number), building__material=material
        )
        for shop in range(9):
            town.node(west + 8 + shop / 10, 9, shop="books", name=f"{material.title()} {shop}")
    twin = rebuilt(town)
    houses = twin.plan.layout.buildings
    signs = [sign for shop in twin.plan.shops for sign in shop.signs]
    upstairs = [sign for sign in signs if sign.kind == "fascia" and sign.bottom > GROUND_FLOOR_M]
    assert len(upstairs) >= 12
    for sign in upstairs:
        ends = shapely.LineString([sign.left, sign.right])
        house = next(one for one in houses if shapely.dwithin(one.footprint, ends, 0.5))
        without, mesh = len(building_mesh([house])), building_mesh([house], [sign])
        bare = [
            mesh.corners[i]
            for i in np.flatnonzero(mesh.corners[:, 0, 2] == GROUND_FLOOR_M)
            if mesh.texture[i] == TILE_INDEX[f"wall/{WALL_NAMES[looks_of(house)[0]]}"]
            and GROUND_FLOOR_M < mesh.corners[i, 3, 2] < house.height
        ]
        assert len(bare) == 1
        assert len(mesh) > without + 1, "sills on top of it"
        wall = shapely.LineString(bare[0][:2, :2])
        assert 0.05 < ends.distance(wall) < 0.15, "the wall is behind the sign"
        assert 0.01 < house.footprint.distance(wall) < 0.03, "and before the windows"
        assert sign.top < bare[0][3, 2] < sign.top + 0.2
        reach = [wall.project(shapely.Point(end)) for end in (sign.left, sign.right)]
        assert 0 < min(reach) < max(reach) < wall.length


def test_boards_of_the_ground_floor_hide_no_windows(town: Writer) -> None:
    town.way(*box(-20, 8, 20, 22), building="yes", height="16")
    town.node(0, 9, shop="books", name="Otava")
    plan = rebuilt(town).plan
    signs = [sign for shop in plan.shops for sign in shop.signs]
    assert signs
    assert len(building_mesh(plan.layout.buildings, signs)) == len(building_mesh(plan.layout.buildings))
