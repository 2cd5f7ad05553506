"""Agents in a city of open services say in their reports what nobody has told there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.options import MapServeOptions, UploadOptions
from servers.town import served_open
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app
from virl.platform.providers.cities import open_city


@pytest.fixture
def city_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    town = open_city("virlton")
    told = {"title": "Open", "about": "Served here", "provider": "open", "places": "overpass", "maps": "osrm"}
    told["center"] = f"[{town.center.lat}, {town.center.lng}]"
    with served_open(town, "virlton", UploadOptions(), MapServeOptions()) as servers:
        file = tmp_path / "open.yaml"
        file.write_text("".join(f"{name}: {value}\n" for name, value in (told | servers.fields).items()))
        yield file


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["aria", "diego", "hiro"])
def test_reports_say_that_nobody_has_rated_anything(agent: str, city_file: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    more = ["--set", "limits.steps=3"] if agent == "hiro" else []
    done = CliRunner().invoke(app, ["run", agent, "--city", str(city_file), "--out", str(run), *more])
    assert done.exit_code in {0, 1}, done.output
    said = " ".join((run / "report.html").read_text().split())
    assert "OpenStreetMap contributors (ODbL 1.0)" in said
    if agent != "hiro":
        assert "Open has no reviews, ratings or prices" in said
