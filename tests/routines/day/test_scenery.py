import numpy as np
import pytest

from virl.routines.day.scenic import scenery

GREEN, BLUE, GREY, WHITE = (60, 130, 50), (90, 150, 210), (120, 120, 120), (240, 240, 245)


def picture(*bands):
    """Bands of colour from top to bottom, ten rows each."""
    return np.repeat(np.array(bands, np.uint8)[:, None, :], 10, axis=0).repeat(80, axis=1)


def test_each_colour_counts_where_it_belongs():
    seen = scenery(picture(BLUE, GREY, GREEN, BLUE))
    assert (seen.green, seen.sky, seen.water) == pytest.approx((0.25, 0.25, 0.25))


def test_clouds_are_sky_and_white_walls_below_the_horizon_are_not():
    assert scenery(picture(WHITE, BLUE, WHITE, GREY)).sky == pytest.approx(0.5)


def test_blue_behind_a_wall_is_no_sky():
    assert scenery(picture(GREY, BLUE, GREY, GREY)).sky == 0


def test_a_blue_car_is_no_water():
    street = picture(GREY, GREY, GREY, GREY)
    street[25:35, 10:40] = BLUE
    assert scenery(street).water == 0
    street[25:35, 10:60] = BLUE
    assert scenery(street).water == pytest.approx(10 * 50 / street[..., 0].size)


def test_the_horizon_of_a_camera_that_looks_up_lies_lower():
    assert scenery(picture(BLUE, BLUE, BLUE, GREY), horizon=0.75).sky == pytest.approx(0.75)
    assert scenery(picture(BLUE, BLUE, BLUE, BLUE), horizon=1.4).water == 0
