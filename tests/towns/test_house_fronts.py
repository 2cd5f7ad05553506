"""Fronts show what the place sells, doors stand in bays of their own, and wires end at houses or poles."""

from dataclasses import replace

import numpy as np
import pytest
from made_corner import FRONT_Y, bare_plan, made_building, made_shop, made_sign
from shapely import box

from virl.towns.plan.town_plan import CityPlan, Frontage
from virl.towns.render.bays import BARE, DOOR, plan_bays
from virl.towns.render.fronts import storefront_mesh
from virl.towns.render.storefronts import spans_of
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


def front_bays(plan: CityPlan, taken: set[int]) -> np.ndarray:
    walls = walls_of(plan.layout.buildings, plan.signs)
    bays = plan_bays(plan.layout, walls, taken, plan.signs)
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


def test_wires_end_at_a_house_or_at_a_pole_beside_the_carriageway() -> None:
    plate = made_sign("Long Street", left=(1.0, -1.0), right=(1.0, 1.0), bottom=4.2, top=4.6, kind="plate")
    plan = bare_plan(buildings=(made_building(0, box(-15.0, 6.0, 15.0, 20.0)),))
    spans = spans_of([plate], plan.layout)
    assert sorted(zip(spans[plate.id].poles, [end[1] for end in spans[plate.id].ends], strict=True)) == [
        (False, pytest.approx(6.0)),
        (True, pytest.approx(-4.5)),
    ]
