"""What is missing for a collection is said before anything is asked of a provider."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.main import app


def test_a_recognizer_that_is_not_installed_is_known_before_the_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "made")
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:9")  # nobody answers there
    asked = ("collect", "places", "--city", "hong-kong", "--recognizer", "siglip")
    done = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "hong-kong")])
    assert done.exit_code == 2, done.output
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("virl: recognizer siglip: ")
    assert not list(tmp_path.rglob("places*"))
