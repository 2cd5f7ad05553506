"""Pictures of a made city: geometry, determinism, and that a thing looks the same from everywhere."""

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_corner import FRONT_Y, bare_plan, made_corner, made_shop, made_sign
from shapely import box

from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, Building
from virl.towns.render.lens import NEAR_M, lens_at
from virl.towns.render.mesh import quads, upright
from virl.towns.render.raster import MAX_CORNERS, linear_forms, project
from virl.towns.render.renderer import CityRenderer

CORNERS = np.array([[-3.0, 7.88, 3.0], [3.0, 7.88, 3.0], [3.0, 7.88, 3.9], [-3.0, 7.88, 3.9]])


@pytest.fixture(scope="module")
def corner() -> CityRenderer:
    return CityRenderer(made_corner())


def to_heading_and_pitch(point: np.ndarray, x: float, y: float) -> tuple[float, float]:
    dx, dy, dz = point[0] - x, point[1] - y, point[2] - CAMERA_HEIGHT_M
    return float(np.degrees(np.arctan2(dx, dy))), float(np.degrees(np.arctan2(dz, np.hypot(dx, dy))))


@settings(max_examples=40)
@given(
    heading=st.floats(-60, 60), pitch=st.floats(-30, 40), fov=st.floats(30, 120), x=st.floats(-6, 6),
    width=st.integers(64, 900), height=st.integers(64, 900),
)  # fmt: skip
@example(heading=41.0, pitch=0.0, fov=30.0, x=6.0, width=64, height=64)  # cut, and of four corners still
def test_a_corner_lands_where_the_cameras_direction_looks(heading, pitch, fov, x, width, height):
    camera = Camera(heading, pitch, fov, width, height)
    polygon, seen = np.empty((MAX_CORNERS, 2)), np.empty((4, 3))
    count = project(CORNERS.astype(np.float32), lens_at(x, 0.0, camera), seen, polygon)
    if seen[:, 2].min() < NEAR_M:  # cut at the near plane
        return
    assert count == 4
    for point, pixel in zip(CORNERS, polygon, strict=False):
        wanted = to_heading_and_pitch(point, x, 0.0)
        got = camera.direction(float(pixel[0]), float(pixel[1]))
        assert signed_turn(wanted[0], got[0]) == pytest.approx(0.0, abs=1e-3)
        assert got[1] == pytest.approx(wanted[1], abs=1e-3)


def test_the_linear_forms_give_depth_and_place_on_the_quad():
    camera = Camera(12.0, 8.0, 75.0, 640, 480)
    lens = lens_at(1.0, 0.5, camera)
    mesh = quads(upright(np.array([[-3.0, 8.0]]), np.array([[3.0, 9.0]]), 3.0, 4.0))
    seen, polygon, forms = np.empty((4, 3)), np.empty((MAX_CORNERS, 2)), np.empty(9)
    project(mesh.corners[0], lens, seen, polygon)
    assert linear_forms(seen, lens, forms)
    for (x, y), place, corner in zip(polygon, [(0, 0), (1, 0), (1, 1), (0, 1)], seen, strict=False):
        w, s, t = (forms[i] + forms[i + 1] * x + forms[i + 2] * y for i in (0, 3, 6))
        assert (s / w, t / w) == pytest.approx(place, abs=1e-5)
        assert lens.focal / w == pytest.approx(corner[2], rel=1e-5)


@pytest.mark.parametrize(
    ("x", "heading", "pitch", "fov"),
    [(0, 0, 0, 60), (0, 10, 5, 90), (-4, 30, 8, 75), (5, 330, -5, 110), (0, 0, 12, 40)],
)
def test_a_sign_is_painted_where_the_maths_says(x, heading, pitch, fov):
    renderer = CityRenderer(bare_plan(made_shop(made_sign())))
    camera = Camera(heading, pitch, fov, 640, 640)
    (sign,) = renderer.visible(x, 0.0, camera)
    polygon = np.empty((MAX_CORNERS, 2))
    assert project(CORNERS.astype(np.float32), lens_at(x, 0.0, camera), np.empty((4, 3)), polygon) == 4
    low, high = polygon[:4].min(axis=0).clip(0, 640), polygon[:4].max(axis=0).clip(0, 640)
    assert sign.box == pytest.approx((*low, *high), abs=1.0)


def test_a_camera_that_looks_at_a_wall_sees_it_and_the_sky_above():
    wall = Building(0, box(-20.0, FRONT_Y, 20.0, 20.0), 6.0, 0)
    picture = CityRenderer(bare_plan(buildings=(wall,))).picture(0.0, 0.0, Camera(0.0, 10.0, 90.0, 320, 320))
    top = picture[5].astype(int)
    sky = top[(top[:, 2] - top[:, 0]).argmax()]  # between clouds
    assert sky[2] > sky[0] + 20  # blue
    assert abs(picture[170, 160].astype(int) - sky).sum() > 60


def test_headings_wrap(corner):
    near, far = (corner.picture(0.0, 0.0, Camera(h, 3.0, 80.0, 96, 96)) for h in (0.0, 360.0))
    assert np.array_equal(near, far)
    close, by = (corner.picture(0.0, 0.0, Camera(h, 3.0, 80.0, 96, 96)).astype(int) for h in (359.999, 0.001))
    assert np.abs(close - by).mean() < 2.0


@pytest.mark.parametrize("pitch", [-90.0, 90.0])
@pytest.mark.parametrize("fov", [10.0, 120.0])
def test_straight_up_and_straight_down(corner, pitch, fov):
    picture = corner.picture(0.0, 0.0, Camera(77.0, pitch, fov, 96, 64))
    assert picture.shape == (64, 96, 3)
    middle = picture[32, 48].astype(int)
    if pitch > 0:
        assert middle[2] >= middle[0]  # sky
    else:
        assert np.ptp(middle) < 30  # asphalt or its paint


def test_equal_calls_give_equal_pixels_in_any_thread():
    cameras = [Camera(h, p, 75.0, 160, 120) for h in range(0, 360, 45) for p in (0.0, 20.0)]
    alone = CityRenderer(made_corner())
    expected = [alone.picture(0.0, 0.0, camera) for camera in cameras]
    together = CityRenderer(made_corner())
    with ThreadPoolExecutor(4) as pool:
        pictures = list(pool.map(lambda camera: together.picture(0.0, 0.0, camera), cameras))
    pictures += CityRenderer(made_corner()).pictures([(0.0, 0.0, camera) for camera in cameras])
    assert all(np.array_equal(a, b) for a, b in zip(expected * 2, pictures, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("centre", [0.0, 135.0])
def test_the_whole_panorama_agrees_with_pictures(corner, centre):
    width = 1024
    whole = cv2.GaussianBlur(corner.equirectangular(0.0, 0.0, width, heading=centre), (0, 0), 2)
    assert whole.shape == (width // 2, width, 3)
    differences = []
    for heading in range(0, 360, 30):
        for pitch in (-70.0, -20.0, 0.0, 25.0, 75.0):
            camera = Camera(heading, pitch, 20.0, 64, 64)
            seen = cv2.GaussianBlur(corner.picture(0.0, 0.0, camera), (0, 0), 6)[32, 32]
            column = ((heading - centre) / 360 + 0.5) % 1 * width
            row = (0.5 - pitch / 180) * width / 2
            got = cv2.getRectSubPix(
                np.pad(whole, ((0, 0), (8, 8), (0, 0)), mode="wrap"), (1, 1), (column + 7.5, row - 0.5)
            )
            differences.append(np.abs(got[0, 0].astype(int) - seen).mean())
    assert np.median(differences) < 3
    assert np.mean(np.array(differences) < 20) > 0.95


@pytest.mark.slow
def test_one_front_from_two_panoramas_matches_by_a_homography(corner):
    """Upper storeys repeat from bay to bay, as true ones do; what a front shows is met once."""
    cameras = [(-3.0, Camera(14.0, 8.0, 75.0)), (4.0, Camera(340.0, 8.0, 75.0))]
    front = np.array([[-5, 7.9, 0.5], [5, 7.9, 0.5], [5, 7.9, 3.9], [-5, 7.9, 3.9]], np.float32)
    outlines = [np.empty((MAX_CORNERS, 2)) for _ in cameras]
    pictures = [corner.picture(x, 0.0, camera) for x, camera in cameras]
    for (x, camera), outline in zip(cameras, outlines, strict=True):
        assert project(front, lens_at(x, 0.0, camera), np.empty((4, 3)), outline) == 4
    within = np.zeros((640, 640), np.uint8)
    cv2.fillConvexPoly(within, outlines[0][:4].astype(np.int32), 255)
    sift = cv2.SIFT_create()
    points, words = sift.detectAndCompute(cv2.cvtColor(pictures[0], cv2.COLOR_RGB2GRAY), within)
    others, other_words = sift.detectAndCompute(cv2.cvtColor(pictures[1], cv2.COLOR_RGB2GRAY), None)
    pairs = cv2.BFMatcher().knnMatch(words, other_words, k=2)
    good = [a for a, b in pairs if a.distance < 0.8 * b.distance]
    source = np.array([points[m.queryIdx].pt for m in good], np.float32)
    target = np.array([others[m.trainIdx].pt for m in good], np.float32)
    found, inliers = cv2.findHomography(source, target, cv2.RANSAC, 2.0)
    assert int(inliers.sum()) >= 40
    # The front moves between the pictures as the two cameras say.
    true = cv2.getPerspectiveTransform(outlines[0][:4].astype(np.float32), outlines[1][:4].astype(np.float32))
    middle = source[inliers.ravel() > 0].mean(axis=0)
    around = (middle + np.array([[-80, -60], [80, -60], [80, 60], [-80, 60]], np.float32))[None]
    gap = cv2.perspectiveTransform(around, found) - cv2.perspectiveTransform(around, true)
    assert np.abs(gap).max() < 4.0


def test_a_photo_shows_the_front_without_what_stands_before_it():
    plan = made_corner()
    renderer = CityRenderer(plan)
    photo = renderer.photo(plan.shops[0])
    assert photo.shape == (480, 640, 3)
    emptied = CityRenderer(bare_plan(*plan.shops[:1], buildings=plan.layout.buildings))
    assert photo.std() > 20
    assert np.abs(photo.astype(int) - emptied.photo(plan.shops[0])).mean() < 40


def test_walls_of_a_corner_differ_in_brightness():
    tower = Building(0, box(-5.0, 10.0, 5.0, 20.0), 12.0, 4)
    renderer = CityRenderer(bare_plan(buildings=(tower,)))
    sunny = renderer.picture(0.0, 0.0, Camera(0.0, 20.0, 30.0, 64, 64)).mean()
    shaded = renderer.picture(0.0, 30.0, Camera(180.0, 20.0, 30.0, 64, 64)).mean()
    assert sunny > shaded + 15
