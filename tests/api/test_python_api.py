"""Virl from Python, as `docs/how-to/python.md` promises it."""

import ast
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Self

import PIL.Image
import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool

import virl
from virl.agent.assembly import Agent
from virl.errors import BadInput, NoStreetView, UnknownName
from virl.journal.journal import read_journal

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"


class ToolModel(GenericFakeChatModel):
    """A chat model that says what it is given, and takes tools."""

    def bind_tools(self, tools: object, **_: object) -> Self:  # type: ignore[override]
        """Itself."""
        return self


def ines(**more: object) -> virl.Character:
    told = {"name": "Ines", "city": "virlton", "start": "20 Vine Road", "background": "A student."}
    return virl.Character(**told, intention="Find somewhere to eat.", tools=["look", "move"], **more)


def break_off(out: str) -> None:
    with virl.open_agent(ines(), out=out) as agent:
        named(agent)["where_am_i"].invoke({})
        raise ZeroDivisionError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def named(agent: Agent) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in virl.tools_of(agent)}


def test_importing_virl_loads_nothing_of_it() -> None:
    code = "import sys, virl; print([name for name in sys.modules if name.startswith('virl.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_public_names_are_there_with_a_docstring() -> None:
    for name in virl.__all__:
        assert getattr(virl, name).__doc__, name
        assert getattr(virl, name) is getattr(virl, name)
    with pytest.raises(AttributeError, match="no_such"):
        virl.no_such  # type: ignore[attr-defined]  # noqa: B018


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


def test_a_character_made_in_python_runs_and_goes_on(tmp_path: Path) -> None:
    first = virl.run(ines(), steps=2, out="run")
    start = read_journal(tmp_path / "run")[0]
    assert start.agent == "ines"
    assert start.character["limits"]["steps"] == 2
    again = virl.run(ines(), out="run", resume=True)
    assert again.before
    assert again.result == first.result


def test_what_a_character_made_in_python_says_wrong_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"^ines: city: unknown city 'nowhere'"):
        virl.run(ines().model_copy(update={"city": "nowhere"}))
    with pytest.raises(BadInput, match=r"limits\.wings"):
        virl.run(ines(), fields={"limits.wings": 2})


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


def test_a_run_that_is_left_ends_as_stopped_and_one_that_broke_stays_open(tmp_path: Path) -> None:
    with virl.open_agent(ines(), out="left"):
        pass
    assert json.loads((tmp_path / "left" / "result.json").read_text())["status"] == "stopped"
    with pytest.raises(ZeroDivisionError):
        break_off("broken")
    assert not (tmp_path / "broken" / "result.json").exists()
    assert (tmp_path / "broken" / "report.html").is_file()


def test_only_tools_that_exist() -> None:
    with virl.open_agent(ines()) as agent, pytest.raises(UnknownName, match="lok"):
        virl.tools_of(agent, ["lok"])


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
            ToolModel(messages=iter([*calls, AIMessage("That is all.")])), virl.tools_of(agent)
        )
        said = graph.invoke({"messages": ["Go."]}, {"max_concurrency": 1})["messages"]
    assert "nowhere" in said[4].text, "what cannot be done is told to the model"
    assert json.loads((tmp_path / "run" / "result.json").read_text())["status"] == "gave up"


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    stable = PAGE.read_text(encoding="utf-8").partition("Regions from files:")[0]
    blocks = [part.partition("```")[0] for part in stable.split("```python\n")[1:]]
    assert len(blocks) == 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(ast.parse(block), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert len(list((tmp_path / "runs").glob("*/report.html"))) == 3
