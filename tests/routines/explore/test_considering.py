"""Deciding about a place that was seen."""

from types import SimpleNamespace
from typing import Any

import made_day_town as town
import numpy as np
import pytest

from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection
from virl.routines.explore.deciding import consider
from virl.routines.explore.looking import place_shown


def test_a_place_whose_id_is_gone_is_passed_by() -> None:
    listed = town.place("Din", "restaurant")
    agent: Any = SimpleNamespace(city=town.day_town())  # which knows the details of no place
    found = consider(agent, listed)
    assert (found.name, found.decision) == ("Din", "continue")
    assert "no longer knows" in found.reason


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Gasthaus Möller", "Gasthaus Möller"),
        ("Taquería", "Taquería Puerto"),  # whose sign hangs in the direction of the house beside it
        ("Ristorante", "Gasthaus Möller"),
        ("", "Gasthaus Möller"),
        ("Bistro Far", "Gasthaus Möller"),
    ],
)
def test_the_place_that_a_sign_names_goes_before_the_one_behind_it(text: str, name: str) -> None:
    here = town.FRAME.position(0.0, 0.0)
    nearby = [
        town.place("Gasthaus Möller", "restaurant", north=14.0),
        town.place("Taquería Puerto", "restaurant", east=-10.0),
        town.place("Bistro Far", "restaurant", east=-30.0),
    ]
    view = View("p", Camera(0.0, 0.0, 60.0), np.zeros((480, 640, 3), np.uint8))
    detection = Detection("restaurant", 0.95, (280.0, 200.0, 360.0, 260.0), text)
    shown = place_shown(here, view, detection, nearby)
    assert shown is not None
    assert shown.name == name
