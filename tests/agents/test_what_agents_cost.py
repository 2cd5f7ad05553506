"""What each agent pays in a city over HTTP: no more than its ceiling, for the same result as in process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_google import MARKER_KEY
from typer.testing import CliRunner

from virl.cli.main import app
from virl.platform.providers.open import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import ServedCity, served

pytestmark = pytest.mark.slow

USD = {"hiro": 0.35, "local": 0.30, "ling": 0.40, "aria": 0.50, "diego": 2.00, "peng": 0.30}
"""Ceilings in dollars, at the list prices of `platform/providers/google.yaml`."""
SAME = ("hiro",)
"""Who ends as in process; others read smaller views, know fewer places, or go round the other way."""
MORE = {"hiro": ("--set", "limits.steps=12")}


@pytest.fixture(scope="module")
def server() -> Iterator[ServedCity]:
    with served(open_city("virlton"), ServeOptions()) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: ServedCity) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    server.reset()


def run(agent: str, city: str, out: Path) -> dict[str, Any]:
    command = ["run", agent, "--city", city, "--out", str(out), "--quiet", *MORE.get(agent, ())]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads((out / "result.json").read_text())
    return result


@pytest.mark.parametrize("agent", USD)
def test_an_agent_stays_below_its_ceiling(agent: str, server: ServedCity, tmp_path: Path) -> None:
    result = run(agent, "virlton-http", tmp_path / "over-http")
    cost = result["cost"]
    assert cost["requests"]["sent"] == server.stats()["requests"], "as the server counted"
    book = (tmp_path / "over-http" / "spending.jsonl").read_text().splitlines()
    paid = sum(json.loads(line)["micro_usd"] for line in book) / 1e6
    assert paid == pytest.approx(cost["usd"])
    assert 0.05 < paid <= USD[agent]
    if agent in SAME:
        within = run(agent, "virlton", tmp_path / "within")
        for name in ("status", "steps", "distance_m", "place", "answer", "reason"):
            assert result[name] == within[name], name
