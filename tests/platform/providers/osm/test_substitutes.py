"""Agents do their tasks in towns that lack what their files name; what they take instead is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from odd_extracts import OddTown
from seven_towns.seven import made_towns
from typer.testing import CliRunner

from virl.agent.character_file import find_character, load_character
from virl.cli.main import app
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.platform.providers import open_city
from virl.resources import data_folder
from virl.routines.counting.survey.routine import MOST_PANORAMAS, fit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A town with a bakery, a café, a supermarket, and houses with numbers; without books and offices."""
    town = OddTown()
    town.n(-90, 8, shop="supermarket", name="Food Hall")
    for number, along in enumerate((-130, -100, -70, -45, 40, 70, 100, 130), start=1):
        town.house(along, -18, addr__street="East", addr__housenumber=str(number))
        town.house(-20, along, addr__street="North", addr__housenumber=str(number))
    path = tmp_path_factory.mktemp("small") / "small.osm"
    path.write_text(town.xml(), encoding="utf-8")
    return path


def run(agent: str, file: Path, out: Path, *more: str, code: int = 0) -> tuple[Any, Any, str]:
    """Run an agent; gives its start record, result and output."""
    done = CliRunner().invoke(app, ["run", agent, "--city", str(file), "--out", str(out), *more])
    assert done.exit_code == code, done.output
    if code:
        return None, None, done.output
    first = json.loads((out / "journal.jsonl").read_text("utf-8").splitlines()[0])
    return first, json.loads((out / "result.json").read_text("utf-8")), " ".join(done.output.split())


def test_a_kind_that_is_lacking_becomes_the_nearest_of_the_list(file: Path, tmp_path: Path) -> None:
    _, result, _ = run("ling", file, tmp_path / "a", "--set", "limits.steps=40")
    assert result["reason"].startswith(
        "No book store within 2,000 m: took the supermarket Food Hall. Arrived at"
    )
    assert result["outcome"]["kind"] == "substituted"
    assert result["answer"]["succeeded"] is False
    _, result, _ = run(
        "ling", file, tmp_path / "b", "--set", "limits.steps=40", "--set", "accepts=[supermarket]"
    )
    assert result["outcome"]["kind"] == "arrived"
    assert result["answer"]["succeeded"] is True
    assert "No book store within" in result["reason"]


def test_a_way_is_told_to_a_substitute(file: Path, tmp_path: Path) -> None:
    _, result, _ = run("noor", file, tmp_path / "a", "--set", "instead={library: [cafe]}")
    assert result["reason"].startswith("No library within 2,000 m: took the cafe Uno. From ")
    assert (result["outcome"]["kind"], result["answer"]["succeeded"]) == ("substituted", False)


def test_without_a_substitute_the_result_says_what_is_nearest(file: Path, tmp_path: Path) -> None:
    for agent in ("noor", "ling"):
        _, result, _ = run(agent, file, tmp_path / agent, "--set", "instead={}")
        assert result["outcome"]["kind"] == "not found"
        assert " within 2,000 m of the start, and none farther off; the nearest place is " in result["reason"]


def test_a_kind_that_is_none_and_an_unknown_address_are_refused(file: Path, tmp_path: Path) -> None:
    _, _, output = run("noor", file, tmp_path / "a", "--set", "instead={library: [caffe]}", code=2)
    assert "instead: library: 'caffe' is no kind of place" in output
    run("noor", file, tmp_path / "b", "--at", "98 King Lane", code=2)


def test_a_route_of_another_city_becomes_a_tour_around_the_start(file: Path, tmp_path: Path) -> None:
    start, result, output = run("rx399", file, tmp_path / "a", "--set", "limits.steps=5", "--seed", "3")
    assert "146 Chapel Street of the route is not in Small: a tour around the start leads to" in output
    assert start["replaced"][0] in output
    assert len(start["character"]["route"]) == 2
    assert result["outcome"]["kind"] == "limit"
    assert start["replaced"][0] in " ".join((tmp_path / "a/report.html").read_text("utf-8").split())
    again, _, _ = run("rx399", file, tmp_path / "b", "--set", "limits.steps=5", "--seed", "3")
    assert again["character"] == start["character"]
    run("rx399", file, tmp_path / "c", "--set", "route=[146 Chapel Street]", code=2)


def test_errands_of_another_city_are_run_at_addresses_and_places_of_this_one(
    file: Path, tmp_path: Path
) -> None:
    start, result, output = run("peng", file, tmp_path / "a")
    assert len(start["replaced"]) == 5
    assert "137 Union Street is not in Small: goes to " in output
    assert "No bank within 2,000 m: goes to the supermarket Food Hall instead." in output
    assert (result["outcome"]["kind"], result["answer"]["reached"]) == ("finished", 7)
    _, result, _ = run("peng", file, tmp_path / "b", "--set", "accepts=[]")
    assert result["outcome"]["kind"] == "substituted"
    assert result["answer"]["succeeded"] is False
    assert result["reason"].startswith("No bank found: took the supermarket Food Hall. 6 errands in ")


def test_a_resumed_run_takes_the_same(file: Path, tmp_path: Path) -> None:
    start, result, _ = run("peng", file, tmp_path / "a")
    journal = tmp_path / "a/journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:12]), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", "peng", "--resume", "--out", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "a/result.json").read_text("utf-8"))["answer"] == result["answer"]
    assert json.loads(journal.read_text("utf-8").splitlines()[0])["replaced"] == start["replaced"]


def own(folder: Path, agent: str, old: str, new: str) -> str:
    """Write an agent's file with a line replaced; gives its path."""
    text = (data_folder("agents") / f"{agent}.yaml").read_text("utf-8")
    assert old in text
    path = folder / f"my-{agent}.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pub, and houses without numbers."""
    return made_towns(tmp_path_factory.mktemp("village"))["village"]


def test_the_end_of_a_way_that_is_in_another_city_is_an_address_or_of_its_kind(
    file: Path, tmp_path: Path
) -> None:
    noor = own(tmp_path, "noor", "the way to the nearest library is like", "the way to 98 King Lane is like")
    start, result, output = run(noor, file, tmp_path / "a", "--set", "limits.steps=1")
    assert "98 King Lane is not in Small: the way leads to " in output
    assert start["replaced"][0] in output
    assert result["reason"].startswith("The way has ")
    kind = own(tmp_path, "noor", "  # to: 98 King Lane", "  to: Garden Savings Bank  #")
    start, result, _ = run(kind, file, tmp_path / "b", "--set", "instead={bank: [bakery]}")
    assert start["replaced"] == ["Garden Savings Bank is not in Small: looks for a bank."]
    assert result["reason"].startswith("No bank within 2,000 m: took the bakery Hall.")
    _, _, output = run(noor, file, tmp_path / "c", "--set", "preview.to=98 King Lane", code=2)
    assert "preview: to: " in output


def test_a_client_and_areas_of_another_city_are_of_this_one(file: Path, tmp_path: Path) -> None:
    aria = own(tmp_path, "aria", "client:  ", "client:\n  where: 12 Elm Walk  #")
    start, result, _ = run(aria, file, tmp_path / "a")
    assert start["replaced"][0].startswith("12 Elm Walk is not in Small: Peng is at ")
    assert result["reason"].startswith(
        "There is no restaurant within 15 minutes on foot, and none farther off; "
    )
    run(aria, file, tmp_path / "b", "--set", "client.where=12 Elm Walk", code=2)
    area = "  areas: [{lat: 41.25, lng: -38.75, radius: 400}]\n"
    vivek = own(tmp_path, "vivek", "  listings: city", area + "  listings: city")
    start, result, _ = run(vivek, file, tmp_path / "c", "--invented-life")
    assert start["replaced"] == ["area 1 of `rent: areas:` is not in Small: looks for homes in Small."]
    assert result["outcome"]["kind"] in ("found", "not found")


def test_a_region_of_another_city_becomes_that_of_this_one(file: Path, tmp_path: Path) -> None:
    corners = "region: [[41.2488, -38.7515], [41.2488, -38.7485], [41.2512, -38.7485]]"
    imani = own(tmp_path, "imani", "# region: park.txt", f"{corners}  #")
    start, result, _ = run(imani, file, tmp_path / "a", "--set", "limits.steps=5")
    assert start["replaced"] == ["The region is not in Small: takes that of Small."]
    assert result["outcome"]["kind"] == "limit"


def test_a_survey_of_a_large_town_is_of_its_part_around_the_start() -> None:
    city, character = open_city("virlmouth"), load_character(find_character("imani"))
    start = city.streetview.panorama(city.street_map.panorama_ids()[0]) if city.street_map else None
    assert start
    changed, told = fit(character, city, start, 0)
    assert told[0].startswith("Virlmouth has 3,094 panoramas: surveys the 1,000 within ")
    region = Region(tuple(LatLng(*corner) for corner in changed.region or () if not isinstance(corner, str)))
    inside = [
        pano_id
        for pano_id in (city.street_map.panorama_ids() if city.street_map else ())
        if region.contains(city.streetview.panorama(pano_id).position)
    ]
    assert 900 <= len(inside) <= MOST_PANORAMAS


def test_errands_in_a_village_without_addresses_lead_to_spots_on_its_streets(
    village: Path, tmp_path: Path
) -> None:
    start, result, _ = run("peng", village, tmp_path / "a")
    assert any(told.startswith("146 Chapel Street is not in Village: goes to ") for told in start["replaced"])
    assert result["answer"]["reached"] >= 4
    assert (
        "Left out: No bank within 2,000 m, and none farther off; the nearest place is The Fox"
        in result["reason"]
    )
    stops = own(
        tmp_path, "peng", "  travel: walking", "  stops: [bank, Garden Savings Bank]\n  travel: walking"
    )
    text = Path(stops).read_text("utf-8")
    Path(stops).write_text(
        text[: text.index("  text: >-")] + text[text.index("  stops:") :], encoding="utf-8"
    )
    _, result, _ = run(stops, village, tmp_path / "b")
    assert result["outcome"]["kind"] == "not found"
    assert "the nearest place is The Fox (pub), " in result["reason"]
    run("peng", village, tmp_path / "c", "--set", "errands={stops: [146 Chapel Street]}", code=2)


def test_without_a_way_on_a_route_has_its_start_as_the_only_stop(tmp_path: Path) -> None:
    town = OddTown()
    town.parts = {"n": [], "w": [], "r": []}
    town.w([town.n(0, 0), town.n(12, 0)], highway="residential", name="Short")
    path = tmp_path / "short.osm"
    path.write_text(town.xml(), encoding="utf-8")
    start, result, _ = run("rx399", path, tmp_path / "a")
    assert "no way leads on from the start, which is the only stop" in start["replaced"][0]
    assert result["outcome"]["kind"] == "arrived"


def test_tool_agents_say_what_is_nearest_to_what_is_lacking(file: Path, tmp_path: Path) -> None:
    _, result, _ = run("otto", file, tmp_path / "otto")
    assert result["reason"].startswith("No pharmacy was found; the nearest place is ")
    more = ["--set", "tools=[search_places, place_details, route]"]
    more += ["--set", "intention=June looks for a restaurant that is open."]
    _, result, _ = run("june", file, tmp_path / "june", *more)
    assert result["reason"].startswith("No restaurant was found; the nearest place is ")


def test_a_made_city_has_invented_life_anyway(tmp_path: Path) -> None:
    out = tmp_path / "a"
    done = CliRunner().invoke(
        app, ["run", "vivek", "--city", "virlmouth", "--invented-life", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["run", "vivek", "--city", "strasbourg", "--invented-life"])
    assert done.exit_code == 2
