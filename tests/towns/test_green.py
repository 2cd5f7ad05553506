"""Woods, hedges and the edges of leaves, in geometry and pixels."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from made_corner import bare_plan

from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import Barrier, Building, Furniture, Land, LandKind
from virl.towns.render.barriers import barrier_mesh
from virl.towns.render.lens import lens_at
from virl.towns.render.mesh import CARD, CUTOUT, TUFT
from virl.towns.render.raster import MAX_CORNERS, GeometryBuffer
from virl.towns.render.renderer import CityRenderer, _in_sight
from virl.towns.render.smooth import smooth_edges
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.trees import AGES, SPECIES, crown_of, tree
from virl.towns.render.woods import (
    ALONE_M,
    BESIDE_M,
    CLEAR_M,
    DEEP_M,
    EDGE_M,
    GROWTHS,
    HOUSE_M,
    VERGE_M,
    grass_mesh,
    plant_mesh,
)

WOOD = Land("wood", shapely.box(-100, -150, 100, 150))
SPACING_M = GROWTHS["wood"].apart


def clumps(low: tuple[float, float], high: tuple[float, float]) -> set[tuple[float, float]]:
    """The middles of the clumps of a wood around a street and a house, in a box."""
    house = Building(0, shapely.box(-40, 30, -30, 40), 6.0, 0)
    mesh = plant_mesh([WOOD], bare_plan().layout.streets, [house], np.array(low), np.array(high))
    return {(round(x, 2), round(y, 2)) for x, y in mesh.corners.mean(axis=1)[:, :2].tolist()}


def test_a_wood_is_filled_beside_ways_and_at_its_edge_but_for_houses() -> None:
    found = clumps((-200, -200), (200, 200))
    house, edge = shapely.box(-40, 30, -30, 40), WOOD.outline.exterior
    for x, y in found:
        spot = shapely.Point(x, y)
        assert spot.within(WOOD.outline)
        assert spot.distance(house) > HOUSE_M
        assert CLEAR_M <= abs(y) <= DEEP_M or (abs(y) > DEEP_M and spot.distance(edge) <= EDGE_M)
    assert len([1 for x, y in found if abs(y) < DEEP_M]) > 0.75 * 200 * 2 * (DEEP_M - CLEAR_M) / SPACING_M**2
    # From another square its clumps are the same.
    assert clumps((-60.5, -81), (300, 77)) >= {(x, y) for x, y in found if x > -60 and -80 < y < 76}


def test_a_wood_hides_what_stands_behind_it_from_the_truth_too() -> None:
    bare = bare_plan(furniture=(Furniture("bin", "trash bin", 0.0, 75.0, 0.0, 0),))
    wooded = replace(bare, layout=replace(bare.layout, lands=(Land("wood", shapely.box(-60, 10, 60, 70)),)))
    camera = Camera(0.0, 0.0, 60.0, 320, 320)
    seen = [len(CityRenderer(plan).visible(0.0, 0.0, camera, 1)) for plan in (bare, wooded)]
    assert seen == [1, 0]
    dark = [CityRenderer(plan).picture(0.0, 0.0, camera)[130:156].mean() for plan in (bare, wooded)]
    assert dark[1] < 0.6 * dark[0]


def test_tufts_grow_by_open_roads_and_in_meadows_and_show_from_near_alone() -> None:
    lines = [[(-80, y), (80, y)] for y in (0, 40, 80, 120)]
    made = [{"has_kerb": False}, {}, {"road": 0.0, "is_gravel": True}, {"road": 0.0, "is_gravel": True}]
    streets = tuple(
        replace(bare_plan().layout.streets[0], id=number, line=np.array(line, float), **own)  # type: ignore[arg-type]
        for number, (line, own) in enumerate(zip(lines, made, strict=True))
    )
    lands = (Land("meadow", shapely.box(-50, 82, 50, 100)),)
    waters = (shapely.box(-90, -90, -30, 90),)
    plan = replace(bare_plan().layout, streets=streets, lands=lands, waters=waters)
    mesh = grass_mesh(plan, streets, (), np.full(2, -200.0), np.full(2, 200.0))
    x, y = mesh.corners.mean(axis=1)[:, :2].T
    assert x.min() > -30
    by_road = np.abs(y) < 10
    assert 4.3 < np.abs(y[by_road]).min() < np.abs(y[by_road]).max() < 4.35 + VERGE_M + 0.1
    assert (y[~by_road] > 83.7).all()
    assert min(by_road.sum(), (~by_road).sum()) > 60
    half = grass_mesh(plan, streets, (), np.zeros(2), np.full(2, 200.0))
    assert len(half) == ((x >= 0) & (y >= 0)).sum()
    eye = CityRenderer(replace(bare_plan(), layout=plan))
    tufts = eye._whole_scene.mode == TUFT
    for size, least, most in ((640, 2.0, 16.0), (84, None, None)):
        found = _in_sight(eye._whole_scene, lens_at(20.0, 0.0, Camera(60.0, -10.0, 90.0, size, size)))
        away = np.hypot(*(eye._whole_scene.spheres[found[tufts[found]], :2] - (20.0, 0.0)).T)
        assert not len(away) if least is None else least < away.min() < away.max() < most


@pytest.mark.parametrize("kind", ["shrubs", "flowers"])
def test_plants_fill_their_bed_but_for_streets(kind: LandKind) -> None:
    plan, bed = bare_plan().layout, shapely.box(-20, -12, 20, 12)
    mesh = plant_mesh([Land(kind, bed)], plan.streets, [], np.array([-90.0, -90.0]), np.array([90.0, 90.0]))
    growth, middles = GROWTHS[kind], shapely.points(mesh.corners.mean(axis=1)[:, :2])
    ways = [shapely.LineString(one.line).buffer(one.road / 2 + one.pavement) for one in plan.streets]
    assert shapely.distance(middles, shapely.union_all(ways)).min() > 0.85
    assert growth.low <= mesh.corners[..., 2].max(axis=1).min()
    free = shapely.difference(bed, shapely.buffer(shapely.union_all(ways), BESIDE_M)).area
    assert len(mesh) == pytest.approx(growth.turns * free / growth.apart**2, rel=0.15)


def test_shrubs_far_from_streets_are_drawn_together_and_none_stands_twice() -> None:
    plan, growth = bare_plan().layout, GROWTHS["shrubs"]
    # The boxes of both areas overlap, the areas do not.
    corners = [(-60, 8), (60, 8), (-60, 150)], [(60, 9), (60, 150), (-59, 150)]
    beds = [shapely.Polygon(ring) for ring in corners]
    lands = [Land("shrubs", bed) for bed in beds]
    mesh = plant_mesh(lands, plan.streets, [], np.full(2, -200.0), np.full(2, 200.0))
    middles = mesh.corners.mean(axis=1)[:, :2]
    wide = np.hypot(*(mesh.corners[:, 1] - mesh.corners[:, 0])[:, :2].T)
    assert set(np.round(wide / growth.wide)) == {1.0, 3.0}
    assert len(np.unique(middles.round(1), axis=0)) > 0.97 * len(mesh) / growth.turns
    ways = shapely.union_all([shapely.LineString(one.line) for one in plan.streets])
    away = shapely.distance(ways, shapely.points(middles))
    assert away[wide < 2 * growth.wide].max() < ALONE_M + 4
    assert away[wide > 2 * growth.wide].min() > ALONE_M - 4
    # All of the ground is covered, near and far.
    covered = (wide**2).sum() * (growth.apart / growth.wide) ** 2 / growth.turns
    assert covered == pytest.approx(sum(bed.area for bed in beds), rel=0.05)


@pytest.mark.parametrize("variant", range(len(SPECIES) * len(AGES)))
def test_limbs_leave_the_trunk_below_the_crown(variant: int) -> None:
    mesh = tree(variant)
    limbs = mesh.corners[(mesh.texture == TILE_INDEX["bark"]) & (mesh.mode == CARD)]
    assert len(limbs) >= 9
    assert limbs[:, :2, 2].max() < 0.8 * crown_of(variant).foot
    assert limbs[:, 2:, 2].min() > crown_of(variant).foot


def test_leaves_stand_out_over_a_hedge() -> None:
    mesh = barrier_mesh([Barrier("hedge", np.array([(0.0, 0.0), (6.0, 0.0)]), 1.4, 0)])
    tops = mesh.corners[..., 2].max(axis=1)
    assert tops[mesh.mode == CUTOUT].min() > 1.45
    assert tops[mesh.mode != CUTOUT].max() == pytest.approx(1.4)


@pytest.mark.parametrize(("solid", "before"), [(False, False), (False, True), (True, False)])
def test_leaves_are_mixed_with_what_lies_beside_them(solid: bool, before: bool) -> None:
    """Columns 0 to 3 show leaves, 4 to 7 other leaves or a wall."""
    shown = np.repeat([[0] * 4 + [1] * 4], 3, axis=0).astype(np.int32)
    depth = np.where(shown == 0, 1.0, 2.0 if before else 0.5).astype(np.float32)
    forms = np.zeros((2, 9))
    forms[:, 0] = 1.0, 2.0 if before else 0.5
    polygons = np.zeros((2, MAX_CORNERS, 2))
    polygons[1, :4] = (4, 0), (8, 0), (8, 3), (4, 3)
    counts = np.array([-4, 4 if solid else -4])
    drawing = GeometryBuffer(np.arange(2), depth, shown, forms, polygons, counts)
    sharp = np.repeat(np.where(shown == 0, 40, 200).astype(np.uint8)[..., None], 3, axis=2)
    picture = sharp.copy()
    smooth_edges(drawing, sharp, picture)
    row = picture[1, :, 0].tolist()
    assert row[:3] == [40] * 3
    assert row[5:] == [200] * 3
    assert 50 < row[3] < 100
    assert 150 < row[4] < 190
