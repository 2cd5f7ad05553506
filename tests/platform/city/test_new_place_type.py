"""A type of place that nobody has, `observatory`, is one row of the table: all parts of virl then know it."""

import json
import os
import subprocess
import sys
from shutil import copytree
from typing import Any

import pytest

from virl.resources import data_root

pytestmark = pytest.mark.slow

ROW = """
  observatory:
    google: A
    osm: man_made=observatory + tourist_attraction
    overture: astronomical_observatory
    needs: stars, telescope*, stargaz*, night sky
    signs:
      names:
        en: observatory
        it: osservatorio
    trade:
      count: 60
      scope: leisure
      group: civic
      hours: always
      width: 7
      visitors: 90
      attributes: {crowded: 0.3, friendly: 0.8}
      items: dome, telescope, star map
      blade: Stars
      patterns:
        en: ["{p} Observatory", "{s} Observatory"]
"""
MAP = """<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6">
  <node id="1" lat="60.1700" lon="24.9400"/>
  <node id="2" lat="60.1700" lon="24.9420"/>
  <node id="3" lat="60.1710" lon="24.9410"/>
  <node id="4" lat="60.1690" lon="24.9410"/>
  <node id="5" lat="60.1700" lon="24.9410"/>
  <node id="6" lat="60.1702" lon="24.9413">
    <tag k="man_made" v="observatory"/><tag k="name" v="Hill Observatory"/>
  </node>
  <way id="1"><nd ref="1"/><nd ref="5"/><nd ref="2"/>
    <tag k="highway" v="residential"/><tag k="name" v="Star Street"/></way>
  <way id="2"><nd ref="3"/><nd ref="5"/><nd ref="4"/>
    <tag k="highway" v="residential"/><tag k="name" v="Moon Street"/></way>
</osm>
"""
CODE = """
import json, sys
from pathlib import Path

import virl.resources

data, extract, out = map(Path, sys.argv[1:])
virl.resources.data_root = lambda: data

import httpx

import virl
from virl.platform.providers.open.overture import types_of
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

TYPE = "observatory"
town, twin = virl.open_city("virlton"), virl.open_city(str(extract))
in_town = town.places.nearby(town.center, 3000.0, [TYPE])
with serve_city(town, ServeOptions()) as server:
    centre = {"latitude": town.center.lat, "longitude": town.center.lng}
    circle = {"circle": {"center": centre, "radius": 2000.0}}
    asked = {"locationRestriction": circle, "includedTypes": [TYPE]}
    head = {"X-Goog-FieldMask": "places.primaryType", "X-Goog-Api-Key": "any"}
    answer = httpx.post(f"{server.url}/v1/places:searchNearby", json=asked, headers=head, timeout=30)
for number, start in enumerate(in_town[:8]):  # some signs can be seen only from the other side of the street
    wish = "Hiro wants to look at the stars in an observatory."
    done = virl.run(
        "hiro",
        at=start.position,
        detector="simulated-high",
        fields={"intention": wish},
        steps=5,
        out=out / str(number),
    )
    if done.result.status == "entered":
        break
print(json.dumps({
    "town": len(in_town),
    "twin": [[place.name, place.types] for place in twin.places.nearby(twin.center, 500.0, [TYPE])],
    "google": [place["primaryType"] for place in answer.json()["places"]],
    "overture": types_of(["astronomical_observatory"]),
    "hiro": [done.result.status, done.result.place and done.result.place.id in {one.id for one in in_town}],
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What another process finds that reads a copy of the data with one row more."""
    folder = tmp_path_factory.mktemp("observatory")
    for name in ("agents", "prompts", "platform"):
        copytree(data_root() / name, folder / name)
    table = folder / "platform" / "place-types.yaml"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("\ntypes:\n", f"\ntypes:{ROW}", 1), encoding="utf-8")
    extract = folder / "hill.osm"
    extract.write_text(MAP, encoding="utf-8")
    words = [sys.executable, "-c", CODE, str(folder), str(extract), str(folder / "run")]
    environment = os.environ | {"NO_COLOR": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def test_a_made_town_has_it(found: dict[str, Any]) -> None:
    assert found["town"] > 10


def test_a_twin_has_it(found: dict[str, Any]) -> None:
    [[name, types]] = found["twin"]
    assert name == "Hill Observatory"
    assert types[:2] == ["observatory", "tourist_attraction"]


def test_overture_places_are_of_it(found: dict[str, Any]) -> None:
    assert found["overture"][:2] == ["observatory", "tourist_attraction"]


def test_a_search_on_the_google_server_finds_it(found: dict[str, Any]) -> None:
    assert set(found["google"]) == {"observatory"}


def test_hiro_finds_it(found: dict[str, Any]) -> None:
    assert found["hiro"] == ["entered", True]
