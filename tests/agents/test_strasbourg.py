"""The run that needs a network alone, at servers of this machine: a made town stands in Strasbourg."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_extract import made_extract
from servers.options import MapServeOptions, UploadOptions
from servers.town import served_open
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app
from virl.geo.globe import LatLng, LocalFrame
from virl.platform.providers.cities import Access, opened_city
from virl.serve.city_server import ServedCity

CORNER = LatLng(48.5813, 7.7427)
"""225 m south-west of the city file's center, so that a town of 450 m lies around it."""
CENTER = LatLng(48.5833, 7.7458)
SECRETS = ("GOOGLE_MAPS_API_KEY", "MAPILLARY_ACCESS_TOKEN")


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ServedCity]]:
    """Panoramax, Overpass, Nominatim and OSRM; the environment names them in place of the public servers."""
    file = made_extract(tmp_path / "made.osm.pbf", size=6, frame=LocalFrame(CORNER))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
    with (
        opened_city(str(file), Access()) as town,
        served_open(town, str(file), UploadOptions(width=2048), MapServeOptions()) as served,
    ):
        for name, url in served.environment.items():
            monkeypatch.setenv(name, url)
        yield list(served.servers.values())


def virl(*arguments: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_hiro_has_lunch_on_open_pictures_without_any_key(services: list[ServedCity], tmp_path: Path) -> None:
    run = tmp_path / "run"
    virl("run", "hiro", "--city", "strasbourg", "--out", str(run))
    result = json.loads((run / "result.json").read_text())
    assert result["status"] == "entered"
    assert {"restaurant", "cafe", "bakery"} & set(result["place"]["types"])
    assert result["cost"]["usd"] == 0.0
    assert set(result["cost"]["requests"]["sent"]) >= {"overpass"}
    report = " ".join((run / "report.html").read_text().split())
    region = tmp_path / "region.txt"
    spots = [(0.0, 0.0), (0.0, 0.0006), (0.0006, 0.0006), (0.0006, 0.0)]
    region.write_text("".join(f"{CENTER.lat + up}, {CENTER.lng + east}\n" for up, east in spots))
    virl("gallery", str(run), "--out", str(tmp_path / "gallery.html"))
    virl("narrate", str(run))
    virl("collect", "places", "--city", "strasbourg", "--region", str(region), "--out", str(tmp_path / "set"))
    made = [
        report,
        result["notice"],
        (tmp_path / "gallery.html").read_text(),
        *(page.read_text() for page in run.rglob("narration.html")),
        (tmp_path / "set" / "card.json").read_text(),
    ]
    assert len(made) >= 5
    for named in ("OpenStreetMap contributors (ODbL 1.0)", "Ada Driver", "CC-BY-SA-4.0", "etalab-2.0"):
        assert all(named in text for text in made), named
    assert "this city has no reviews, so it is not known whether it is as wished" in report
    assert all(server.stats()["repeated"] == {} for server in services)
    kept = [file.parent for file in (tmp_path / "data").rglob("pictures/**/*.jpg")]
    assert kept
    assert all((folder / "credit.json").is_file() for folder in kept)
