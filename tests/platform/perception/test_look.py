from itertools import pairwise
from math import asin, cos, degrees, radians, sin, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Camera
from virl.platform.perception.cameras import closer_camera, sweep_cameras

cameras = st.builds(
    Camera,
    heading=st.floats(0, 360, exclude_max=True),
    pitch=st.floats(-60, 60),
    fov=st.floats(30, 120),
    width=st.sampled_from([320, 640, 800]),
    height=st.sampled_from([240, 640]),
)


@st.composite
def camera_and_box(draw):
    camera = draw(cameras)
    x0 = draw(st.floats(0, camera.width - 12))
    y0 = draw(st.floats(0, camera.height - 12))
    x1 = draw(st.floats(x0 + 8, camera.width))
    y1 = draw(st.floats(y0 + 8, camera.height))
    return camera, (x0, y0, x1, y1)


def angle_between(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Degrees between two directions (heading, pitch), by the haversine formula."""
    turn, (low, high) = radians(signed_turn(a[0], b[0])), (radians(a[1]), radians(b[1]))
    half = sin((high - low) / 2) ** 2 + cos(low) * cos(high) * sin(turn / 2) ** 2
    return 2 * degrees(asin(sqrt(min(half, 1.0))))


@given(camera_and_box())
def test_the_closer_camera_looks_straight_at_the_middle_of_the_box(pair):
    camera, box = pair
    closer = closer_camera(camera, box)
    aimed = closer.direction(closer.width / 2, closer.height / 2)
    wanted = camera.direction((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    assert angle_between(aimed, wanted) < 1e-4


@given(camera_and_box())
def test_the_closer_camera_keeps_to_its_limits_and_size(pair):
    camera, box = pair
    closer = closer_camera(camera, box)
    assert 30 <= closer.fov <= 120
    assert (closer.width, closer.height) == (camera.width, camera.height)


def test_the_box_fills_its_share_of_the_closer_picture():
    camera = Camera(10, 0, 90)
    closer = closer_camera(camera, (270, 300, 370, 340))
    assert closer.focal / camera.focal * 100 == pytest.approx(640 / 4)  # 100 pixels wide before
    tall = closer_camera(camera, (300, 245, 340, 395))
    assert tall.focal / camera.focal * 150 == pytest.approx(640 / 4)


def test_a_wide_box_widens_no_further_than_120_degrees():
    assert closer_camera(Camera(0, 0, 60), (60, 300, 580, 400)).fov == 120


def test_a_camera_that_looks_straight_up_may_look_closer():
    assert closer_camera(Camera(0, 90, 60), (300, 300, 340, 340)).pitch <= 90


@pytest.mark.parametrize(
    ("range_deg", "fov", "turns"),
    [
        (180, 60, [-60, 0, 60]),
        (180, 90, [-45, 45]),
        (60, 60, [0]),
        (30, 60, [0]),
        (360, 60, [-150, -90, -30, 30, 90, 150]),
        (200, 60, [-90, -30, 30, 90]),
    ],
)
def test_a_sweep_covers_its_range_from_left_to_right(range_deg, fov, turns):
    headings = [camera.heading for camera in sweep_cameras(350, range_deg, fov)]
    assert [round(signed_turn(350, heading)) for heading in headings] == turns


@given(st.floats(0, 360), st.floats(1, 360), st.floats(10, 120))
def test_a_sweep_has_no_gap_and_leaves_no_edge_out(heading, range_deg, fov):
    sweep = sweep_cameras(heading, range_deg, fov)
    assert len(sweep) * fov >= range_deg - 1e-6
    for left, right in pairwise(sweep):
        assert signed_turn(left.heading, right.heading) == pytest.approx(fov)


def test_without_a_heading_the_sweep_goes_all_around_from_north():
    sweep = sweep_cameras(None, 180, 60, pitch=5, width=320, height=200)
    assert [camera.heading for camera in sweep] == [0, 60, 120, 180, 240, 300]
    assert all((camera.pitch, camera.width, camera.height) == (5, 320, 200) for camera in sweep)


def test_a_sweep_with_an_impossible_fov_is_refused():
    with pytest.raises(BadInput, match="fov"):
        sweep_cameras(0, 180, 150)
