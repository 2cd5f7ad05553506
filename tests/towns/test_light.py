"""Houses throw shade on each other, far ones stand at the horizon, and nothing burns out."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
import shapely
from made_corner import bare_plan, made_building
from shapely import box

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.streetview import Camera
from virl.platform.providers.offline.city import draw_plan
from virl.towns.plan.town_plan import Building
from virl.towns.render.light import HAZE_M, HAZE_RGB, SUN, TONES
from virl.towns.render.mesh import outward, quads, upright
from virl.towns.render.renderer import CityRenderer
from virl.towns.render.scene import REACH_M
from virl.towns.render.skyline import CELL_M, FARTHEST_M, WIDE, Skylines
from virl.towns.render.sunlight import cast_shade, cut_walls
from virl.towns.render.textures import TILE_INDEX

TOWARD = SUN[:2] / np.hypot(*SUN[:2])
CORNER = np.full(2, -40.0)


def wall_facing_the_sun(shading_m: float, away_m: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (heights, (n, 2), texture places, shares of shade) of a wall of 12 x 10 m behind a house."""
    middle = TOWARD * away_m
    house = Building("b", box(*(middle - 12), *(middle + 12)), shading_m, 0)
    along = np.array([-TOWARD[1], TOWARD[0]])
    left, right = along * 6, -along * 6
    if (outward(left[None], right[None])[0] * TOWARD).sum() < 0:
        left, right = right, left
    wall = quads(
        upright(left[None], right[None], 0.0, 10.0), uv=(0.0, 0.0, 4.0, 3.0), texture=TILE_INDEX["asphalt"]
    )
    mesh, shaded = cut_walls(wall, cast_shade([house], CORNER, -CORNER))
    return mesh.corners[:, :, 2], mesh.uv, shaded


@pytest.mark.parametrize("height", [12.0, 13.5, 15.0])
def test_the_shade_of_a_house_ends_on_a_wall_where_geometry_says(height: float) -> None:
    heights, _, shaded = wall_facing_the_sun(height, 25.0)
    # The house begins 12 to 17 m nearer than its middle, and shade sinks by the tangent of the sun's height.
    slope = SUN[2] / np.hypot(*SUN[:2])
    low, high = height - slope * 16.0, height - slope * 6.0
    edge = heights[shaded == 1].max()
    # A cell of the raster is 1.5 m wide.
    assert max(low, 0) - 1.5 <= edge <= min(high, 10) + 1.5
    assert heights[shaded == 0].min() <= edge


def test_pieces_of_a_wall_cover_it_once_and_keep_its_texture() -> None:
    heights, uv, shaded = wall_facing_the_sun(16.0, 25.0)
    wide = 12.0 / 4.0 * np.abs(uv[:, 2])
    area = (wide * (np.abs(heights[:, 3] - heights[:, 0]) + np.abs(heights[:, 2] - heights[:, 1])) / 2).sum()
    assert len(shaded) > 2
    assert heights.min() == 0.0
    assert heights.max() == 10.0
    # Where pieces overlapped, the edge of the shade was jagged: both are equally near.
    assert area == pytest.approx(12.0 * 10.0, rel=1e-3)
    # A texture's last side is that at the first corner.
    assert 12.0 / 4.0 * uv[:, 3] == pytest.approx(0.9 * (heights[:, 3] - heights[:, 0]), abs=1e-3)


def test_shade_ends_at_the_same_place_on_parts_of_a_wall_of_other_widths() -> None:
    along = np.array([-TOWARD[1], TOWARD[0]])
    middle = TOWARD * 25
    house = Building("b", box(*(middle - 12), *(middle + 12)), 14.0, 0)
    edges = []
    for cuts in ([-9.0, 9.0], [-9.0, -6.3, 1.0, 3.5, 9.0]):
        ends = np.outer(cuts, along)
        mesh, shaded = cut_walls(
            quads(upright(ends[:-1], ends[1:], 0.0, 10.0)), cast_shade([house], CORNER, -CORNER)
        )
        seen = shapely.polygons(np.dstack([mesh.corners[..., :2] @ along, mesh.corners[..., 2]]))
        edges.append(shapely.union_all(seen[shaded == 1]))
    assert 20 < edges[0].area < 160
    assert edges[0].symmetric_difference(edges[1]).area < 0.5


def test_towns_have_skies_of_their_own() -> None:
    here = bare_plan()
    there = replace(here, layout=replace(here.layout, frame=LocalFrame(LatLng(12.6, -38.25))))
    plans = (here, bare_plan(), there, draw_plan(0))
    clouds = [Skylines(plan).skyline_around(0.0, 0.0).weather for plan in plans]
    assert clouds[0] == clouds[1]
    assert len({*clouds}) == 3


def test_clouds_cover_more_of_the_sky_in_one_town_than_in_another_and_have_grey_bases() -> None:
    shares = []
    for seed in range(6):
        renderer = CityRenderer(replace(bare_plan(), seed=seed))
        sky = np.concatenate(
            [renderer.picture(0.0, 0.0, Camera(turn, 45.0, 90.0, 200, 200)) for turn in (0, 90)]
        )
        red, blue = sky[..., 0].astype(int), sky[..., 2].astype(int)
        grey = (blue - red < 30) & (red < 190)
        shares.append(((blue - red < 30).mean(), grey.mean()))
    assert max(shares)[0] > 2 * min(shares)[0]
    assert max(shares)[1] > 0.03


def test_a_far_house_has_windows_and_no_dark_rim() -> None:
    house = made_building(0, box(45.0, 625.0, 205.0, 645.0), height=60.0)
    renderer = CityRenderer(bare_plan(buildings=(house,)))
    picture = renderer.picture(125.0, 125.0, Camera(0.0, 6.0, 10.0, 300, 300)).astype(int).sum(axis=2)
    wall = picture[-120:-30]
    assert np.ptp(wall) > 20
    assert picture.min() >= wall.min() - 6


def test_panes_seen_at_75_degrees_are_brighter_toward_the_sky_than_head_on() -> None:
    renderer = CityRenderer(bare_plan(buildings=(made_building(0, box(-40.0, 8.0, 40.0, 20.0)),)))
    shown = []
    for y, heading, wide in ((-7.5, 0.0, 256), (4.0, 75.0, 128)):  # 15.5 m from the panes
        picture = renderer.picture(0.0, y, Camera(heading, 24.0, 16.0, 256, 256))[:, :wide].astype(float)
        # On a wall of brick only glass is bluish; the sky is in the half left out.
        shown.append(picture[picture[..., 2] >= picture[..., 0]].mean(axis=0))
    brighter = shown[1] - shown[0]
    assert brighter.min() > 20
    assert brighter[2] > brighter[0] + 8


def test_a_narrow_part_of_a_panorama_shows_the_skyline_that_a_wide_one_does() -> None:
    renderer = CityRenderer(bare_plan())
    wide, narrow = (
        renderer.equirectangular_part(0.0, 0.0, 2048, left, 496, (1280 - left, 16)).astype(int)
        for left in (1024, 1264)
    )
    assert np.abs(wide[:, -16:] - narrow).max() < 8


def test_the_camera_of_a_panorama_is_a_round_mark_below() -> None:
    whole = CityRenderer(bare_plan()).equirectangular(0.0, 0.0, 256)
    assert np.ptp(whole[-6:].astype(int), axis=1).max() == 0
    assert np.ptp(whole[-12].astype(int), axis=0).max() > 0


def test_a_wall_in_the_open_is_neither_cut_nor_shaded() -> None:
    heights, _, shaded = wall_facing_the_sun(0.5, 25.0)
    assert len(heights) == 1
    assert shaded.tolist() == [0.0]


def test_a_far_tower_stands_at_the_horizon_where_it_is() -> None:
    plan = draw_plan(0)
    skyline = Skylines(plan).skyline_around(-600.0, 0.0)
    east, west = skyline.sides[1], skyline.sides[3]
    # The town lies to the east: its houses reach higher than the invented land to the west.
    assert (east[..., 3] > 0).sum(axis=0).mean() > 0
    assert len(np.unique(east[2].reshape(-1, 4), axis=0)) > len(np.unique(west[2].reshape(-1, 4), axis=0))
    assert east.shape[1] == WIDE


def test_far_things_are_drawn_as_opencv_draws_boxes_from_the_farthest_to_the_nearest() -> None:
    skylines = Skylines(draw_plan(0))
    skylines._things = things = skylines._things._replace(houses=0)  # walls without windows
    land = skylines._land
    corners = things.corners - CELL_M / 2
    away = np.hypot(*corners[things.first[:-1]].T)
    far = np.flatnonzero((away > REACH_M) & (away < FARTHEST_M))
    drawn = skylines.skyline_around(1.0, 1.0)
    for side, shown, turn in zip(land.copy(), drawn.sides, np.deg2rad([0, 90, 180, 270]), strict=True):
        whole = np.zeros_like(shown)
        whole[: len(side)] = side
        right, ahead = (
            np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]).round() @ corners.T
        )
        for thing in far[np.argsort(-away[far], kind="stable")]:
            of = slice(*things.first[thing : thing + 2])
            columns = (right[of] / np.maximum(ahead[of], 1) + 1) * WIDE / 2
            if ahead[of].min() > 1 and columns.min() < WIDE and columns.max() > 0:
                top = things.rise[thing] / ahead[of].min() * WIDE / 2
                ends = (
                    np.rint(np.array([columns.min(), -1, columns.max(), top]) * 16 - 8).astype(int).tolist()
                )
                haze = away[thing] / (away[thing] + HAZE_M)
                colour = things.paints[thing] + haze * (np.array(HAZE_RGB) - things.paints[thing])
                cv2.rectangle(whole, ends[:2], ends[2:], (*colour, 255.0), cv2.FILLED, cv2.LINE_AA, 4)
        assert (whole == shown).all()
        assert not whole[drawn.top :].any()


def test_nothing_is_whiter_than_245_or_darker_than_12() -> None:
    renderer = CityRenderer(draw_plan(0))
    for heading in (0, 90, 180, 218, 270):
        picture = renderer.picture(0.0, 0.0, Camera(heading, pitch=10.0, width=200, height=200))
        assert picture.max() <= TONES[-1] == 245
        assert picture.min() >= TONES[0] == 12
