"""Virl from Python, as `docs/how-to/python.md` promises it."""

import ast
import asyncio
import dataclasses
import inspect
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import PIL.Image
import pytest
import shapely.geometry
from hostile_texts import TEXTS
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from made_benchmark import NAME
from openai_server import ChatServer, reply, text
from pydantic import BaseModel

import virl
from virl.agent.agent import Agent
from virl.api.langchain import runnable
from virl.api.running import run_options
from virl.errors import BadInput, CodeFault, MindFailed, NoStreetView, NotFound, UnknownName
from virl.geo.globe import destination, distance
from virl.journal.journal import read_journal
from virl.journal.records import AccessRecord
from virl.platform.city.outcome import Outcome
from virl.platform.perception.base import Detection

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"


class ToolModel(GenericFakeChatModel):
    """A chat model that says what it is given, and takes tools."""

    def bind_tools(self, tools: object, **_: object) -> Self:  # type: ignore[override]
        """Itself."""
        return self


def ines(**more: object) -> virl.Character:
    told = {"name": "Ines", "city": "virlton", "start": "20 Vine Road", "background": "A student."}
    told |= {"intention": "Find somewhere to eat.", "tools": ["look", "move"]}
    return virl.Character(**told | more)


def break_off(out: str) -> None:
    with virl.open_agent(ines(), out=out) as agent:
        named(agent)["where_am_i"].invoke({})
        raise ZeroDivisionError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def named(agent: Agent) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in virl.open_tools(agent)}


def test_importing_virl_loads_its_version_alone() -> None:
    code = "import sys, virl; print([name for name in sys.modules if name.startswith('virl.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['virl.version']"


def test_all_public_names_are_there_with_a_docstring() -> None:
    for name in virl.__all__:
        assert getattr(virl, name).__doc__, name
        assert getattr(virl, name) is getattr(virl, name)
    with pytest.raises(AttributeError, match="no_such"):
        virl.no_such  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "call",
    [
        lambda: virl.run("hiro", budgt_usd=0.01),
        lambda: virl.open_agent("hiro", budgt_usd=0.01).__enter__(),
        lambda: virl.open_tools("virlton", budgt_usd=0.01),
        lambda: virl.run_benchmark(NAME, budgt_usd=0.01),
        lambda: asyncio.run(virl.arun("hiro", budgt_usd=0.01)),
        lambda: runnable("hiro", budgt_usd=0.01),
    ],
)
def test_an_unknown_keyword_is_refused_with_the_near_one(tmp_path: Path, call: Callable[[], object]) -> None:
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'budgt_usd'; did you mean 'budget_usd'"
    ):
        call()
    for wrong in (lambda: virl.run("hiro", wach=True), lambda: virl.make_env("Walk", max_stps=1)):
        with pytest.raises(TypeError, match=r"did you mean '(watch|max_steps)'"):
            wrong()
    assert not list(tmp_path.iterdir())


def test_what_a_program_asks_is_what_the_command_line_asks(tmp_path: Path) -> None:
    asked = run_options(
        Path("zoe.yaml"),
        {
            "city": "town.osm.pbf", "around": virl.LatLng(60.17, 24.94), "radius": 300, "invented_life": True,
            "device": "cpu", "allow_downloads": True, "feedback": "said.txt", "cache": "off",
            "record": "tape", "as_of": "2024-05-01", "budget_usd": 1, "steps": 3,
        },
    )  # fmt: skip
    assert asked.city == "town.osm.pbf@60.170000000,24.940000000,300,invented"
    assert (asked.agent, asked.device, asked.allow_downloads) == ("zoe.yaml", "cpu", True)
    assert (asked.fields, asked.feedback) == ({"limits.steps": 3}, str(tmp_path / "said.txt"))
    assert asked.access == AccessRecord(
        budget_usd=1, cache="off", record=str(tmp_path / "tape"), as_of=date(2024, 5, 1)
    )
    with pytest.raises(BadInput, match="as_of='soon'"):
        virl.run("hiro", as_of="soon")


@pytest.mark.slow
def test_a_city_is_looked_at_from_any_position() -> None:
    town = virl.open_city("virlton")
    view = town.look(town.center, 90, fov=60, width=320, height=200)
    assert view.pixels.shape == (200, 320, 3)
    assert view.camera.heading == 90
    shown = PIL.Image.open(io.BytesIO(view._repr_png_()))
    assert (shown.format, shown.size) == ("PNG", (320, 200))
    assert (view.pixels == shown).all()
    with pytest.raises(NoStreetView):
        town.look(virl.LatLng(0, 0))
    with pytest.raises(BadInput, match="fov"):
        town.look(town.center, fov=5)


@pytest.mark.slow
def test_a_city_shows_its_map_counts_and_terms() -> None:
    town = virl.open_city("virlton")
    shown = town._repr_html_()
    assert "data:image/svg+xml" in shown
    assert f"{len(town.street_map.panorama_ids()):,}" in shown
    assert f"{len(town.inventory.places()):,}" in shown
    assert town.terms in shown
    assert len(shown) < 50_000


def test_a_pose_is_looked_from_as_it_faces() -> None:
    town = virl.open_city("virlton")
    pose = virl.Pose(town.street_map.panorama_ids()[7], 123.0)
    ahead, north = town.look(pose, width=64, height=64), town.look(pose, 0.0, width=64, height=64)
    assert (ahead.pano_id, ahead.camera.heading) == (pose.pano_id, 123.0)
    assert north.camera.heading == 0.0


def test_a_walk_is_taken_a_step_at_a_time_and_arrives() -> None:
    town = virl.open_city("virlton")
    goal = town.maps.geocode("20 Vine Road")
    steps = list(virl.walk(town, start=town.center, to="20 Vine Road"))
    assert [step.index for step in steps] == list(range(len(steps)))
    for before, after in pairwise(steps):
        assert before.choice.link
        assert before.choice.link.pano_id == after.pose.pano_id
    assert distance(steps[-1].panorama.position, goal) < 50
    assert len(list(virl.walk(town, start=town.center, to=[goal, town.center], max_steps=9))) == 10
    with pytest.raises(NotFound, match="No Such Street"):
        virl.walk(town, start=town.center, to="99 No Such Street")
    with pytest.raises(NoStreetView):
        virl.walk(town, start=virl.LatLng(0, 0), to=goal)
    with pytest.raises(BadInput, match="destination"):
        virl.walk(town, start=town.center, to=[])


def test_a_route_is_told_and_is_geojson() -> None:
    town = virl.open_city("virlton")
    route = town.maps.route([town.center, town.maps.geocode("20 Vine Road")])
    told = route.instructions
    assert told[0].startswith("Go ")
    assert sum(int(text.split()[-2]) for text in told) == pytest.approx(route.distance, abs=15)
    line = shapely.geometry.shape(route.__geo_interface__["geometry"])
    assert line.coords[0] == (route.path[0].lng, route.path[0].lat)
    assert all(text in route._repr_html_() for text in told)
    place = town.places.nearby(town.center, 300)[0]
    assert shapely.geometry.shape(place.__geo_interface__["geometry"]).x == place.position.lng


def test_turns_of_a_route_are_left_and_right() -> None:
    corner = destination(virl.LatLng(60, 25), 0, 100)
    for heading, word in ((90, "right"), (270, "left"), (180, "around")):
        path = (virl.LatLng(60, 25), corner, destination(corner, heading, 50))
        route = virl.Route(path, 150, 100, ("Elm Walk", "Vine Road"))
        assert route.instructions == (
            "Go north along Elm Walk for 100 m.",
            f"Turn {word} and go along Vine Road for 50 m.",
        )


@pytest.mark.slow
def test_detections_are_drawn_into_a_copy() -> None:
    town = virl.open_city("virlton")
    view = town.look(town.center, width=320, height=240)
    before = view.pixels.copy()
    box = (100.0, 80.0, 200.0, 160.0)
    hostile = Detection("\x1b[31m<b>豚骨ラーメン", 0.9, box)
    shown = virl.draw_detections(view, [hostile, Detection("\U000e0041", 0.5, (1, 2, 9, 9))])
    assert (view.pixels == before).all()
    changed = np.argwhere((shown.pixels != before).any(axis=2))
    assert (shown.pixels[120, 100] != before[120, 100]).any()
    assert not (changed[:, 0] > 165).any()
    bare = virl.draw_detections(view, [Detection("", 0.9, box), Detection("", 0.5, (1, 2, 9, 9))])
    assert (shown.pixels != bare.pixels).any(), "the label"


@pytest.mark.slow
def test_what_a_run_shows_while_it_goes_on_and_at_its_end() -> None:
    with virl.open_agent(ines(), out="run") as agent:
        assert "on the way" in agent.run._repr_html_()
        agent.run.end(Outcome("finished", "It <b>is</b> near."))
    assert "It &lt;b&gt;is&lt;/b&gt; near." in agent.run._repr_html_()
    assert "on the way" not in agent.run._repr_html_()


@pytest.mark.slow
def test_code_of_your_own_is_what_decided(tmp_path: Path) -> None:
    with virl.open_agent(ines(), out="run") as agent:
        pass
    assert read_journal(tmp_path / "run")[0].decided_by == "your own code"
    report = (agent.run.folder / "report.html").read_text(encoding="utf-8")
    assert "<dd>your own code</dd>" in report
    assert "rules (a baseline" not in report
    done = virl.run("local", out="ruled")
    assert "rules (a baseline" in done.report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tols": ["look"]}, r"^Character: tols: unknown field; did you mean 'tools'\?$"),
        ({"tools": ["mvoe"]}, r"^Character: tools, entry 1: must be one of .*, not 'mvoe'; did you mean"),
        ({"age": "old"}, r"^Character: age: must be a whole number.*, not 'old'$"),
        ({"age": "old", "clock": "noon"}, r"^Character: 2 faults: age: .*; clock: .*noon"),
    ],
)
def test_a_wrong_field_of_a_character_is_one_line(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ines(**wrong)


@pytest.mark.slow
def test_a_routine_with_a_bug_says_where(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("def run(agent):\n    raise ValueError('my bug')\n")
    odd = ines().model_copy(update={"routine": "odd"})
    with pytest.raises(CodeFault, match=r"odd\.py, line 2, in run: ValueError: my bug"):
        virl.run(odd, out="run")
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.slow
def test_a_question_is_answered_as_text_or_as_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    class Colour(BaseModel):
        name: str

    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    with ChatServer([text("It is blue."), reply({"name": "blue"})]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        view = virl.open_city("virlton").look(virl.open_city("virlton").center, width=64, height=64)
        assert virl.ask("What colour is the sky?", mind="openai:gpt-4o", images=[view]) == "It is blue."
        assert virl.ask("Which?", mind="openai:gpt-4o", reply=Colour) == Colour(name="blue")
        sent = server.requests[0].messages
    assert "What colour is the sky?" in json.dumps(sent)
    assert "data:image/" in json.dumps(sent)
    with pytest.raises(MindFailed):
        virl.ask("Which?", mind="rules")


@pytest.mark.slow
def test_a_benchmark_runs_goes_on_and_is_a_table(tmp_path: Path) -> None:
    done = virl.run_benchmark(NAME, {"cities": ["north"], "count": 4}, out="bench", limit=3)
    assert done.folder == Path("bench")
    frame = done.to_frame()
    assert list(frame["model"]) == ["sharp", "blunt"]
    assert list(frame["done"]) == [3, 3]
    row = done.rows[0]
    assert frame["macro"][0] == row.values["macro"].mean
    assert done.intervals["sharp", "north"] == row.values
    episodes = done.episodes
    assert [(one.model, one.status) for one in episodes] == [("sharp", "done")] * 3 + [("blunt", "done")] * 3
    assert len({one.case for one in episodes}) == 3
    assert frame["macro_low"][0] == row.values["macro"].low
    shown = done._repr_html_()
    assert "sharp" in shown
    again = virl.run_benchmark(NAME, {"cities": ["north"], "count": 4}, out="bench", resume=True)
    assert list(again.to_frame()["done"]) == [4, 4]
    assert virl.read_benchmark("bench").results == again.results
    both = virl.read_benchmark("bench", "bench", out="both")
    assert len(both.intervals) == len(both.rows)
    with pytest.raises(BadInput, match=r"options of .*: cites: unknown field; did you mean 'cities'"):
        virl.run_benchmark(NAME, {"cites": ["north"]}, out="other")
    with pytest.raises(BadInput, match="already contains a run"):
        virl.run_benchmark(NAME, {"cities": ["north"], "count": 4}, out="bench")


@pytest.mark.slow
def test_a_map_of_folium_shows_what_is_given_and_runs_no_text(tmp_path: Path) -> None:
    town = virl.open_city("virlton")
    route = town.maps.route([town.center, town.maps.geocode("20 Vine Road")])
    virl.run("local", out="run")
    shop = town.places.nearby(town.center, 300)[0]
    bare = dataclasses.replace(town, street_map=None)

    def page(texts: Sequence[str]) -> str:
        noted = dataclasses.replace(bare, attribution=" ".join(texts))
        places = [dataclasses.replace(shop, name=text) for text in texts]
        return str(virl.to_folium(noted, route=route, run="run", places=places).get_root().render())

    plain, shown = page(["a name"] * len(TEXTS)), page(TEXTS)
    for mark in ("<script", "</script", "<img", "<iframe", "<svg", "`", "${", "\\"):
        assert shown.count(mark) == plain.count(mark), mark
    assert "7 * 7" in shown
    assert "tile.openstreetmap.org" not in plain
    tiled = virl.to_folium(town, tiles="OpenStreetMap").get_root().render()
    assert "tile.openstreetmap.org" in tiled
    assert "openstreetmap.org/copyright" in tiled


@pytest.mark.slow
def test_an_agent_runs_in_a_city_that_is_open(tmp_path: Path) -> None:
    town = virl.open_city("virlton")
    finished = virl.run("local", city=town, out=tmp_path / "run", seed=3)
    assert finished.result.status == "finished"
    assert finished.folder == tmp_path / "run"
    start = read_journal(finished.folder)[0]
    assert (start.city, start.seed, start.mind) == ("virlton", 3, "rules")
    report = finished.report.read_text(encoding="utf-8")
    assert f'srcdoc="{report[:15].replace("<", "&lt;").replace(">", "&gt;")}' in finished._repr_html_()
    assert '"' not in finished._repr_html_().partition('srcdoc="')[2].partition('" title=')[0]


@pytest.mark.slow
def test_a_character_made_in_python_runs_and_goes_on(tmp_path: Path) -> None:
    first = virl.run(ines(), steps=2, out="run")
    start = read_journal(tmp_path / "run")[0]
    assert start.agent == "ines"
    assert start.character["limits"]["steps"] == 2
    again = virl.run(ines(), out="run", resume=True)
    assert again.had_ended
    assert again.result == first.result


@pytest.mark.slow
def test_a_run_killed_while_its_pages_are_written_gets_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("virl.journal.report.write_share", killed)
        with pytest.raises(KeyboardInterrupt):
            virl.run("local", city="virlton", out=tmp_path / "run")
    again = virl.run("local", out=tmp_path / "run", resume=True)
    assert again.had_ended
    assert again.report.is_file()
    assert (tmp_path / "run/share.jpg").is_file()


def test_what_a_character_made_in_python_says_wrong_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"^ines: city: unknown city 'nowhere'"):
        virl.run(ines().model_copy(update={"city": "nowhere"}))
    with pytest.raises(BadInput, match=r"limits\.wings"):
        virl.run(ines(), fields={"limits.wings": 2})


@pytest.mark.slow
def test_tools_act_and_are_written_down(tmp_path: Path) -> None:
    with virl.open_agent(ines(), at=virl.open_city("virlton").center, out="run") as agent:
        tools = named(agent)
        here = tools["where_am_i"].invoke({})
        assert tools["move"].invoke({"direction": "front"}) != here
        assert "no moves" not in tools["move"].invoke({"pano_id": "nowhere"})
        tools["finish"].invoke({"answer": "There is a way.", "succeeded": True})
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["status"], result["reason"]) == ("finished", "There is a way.")
    assert result["steps"] == 1
    used = [one.data["name"] for one in read_journal(tmp_path / "run") if one.kind == "note"]
    assert used == ["where_am_i", "move", "move", "finish"]
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.slow
def test_a_run_that_is_left_ends_as_stopped_and_one_that_broke_stays_open(tmp_path: Path) -> None:
    with virl.open_agent(ines(), out="left"):
        pass
    left = json.loads((tmp_path / "left" / "result.json").read_text())
    assert (left["status"], left["outcome"]["kind"]) == ("stopped", "stopped")
    with pytest.raises(ZeroDivisionError):
        break_off("broken")
    assert not (tmp_path / "broken" / "result.json").exists()
    assert (tmp_path / "broken" / "report.html").is_file()


KILLED = """
import os, sys, virl
ines = virl.Character(name="Ines", city="virlton", start="20 Vine Road", background="A student.",
                      intention="Find somewhere to eat.", tools=["look", "move"])
with virl.open_agent(ines, out="run") as agent:
    tools = {tool.name: tool for tool in virl.open_tools(agent)}
    tools["move"].invoke({"direction": "front", "steps": 3})
    tools["turn"].invoke({"direction": "south"})
    if sys.argv[1] == "in a move":
        agent.run.note = lambda *given, **more: os._exit(9)
        tools["move"].invoke({"direction": "rear", "steps": 2})
    os._exit(9)
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["between", "in a move"])
def test_a_killed_run_goes_on_where_it_had_got_to(tmp_path: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, when], capture_output=True, check=False)
    assert done.returncode == 9, done.stderr.decode()
    before = [one for one in read_journal(tmp_path / "run") if one.kind == "step"]
    with virl.open_agent(ines(), resume=True, out="run") as agent:
        tools = named(agent)
        here = tools["where_am_i"].invoke({})
        assert f"Moves left: {agent.character.limits.steps - len(before)}" in here
        if when == "between":
            assert "You face south, 180 degrees" in here
        ways = re.findall(r"pano_id ([\w-]+)", here)
        assert before[-1].pose.pano_id in ways, "it stands at the neighbour that the last step went to"
        tools["move"].invoke({"pano_id": ways[0]})
        tools["finish"].invoke({"answer": "Here.", "succeeded": True})
    records = read_journal(tmp_path / "run")
    steps = [one for one in records if one.kind == "step"]
    assert all(one.next_pano_id == after.pose.pano_id for one, after in pairwise(steps))
    assert [one.key for one in records if one.kind == "note"] == list("12345")
    assert json.loads((tmp_path / "run" / "result.json").read_text())["steps"] == len(before) + 1


@pytest.mark.slow
def test_a_finish_that_was_cut_off_ends_the_run_that_goes_on(tmp_path: Path) -> None:
    code = KILLED.replace(
        'tools["turn"].invoke({"direction": "south"})',
        """
    agent.run.end = lambda *given, **more: os._exit(9)
    tools["finish"].invoke({"answer": "Here.", "succeeded": True})
""".strip(),
    )
    done = subprocess.run([sys.executable, "-c", code, "-"], capture_output=True, check=False)
    assert done.returncode == 9, done.stderr.decode()
    with virl.open_agent(ines(), resume=True, out="run") as agent:
        assert "the run has ended" in named(agent)["look"].invoke({})
    assert json.loads((tmp_path / "run" / "result.json").read_text())["reason"] == "Here."


@pytest.mark.slow
def test_a_consultation_that_was_cut_off_keeps_its_number(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        break_off("run")
    (tmp_path / "run" / "consulted" / "2").mkdir(parents=True)  # as a kill in the second use leaves it
    with virl.open_agent(ines(), resume=True, out="run") as agent:
        named(agent)["where_am_i"].invoke({})
        assert [note.key for note in agent.run.notes("tool")] == ["1", "3"]


@pytest.mark.slow
def test_who_decides_in_a_run_goes_on_with_it() -> None:
    with pytest.raises(ZeroDivisionError):
        break_off("mine")
    with pytest.raises(BadInput, match="your own code made the decisions of this run"):
        virl.run(ines(), resume=True, out="mine")
    with virl.open_agent(ines(), resume=True, out="mine"):
        pass
    with (
        pytest.raises(BadInput, match="this run has ended"),
        virl.open_agent(ines(), resume=True, out="mine"),
    ):
        pass
    virl.run("hiro", steps=1, out="its")
    with pytest.raises(BadInput, match="a routine decides"), virl.open_agent("hiro", resume=True, out="its"):
        pass


@pytest.mark.slow
def test_finishing_at_an_unknown_place_ends_nothing() -> None:
    with virl.open_agent(ines()) as agent:
        tools = named(agent)
        tools["finish"].invoke({"answer": "There.", "succeeded": True, "place_id": "nowhere"})
        assert agent.run.result is None
        tools["finish"].invoke({"answer": "Nowhere.", "succeeded": False})
        assert agent.run.result.status == "gave up"
        assert "the run has ended" in tools["where_am_i"].invoke({})


@pytest.mark.slow
def test_only_tools_that_exist() -> None:
    with virl.open_agent(ines()) as agent, pytest.raises(UnknownName, match="lok"):
        virl.open_tools(agent, names=["lok"])


@pytest.mark.slow
def test_a_graph_of_ones_own_uses_them(tmp_path: Path) -> None:
    turns = [
        ("move", {"direction": "front"}),
        ("place_details", {"place_id": "nowhere"}),
        ("finish", {"answer": "Done.", "succeeded": False}),
    ]
    calls = [
        AIMessage("", tool_calls=[{"name": name, "args": given, "id": str(number)}])
        for number, (name, given) in enumerate(turns)
    ]
    with virl.open_agent(ines(), out="run") as agent:
        graph = create_agent(
            ToolModel(messages=iter([*calls, AIMessage("That is all.")])), virl.open_tools(agent)
        )
        said = graph.invoke({"messages": ["Go."]})["messages"]
    assert "nowhere" in said[4].text, "what cannot be done is told to the model"
    assert json.loads((tmp_path / "run" / "result.json").read_text())["status"] == "gave up"


def test_the_reference_lists_every_public_name_with_its_arguments() -> None:
    page = (PAGE.parents[1] / "reference" / "python.md").read_text(encoding="utf-8")
    listed = {
        name: re.findall(r"(?:^|, )(?:\*, )?\**(\w+)", arguments)
        for name, arguments in re.findall(r"^\| `(\w+)(?:\((.*?)\))?` \|", page, re.MULTILINE)
    }
    assert set(virl.__all__) <= listed.keys()
    for name in virl.__all__:
        if not isinstance(getattr(virl, name), type):
            assert listed[name] == list(inspect.signature(getattr(virl, name)).parameters), name


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = PAGE.read_text(encoding="utf-8").partition("## Find things in views")[0]
    blocks = [part.partition("```")[0] for part in shown.split("```python\n")[1:]]
    blocks = [block for block in blocks if "park.geojson" not in block]
    assert len(blocks) >= 10
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    turns = [
        AIMessage("None is near."),
        AIMessage("", tool_calls=[{"name": "move", "args": {"direction": "front"}, "id": "1"}]),
        AIMessage("Then not."),
    ]
    names: dict[str, object] = {"Path": Path, "chat_model": ToolModel(messages=iter(turns))}
    with ChatServer([text("A wall.")]) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        for block in blocks:
            exec(compile(ast.parse(block), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert names["answer"] == "A wall."
    assert len(list((tmp_path / "runs").glob("*/report.html"))) == 9
