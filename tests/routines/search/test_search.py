"""Iris as an agent: what she looks for, when she stops, and how a run goes on after a kill."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from openai_server import ChatServer, text
from typer.testing import CliRunner

from virl.agent.agent import FarEyes
from virl.agent.plan import RunOptions
from virl.agent.start import preview_run
from virl.cli.main import app
from virl.errors import BadInput, VirlError
from virl.geo.globe import LatLng
from virl.mind.lexicon import load_lexicon
from virl.platform.city.streetview import Camera, Link, Panorama
from virl.platform.navigators.sight.looking import KnownSign
from virl.platform.navigators.sight.rules import explain_conditions
from virl.platform.navigators.tourist.signs import Sign
from virl.platform.perception.road_sight import RoadScene, RoadSight, SeenFront
from virl.routines.search.routine import SIGNS, KeptSigns

SCENE = RoadScene(0.1, 0.2, 0.7, 0.05, 0.1, None)
NO_EYES = cast("FarEyes", None)


def iris(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["run", "iris", "--out", str(folder), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def walked(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return [
        (one["pose"]["pano_id"], one["decided"]) for one in map(json.loads, lines) if one["kind"] == "step"
    ]


def test_conditions_of_a_wish_are_said_with_what_they_leave_out() -> None:
    said = explain_conditions("Somewhere dry to wait with a child, and we have no money.", load_lexicon())
    assert said == "Conditions: a child; rain; no money, which leaves out bank, book store."
    assert explain_conditions("I want to buy a book.", load_lexicon()) == ""
    said = explain_conditions("I use a wheelchair and want to see a film.", load_lexicon())
    assert said == "Conditions: a wheelchair (no sign tells of steps, so look at the entrance)."


def test_the_hour_of_a_wish_leaves_out_what_is_usually_closed() -> None:
    late = "Somewhere dry to wait. It is Sunday at 11:00."
    assert explain_conditions(late, load_lexicon()).endswith(
        "Sunday at 11:00, which leaves out book store, library as usually closed."
    )
    night = "Somewhere dry to wait. It is Sunday at 23:40."
    assert explain_conditions(night, load_lexicon()).endswith(
        "Sunday at 23:40, when all that serve are usually closed."
    )
    open_now = "Somewhere dry to wait. It is Thursday at 12:00."
    assert explain_conditions(open_now, load_lexicon()) == "Conditions: rain."


@pytest.mark.slow
def test_iris_knows_the_hour_from_her_clock(tmp_path: Path) -> None:
    wish = "intention=Somewhere dry to wait."
    iris(tmp_path / "run", "--set", "limits.steps=1", "--set", "clock=sun 11:00", "--set", wish)
    [noted] = [
        one["text"]
        for one in map(json.loads, (tmp_path / "run" / "journal.jsonl").read_text().splitlines())
        if one["kind"] == "note"
    ]
    assert noted.startswith("Looks for the sign of a museum or art gallery.")
    assert "Sunday at 11:00, which leaves out book store, library as usually closed" in noted


def test_what_was_read_is_read_again_from_the_folder(tmp_path: Path) -> None:
    camera = Camera(12.5, 10.0, 90.0, 1280, 560)
    sign = KnownSign(Sign("Café «Ünïq»\n", 12.0, 0.9, camera, (1.0, 2.0, 30.0, 40.0)), ("cafe",))
    kept = KeptSigns(tmp_path)
    kept["p1", camera] = (sign,)
    kept["p2", camera] = ()
    assert dict(KeptSigns(tmp_path)) == {("p1", camera): (sign,), ("p2", camera): ()}
    link, panorama = Link("p3", 10.0, 12.0), Panorama("p1", LatLng(52.0, 5.0), 0.0, ())
    sight = RoadSight((SeenFront(panorama.position, 60.0),), (("planter", 2),), SCENE)
    eyes = cast("FarEyes", SimpleNamespace(look_far=lambda *_: sight))
    assert kept.look_far(eyes, panorama, link) == sight
    assert KeptSigns(tmp_path).look_far(NO_EYES, panorama, link) == sight  # nobody looks again
    assert dict(KeptSigns(tmp_path)) == dict(kept)
    (tmp_path / SIGNS).write_bytes(b"".join((tmp_path / SIGNS).read_bytes().splitlines(keepends=True)[:2]))
    whole = (tmp_path / SIGNS).read_bytes()
    (tmp_path / SIGNS).write_bytes(whole[:-9])  # a kill while the last line is written
    assert list(KeptSigns(tmp_path)) == [("p1", camera)]
    (tmp_path / SIGNS).write_bytes(b'{"pano_id": 3}\n' + whole)
    with pytest.raises(BadInput, match=r"signs\.jsonl.*delete the file"):
        KeptSigns(tmp_path)


def test_rules_need_a_name_or_a_kind(tmp_path: Path) -> None:
    options = RunOptions(agent="iris", out=tmp_path / "run", fields={"intention": "Iris is bored."})
    with pytest.raises(VirlError, match="quotation marks"):
        preview_run(options)


@pytest.mark.slow
def test_what_was_found_has_its_name_and_is_on_the_map(tmp_path: Path) -> None:
    iris(tmp_path / "run")
    end = json.loads((tmp_path / "run" / "journal.jsonl").read_text().splitlines()[-1])
    assert end["result"]["outcome"]["what"] == end["exhibits"][0]["points"][0]["label"] == "Galleria Galli"


@pytest.mark.slow
def test_the_hour_says_nothing_of_a_place_that_has_a_name(tmp_path: Path) -> None:
    goal = 'search.goal=Find the place called "Nowhere Inn".'
    iris(tmp_path / "run", "--set", "limits.steps=1", "--set", goal)
    [noted] = [
        one["data"]
        for one in map(json.loads, (tmp_path / "run" / "journal.jsonl").read_text().splitlines())
        if one["kind"] == "note"
    ]
    assert noted["told"] == 'Find the place called "Nowhere Inn".'


@pytest.mark.slow
def test_a_run_that_was_killed_decides_as_if_it_had_not_been(tmp_path: Path) -> None:
    goal = 'search.goal=Find the place called "No Such Place".'
    words = ("--quiet", "--set", "limits.steps=24", "--set", goal)
    iris(tmp_path / "whole", *words)
    way = walked(tmp_path / "whole")
    assert len(way) == 25
    result = json.loads((tmp_path / "whole" / "result.json").read_text())
    assert (result["status"], result["outcome"]["kind"]) == ("gave up", "limit")
    assert "looked for a sign that says 'No Such Place' and ended" in result["outcome"]["reason"]
    # Killed after two thirds of its journal.
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    lines = (tmp_path / "cut" / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut" / "journal.jsonl").write_text("".join(lines[: 2 * len(lines) // 3]))
    (tmp_path / "cut" / "result.json").unlink()
    iris(tmp_path / "cut", *words, "--resume")
    assert walked(tmp_path / "cut") == way


@pytest.mark.slow
def test_a_model_is_not_asked_again_for_what_the_journal_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal = json.dumps({"name": "No Such Place", "kinds": [], "beside": []})
    way = json.dumps({"index": 0, "reason": "It is near."})
    with ChatServer([text(goal), *[text(way)] * 40]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-marker")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        words = ("--quiet", "--mind", "openai:gpt-5-mini", "--set", "limits.steps=20")
        iris(tmp_path / "run", *words)
        journal = tmp_path / "run" / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        asked = len(server.requests)
        assert asked > 1
        last = next(number for number in range(len(lines), 0, -1) if '"prompt"' in lines[number - 1])
        journal.write_text("".join(lines[:last]))
        (tmp_path / "run" / "result.json").unlink()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-cache"))
        iris(tmp_path / "run", *words, "--resume")
        assert len(server.requests) == asked
