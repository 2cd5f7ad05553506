"""What an explorer learns from signs where he may look up every name."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from virl.geo.globe import LatLng, destination
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection
from virl.routines.explore.looking import Signposts, place_by_words

HERE = LatLng(60.17, 24.94)
PIXELS = np.zeros((640, 640, 3), np.uint8)


def place(name: str, metres: float, *types: str) -> Place:
    return Place(id=name, name=name, types=types, position=destination(HERE, 90.0, metres))


class Reads:
    """Reads these words in narrow views only: they are too far off for the wide one."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        signs = [Detection("sign", 0.9, (0, 0, 9, 9), text) for text in self.texts]
        return [signs if view.camera.fov < 40 else [] for view in views]


def described(known: set[str], *texts: str) -> str:
    places = [place("Gaijin", 30, "japanese_restaurant", "restaurant"), place("Novita", 20, "bank")]
    view = View("p", Camera(90.0), PIXELS)
    city = SimpleNamespace(
        streetview=SimpleNamespace(
            view=lambda pano, camera: View(pano, camera, PIXELS),
            panorama=lambda _: SimpleNamespace(position=HERE),
        ),
        places=SimpleNamespace(nearby=lambda *_: places),
    )
    agent: Any = SimpleNamespace(city=city, senses=SimpleNamespace(detector=Reads(*texts)))
    plain = SimpleNamespace(describe=lambda views, _: ["no shopfronts" for _ in views])
    return Signposts(agent, plain, known).describe([view], "restaurant")[0]


def test_names_down_a_road_are_looked_up() -> None:
    assert described(set(), "Gaijin", "Novita", "Nobody's") == (
        "no shopfronts; 'Gaijin' is a restaurant; 'Novita' is a bank"
    )
    assert described(set()) == "no shopfronts"


def test_a_place_that_was_considered_draws_nobody() -> None:
    assert described({"Gaijin"}, "Gaijin") == "no shopfronts"


def test_a_sign_may_hang_where_the_map_has_no_place_in_its_direction() -> None:
    sign = Detection("restaurant", 0.9, (0, 0, 9, 9), "Ravintola")
    near = [
        place("Ravintola Far", 30, "restaurant"),
        place("Ravintola Near", 10, "restaurant"),
        place("Ravintola Bank", 2, "bank"),
        place("Other", 1, "restaurant"),
    ]
    found = place_by_words(sign, HERE, "restaurant", near)
    assert found is not None
    assert found.name == "Ravintola Near"
    assert place_by_words(sign, HERE, "restaurant", near[2:]) is None
