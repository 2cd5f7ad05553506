"""Steps of a way: where it turns, and where it comes to another street."""

from itertools import pairwise

import pytest

from virl.geo.globe import LatLng, LocalFrame
from virl.serve.google.ways import steps_of

FRAME = LocalFrame(LatLng(60.17, 24.94))


def said(corners: list[tuple[float, float]], streets: list[str]) -> list[str]:
    steps = steps_of([FRAME.position(*corner) for corner in corners], streets, 1.0)
    assert sum(step.metres for step in steps) == pytest.approx(sum(step.seconds for step in steps))
    assert all(one.path[-1] == other.path[0] for one, other in pairwise(steps))
    return [step.instruction.replace("<b>", "").replace("</b>", "") for step in steps]


@pytest.mark.parametrize(
    ("corners", "streets", "told"),
    [
        ([(0, 0), (0, 100), (100, 100)], [], ["Head north", "Turn right"]),
        ([(0, 0), (0, 100), (100, 100)], ["A", "A"], ["Head north on A"]),  # a bend of one street
        ([(0, 0), (0, 100), (-100, 100)], ["A", "B"], ["Head north on A", "Turn left onto B"]),
        ([(0, 0), (0, 100), (0, 200)], ["A", "B"], ["Head north on A", "Continue onto B"]),
        ([(0, 0), (0, 9), (-50, 9), (-50, 15)], ["", "A", ""], ["Head north on A"]),  # to and from a door
        ([(0, 0), (0, 50), (5, 55), (60, 55)], ["A", "", "B"], ["Head north on A", "Turn right onto B"]),
        (
            [(0, 0), (0, 60), (2, 64), (6, 66), (60, 66)],  # a nameless path bends over several corners
            [""] * 4,
            ["Head north", "Turn right"],
        ),
        ([(0, 0), (0, 0)], [""], ["Arrive"]),
    ],
)
def test_steps(corners: list[tuple[float, float]], streets: list[str], told: list[str]) -> None:
    assert said(corners, streets) == told
