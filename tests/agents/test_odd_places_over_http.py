"""Agents in a served city where places have closed, and of many nothing but name and position is known."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_google import MARKER_KEY
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl import resources
from virl.cli.main import app
from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions, parse_oddities
from virl.serve.google.server import serve_city

ODD = parse_oddities("closed:0.3,bare:0.5")


@pytest.fixture(scope="module")
def server() -> Iterator[ServedCity]:
    with serve_city(open_city("virlton"), ServeOptions(odd=ODD, page_delay_s=0.0)) as opened:
        yield opened


def run(agent: str, folder: Path, *more: str, api: str = "new") -> tuple[dict[str, Any], str]:
    """Result and journal of a run."""
    city = folder / "virlton.yaml"
    kept = (resources.data_folder("platform/cities") / "virlton-http.yaml").read_text(encoding="utf-8")
    city.write_text(f"{kept}  api: {api}\n", encoding="utf-8")
    out = folder / agent
    asked = ["run", agent, "--city", str(city), "--out", str(out), "--quiet", *more]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    journal = (out / "journal.jsonl").read_text(encoding="utf-8")
    return json.loads((out / "result.json").read_text(encoding="utf-8")), journal


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: ServedCity) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_aria_recommends_what_is_open_and_says_what_is_not_known(tmp_path: Path) -> None:
    # Places (New) is asked for well-rated places, which are never bare.
    result, journal = run("aria", tmp_path, api="legacy")
    assert result["status"] == "finished"
    picked = [one["id"] for one in result["answer"]["candidates"]]
    assert picked
    assert not [one for one in picked if ODD.has("closed", one)]
    assert "permanently closed: " in journal
    assert "is of unknown hours" in journal


@pytest.mark.slow
def test_peng_goes_to_no_place_that_has_closed(tmp_path: Path) -> None:
    text = "errands.text=Get some cash, buy bread, have a coffee and post a letter."
    result, _ = run("peng", tmp_path, "--set", "errands.walk=false", "--set", text)
    places = open_city("virlton").places
    for name in result["answer"]["order"]:
        ids = [place.id for place in places.search(name) if place.name == name]
        assert ids
        assert not all(ODD.has("closed", one) for one in ids)


@pytest.mark.slow
def test_diego_plans_a_day_of_places_that_are_open(tmp_path: Path) -> None:
    result, _ = run("diego", tmp_path)
    ids = {one["place_id"] for one in result["answer"]["activities"] if one.get("place_id")}
    assert len(ids) > 2
    assert not [one for one in ids if ODD.has("closed", one)]
    assert [one for one in ids if ODD.has("bare", one)], "unknown is not closed"


@pytest.mark.parametrize(
    "agent", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("hiro", "local", "ling")), "june"]
)
def test_others_come_to_an_end(agent: str, tmp_path: Path) -> None:
    steps = ("--set", "limits.steps=8") if agent == "hiro" else ()
    result, _ = run(agent, tmp_path, *steps)
    assert result["status"] in {"finished", "entered", "gave up"}
