"""What notebooks show: escaped, well-formed, and drawn to scale."""

import re
import xml.etree.ElementTree as ET

import pytest
from hostile_texts import TEXTS

from virl.geo import LatLng, destination
from virl.inline_html import card, length_m, map_svg, table

HERE = LatLng(60.17, 24.94)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_the_world_are_text(text: str) -> None:
    shown = card(text, [(text, text)], picture=table([text], [[text]]), notes=[text])
    shown += map_svg(text, path=[HERE, destination(HERE, 90, 50)])
    tree = ET.fromstring(f"<div>{shown}</div>")  # noqa: S314 - our own markup
    known = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "small"}
    drawn = {"svg", "title", "path", "circle"}
    assert {one.tag.rpartition("}")[2] for one in tree.iter()} <= known | drawn
    assert all(not name.startswith("on") for one in tree.iter() for name in one.attrib)


def test_facts_without_a_value_are_left_out() -> None:
    assert "place" not in card("Run", [("place", None), ("found", ""), ("steps", 0)])
    assert "steps" in card("Run", [("place", None), ("found", ""), ("steps", 0)])


def test_a_map_is_north_up_and_to_scale() -> None:
    path = [HERE, destination(HERE, 0, 400), destination(destination(HERE, 0, 400), 90, 200)]
    drawn = map_svg("Walk", path=path)
    data = re.findall(r'd="([^"]+)" stroke="#', drawn)
    (x0, y0), (x1, y1), (x2, _) = (map(float, at.split()) for at in data[0].strip("M").split("L"))
    assert x1 == pytest.approx(x0, abs=0.2)
    assert y1 < y0
    assert (x2 - x1) / (y0 - y1) == pytest.approx(0.5, rel=0.01)
    across = float(re.findall(r"([\d,]+) m across", drawn)[0].replace(",", ""))
    width = float(re.findall(r' width="(\d+)"', drawn)[0])
    assert (x2 - x1) / width * across == pytest.approx(200, rel=0.02)


def test_streets_far_from_a_path_are_left_out() -> None:
    path = [HERE, destination(HERE, 90, 100)]
    near, far = [HERE, destination(HERE, 0, 30)], [LatLng(61, 25), LatLng(61, 25.01)]
    assert map_svg("x", path=path, streets=[near, far]) == map_svg("x", path=path, streets=[near])
    assert map_svg("x", path=path, streets=[near]) != map_svg("x", path=path)


def test_lengths_and_nothing() -> None:
    assert length_m([HERE, destination(HERE, 30, 120)]) == pytest.approx(120, rel=1e-3)
    assert length_m([]) == 0.0
    assert map_svg("nothing") == ""
