"""What a run lacks is told before anything is written or asked for: a page of street view, a detector."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.main import app


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (["--detector", "recorded"], "detector recorded: recorded-boxes.jsonl"),
        ([], "the detector `rendered` knows only towns that virl draws, and this city is none"),
        (
            ["--detector", "simulated"],
            "the simulated detector needs the ground truth of a made city, and this city has none",
        ),
    ],
)
@pytest.mark.parametrize("agent", ["rx399", "imani", "mira", "otto"])
def test_a_detector_that_is_not_there_is_told_before_anything_is_asked(
    agent: str, chosen: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker-that-must-not-leak")
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    asked = ["run", agent, "--city", "virlton-http", *chosen, "--out", "run"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_city_that_no_page_shows_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker-that-must-not-leak")
    done = CliRunner().invoke(app, ["run", "hiro", "--mover", "web", "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "mover 'web' does not work in Virlton: no web page shows its street view" in done.stderr
    assert not (tmp_path / "run").exists()
