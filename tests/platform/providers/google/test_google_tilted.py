"""Panoramas that were not held level: what is seen in them is where it is."""

from math import cos, radians, sin
from typing import cast

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from served_google import google_over

from virl.platform.city.city import City
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.pictures.projection import equirectangular, perspective
from virl.serve.google.options import ServeOptions, parse_oddities
from virl.serve.google.streetview import attitude_of
from virl.towns.streetview import OfflineStreetView

WIDTH = 2048
CAMERAS = (
    Camera(20.0, 0.0, 90.0, 400, 300),
    Camera(110.0, 10.0, 60.0, 400, 300),
    Camera(250.0, -15.0, 75.0, 400, 300),
)
SLOPE = Attitude(heading=33.0, pitch=9.0, roll=-4.0)

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def level(virlton: City) -> Image:
    street = cast("OfflineStreetView", virlton.streetview)
    return street.panorama_image("vt-00042", WIDTH)


def axes_of(held: Attitude) -> tuple[Floats, Floats, Floats]:
    """Right, up and forward of a camera among east, up and north, from the meaning of the three angles."""
    turn, tilt, lean = map(radians, (held.heading, held.pitch, held.roll))
    forward = np.array([sin(turn) * cos(tilt), sin(tilt), cos(turn) * cos(tilt)])
    level_right = np.array([cos(turn), 0.0, -sin(turn)])
    level_up = np.cross(forward, level_right)
    right = cos(lean) * level_right - sin(lean) * level_up
    return right, np.cross(forward, right), forward


def turned(level: Image, held: Attitude) -> Image:
    """A level panorama whose centre looks north, as a camera that was held so would have taken it."""
    height, width = level.shape[:2]
    turn = ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    lift = (0.5 - (np.arange(height) + 0.5) / height)[:, None] * np.pi
    right, up, forward = axes_of(held)
    rays = (
        (np.cos(lift) * np.sin(turn))[..., None] * right
        + np.broadcast_to(np.sin(lift), (height, width))[..., None] * up
        + (np.cos(lift) * np.cos(turn))[..., None] * forward
    )
    columns = (np.arctan2(rays[..., 0], rays[..., 2]) / (2 * np.pi) + 0.5) * width - 0.5
    rows = (0.5 - np.arcsin(np.clip(rays[..., 1], -1, 1)) / np.pi) * height - 0.5
    seen = cv2.remap(
        level,
        columns.astype(np.float32),
        rows.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_WRAP,
    )
    return np.asarray(seen, np.uint8)


def shift(one: Image, other: Image) -> float:
    """How many pixels two views of the same are apart, at the worst of four quarters."""
    worst = 0.0
    height, width = one.shape[0] // 2, one.shape[1] // 2
    for top in (0, height):
        for left in (0, width):
            parts = [
                cv2.cvtColor(view, cv2.COLOR_RGB2GRAY)[top : top + height, left : left + width].astype(float)
                for view in (one, other)
            ]
            (x, y), _ = cv2.phaseCorrelate(parts[0], parts[1], cv2.createHanningWindow((width, height), 6))
            worst = max(worst, float(np.hypot(x, y)))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("camera", CAMERAS)
def test_views_of_a_tilted_panorama_equal_those_of_the_level_one(level: Image, camera: Camera) -> None:
    straight = perspective(equirectangular(level), camera)
    tilted = turned(level, SLOPE)
    righted = perspective(equirectangular(tilted, attitude=SLOPE), camera)
    assert shift(straight, righted) < 0.5
    assert shift(straight, perspective(equirectangular(tilted, SLOPE.heading), camera)) > 5


@pytest.mark.slow
def test_the_server_gives_tilted_panoramas_and_the_client_rights_them(virlton: City) -> None:
    odd = parse_oddities("tilted:1")
    held = attitude_of(virlton.streetview.panorama("vt-00042"), odd)
    assert abs(held.pitch) > 1, "another panorama would show more"
    serve = ServeOptions(lossless=True, odd=odd, panorama_width=WIDTH)
    with google_over(virlton, GoogleOptions(imagery="tiles"), serve) as google:
        for camera in CAMERAS[:2]:
            seen = google.city.streetview.view("vt-00042", camera).pixels
            drawn = virlton.streetview.view("vt-00042", camera).pixels
            assert shift(drawn, seen) < 1
            assert np.abs(drawn.astype(int) - seen.astype(int)).mean() < 8
