"""Strangers start where a town has the most shops and places; refusals name the nearest panorama."""

import json
from pathlib import Path

import numpy as np
import pytest
from odd_extracts import MIDDLE, OddTown
from real_data import real_data
from typer.testing import CliRunner

from virl.cli.main import app
from virl.errors import NoStreetView
from virl.geo.globe import LatLng, LocalFrame, destination, distance
from virl.osm import extract as extracts
from virl.osm.towns import busiest_town, towns_in
from virl.platform.city.city import City
from virl.platform.city.starts import PART_M, liveliest, start_near
from virl.platform.providers import open_city

FRAME = LocalFrame(MIDDLE)
FAR_M = 4000.0


def row(town: OddTown, y: float, shops: int, **tags: str) -> int:
    """A street 4 km east of the first ones, with shops along it, 20 metres apart; gives its western end."""
    end = town.n(FAR_M, y)
    town.w([end, town.n(FAR_M + 400, y)], **tags)
    for number in range(shops):
        town.n(FAR_M + 20 * number, y + 6, shop="toys", name=f"Toys {y:g} {number}")
    return end


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two places, and a busier town beyond fields."""
    town = OddTown()
    town.n(0, 0, place="village", name="Oddham")
    town.n(FAR_M, 0, place="town", name="Fairview")
    lane = [
        row(town, 0, 4, highway="residential", name="Low Street"),
        row(town, 100, 12, highway="footway", name="Back Passage"),
        row(town, 120, 3, highway="pedestrian", name="Market Street"),
        row(town, 300, 6, highway="residential"),
    ]
    town.w(lane, highway="residential", name="Long Lane")
    around = [town.n(150, -2500), town.n(FAR_M, -2500)]
    town.w([town.north_end, town.n(150, 150), *around, lane[0]], highway="tertiary")
    path = tmp_path_factory.mktemp("start") / "two.osm"
    path.write_text(town.xml(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def city(file: Path) -> City:
    return open_city(str(file))


def test_the_start_is_the_street_with_most_in_the_part_with_most(city: City) -> None:
    spot = liveliest(city)
    assert spot is not None
    assert spot.street == "Market Street"
    assert spot.places == 25
    assert str(spot) == "Market Street, the liveliest part: 25 shops and places within 600 m"
    x, y = FRAME.point(spot.panorama.position)
    assert (x, y) == (pytest.approx(FAR_M, abs=150), pytest.approx(120, abs=5))


def test_a_part_around_a_position_has_its_own(file: Path) -> None:
    spot = liveliest(open_city(f"{file}@{MIDDLE.lat},{MIDDLE.lng}"))
    assert spot is not None
    assert (spot.street, spot.places) == ("East", 2)


def test_the_middle_can_be_looked_at_where_it_lies_in_fields(city: City) -> None:
    assert city.streetview.nearest(city.center, 50.0)
    assert city.look(city.center).pixels.any()
    assert not city.choice


def test_a_refused_start_is_told_with_the_nearest_panorama(city: City, file: Path, tmp_path: Path) -> None:
    middle = FRAME.position(FAR_M / 2, -1000)
    at = f"{middle.lat:.6f},{middle.lng:.6f}"
    done = CliRunner().invoke(
        app, ["run", "hiro", "--city", str(file), "--at", at, "--out", str(tmp_path / "a")]
    )
    assert done.exit_code == 2
    assert "no street view within 800 m of the start in Two" in done.output
    nearest = LatLng(*map(float, done.output.partition("m off, at ")[2].split(", ")))
    assert distance(nearest, middle) == pytest.approx(1500, abs=10)
    assert city.streetview.nearest(nearest, 1.0)


def test_a_file_of_a_country_gives_its_busiest_town(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    monkeypatch.setattr(extracts, "is_large", lambda path: path == file)
    city = open_city(str(file))
    spot, town = liveliest(city), busiest_town(file)
    assert spot is not None
    assert town == towns_in(file)[0]
    assert town.name == "Fairview"
    assert spot.street == "Market Street"
    assert distance(city.center, town.position) < 400
    assert city.choice == (
        "two.osm holds more than one town, and this is the busiest, Fairview: choose another one with "
        f"--around LAT,LNG, `virl cities --from {file}` lists them"
    )
    out = tmp_path / "run"
    done = CliRunner().invoke(
        app, ["run", "hiro", "--city", str(file), "--set", "limits.steps=1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    first = json.loads((out / "journal.jsonl").read_text("utf-8").splitlines()[0])
    assert first["start_reason"] == f"{spot}; {city.choice}"
    assert "the busiest, Fairview" in (out / "report.html").read_text("utf-8")


def test_a_made_town_has_a_liveliest_street_too() -> None:
    city = open_city("virlmouth")
    spot = liveliest(city)
    assert spot is not None
    assert spot.street
    around = [sum(distance(one, other) <= PART_M for other in city.life) for one in city.life[::20]]
    assert spot.places > np.percentile(around, 80)


def test_a_start_far_from_a_city_on_the_network_is_told_its_middle(city: City) -> None:
    far = destination(city.center, 0, 5000)
    for center, is_told in ((city.center, True), (far, False)):
        network = City("a", "A", center, city.streetview, city.places, city.maps)
        assert liveliest(network) is None
        with pytest.raises(NoStreetView) as fault:
            start_near(network, far, "the start")
        assert (f", such as {center}" in str(fault.value)) == is_told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "street", "least"),
    [
        ("helsinki.osm.pbf", "Mannerheimintie", 800),
        ("liechtenstein.osm.pbf", "Landstrasse", 80),
        ("liechtenstein.osm.pbf@47.1410,9.5215", "Städtle", 70),
        ("moscow.osm.gz", "улица Руставели", 10),
    ],
)
def test_real_towns_have_a_shopping_street_to_start_on(part: str, street: str, least: int) -> None:
    folder = real_data("osm")
    city = open_city(str(folder / part))
    spot = liveliest(city)
    assert spot is not None
    assert (spot.street, spot.places >= least) == (street, True)
    assert city.look(city.center).pixels.any()
    assert ("holds more than one town" in city.choice) == (part == "liechtenstein.osm.pbf")
