from functools import cache
from itertools import product
from math import atan, degrees, radians, tan

import numpy as np
import PIL.Image
import py360convert
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import real_data

from virl.errors import BadInput
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.pictures import projection
from virl.platform.providers.pictures.projection import (
    PAD,
    equirectangular,
    flat_view,
    paste_tile,
    perspective,
    rays_of,
    sample_points,
)

WIDTH = 1024


def scene(east: np.ndarray, north: np.ndarray, up: np.ndarray) -> np.ndarray:
    """A smooth colour for every direction, different in each channel, with no seam and no pole."""
    return np.stack(
        [
            128 + 60 * np.sin(3 * east + 1) + 40 * np.cos(4 * north * up),
            128 + 80 * np.cos(2 * north - 1) * np.sin(3 * up + 0.5),
            128 + 50 * np.sin(4 * up * east) + 50 * north,
        ],
        axis=-1,
    )


def ray(heading: np.ndarray, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    heading, pitch = np.broadcast_arrays(np.radians(heading), np.radians(pitch))
    return np.cos(pitch) * np.sin(heading), np.cos(pitch) * np.cos(heading), np.sin(pitch)


@cache
def painted(width: int, yaw: float) -> Image:
    heading = yaw + (np.arange(width) + 0.5) / width * 360 - 180
    pitch = 90 - (np.arange(width // 2) + 0.5) / (width // 2) * 180
    return np.rint(scene(*ray(heading, pitch[:, None]))).astype(np.uint8)


def seen(camera: Camera) -> np.ndarray:
    """The colours that a camera sees, from the directions that it gives for its pixels one by one."""
    directions = np.array(
        [[camera.direction(x + 0.5, y + 0.5) for x in range(camera.width)] for y in range(camera.height)]
    )
    return scene(*ray(directions[..., 0], directions[..., 1]))


cameras = st.builds(
    Camera,
    heading=st.floats(0, 360),
    pitch=st.floats(-90, 90) | st.sampled_from([-90.0, 0.0, 90.0]),
    fov=st.floats(10, 120),
    width=st.integers(16, 30),
    height=st.integers(16, 30),
)


@pytest.mark.slow
@settings(max_examples=60)
@given(cameras, st.sampled_from([0.0, 123.4, 359.9]))
def test_a_view_shows_the_analytic_scene(camera: Camera, yaw: float) -> None:
    view = perspective(equirectangular(painted(WIDTH, yaw), yaw), camera)
    # Half a level from each of two roundings, and what a bilinear sample of this scene misses.
    assert np.abs(view - seen(camera)).max() < 1.6


@pytest.mark.parametrize(("heading", "pitch"), [(180.0, 0.0), (0.0, 90.0), (77.0, -90.0), (179.99, 60.0)])
def test_seam_and_poles_are_as_smooth_as_the_rest(heading: float, pitch: float) -> None:
    camera = Camera(heading, pitch, fov=12, width=120, height=120)
    view = perspective(equirectangular(painted(256, 0.0)), camera).astype(int)
    assert max(np.abs(np.diff(view, axis=axis)).max() for axis in (0, 1)) <= 3
    assert np.abs(view - seen(camera)).max() < 3


def test_a_heading_turns_the_panorama_and_nothing_else() -> None:
    panorama, turned = (equirectangular(painted(512, yaw), yaw) for yaw in (0.0, 90.0))
    first, second = (
        perspective(each, Camera(33.0, 10.0, width=64, height=48)) for each in (panorama, turned)
    )
    assert np.abs(first.astype(int) - second).max() <= 1


def test_the_column_of_the_yaw_is_in_the_middle() -> None:
    pixels = np.zeros((128, 256, 3), np.uint8)
    pixels[:, 126:130] = 255
    view = perspective(equirectangular(pixels, yaw=250.0), Camera(250.0, fov=60, width=101, height=51))
    bright = np.flatnonzero(view[25, :, 0] > 128)
    assert bright.mean() == 50


def test_a_picture_of_another_shape_is_refused() -> None:
    with pytest.raises(BadInput, match="100x60 pixels is not twice as wide"):
        equirectangular(np.zeros((60, 100, 3), np.uint8))


attitudes = st.builds(Attitude, st.floats(0, 360), st.floats(-80, 80), st.floats(-60, 60))


@settings(max_examples=100)
@given(cameras, attitudes)
def test_rays_meet_the_panorama_where_they_should(camera: Camera, attitude: Attitude) -> None:
    width = 16384
    columns, rows = sample_points(attitude, camera, width, width // 2)
    right, up, forward = (axis.astype(float) for axis in rays_of(camera, attitude))
    level = np.hypot(right, forward)
    off = (columns - (np.arctan2(right, forward) / np.pi * width / 2 + width / 2 - 0.5)) % width
    straight = level > 0.01 * np.sqrt(level**2 + up**2)  # at a pole all columns are one point
    assert np.minimum(off, width - off)[straight].max(initial=0) < 0.2
    assert np.abs(rows - (-np.arctan2(up, level) / np.pi * width / 2 + width / 4 - 0.5 + PAD)).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    "camera",
    [
        Camera(0.0, 0.0, 60.0, 400, 300),
        Camera(133.0, 25.0, 90.0, 400, 300),
        Camera(271.0, -35.0, 40.0, 300, 400),
        Camera(181.0, 70.0, 100.0, 320, 320),
    ],
)
def test_views_of_a_real_panorama_are_those_of_py360convert(camera: Camera) -> None:
    with PIL.Image.open(real_data("photos") / "panorama.jpg") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    view = perspective(equirectangular(pixels), camera).astype(int)
    # Its first and last pixels look along the edges of the field of view, and ours half a pixel inside.
    half = tan(radians(camera.fov / 2)) / camera.width
    across, up = (degrees(2 * atan(half * (side - 1))) for side in (camera.width, camera.height))
    wanted = py360convert.e2p(
        pixels, (across, up), camera.heading, camera.pitch, (camera.height, camera.width)
    )
    apart = np.abs(view - wanted.astype(int)).max(axis=2)
    assert np.median(apart) <= 1
    around = np.stack(
        [np.roll(wanted, shift, axis=(0, 1)) for shift in product((-1, 0, 1), repeat=2)]
    ).astype(int)
    within = (view >= around.min(axis=0) - 2) & (view <= around.max(axis=0) + 2)
    assert within[1:-1, 1:-1].mean() >= 0.999, "the same view within a pixel"


@pytest.mark.parametrize("attitude", [Attitude(20.0), Attitude(20.0, 7.0, -3.0)])
def test_plain_samples_make_the_views_of_compiled_ones(
    attitude: Attitude, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (256, 512, 3), np.uint8)
    camera = Camera(203.0, 31.0, 100.0, 320, 240)

    def views() -> list[Image]:
        projection._level_points.cache_clear()
        place = np.zeros((200, 200, 3), np.uint8)
        paste_tile(place, noise, 200)
        turned = Attitude(camera.heading, camera.pitch + 3, attitude.roll)
        return [
            perspective(equirectangular(noise, attitude=attitude), camera),
            flat_view(noise, 110.0, turned, camera),
            place,
        ]

    assert projection.IS_COMPILED
    compiled = views()
    monkeypatch.setattr(projection, "IS_COMPILED", False)
    for plain, other in zip(views(), compiled, strict=True):
        off = np.abs(plain.astype(int) - other)
        assert off.max() <= 1
        assert (off > 0).mean() < 1e-4, "a tie may be rounded the other way"
