"""What notebooks show: escaped, well-formed, and drawn to scale."""

import re
import xml.etree.ElementTree as ET
from base64 import b64decode

import pytest
from hostile_texts import TEXTS

from virl.geo.globe import LatLng, destination
from virl.pages.notebooks import card, length_m, map_image, table

HERE = LatLng(60.17, 24.94)
DRAWN = {"svg", "title", "desc", "style", "text", "rect", "g", "path", "polyline", "polygon"}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_the_world_are_text(text: str) -> None:
    shown = card(text, [(text, text)], picture=table([text], [[text]]), notes=[text])
    shown += map_image(text, path=[HERE, destination(HERE, 90, 50)])
    tree = ET.fromstring(f"<div>{shown}</div>")  # noqa: S314 - our own markup
    known = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "small"}
    assert {one.tag for one in tree.iter()} <= known | {"img"}
    assert {one.tag.rpartition("}")[2] for one in ET.fromstring(drawing(shown)).iter()} <= DRAWN  # noqa: S314 - ours
    assert all(not name.startswith("on") for one in tree.iter() for name in one.attrib)


def test_facts_without_a_value_are_left_out() -> None:
    assert "place" not in card("Run", [("place", None), ("found", ""), ("steps", 0)])
    assert "steps" in card("Run", [("place", None), ("found", ""), ("steps", 0)])


def drawing(image: str) -> str:
    return b64decode(image.partition("base64,")[2].partition('"')[0]).decode()


def test_a_map_is_north_up_and_to_scale() -> None:
    path = [HERE, destination(HERE, 0, 400), destination(destination(HERE, 0, 400), 90, 200)]
    image = map_image("Walk", path=path)
    points = re.findall(r'class="path" points="([^"]+)"', drawing(image))[0].split()
    (x0, y0), (x1, y1), (x2, _) = (map(float, at.split(",")) for at in points)
    assert x1 == pytest.approx(x0, abs=0.2)
    assert y0 - y1 == pytest.approx(400, rel=0.01)
    assert x2 - x1 == pytest.approx(200, rel=0.01)
    assert float(re.findall(r"([\d,]+) m across", image)[0]) > 400


def test_streets_far_from_a_path_are_left_out() -> None:
    path = [HERE, destination(HERE, 90, 100)]
    near, far = [HERE, destination(HERE, 0, 30)], [LatLng(61, 25), LatLng(61, 25.01)]
    assert map_image("x", path=path, streets=[near, far]) == map_image("x", path=path, streets=[near])
    assert map_image("x", path=path, streets=[near]) != map_image("x", path=path)


def test_lengths_and_nothing() -> None:
    assert length_m([HERE, destination(HERE, 30, 120)]) == pytest.approx(120, rel=1e-3)
    assert length_m([]) == 0.0
    assert map_image("nothing") == ""
