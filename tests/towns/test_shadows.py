"""Shadows on the ground have the size and the side of what throws them."""

import numpy as np
import pytest
from shapely import box

from virl.towns.plan.town_plan import Building, Furniture, FurnitureKind
from virl.towns.render.light import SUN
from virl.towns.render.rasters import CELL_M
from virl.towns.render.shadows import NO_SUN, cast_shadows

ORIGIN = np.full(2, -40 * CELL_M)


def ground(*things: Furniture, buildings: tuple[Building, ...] = ()) -> np.ndarray:
    """Return the darkness of 81 x 81 cells around (0, 0)."""
    return cast_shadows(things, buildings, ORIGIN, (81, 81)).astype(int)


@pytest.mark.parametrize("kind", ["person", "bicycle", "car", "parked car"])
def test_who_is_out_darkens_the_ground_below_and_away_from_the_sun(kind: FurnitureKind) -> None:
    dark = ground(Furniture("a", kind, 0.0, 0.0, 128.0, 0))
    steps = -SUN[:2] / np.hypot(*SUN[:2]) * 2.0 / CELL_M
    behind, before = (dark[tuple(np.rint(40 + side * steps[::-1]).astype(int))] for side in (1, -1))
    assert dark[40, 40] > NO_SUN / 2
    assert behind > before + 30


def test_a_tall_tree_throws_a_larger_shadow_with_gaps_between_its_leaves() -> None:
    small, tall = (ground(Furniture("t", "tree", 0.0, 0.0, 0.0, variant)) for variant in (0, 15))
    assert (tall > 30).sum() > 3 * (small > 30).sum()
    inside = tall[tall > 30]
    assert inside.std() > 20
    assert 0.45 * NO_SUN < inside.mean() < 0.7 * NO_SUN


def test_the_ground_is_darker_at_a_wall_in_the_sun_and_in_the_shade_than_off_it() -> None:
    house = Building("b", box(-6.0, -6.0, 6.0, 6.0), 20.0, 0)
    row = ground(buildings=(house,))[:, 40]
    lit, shaded = row[40 - 9 : 40 - 15 : -1], row[40 + 9 : 40 + 15]
    assert lit[0] > 100
    assert lit[-1] == 0
    assert shaded[0] > shaded[-1] == NO_SUN
