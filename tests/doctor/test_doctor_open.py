"""What the doctor finds out about a city of open data, asked over HTTP at servers of this machine."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_service import Reply, ScriptedService
from servers.options import MapServeOptions, UploadOptions
from servers.town import OpenTown, served_open
from typer.testing import CliRunner

from virl.cli.main import app
from virl.doctor import open_services
from virl.doctor.open_services import ask_open
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city, read_city
from virl.platform.providers.http.settings import Retries
from virl.platform.providers.open.city_file import OpenCity
from virl.serve.faults import Faults

CITY = """\
title: Open
about: Served here
provider: open
places: overpass
maps: osrm
center: [41.2508, -38.7570]
polygon: [[41.249, -38.760], [41.249, -38.754], [41.253, -38.754], [41.253, -38.760]]
"""
SMALL = UploadOptions(width=512)


@pytest.fixture(scope="module")
def town() -> City:
    town = open_city("virlton")
    _ = town.streetview.view("vt-00042", Camera(0, width=64, height=48)).pixels  # the first takes seconds
    return town


@pytest.fixture(scope="module")
def served(town: City) -> Iterator[OpenTown]:
    with served_open(town, "virlton", SMALL, MapServeOptions()) as servers:
        yield servers


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PANORAMAX", "MAPILLARY", "OVERPASS", "NOMINATIM", "OSRM", "VALHALLA", "GOOGLE_BASE"):
        monkeypatch.delenv(f"VIRL_{name}_URL", raising=False)
    for name in ("GOOGLE_MAPS_API_KEY", "MAPILLARY_ACCESS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(open_services, "RETRIES", Retries(further=1, first_wait=0.01))
    (tmp_path / "open.yaml").write_text(CITY)
    return tmp_path


def file_of(home: Path, **told: str) -> OpenCity:
    file = home / "open.yaml"
    file.write_text(CITY + "".join(f"{name}: {value}\n" for name, value in told.items()))
    found = read_city(file)
    assert isinstance(found, OpenCity)
    return found


@pytest.mark.slow
def test_every_service_is_asked_and_the_pictures_of_the_polygon_are_counted(
    served: OpenTown, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, url in served.environment.items():
        monkeypatch.setenv(name, url)
    done = CliRunner().invoke(app, ["doctor", "--json", "--city", str(home / "open.yaml")])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["open"]
    assert [row["service"].partition(" ")[0] for row in rows] == [
        *("Panoramax", "Panoramax", "Overpass", "Nominatim", "OSRM")
    ]
    assert {row["status"] for row in rows} == {"reached"}, rows
    assert all(row["run"] for row in rows)
    assert "pictures per km2" in rows[0]["detail"]
    assert "etalab-2.0" in rows[0]["detail"]
    told = CliRunner().invoke(app, ["doctor", "--city", str(home / "open.yaml")]).stdout
    assert "open data: 4 of 4 services reached" in told
    for name, one in served.servers.items():
        assert one.stats()["repeated"] == {}, f"{name} is asked again for what is kept"


@pytest.mark.slow
def test_the_density_is_that_of_the_served_pictures(served: OpenTown, home: Path, town: City) -> None:
    from servers.uploads.uploads import Uploads

    file = file_of(home, panoramax_url=served.urls["panoramax"])
    inside = [one for one in Uploads(town, SMALL).all if file.region and file.region.contains(one.position)]
    pictures = next(iter(ask_open("open", file)))
    assert f"({len(inside):,} in" in pictures.detail
    assert "2022 to 2025" in pictures.detail


def test_who_does_not_answer_is_told_with_what_to_do(home: Path) -> None:
    nobody = {f"{name}_url": "http://127.0.0.1:9" for name in ("panoramax", "nominatim", "osrm")}
    rows = ask_open("open", file_of(home, **nobody, overpass_url="http://127.0.0.1:9/api/interpreter"))
    assert [row.status for row in rows] == ["unreachable"] * 4
    assert all(row.remedy for row in rows)


@pytest.mark.slow
def test_a_missing_token_is_a_finding(home: Path) -> None:
    row = next(iter(ask_open("open", file_of(home, streetview="mapillary"))))
    assert row.status == "not asked"
    assert "MAPILLARY_ACCESS_TOKEN" in row.detail
    assert "developers" in row.remedy


@pytest.mark.slow
def test_a_busy_service_and_a_refused_token_are_told_apart(
    town: City, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", "MLY|1|wrong-token-of-a-test")
    for status, verdict in (("429", "limited"), ("401", "refused"), ("500", "failing")):
        broken = Faults({status: 1.0})
        with served_open(
            town, "virlton", replace(SMALL, faults=broken), MapServeOptions(faults=broken), "mapillary"
        ) as servers:
            rows = ask_open("open", file_of(home, streetview="mapillary", **servers.fields))
        assert {row.status for row in rows} == {verdict}, rows
        assert "wrong-token-of-a-test" not in str(rows)


def test_parts_of_answers_that_cannot_be_read_are_counted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"lat": "41.2508", "lon": "-38.7570", "display_name": "Here", "address": "odd"}
    with ScriptedService({"/reverse": [Reply(address)]}) as server:
        nobody = dict.fromkeys(("PANORAMAX", "OVERPASS", "OSRM"), "http://127.0.0.1:9")
        for name, url in (nobody | {"NOMINATIM": f"{server.url}/search"}).items():
            monkeypatch.setenv(f"VIRL_{name}_URL", url)
        told = CliRunner().invoke(app, ["doctor", "--city", str(home / "open.yaml")]).stdout
    assert "Parts of answers that cannot be read: source | count | first reasons" in told
    assert "nominatim_reverse | 1 | address: Input should be a valid dictionary" in told
