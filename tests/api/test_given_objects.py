"""Objects that a program gives a run: cities, minds and models of perception, used as they are."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import six_programs
from made_benchmark import NAME
from own_models import Dictated, zoe
from typer.testing import CliRunner

import virl
from virl.authoring import consult
from virl.cli.main import app
from virl.errors import BadInput
from virl.journal.journal import read_journal
from virl.journal.records import StartRecord, StepRecord
from virl.mind.base import Prompt
from virl.mind.rules import RuleMind
from virl.money.book import FREE
from virl.money.ledger import Ledger
from virl.platform.city.places import Place
from virl.platform.perception.base import LookScores
from virl.resources import data_folder

DOCS = Path(__file__).parents[2] / "docs"


class Counted:
    """A part of a city that counts what it is asked."""

    def __init__(self, part: object) -> None:
        self.part, self.asked = part, 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        return getattr(self.part, name)


class Own:
    """A mind of somebody's own, which asks the rules."""

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._rules, self.ledger, self.asked = RuleMind(), ledger or Ledger(), list[str]()

    name = "own"

    def with_own_ledger(self) -> "Own":
        return self

    def ask(
        self,
        prompt: Prompt[Any],
        *,
        images: object = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> Any:
        self.asked.append(prompt.name)
        return self._rules.ask(prompt, rule_inputs=rule_inputs, **inputs)


class Blind:
    """A detector that finds nothing."""

    look_scores = LookScores(0.5, 0.5)

    def __init__(self) -> None:
        self.views = 0

    def detect(self, views: Sequence[virl.View], labels: Sequence[str]) -> list[list[virl.Detection]]:
        self.views += len(views)
        return [[] for _ in views]


def start_of(folder: Path) -> StartRecord:
    start = read_journal(folder)[0]
    assert isinstance(start, StartRecord)
    return start


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_the_places_that_are_given_are_asked_by_tools_too() -> None:
    town = virl.open_city("virlton")
    places = Counted(town.places)
    mine = dataclasses.replace(town, places=places)
    with virl.open_tools(mine, names=["nearby_places"], out="tools") as made:
        made[0].invoke({"radius_m": 80})
    assert places.asked
    before = places.asked
    done = virl.run("hiro", city=mine, out="run")
    assert places.asked > before
    assert start_of(done.folder).objects == {"city": "object: virl.platform.city.city.City"}
    assert start_of(virl.run("hiro", city=town, out="plain", steps=1).folder).objects == {}


def test_a_city_that_was_changed_keeps_its_own_budget_and_cache() -> None:
    town = dataclasses.replace(virl.open_city("virlton"), opened_as="", name="nowhere", ledger=Ledger(5))
    for asked in ({"budget_usd": 1}, {"cache": "off"}, {"record": "tape"}, {"as_of": "2024-05-01"}):
        with pytest.raises(BadInput, match=f"{next(iter(asked))}=: Virlton was changed since"):
            virl.run("hiro", city=town, **asked)


@pytest.mark.slow
def test_a_city_of_no_file_runs_and_its_requests_are_the_run_s() -> None:
    ledger = Ledger(5)
    town = virl.open_city("virlton")
    ledger.hold(dataclasses.replace(FREE, micro_usd=9), "before")

    class Billed(Counted):
        def nearby(self, *given: object, **more: object) -> list[Place]:
            ledger.hold(dataclasses.replace(FREE, micro_usd=1000), "nearby")
            found: list[Place] = self.part.nearby(*given, **more)  # type: ignore[attr-defined]
            return found

    mine = dataclasses.replace(
        town, opened_as="", name="nowhere", ledger=ledger, places=Billed(town.places), title="Nowhere"
    )
    with virl.open_tools(mine, names=["nearby_places"], out="run") as made:
        made[0].invoke({"radius_m": 80})
        made[0].invoke({"radius_m": 90})
    cost = json.loads(Path("run/result.json").read_text())["cost"]
    assert cost["usd"] == pytest.approx(0.002)
    assert cost["requests"]["sent"] == {"nearby": 2}


@pytest.mark.slow
def test_a_chat_model_decides_and_nothing_of_it_is_written_down() -> None:
    model = Dictated()
    done = virl.run(zoe(), mind=model, out="run")
    assert (done.result.status, done.result.reason) == ("finished", "Here.")
    name = "object: own_models.Dictated"
    start = start_of(done.folder)
    assert (start.mind, start.objects, start.mind_settings) == (name, {"mind": name}, {})
    assert model.secret not in "".join(
        path.read_text(errors="replace") for path in done.folder.rglob("*") if path.is_file()
    )
    with pytest.raises(BadInput, match=r"no price is known for object: .*price=\(0.15, 0.60\)"):
        virl.run(zoe(), mind=model, budget_usd=1, out="unpriced")
    paid = virl.run(zoe(), mind=model, budget_usd=1, price=(1, 2), out="paid")
    assert paid.result.cost.usd == pytest.approx(120e-6)
    other = virl.run(zoe(), mind=Dictated(tokens=200), price=(1, 2), out="other")
    assert other.result.cost.usd == pytest.approx(220e-6), "no cache is shared"
    with pytest.raises(BadInput, match="price=: is for a mind that is an object"):
        virl.run(zoe(), price=(1, 2))
    assert virl.ask("Where?", mind=model) == ""


@pytest.mark.slow
def test_a_mind_of_ones_own_answers_and_goes_on_from_python_alone() -> None:
    class Interrupted(Own):
        def ask(self, prompt: Prompt[Any], **given: Any) -> Any:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().ask(prompt, **given)

    with pytest.raises(KeyboardInterrupt):
        virl.run("hiro", mind=Interrupted(), out="run")
    told = CliRunner().invoke(app, ["run", "hiro", "--resume", "--out", "run"])
    assert told.exit_code == 2
    assert "needs the object: " in told.stderr
    assert "resume it from Python with mind=..." in told.stderr
    with pytest.raises(BadInput, match="resume it with"):
        virl.run("hiro", mind=Own(), resume=True, out="run")
    mind = Interrupted()
    mind.asked = [""] * 4
    done = virl.run("hiro", mind=mind, resume=True, out="run")
    assert done.result.status == "entered"
    asked = [one for step in read_journal(done.folder) if isinstance(step, StepRecord) for one in step.asked]
    assert {one.mind for one in asked} == {start_of(done.folder).mind}
    with pytest.raises(BadInput, match=r"mind=int: .*lacks name, ledger, apart, ask|mind=.*lacks"):
        virl.run("hiro", mind=3, out="other")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_detector_that_is_given_is_the_one_that_looks() -> None:
    eyes = Blind()
    done = virl.run("hiro", detector=eyes, steps=2, out="run")
    assert eyes.views
    assert done.result.status == "gave up"
    assert start_of(done.folder).objects == {"detector": f"object: {__name__}.Blind"}
    with pytest.raises(BadInput, match="reader=Blind: lacks read"):
        virl.run("hiro", reader=eyes)  # type: ignore[arg-type]


def own_prompts(*names: str) -> str:
    """A folder of virl's prompts whose type of reply is nowhere: whoever uses one fails."""
    for name in names:
        own = Path("prompts", name)
        own.parent.mkdir(parents=True, exist_ok=True)
        text = (data_folder("prompts") / name).read_text()
        own.write_text(text.replace("reply:", "reply: nowhere:Nothing #", 1))
    return "prompts"


@pytest.mark.slow
def test_prompts_of_a_folder_come_first_and_stay_when_a_run_goes_on() -> None:
    own_prompts("explore/decision.md")
    with pytest.raises(BadInput, match="nowhere"):
        virl.run("hiro", prompts="prompts", out="run")
    assert start_of(Path("run")).prompts == str(Path("prompts").resolve())
    with pytest.raises(BadInput, match="no such folder"):
        virl.run("hiro", prompts="prmpts")
    asked = ["run", "hiro", "--prompts", "prompts", "--out", "told"]
    assert "nowhere" in CliRunner().invoke(app, asked).output


@pytest.mark.slow
def test_a_benchmark_of_agents_uses_prompts_of_a_folder() -> None:
    options = {"agent": ["nora"], "mind": Dictated(), "prompts": own_prompts("by_tools/task.md")}
    done = virl.run_benchmark("agents", options, limit=1, out="bench")
    assert "nowhere" in done.results.failures[0].reason
    with pytest.raises(BadInput, match="no such folder"):
        virl.run_benchmark("agents", {"prompts": "prmpts"}, out="other")


@pytest.mark.slow
def test_an_agent_that_is_consulted_uses_what_is_given() -> None:
    eyes, mind = Blind(), Own()
    places = Counted(virl.open_city("virlton").places)
    town = dataclasses.replace(virl.open_city("virlton"), places=places)
    given = {"city": town, "mind": mind, "detector": eyes, "steps": 4}
    with virl.open_agent("hiro", **given, out="run") as agent:  # type: ignore[arg-type]
        consult(agent, "hiro", "1", about="Food?", changes={"limits": {"steps": 1}})
        consult(agent, "aria", "2", about="Food?")
    assert (bool(eyes.views), bool(places.asked), bool(mind.asked)) == (True, True, True)
    assert start_of(Path("run/consulted/1")).objects == start_of(Path("run")).objects
    prompts = own_prompts("explore/decision.md")
    with pytest.raises(BadInput, match="nowhere"), virl.open_agent("hiro", prompts=prompts, out="b") as agent:
        consult(agent, "hiro", "1", about="Food?")


@pytest.mark.slow
def test_benchmarks_ask_the_objects_among_their_options() -> None:
    one, other = Blind(), Blind()
    places = Counted(virl.open_city("virlton").places)
    town = dataclasses.replace(virl.open_city("virlton"), places=places)
    done = virl.run_benchmark(
        "place-localization", {"cities": [town], "models": [one, other]}, limit=2, out="bench", workers=2
    )
    assert one.views
    assert one.views == other.views
    assert places.asked
    name = f"object: {__name__}.Blind"
    assert [row.model for row in done.results.rows] == [name, f"{name} (2)"]
    mind = Own()
    measured = virl.run_benchmark("agents", {"agent": ["aria"], "mind": mind}, limit=1, out="agents")
    assert mind.asked
    assert measured.results.rows[0].episodes.done == 1
    for engine in ("processes", "ray"):
        with pytest.raises(BadInput, match=r"object: .*Local: cannot be sent .*: choose engine='threads'"):
            virl.run_benchmark(NAME, {"matcher": _local()}, engine=engine, out="sent")  # type: ignore[arg-type]


def _local() -> object:
    class Local:
        """A class that cannot be pickled."""

    return Local()


SCRIPT = """
import virl
print("begins")
if {guard}:
    done = virl.run_benchmark({name!r}, {{"count": 1}}, limit=1, engine="processes", workers=2, out="run")
    print(done.results.rows[0].episodes.done)
"""


@pytest.mark.slow
@pytest.mark.parametrize("guard", ["True", "__name__ == '__main__'"])
def test_a_script_without_a_guard_runs_once_and_in_threads(guard: str) -> None:
    Path("mine.py").write_text(SCRIPT.format(guard=guard, name=NAME))
    here = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "mine.py"], capture_output=True, text=True, check=True, env=here)
    is_guarded = guard != "True"
    assert done.stdout.splitlines()[-1] == "1"
    assert done.stdout.count("begins") == (3 if is_guarded else 1), "processes import the script"
    assert ("runs in threads" in done.stderr) == (not is_guarded)
    assert len(done.stderr.splitlines()) == (0 if is_guarded else 1)


@pytest.mark.slow
def test_six_programs_of_a_user_run_and_are_typed_as_the_service_and_the_notebook_are(tmp_path: Path) -> None:
    assert six_programs.look_and_search()[0] == 640
    assert six_programs.run_an_agent()[0] == "entered"
    assert six_programs.own_model(Dictated(), zoe()) == {"answer": "Here.", "succeeded": True}
    assert six_programs.own_data()
    assert "finish" in [tool.name for tool in six_programs.own_graph()]
    assert six_programs.benchmark(NAME) == ["sharp", "blunt"]
    shutil.copy(six_programs.__file__, tmp_path / "mine.py")
    [service] = re.findall(r"```python\n(.*?)```", (DOCS / "how-to" / "service.md").read_text(), re.DOTALL)
    (tmp_path / "service.py").write_text(service)
    cells = json.loads((DOCS / "notebooks" / "compare-models.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (tmp_path / "compare.py").write_text("\n".join(code))
    files = map(str, tmp_path.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *files],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("Success"), done.stdout
