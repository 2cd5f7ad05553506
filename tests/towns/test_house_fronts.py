"""Fronts show what the place sells, doors stand in bays of their own, and wires end at houses or poles."""

from dataclasses import replace

import numpy as np
import pytest
from made_corner import FRONT_Y, bare_plan, made_building, made_shop, made_sign
from shapely import box

from virl.towns.plan.town_plan import CityPlan, Frontage
from virl.towns.render.bays import BARE, BLANK, DOOR, WINDOW, plan_bays
from virl.towns.render.buildings import building_mesh
from virl.towns.render.displays import GOODS, display_tile, goods_of
from virl.towns.render.fronts import storefront_mesh
from virl.towns.render.storefronts import BRONZE, colours, sign_mesh, spans_of
from virl.towns.render.surfaces import SIDE
from virl.towns.render.textures import TILE_SETS
from virl.towns.render.walls import walls_of

FRONT = Frontage(0, 0, 0, (-5.0, FRONT_Y), (5.0, FRONT_Y), 1, 1.0)


def textures_of(kind: str, variant: int) -> list[str]:
    shop = made_shop(made_sign(), variant=variant)
    shop = replace(shop, place=replace(shop.place, types=(kind, "store")))
    mesh = storefront_mesh([shop], {0: FRONT})
    return [TILE_SETS[number].name for number in mesh.texture.tolist() if number >= 0]


@pytest.mark.parametrize(
    "kind", ["hospital", "pharmacy", "bar", "thai_restaurant", "florist", "bank", "museum"]
)
def test_all_panes_of_a_front_show_one_sort_of_goods_that_fits_the_place(kind: str) -> None:
    seen = [textures_of(kind, variant) for variant in range(0, 900, 7)]
    goods = {name for names in seen for name in names if name.startswith("display/")}
    expected = {
        "hospital": "lobby", "museum": "lobby", "pharmacy": "boxes", "bar": "bottles",
        "thai_restaurant": "tables", "florist": "plants", "bank": "office",
    }  # fmt: skip
    assert goods == {f"display/{expected[kind]}"}
    assert all(names.count("shop door") == 1 for names in seen)
    has_awning = any(name.startswith("awning") for names in seen for name in names)
    assert has_awning == (kind in {"thai_restaurant", "florist"})
    assert all("wall/stone" in names for names in seen) == (kind in {"hospital", "museum"})


def test_panes_side_by_side_differ_and_so_do_a_church_a_gallery_and_a_hotel() -> None:
    for name in GOODS:
        tile = display_tile(name, 0)[..., :3]
        left, right = tile[:, 12 : SIDE // 2 - 12], tile[:, SIDE // 2 + 12 : -12]
        assert min(np.abs(left - one).mean() for one in (right, right[:, ::-1])) > 0.003, name
    rooms = {goods_of((kind,)) for kind in ("church", "art_gallery", "hotel", "school")}
    assert len(rooms) == 4


def test_a_church_has_a_wooden_door_narrow_windows_and_a_sign_of_bronze() -> None:
    names = textures_of("church", 1)
    assert names.count("church door") == 1
    assert "shop door" not in names
    nave, shop = ((display_tile(name, 0)[..., 3] > 0.5).mean() for name in ("nave", "books"))
    assert nave > 0.7
    assert shop < 0.3
    sign = made_sign("Saint Anne")
    for institutions, scheme in (({sign.place_id}, BRONZE), (set[str](), colours(sign))):
        mesh = sign_mesh([sign], np.arange(1), {}, institutions)
        assert mesh.paint[0].tolist() == pytest.approx(scheme[0])
        assert mesh.ink[0].tolist() == pytest.approx(scheme[1])


def front_bays(plan: CityPlan, taken: set[int]) -> np.ndarray:
    walls = walls_of(plan.layout.buildings, plan.signs)
    bays = plan_bays(walls, plan.layout.frontages, plan.layout.streets, taken, plan.signs)
    facing = np.flatnonzero(walls.left[:, 1] + walls.right[:, 1] == 2 * FRONT_Y)
    return bays.kind[np.isin(bays.wall, facing)]


def test_doors_and_fronts_take_the_places_of_windows() -> None:
    house = made_building(0, box(-15.0, FRONT_Y, 15.0, 20.0))
    plan = bare_plan(buildings=(house,))
    plan = replace(plan, layout=replace(plan.layout, frontages=(FRONT,)))
    assert (front_bays(plan, set()) == DOOR).sum() == 1
    assert (front_bays(plan, {0}) == BARE).sum() >= 3
    twin = replace(plan, layout=replace(plan.layout, frontages=()))
    assert (front_bays(twin, set()) == DOOR).sum() == 2, "one for each 15 m"
    shed = replace(plan, layout=replace(plan.layout, buildings=(replace(house, use="shed"),)))
    assert not len(front_bays(shed, set()))


def test_gables_have_blank_bays_at_both_ends_on_all_floors() -> None:
    house = replace(made_building(0, box(-4.0, FRONT_Y, 4.0, 22.0)), roof="gabled", roof_height=3.0)
    plan = bare_plan(buildings=(house,))
    plan = replace(plan, layout=replace(plan.layout, frontages=()))
    walls = walls_of([house])
    bays = plan_bays(walls, (), plan.layout.streets, set(), ())
    back = np.flatnonzero(np.isclose(walls.left[:, 1] + walls.right[:, 1], 44.0))
    assert bays.kind[bays.wall == back[0]].tolist() == [BLANK, WINDOW, BLANK]
    assert BLANK not in front_bays(plan, set())
    mesh = building_mesh([house], walls=walls, bays=bays)
    upstairs = (mesh.corners[:, :, 1] == 22.0).all(axis=1) & np.isclose(
        mesh.corners[:, 0, 2], walls.ground[0]
    )
    names = [TILE_SETS[number].name.split("/")[0] for number in mesh.texture[upstairs].tolist()]
    assert names == ["wall", "facade", "wall"]


def test_the_wall_is_darker_for_half_a_metre_below_a_cornice() -> None:
    house = made_building(0, box(-15.0, FRONT_Y, 15.0, 20.0))
    mesh, paint = building_mesh([house]), walls_of([house]).paint[0]
    under = (mesh.normal[:, 2] < -0.5) & (mesh.corners[:, :2, 1] == FRONT_Y).all(axis=1)
    assert under.sum() == 1
    assert mesh.corners[under, 0, 2] <= house.height + 0.15 - 0.5
    assert (mesh.paint[under] <= 0.75 * paint).all()


def test_wires_end_at_a_house_or_at_a_pole_beside_the_carriageway() -> None:
    plate = made_sign("Long Street", left=(1.0, -1.0), right=(1.0, 1.0), bottom=4.2, top=4.6, kind="plate")
    plan = bare_plan(buildings=(made_building(0, box(-15.0, 6.0, 15.0, 20.0)),))
    spans = spans_of([plate], plan.layout)
    assert sorted(zip(spans[plate.id].poles, [end[1] for end in spans[plate.id].ends], strict=True)) == [
        (False, pytest.approx(6.0)),
        (True, pytest.approx(-4.5)),
    ]
