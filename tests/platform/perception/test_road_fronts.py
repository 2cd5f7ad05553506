"""Fronts down a road are found by the pixels of their boards, however small, and placed by their height."""

from collections.abc import Sequence

import numpy as np
import pytest
from made_streets import FRAME

from virl.geo.globe import bearing, distance
from virl.platform.city.streetview import Box, Image, View
from virl.platform.perception.detectors.front_finder import BoardsByText, FrontFinder, FrontFinderSettings
from virl.platform.perception.road_sight import BOARD_M, REACH_M, far_camera, sight_in

SETTINGS = FrontFinderSettings(
    kind="front-finder",
    reader="rapidocr",
    detector="rendered",
    line_share=0.5,
    first_look=0.4,
    second_look=0.4,
)
HERE = FRAME.position(0.0, 0.0)


class WhiteLines:
    """Finds the white line in each picture."""

    def find(self, images: Sequence[Image]) -> list[list[Box]]:
        """Return the box around all that is white."""
        found = []
        for pixels in images:
            rows, columns = np.nonzero((pixels == 255).all(axis=2))
            box = (float(columns.min()), float(rows.min()), columns.max() + 1.0, rows.max() + 1.0)
            found.append([box])
        return found


def road(metres: float, aside: int = 0) -> View:
    """Return a view to the east with a line of text on a board so far off."""
    camera = far_camera(90.0)
    line = round(BOARD_M * camera.focal / metres * SETTINGS.line_share)
    pixels = np.zeros((camera.height, camera.width, 3), np.uint8)
    top, left = camera.height // 2 - line // 2, camera.width // 2 - 20 + aside
    pixels[top : top + line, left : left + 40] = 255
    return View("made", camera, pixels)


def finder() -> FrontFinder:
    return FrontFinder(SETTINGS, BoardsByText(WhiteLines(), SETTINGS))


@pytest.mark.parametrize("metres", [30.0, 80.0])
def test_a_board_is_placed_by_its_height_and_its_direction(metres: float) -> None:
    [front] = sight_in(road(metres), HERE, finder()).fronts
    assert front.metres == pytest.approx(metres, rel=0.1)
    assert distance(HERE, front.position) == pytest.approx(front.metres, abs=0.1)
    assert bearing(HERE, front.position) == pytest.approx(90.0, abs=0.5)
    [right] = sight_in(road(metres, aside=200), HERE, finder()).fronts
    assert 95.0 < bearing(HERE, right.position) < 102.0


def test_a_board_beyond_the_reach_is_left_out() -> None:
    assert sight_in(road(REACH_M * 2), HERE, finder()).fronts == ()


def test_the_finder_finds_signs_alone() -> None:
    assert finder().detect([road(50.0)], ["bench"]) == [[]]
    [[sign]] = finder().detect([road(50.0)], ["sign", "bench"])
    assert sign.label == "sign"
