"""The mover `web` in a city: it shows the city's own street view, or says that no page does."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.main import app


def test_a_city_that_no_page_shows_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker-that-must-not-leak")
    done = CliRunner().invoke(app, ["run", "hiro", "--mover", "web", "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "mover 'web' does not work in Virlton: no web page shows its street view" in done.stderr
    assert not (tmp_path / "run").exists()
