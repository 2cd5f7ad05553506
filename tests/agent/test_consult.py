"""One agent consults another: nested run, nested journal, cost and limits counted to the caller."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from typer.testing import CliRunner, Result

from virl.cli.main import app

CHARACTER = """\
name: {name}
city: virlton
start: {{lat: 41.25, lng: -38.75}}
background: Asks others.
intention: {intention}
routine: {routine}
limits: {{steps: {steps}}}
"""
CALLER = """\
from pathlib import Path
from virl.agent.consult import consult, steps_taken
from virl.platform.city.outcome import Outcome
from virl.money.book import Exchange, Price

HERE = Path(__file__).parent

def run(agent):
    for key in agent.character.intention.split():
        name, _, number = key.partition("-")
        consult(agent, str(HERE / f"{name}.yaml"), key, about=f"{name} was asked.",
                changes={"intention": f"question {number}"})
    agent.run.ledger.hold(Price("m", 1, 1e6), "openai:m", "model")
    agent.run.ledger.add(Exchange("own", "openai:m", {}, {}, usd=1.0))
    agent.run.note("thought", "last", "Thought about it.")
    agent.run.end(Outcome("finished", f"{steps_taken(agent.run)} steps in all"))
"""
EXPERT = """\
from pathlib import Path
from virl.errors import BadInput
from virl.platform.city.outcome import Outcome
from virl.money.book import Exchange, Price

LIVES = Path(__file__).with_name("lives.txt")
STOP = Path(__file__).with_name("stop")

def run(agent):
    with LIVES.open("a") as file:
        file.write(agent.run.folder.name + "\\n")
    if not agent.run.find_note("work", "first"):
        agent.run.ledger.hold(Price("m", 1, 0.25e6), "openai:m", "model")
        agent.run.ledger.add(Exchange("p", "openai:m", {}, {}, usd=0.25))
        agent.run.note("work", "first", "Half.")
    if STOP.exists():
        raise BadInput("the expert was interrupted")
    agent.run.end(Outcome("finished", "Done."), answer={"to": agent.character.intention})
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VIRL_MIND", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "expert.py").write_text(EXPERT)
    (tmp_path / "expert.yaml").write_text(
        CHARACTER.format(name="Expert", intention="none", routine="expert", steps=60)
    )


def call(folder: Path, keys: str, *options: str, steps: int = 60) -> Result:
    path = folder / "caller.yaml"
    path.write_text(CHARACTER.format(name="Caller", intention=keys, routine="caller", steps=steps))
    return CliRunner().invoke(app, ["run", str(path), "--out", str(folder / "run"), "--json", *options])


@pytest.mark.slow
def test_the_other_agents_cost_is_the_callers_and_its_run_stands_in_the_callers(tmp_path: Path) -> None:
    done = call(tmp_path, "expert-1 expert-2")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["cost"]["usd"] == 1.5
    nested = tmp_path / "run" / "consulted" / "expert-2"
    assert json.loads((nested / "result.json").read_text())["answer"] == {"to": "question 2"}
    begun = json.loads((nested / "journal.jsonl").read_text().splitlines()[0])
    assert begun["caller"] == "caller"
    assert (nested / "report.html").stat().st_size > 0


@pytest.mark.slow
def test_resumed_it_neither_asks_twice_nor_forgets_what_was_half_done(tmp_path: Path) -> None:
    (tmp_path / "stop").touch()
    cut = call(tmp_path, "expert-1")
    assert cut.exit_code == 2, cut.output
    assert "interrupted" in cut.stderr
    (tmp_path / "stop").unlink()
    done = call(tmp_path, "expert-1", "--resume")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["cost"]["usd"] == 1.25, "the first half was paid once"
    assert (tmp_path / "lives.txt").read_text().split() == ["expert-1", "expert-1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keeps", "warns"), [(("micro_usd", "request", "service", "account"), False), ((), True)]
)
def test_a_book_that_lacks_what_another_agent_paid_is_brought_up(
    keeps: tuple[str, ...], warns: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "stop").touch()
    assert call(tmp_path, "expert-1").exit_code == 2
    (tmp_path / "stop").unlink()
    book = tmp_path / "run" / "spending.jsonl"
    lines = [json.loads(line) for line in book.read_text().splitlines() if keeps]
    book.write_text("".join(json.dumps({name: line[name] for name in keeps}) + "\n" for line in lines))
    done = call(tmp_path, "expert-1", "--resume")
    assert done.exit_code == 0, done.output
    assert ["$0.2500 less than the journal" in told for told in caplog.messages] == [True] * warns
    cost = json.loads(done.stdout)["cost"]
    assert (cost["usd"], cost["llm_calls"], cost["interrupted"]["usd"]) == (1.25, 2, 0)
    entered = [json.loads(line) for line in book.read_text().splitlines()]
    own = [line for line in entered if line.get("account") == "consulted/expert-1"]
    assert sum(line["micro_usd"] for line in own) == 0.25e6
    assert sum(line.get("sent", 0) for line in own) == 1


@pytest.mark.slow
def test_an_ended_consultation_is_not_repeated(tmp_path: Path) -> None:
    assert call(tmp_path, "expert-1 nobody-2").exit_code == 2
    (tmp_path / "nobody.yaml").write_text((tmp_path / "expert.yaml").read_text())
    assert call(tmp_path, "expert-1 nobody-2", "--resume").exit_code == 0
    assert (tmp_path / "lives.txt").read_text().split() == ["expert-1", "nobody-2"]


@pytest.mark.slow
def test_its_steps_count_towards_the_callers_limit(tmp_path: Path) -> None:
    write_hiro(tmp_path, steps=2).rename(tmp_path / "hiro.yaml")
    lunch = CALLER.replace('f"question {number}"', '"lunch in a restaurant"')
    (tmp_path / "caller.py").write_text(lunch)
    refused = call(tmp_path, "hiro-1 hiro-2 hiro-3", steps=3)
    assert refused.exit_code == 2
    assert "no steps left" in refused.stderr
    steps = [
        json.loads((tmp_path / "run" / "consulted" / key / "result.json").read_text())["steps"]
        for key in ("hiro-1", "hiro-2")
    ]
    assert steps == [2, 1]


@pytest.mark.slow
def test_agents_that_consult_one_another_without_end_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER.replace('f"question {number}"', '"caller-again"'))
    refused = call(tmp_path, "caller-again")
    assert refused.exit_code == 2
    assert "consult each other in a chain" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_a_change_that_does_not_fit_names_the_field(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER.replace('"intention": f"question {number}"', '"hats": 3'))
    refused = call(tmp_path, "expert-1")
    assert refused.exit_code == 2
    assert "Expert, consulted by Caller: hats: unknown field" in refused.stderr


@pytest.mark.slow
def test_a_field_is_set_from_the_command_line(tmp_path: Path) -> None:
    done = call(tmp_path, "expert-1", "--set", "name=Somebody", "--set", "limits.steps=7")
    assert done.exit_code == 0, done.output
    begun = json.loads((tmp_path / "run" / "journal.jsonl").read_text().splitlines()[0])
    assert (begun["character"]["name"], begun["character"]["limits"]["steps"]) == ("Somebody", 7)
    for wrong, said in (("limits.hats=7", "limits.hats: unknown field"), ("name", "write it as FIELD=VALUE")):
        refused = call(tmp_path, "expert-1", "--set", wrong)
        assert refused.exit_code == 2
        assert said in refused.stderr
