"""What is seen of the ground: marked crossings, kerbs and pavements, in pictures drawn here."""

from collections.abc import Callable
from math import cos, radians, sin

import numpy as np
import pytest
from numpy.typing import NDArray

from virl.platform.city.streetview import Camera, View
from virl.platform.perception.ground import (
    CAMERA_HEIGHT_M,
    GroundPatch,
    find_zebras,
    ground_patch,
    strips_beside,
)

Floats = NDArray[np.float64]
Colours = Callable[[Floats, Floats], Floats]
ASPHALT, SLABS, PAINT = (70, 70, 74), (170, 168, 160), (215, 215, 212)
LAWN, SAND = (80, 130, 50), (200, 175, 130)


def view_of(ground: Colours, pitch: float = -20.0) -> View:
    """The view of a flat ground: its colours by metres to the right and ahead; the sky is blue."""
    camera = Camera(0.0, pitch, 90.0)
    columns, rows = np.meshgrid(np.arange(640) + 0.5, np.arange(640) + 0.5)
    right, up = (columns - 320) / camera.focal, (320 - rows) / camera.focal
    tilt = radians(pitch)
    forward, rise = cos(tilt) - up * sin(tilt), sin(tilt) + up * cos(tilt)
    down = np.where(rise < -1e-6, -rise, np.nan)
    x, y = right * CAMERA_HEIGHT_M / down, forward * CAMERA_HEIGHT_M / down
    with np.errstate(invalid="ignore"):
        pixels = ground(x, y)
    pixels[np.isnan(x)] = (120, 170, 230)
    return View("made", camera, pixels.astype(np.uint8))


def painted(where: Callable[[Floats, Floats], NDArray[np.bool_]], paint=PAINT, ground=ASPHALT) -> Colours:
    def colours(x: Floats, y: Floats) -> Floats:
        return np.where(where(x, y)[..., None], paint, ground).astype(float)

    return colours


def zebra(at: tuple[float, float], turn: float, stripes: int = 5, gap: float = 0.5) -> Colours:
    """Stripes of 0.5 by 3 m around a point, which run `turn` degrees clockwise from straight ahead."""
    t = radians(turn)

    def inside(x: Floats, y: Floats) -> NDArray[np.bool_]:
        along = (x - at[0]) * sin(t) + (y - at[1]) * cos(t)
        across = (x - at[0]) * cos(t) - (y - at[1]) * sin(t)
        width = stripes * 0.5 + (stripes - 1) * gap
        place = across + width / 2
        return (abs(along) < 1.5) & (place > 0) & (place < width) & (place % (0.5 + gap) < 0.5)

    return painted(inside)


def patch_of(ground: Colours) -> GroundPatch:
    return ground_patch(view_of(ground))


def test_a_patch_is_the_ground_from_above() -> None:
    patch = patch_of(painted(lambda x, y: (x > 1.0) & (x < 3.0) & (y > 6.0) & (y < 9.0)))
    rows, columns = np.nonzero(patch.pixels.mean(axis=2) > 140)
    assert patch.metres_right(columns.min()) == pytest.approx(1.0, abs=0.15)
    assert patch.metres_right(columns.max() + 1) == pytest.approx(3.0, abs=0.15)
    assert patch.metres_ahead(rows.max() + 1) == pytest.approx(6.0, abs=0.15)
    assert patch.metres_ahead(rows.min()) == pytest.approx(9.0, abs=0.3)


@pytest.mark.parametrize("turn", [0.0, 25.0, 60.0, 90.0, 135.0])
@pytest.mark.parametrize("at", [(0.0, 7.0), (-2.5, 9.0), (2.0, 11.0)])
def test_a_crossing_is_found_where_it_is_whichever_way_it_lies(at: tuple[float, float], turn: float) -> None:
    found = find_zebras(patch_of(zebra(at, turn)))
    assert len(found) == 1
    assert (found[0].aside, found[0].ahead) == pytest.approx(at, abs=0.4)
    assert abs((found[0].turn - turn + 90.0) % 180.0 - 90.0) < 8.0
    assert 3 <= found[0].stripes <= 5


@pytest.mark.parametrize(
    "ground",
    [
        zebra((0.0, 8.0), 0.0, stripes=2),
        painted(lambda x, y: (abs(x) < 0.08) & (y % 9.0 < 3.0)),  # a dashed centre line
        painted(lambda x, y: (x % 0.6 > 0.06) & (y % 0.6 > 0.06), SLABS, (140, 138, 132)),  # slabs
        painted(lambda x, _: abs(x) < 1.0, SLABS, LAWN),  # a path through a lawn
        painted(lambda x, y: (abs(x) < 2.0) & (y % 1.0 < 0.5), SAND),  # stripes that are not of paint
    ],
)
def test_other_marks_are_no_crossing(ground: Colours) -> None:
    assert find_zebras(patch_of(ground)) == []


def strips(ground: Colours) -> list[tuple[float, float | None, str]]:
    patch = ground_patch(view_of(ground, pitch=-35.0), aside=(-3.0, 3.0), ahead=(0.8, 12.0))
    return [(one.near, one.far, one.surface) for one in strips_beside(patch)]


def test_kerb_and_pavement_are_measured() -> None:
    def ground(_: Floats, y: Floats) -> Floats:
        near = np.where((y < 7.5)[..., None], SLABS, LAWN)
        return np.where((y < 4.0)[..., None], ASPHALT, near).astype(float)

    road, pavement, lawn = strips(ground)
    assert road[1] == pytest.approx(4.0, abs=0.15)
    assert road[2] == "paved"
    assert pavement[0] == road[1]
    assert pavement[1] == pytest.approx(7.5, abs=0.2)
    assert pavement[2] == "paved"
    assert lawn[1:] == (None, "grass")


def test_ground_of_one_kind_has_no_edge() -> None:
    assert strips(painted(lambda x, _: x > 1e9, ground=SAND)) == [
        (pytest.approx(0.8, abs=0.15), None, "gravel")
    ]
