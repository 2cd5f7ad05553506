"""Houses have balconies, bay windows, quoins and ivy, none of which covers a door or a sign."""

from dataclasses import astuple

import numpy as np
import pytest
import shapely

from virl.platform.providers.offline.city import draw_plan
from virl.towns.render.bays import plan_bays
from virl.towns.render.buildings import door_mesh
from virl.towns.render.mesh import take
from virl.towns.render.ornaments import OUT_M, ornament_mesh
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.walls import walls_of


def test_a_third_of_houses_have_an_ornament_and_none_covers_a_door_a_sign_or_a_house() -> None:
    plan = draw_plan(0)
    houses = np.array([one.footprint for one in plan.layout.buildings])
    walls = walls_of(plan.layout.buildings, plan.signs)
    bays = plan_bays(
        walls, plan.layout.frontages, plan.layout.streets, {shop.frontage for shop in plan.shops}, plan.signs
    )
    mesh = ornament_mesh(plan.signs, walls, bays)
    again = ornament_mesh(plan.signs, walls, bays)
    assert all(np.array_equal(one, other) for one, other in zip(astuple(mesh), astuple(again), strict=True))
    is_ivy = np.isin(mesh.texture, [TILE_INDEX["leaves/0"], TILE_INDEX["leaves/1"]])
    middle = shapely.points(mesh.corners.mean(axis=1)[:, :2])
    house, distance = shapely.STRtree(houses).query_nearest(middle, return_distance=True, all_matches=False)
    assert distance.max() < OUT_M + 0.01
    assert len(np.unique(house[1][~is_ivy])) / len(houses) == pytest.approx(1 / 3, abs=0.03)
    wall = shapely.STRtree(shapely.linestrings(np.stack([walls.left, walls.right], axis=1)))
    grown = np.unique(wall.nearest(middle[is_ivy]))
    assert len(grown) / (walls.open_number >= 0).sum() == pytest.approx(0.05, abs=0.01)
    # Quoins lie on the wall; what stands out hides nothing even in the plan.
    out = take(mesh, ~is_ivy & (mesh.texture != TILE_INDEX["quoins"]))
    assert out.corners[:, :, 2].min() > 2.9
    shapes = shapely.convex_hull(
        shapely.multipoints(out.corners[:, :, :2].reshape(-1, 2), indices=np.repeat(np.arange(len(out)), 4))
    )
    boards = shapely.linestrings([(one.left, one.right) for one in plan.signs])
    doors = shapely.linestrings(door_mesh(walls, bays).corners[:, :2, :2])
    tree = shapely.STRtree(shapes)
    assert not tree.query(np.concatenate([boards, doors]), "intersects").size
