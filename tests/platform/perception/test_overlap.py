import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from virl.platform.city.streetview import Camera
from virl.platform.perception.cameras import (
    carry_box,
    enclosing_box,
    intersection_over_union,
    share_in_common,
)

angles = st.floats(-40, 40)
cameras = st.builds(
    Camera, heading=angles, pitch=angles, fov=st.floats(30, 90), width=st.sampled_from([320, 640])
)
corner = st.floats(10, 300)
boxes = st.builds(
    lambda x, y, w, h: (x, y, x + w, y + h), corner, corner, st.floats(2, 300), st.floats(2, 300)
)


@pytest.mark.slow
@given(boxes, cameras, cameras)
def test_what_a_box_shows_lies_in_the_carried_box(box, source, target):
    carried = carry_box(box, source, target)
    assume(carried is not None)
    for x in np.linspace(box[0], box[2], 4):
        for y in np.linspace(box[1], box[3], 4):
            back = carry_box((x, y, x, y), source, target)
            assert back is not None
            assert carried[0] - 1e-6 <= back[0] <= carried[2] + 1e-6
            assert carried[1] - 1e-6 <= back[1] <= carried[3] + 1e-6


@given(cameras, cameras, corner, corner)
def test_a_carried_pixel_shows_the_same_direction(source, target, x, y):
    there = carry_box((x, y, x, y), source, target)
    assume(there is not None)
    assert target.direction(*there[:2]) == pytest.approx(source.direction(x, y), abs=1e-6)


def test_a_box_carried_to_its_own_camera_is_the_box():
    camera = Camera(350, 10, 60)
    assert carry_box((100, 200, 150, 300), camera, camera) == pytest.approx((100, 200, 150, 300))


def test_a_zoom_widens_a_box_about_the_middle():
    wide, narrow = Camera(0, 0, 90), Camera(0, 0, 53.13010235)  # focal lengths 320 and 640
    assert carry_box((300, 300, 340, 360), wide, narrow) == pytest.approx((280, 280, 360, 400))


def test_what_is_behind_a_camera_is_nowhere_in_its_view():
    assert carry_box((300, 300, 340, 340), Camera(0), Camera(180)) is None


def test_shares_of_boxes():
    whole, quarter, apart = (0, 0, 20, 20), (0, 0, 10, 10), (20, 0, 40, 20)
    assert intersection_over_union(whole, quarter) == 0.25
    assert share_in_common(whole, quarter) == 1.0
    assert intersection_over_union(whole, apart) == share_in_common(whole, apart) == 0.0
    assert enclosing_box(quarter, apart) == (0, 0, 40, 20)
