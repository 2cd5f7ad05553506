"""Fronts drawn as if one stood before them: the right way round, in scale, and readable from afar."""

from math import cos, radians, sin

import numpy as np
import pytest

from virl.geo.globe import distance
from virl.platform.city.streetview import MIN_FOV, Camera, View
from virl.platform.navigators.sight.looking import SignLooks
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.perception.fronts import HIGH_M, PER_M, WALL_M, FrontPiece, Side, pieces_of
from virl.platform.perception.ground import CAMERA_HEIGHT_M
from virl.platform.perception.models import Models
from virl.platform.providers.cities import open_city

BOARD = (25.0, 27.0, 3.0, 4.0)
"""Metres along the street, from and to; and up, from and to."""


def wall_view(piece: FrontPiece) -> View:
    """A street with grey walls and a red board on the side of the piece, blue at its far end."""
    camera = piece.camera
    columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
    right, up = (columns - camera.width / 2) / camera.focal, (camera.height / 2 - rows) / camera.focal
    turn, pitch = radians(camera.heading - piece.heading), radians(camera.pitch)
    level, rise = cos(pitch) - up * sin(pitch), sin(pitch) + up * cos(pitch)
    ahead, aside = level * cos(turn) - right * sin(turn), level * sin(turn) + right * cos(turn)
    to_wall = WALL_M / np.abs(aside)
    along, high = ahead * to_wall, rise * to_wall + CAMERA_HEIGHT_M
    pixels = np.full((*columns.shape, 3), 128, np.uint8)
    on = (along > BOARD[0]) & (along < BOARD[1]) & (high > BOARD[2]) & (high < BOARD[3])
    pixels[on & (np.sign(aside) == (1 if piece.side == "right" else -1))] = (220, 30, 30)
    pixels[(pixels[..., 0] == 220) & (along > 26.5)] = (30, 30, 220)
    return View("made", camera, pixels)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("heading", [0.0, 137.0, 355.0])
def test_a_front_is_the_right_way_round_and_in_scale(heading: float, side: Side) -> None:
    piece = FrontPiece(heading, side, 20.0, 30.0)
    view = wall_view(piece)
    front = piece.unroll(view)
    assert front.shape[1] == 10 * PER_M
    coloured = (front.max(axis=2).astype(int) - front.min(axis=2)) > 90
    rows, columns = np.nonzero(coloured)
    assert (columns.max() - columns.min()) / PER_M == pytest.approx(2.0, abs=0.15)
    assert HIGH_M - rows.min() / PER_M == pytest.approx(BOARD[3], abs=0.1)
    assert HIGH_M - rows.max() / PER_M == pytest.approx(BOARD[2], abs=0.1)
    first = columns.min() / PER_M
    assert first == pytest.approx(5.0 if side == "left" else 3.0, abs=0.15)
    blue = np.nonzero(front[..., 2] > 180)[1]
    assert (blue.mean() > columns.mean()) == (side == "left"), "the far end is to the right of a left wall"
    left, top, right, bottom = piece.box(
        (float(columns.min()), float(rows.min()), float(columns.max()), float(rows.max()))
    )
    seen = np.nonzero(view.pixels.max(axis=2).astype(int) - view.pixels.min(axis=2) > 90)
    assert (left, right) == pytest.approx((seen[1].min(), seen[1].max()), abs=4.0)
    assert (top, bottom) == pytest.approx((seen[0].min(), seen[0].max()), abs=4.0)


def test_a_street_is_cut_on_both_sides_and_no_view_is_narrower_than_may_be() -> None:
    pieces = pieces_of(90.0, (12.0, 20.0, 30.0, 56.0))
    assert [(one.side, one.near, one.far) for one in pieces] == [
        (side, near, far) for side in ("left", "right") for near, far in ((12, 20), (20, 30), (30, 56))
    ]
    assert all(one.camera.fov >= MIN_FOV and one.camera.width <= 1280 for one in pieces)


@pytest.mark.slow
def test_names_far_down_a_street_are_read() -> None:
    city, models = open_city("virlmouth"), Models()
    looks = SignLooks(city.streetview, models.reader("sign-reader"), models.lexicon("sign-lexicon"))
    assert city.street_map is not None
    assert city.truth is not None
    due = read = 0
    crossings = [
        name for name in city.street_map.panorama_ids() if city.streetview.panorama(name).is_crossing
    ]
    for pano_id in crossings[40:48]:
        here = city.streetview.panorama(pano_id)
        for link in here.links:
            texts = [one.sign.text for one in looks.fronts(pano_id, link)]
            ahead = Camera(link.heading, 5.0, 60.0, 1280, 1280)
            for sign in city.truth.visible(pano_id, ahead, kinds={"sign"}):
                if sign.place_id is None or sign.on_directory or sign.visible_fraction < 0.5:
                    continue
                place = city.places.details(sign.place_id)
                if 15.0 <= distance(here.position, place.position) <= 40.0 and place.name.isascii():
                    due += 1
                    read += any(name_likeness(text, place.name) >= MIN_RESEMBLANCE for text in texts)
    assert due >= 10
    assert read >= due / 2
