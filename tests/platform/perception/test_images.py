from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Picture

from virl.errors import BadInput
from virl.files.pictures import rgb
from virl.platform.perception.images import clip_box, crop, decode, same_size_batches
from virl.platform.perception.models import Models

NUMBER = st.floats(-50, 150)


def file(mode, kind="PNG", size=(6, 4), colour=None):
    data = BytesIO()
    Picture.new(mode, size, colour if colour is not None else 0).save(data, kind)
    return data.getvalue()


def test_rgb_is_left_alone_and_other_pictures_become_rgb():
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert rgb(colours) is colours
    gray = np.arange(8, dtype=np.uint8).reshape(2, 4)
    for picture in (gray, gray[..., None]):
        assert np.array_equal(rgb(picture), np.dstack([gray] * 3))
    clear = np.dstack([colours, np.full((2, 4), 255, np.uint8)])
    assert np.array_equal(rgb(clear), colours)
    clear[0, 0, 3], clear[1, 1] = 0, (100, 0, 200, 51)
    assert rgb(clear)[0, 0].tolist() == [255, 255, 255]
    assert rgb(clear)[1, 1].tolist() == [224, 204, 244]  # a fifth of the colour on white


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.zeros((0, 4, 3), np.uint8), r"no pixels: its shape is \(0, 4, 3\)"),
        (np.zeros((4, 0), np.uint8), "no pixels"),
        (np.zeros((4, 4, 2), np.uint8), r"of shape \(4, 4, 2\) is no picture: give .* shape \(H, W, 3\)"),
        (np.zeros(4, np.uint8), r"of shape \(4,\) is no"),
        (np.zeros((1, 4, 4, 3), np.uint8), r"of shape \(1, 4, 4, 3\)"),
        (np.full((4, 4, 3), 1.5), "floats from 1.5 to 1.5 is no picture: give a path"),
        (np.full((4, 4, 3), np.nan), "floats from nan to nan"),
        (np.zeros((4, 4, 3), np.uint16), "an array of uint16 is no picture"),
        (np.zeros((4, 4), bool), "an array of bool"),
        (b"JPEG", "bytes is no picture: give a path, a PIL image, or an array"),
        (None, "NoneType is no picture"),
        ("missing.png", "missing.png: no such file"),
        (__file__, "test_images.py: not a readable picture"),
        (Picture.new("I;16", (4, 4)), "mode I;16 is not read: convert it"),
        (Picture.new("RGB", (0, 4)), "no pixels"),
    ],
)
def test_what_is_no_picture_is_refused(picture, message):
    with pytest.raises(BadInput, match=message) as fault:
        rgb(picture)
    assert "\n" not in str(fault.value)


def test_paths_pil_images_and_floats_are_pictures(tmp_path):
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    path = tmp_path / "picture.png"
    Picture.fromarray(colours).save(path)
    for same in (path, str(path), Picture.open(path), colours / 255, (colours / 255).astype(np.float32)):
        assert np.array_equal(rgb(same), colours)


@pytest.mark.parametrize("name", ["sign-detector", "rendered"])
def test_detectors_readers_and_describers_take_what_a_picture_is(name):
    models = Models()
    photograph = Picture.new("LA", (3000, 30), (120, 255))
    assert models.detector(name).detect([photograph, np.zeros((3, 900), np.float32)], []) == [[], []]
    assert models.reader("rapidocr").read([photograph]) == [[]]
    assert models.describer("sign-describer").describe([photograph])
    for one in (None, b"abc", np.zeros((4, 4), np.uint16)):
        for look in (models.keeping_detector(name).detect, models.describer("sign-describer").describe):
            with pytest.raises(BadInput, match="is no picture"):
                look([one], [])


@pytest.mark.parametrize("size", [(4, 640), (640, 4), (1, 1), (16, 2048), (1, 640), (100, 20_000)])
def test_strips_are_read_without_an_error(size):
    assert Models().reader("rapidocr").read([np.full(size, 90, np.uint8)]) == [[]]


@pytest.mark.parametrize(
    ("data", "colour"),
    [
        (file("RGB", colour=(10, 20, 30)), [10, 20, 30]),
        (file("L", colour=77), [77, 77, 77]),
        (file("RGBA", colour=(10, 20, 30, 255)), [10, 20, 30]),
        (file("RGBA", colour=(10, 20, 30, 0)), [255, 255, 255]),
        (file("LA", colour=(9, 0)), [255, 255, 255]),
        (file("1", colour=1), [255, 255, 255]),
        (file("P", "GIF", colour=0), [0, 0, 0]),
    ],
)
def test_files_of_every_mode_are_decoded_to_rgb(data, colour):
    picture = decode(data)
    assert picture.shape == (4, 6, 3)
    assert picture.dtype == np.uint8
    assert picture[0, 0].tolist() == colour


def test_a_picture_lying_on_its_side_is_turned():
    data, tags = BytesIO(), Picture.Exif()
    tags[0x0112] = 6  # the camera was turned by 90 degrees
    Picture.new("RGB", (6, 4)).save(data, "JPEG", exif=tags)
    assert decode(data.getvalue()).shape == (6, 4, 3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>no</html>",
        file("RGB")[:40],
        file("RGB", "JPEG", (64, 64))[:-60],
        b"\x89PNG\r\n\x1a\n" * 9,
    ],
)
def test_bytes_that_are_no_picture_are_refused(data):
    with pytest.raises(BadInput, match=f"{len(data)} bytes that are not a readable picture") as fault:
        decode(data)
    assert "\n" not in str(fault.value)


@pytest.mark.slow
def test_a_picture_too_large_to_be_true_is_not_decoded():
    claims_much = file("1", size=(20_000, 20_000))
    assert len(claims_much) < 100_000
    with pytest.raises(BadInput, match="too large"):
        decode(claims_much)


def test_a_crop_is_what_the_box_shows():
    picture = np.arange(10 * 20 * 3, dtype=np.uint8).reshape(10, 20, 3)
    assert np.array_equal(crop(picture, (2, 3, 6, 8)), picture[3:8, 2:6])
    assert np.array_equal(crop(picture, (2.9, 3.1, 5.1, 7.9)), picture[3:8, 2:6])
    assert np.array_equal(crop(picture, (2, 3, 6, 8), margin=0.5), picture[0:10, 0:8])
    assert np.array_equal(crop(picture, (-99, -99, 99, 99)), picture)


@pytest.mark.parametrize(
    "box",
    [
        (5, 5, 5, 8),
        (6, 5, 5, 8),
        (30, 0, 40, 5),
        (0, -9, 5, -1),
        (float("nan"), 0, 5, 5),
        (0, 0, float("inf"), 5),
    ],
)
@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_absurd_boxes_are_refused(box, margin):
    with pytest.raises(BadInput, match="is outside the picture of 20 x 10 pixels"):
        crop(np.zeros((10, 20, 3), np.uint8), box, margin)


@given(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER))
def test_a_clipped_box_is_the_common_part_of_box_and_picture(box):
    inside = clip_box(box, 64, 48)
    left, top, right, bottom = max(box[0], 0), max(box[1], 0), min(box[2], 64), min(box[3], 48)
    assert inside == ((left, top, right, bottom) if left < right and top < bottom else None)


def test_batches_hold_pictures_of_one_size_and_every_picture_once():
    shapes = [(4, 4, 3), (2, 4, 3), (4, 4, 3), (4, 4, 3), (2, 4, 3)]
    batches = list(same_size_batches([np.zeros(shape, np.uint8) for shape in shapes], 2))
    assert batches == [[0, 2], [3], [1, 4]]
