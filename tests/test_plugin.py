"""The example package of docs/how-to/extending.md: installed, and used through all its groups."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from made_life import made_character
from made_package import PLUGIN, install, install_plugin
from typer.testing import CliRunner, Result

from virl.agent.character_file import agent_names, find_character
from virl.agent.tool import TOOLS, tool_names
from virl.api.evaluation.model import InspectChatModel
from virl.api.tools import open_tools
from virl.cli.main import app
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord
from virl.mind.prompt import PromptFolder, Prompts
from virl.platform.perception.models import model_names
from virl.serve.mcp.tools import listed_tools

PAGE = PLUGIN.parents[1] / "docs/how-to/extending.md"
GROUPS = ("virl.routines", "virl.providers", "virl.models", "virl.benchmarks")
LISTS = (("agents",), ("cities",), ("models",), ("bench", "list"))
NAMES = ("mina", "crossville", "coloured-signs", "find-the-sign")


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return install_plugin(monkeypatch, tmp_path / "site")


def virl(*arguments: str) -> Result:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 2, done.output
    [line] = done.stderr.strip().splitlines()
    return line


def result_of(folder: Path) -> dict[str, object]:
    read: dict[str, object] = json.loads((folder / "result.json").read_text())
    return read


def test_the_page_shows_the_files_as_they_are_and_names_them_all() -> None:
    text = PAGE.read_text()
    shown = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    files = {
        path.relative_to(PLUGIN).as_posix(): path.read_text()
        for path in PLUGIN.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name != "__init__.py"
    }
    assert shown == {name: files[name] for name in shown}
    linked = set(re.findall(r"\(\.\./\.\./tests/plugin/([\w./-]+)\)", text))
    assert files.keys() == shown.keys() | linked


@pytest.mark.slow
@pytest.mark.parametrize(("command", "name"), list(zip(LISTS, NAMES, strict=True)))
def test_each_list_names_what_the_package_brings(package: Path, command: tuple[str, ...], name: str) -> None:
    done = virl(*command)
    assert name in [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert done.stderr == ""


@pytest.mark.slow
def test_without_the_package_none_of_it_is_there() -> None:
    for command, name in zip(LISTS, NAMES, strict=True):
        assert name not in virl(*command).stdout
    assert "unknown agent 'mina'" in refused("run", "mina")


@pytest.mark.slow
def test_its_agent_runs_in_its_city_with_its_detector_to_a_report(package: Path) -> None:
    assert "report: out/report.html" in virl("run", "mina", "--mind", "rules", "--out", "out").stdout
    result = result_of(Path("out"))
    assert result["answer"] == {"visited": ["Corner Cafe", "Paper Moon"]}
    assert (result["city"], result["steps"], result["found"]) == ("crossville", 5, {"shop sign": 4})
    page = Path("out/report.html").read_text()
    assert "Places on the way" in page
    assert "A restaurant is not among the likes." in page


@pytest.mark.slow
def test_its_agent_is_resumed_where_it_was_interrupted(package: Path) -> None:
    virl("run", "mina")
    [folder] = Path("runs").glob("mina-*")
    whole, lines = result_of(folder), (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    (folder / "journal.jsonl").write_text("".join(lines[:4]))
    for name in ("result.json", "report.html"):
        (folder / name).unlink()
    virl("run", "mina", "--resume")
    for name in ("answer", "steps", "distance_m", "found"):
        assert result_of(folder)[name] == whole[name]
    assert len((folder / "journal.jsonl").read_text().splitlines()) == len(lines)


@pytest.mark.slow
def test_its_settings_can_be_set_and_are_checked(package: Path) -> None:
    virl("run", "mina", "--set", "stroll.min_rating=1", "--out", "out")
    assert result_of(Path("out"))["answer"] == {"visited": ["Corner Cafe", "Paper Moon", "Night Owl"]}
    assert "stroll.min_rating" in refused("run", "mina", "--set", "stroll.min_rating=6")
    assert "stroll.lieks: unknown field; did you mean 'likes'" in refused(
        "run", "mina", "--set", "stroll.lieks=[]"
    )


@pytest.mark.slow
def test_a_copy_of_its_agent_follows_its_routine_with_its_prompts(package: Path) -> None:
    virl("new", "zoe", "--from", "mina")
    virl("run", "zoe.yaml", "--out", "out")
    assert result_of(Path("out"))["answer"] == {"visited": ["Corner Cafe", "Paper Moon"]}


@pytest.mark.slow
def test_a_prompt_beside_the_character_comes_first_and_its_dot_is_the_routine(package: Path) -> None:
    virl("new", "zoe", "--from", "mina")
    Path("prompts/stroll").mkdir(parents=True)
    text = (package / "stroll/prompts/stroll/judge.md").read_text()
    Path("prompts/stroll/judge.md").write_text(text.replace(".rules:judge", ".rules:nobody"))
    assert "rule mytown.stroll.rules:nobody cannot be loaded" in refused("run", "zoe.yaml")


@pytest.mark.slow
def test_the_routine_works_as_a_folder_beside_the_character_too(package: Path) -> None:
    (package / "stroll").rename("amble")
    character = Path("amble/mina.yaml").read_text()
    Path("mina.yaml").write_text(character.replace("routine: stroll", "routine: amble"))
    virl("run", "mina.yaml", "--out", "out")
    assert result_of(Path("out"))["answer"] == {"visited": ["Corner Cafe", "Paper Moon"]}


@pytest.mark.slow
def test_a_module_beside_the_character_names_its_own_replies_in_its_prompts(tmp_path: Path) -> None:
    Path("sayer.py").write_text(
        "from virl.mind.replies import Reply\nfrom pydantic import BaseModel\n"
        "from virl.platform.city.outcome import Outcome\n"
        "class Said(Reply):\n    words: str\n"
        "class ToSay(BaseModel):\n    name: str\n"
        "def say(question: ToSay, lexicon) -> Said:\n    return Said(words='I am ' + question.name)\n"
        "def run(agent):\n"
        "    said = agent.mind.ask(agent.prompts.load('sayer/say', Said), name=agent.character.name)\n"
        "    agent.run.end(Outcome('finished', said.words))\n"
    )
    Path("sayer.yaml").write_text(
        "name: Zed\ncity: virlton\nstart: 91 Station Street\nbackground: none\nintention: To speak.\n"
    )
    Path("prompts/sayer").mkdir(parents=True)
    Path("prompts/sayer/say.md").write_text(
        "---\nabout: Words.\ninputs: [name]\nreply: .sayer:Said\nrule: .sayer:say\n---\nSpeak, {{ name }}.\n"
    )
    virl("run", "sayer.yaml", "--out", "out")
    assert result_of(Path("out"))["reason"] == "I am Zed"


def test_every_prompt_of_the_package_fits_its_reply_and_its_rule(package: Path) -> None:
    from mytown.stroll.replies import Verdict

    from virl.mind.rules import find_rule

    prompts = Prompts((PromptFolder(package / "stroll/prompts", "mytown.stroll"),))
    prompt = prompts.load("stroll/judge", Verdict)
    assert prompt.rule is not None
    assert set(find_rule(prompt.rule)[0].model_fields) == prompt.inputs


def test_its_detector_is_opened_by_name_wherever_one_is_asked_for(package: Path) -> None:
    assert "coloured-signs" in model_names("detector")
    assert "detector coloured-signs: loaded and ran" in virl("models", "--try", "coloured-signs").stdout


@pytest.mark.slow
def test_its_benchmark_scores_its_detector_in_its_city(package: Path) -> None:
    assert "How far from the centre of the city" in virl("bench", "list", "find-the-sign").stdout
    virl("bench", "find-the-sign", "--workers", "2", "--out", "out")
    [row] = json.loads(Path("out/results.json").read_text())["rows"]
    assert (row["episodes"]["done"], row["episodes"]["failed"]) == (4, 0)
    assert row["values"]["found"][0] == 1.0
    assert len(list(Path("out").glob("episodes/*/shop.jpg"))) == 4
    virl("bench", "report", "out")
    blind = Path("blind.yaml")
    blind.write_text(
        "kind: coloured-signs\nlabel: shop sign\nredness: 255\nmin_pixels: 1\nfirst_look: 0\nsecond_look: 0\n"
    )
    virl("bench", "find-the-sign", "--model", str(blind), "--limit", "2", "--out", "blind")
    [row] = json.loads(Path("blind/results.json").read_text())["rows"]
    assert row["values"]["found"][0] == 0.0


def test_what_a_model_lacks_is_said_before_the_first_episode(package: Path) -> None:
    line = refused("bench", "find-the-sign", "--model", "no-such-model", "--limit", "1", "--out", "out")
    assert line.startswith("virl: unknown detector 'no-such-model'")
    assert not list(Path("out").rglob("*.jpg"))


ASKED: dict[str, Callable[[], list[str]]] = {
    "virl.routines": lambda: ["run", str(character_of("broken"))],
    "virl.providers": lambda: ["run", "hiro", "--city", str(city_of("broken"))],
    "virl.models": lambda: ["run", "hiro", "--detector", str(model_of("broken"))],
    "virl.benchmarks": lambda: ["bench", "broken"],
}
KINDS = dict(zip(GROUPS, ("routine", "provider", "kind of model", "benchmark"), strict=True))


def character_of(routine: str) -> Path:
    path = Path("bo.yaml")
    text = find_character("hiro").read_text()
    path.write_text(re.sub("^routine: .*$", f"routine: {routine}", text, flags=re.MULTILINE))
    return path


def city_of(provider: str) -> Path:
    path = Path("nowhere.yaml")
    path.write_text(f"title: Nowhere\nabout: Nothing\nprovider: {provider}\n")
    return path


def model_of(kind: str) -> Path:
    path = Path("mine.yaml")
    path.write_text(f"kind: {kind}\n")
    return path


@pytest.mark.slow
def test_a_broken_package_is_one_line_in_each_list_and_refused_only_where_it_is_asked_for(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    groups = {group: ["broken = ruins.of:IT"] for group in GROUPS}
    source = {"ruins": "raise RuntimeError('two\\nlines')\n"}
    install(monkeypatch, tmp_path / "broken", "old-town", groups, source)
    for command, name, group in zip(LISTS, NAMES, GROUPS, strict=True):
        line = f"{KINDS[group]} 'broken' of old-town cannot be imported (RuntimeError: two lines): "
        done = virl(*command)
        [fault] = done.stderr.splitlines()
        assert name in done.stdout
        assert fault.startswith(line)
        assert refused(*ASKED[group]()).startswith(f"virl: {line}")
    Path("bo.yaml").unlink()
    virl("run", "mina", "--out", "out")
    virl("bench", "find-the-sign", "--limit", "1", "--out", "bench")


@pytest.mark.parametrize("file", ["settings.py", "routine.py"])
def test_an_agent_of_a_broken_routine_is_one_line_that_names_the_package(package: Path, file: str) -> None:
    (package / "stroll" / file).write_text("import nothing_of_this_name\n")
    line = "routine 'stroll' of mytown cannot be imported (ModuleNotFoundError: No module named 'nothing_of"
    done = virl("agents")
    [fault] = done.stderr.splitlines()
    assert fault.startswith(line)
    assert "hiro" in done.stdout
    assert refused("run", "mina").startswith(f"virl: {line}")


def test_a_broken_character_of_a_package_is_named_with_file_and_line(package: Path) -> None:
    path = package / "stroll" / "leo.yaml"
    path.write_text((package / "stroll/mina.yaml").read_text().replace("likes:", "lieks:"))
    done = virl("agents")
    [fault] = done.stderr.splitlines()
    assert fault.startswith(f"{path}, line 10: stroll.")
    assert "mina" in done.stdout
    assert str(path) in refused("run", "leo")


def test_a_package_whose_module_is_missing_brings_no_files_of_this_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path / "site", "old-town", {"virl.routines": ["gone = ruins.gone:run"]}, {})
    virl("new", "zoe")
    done = virl("agents")
    assert done.stderr.startswith("routine 'gone' of old-town cannot be imported (ModuleNotFoundError: ")
    assert "zoe.yaml" in done.stdout
    assert "zoe" not in agent_names(), "a file here is no agent of the package"


@pytest.mark.slow
def test_a_package_that_takes_one_of_virls_names_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    groups = {group: [f"{name} = ruins:IT"] for group, name in zip(GROUPS, OURS, strict=True)}
    install(monkeypatch, tmp_path / "site", "old-town", groups, {"ruins": "IT = None\n"})
    for command, group, name in zip(LISTS, GROUPS, OURS, strict=True):
        [fault] = virl(*command).stderr.splitlines()
        assert fault == (
            f"{KINDS[group]} {name!r} of old-town is not used: virl has one of that name; "
            "rename it, or uninstall old-town"
        )


OURS = ("explore", "offline", "sift", "vln")


def test_two_packages_that_bring_the_same_are_both_named_and_stop_no_other(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = ["stroll = yourtown.stroll.routine:run"]
    install(monkeypatch, tmp_path / "twin", "yourtown", {"virl.routines": lines}, {})
    (tmp_path / "twin/yourtown/stroll").mkdir(parents=True)
    (tmp_path / "twin/yourtown/stroll/ada.yaml").write_text((package / "stroll/mina.yaml").read_text())
    done = virl("agents")
    assert done.stderr.splitlines() == [
        "routine 'stroll' is provided by mytown and yourtown: uninstall one of them"
    ]
    assert "hiro" in done.stdout
    assert "routine 'stroll' is provided by mytown and yourtown" in refused("run", "mina")
    (tmp_path / "twin/yourtown/stroll/mina.yaml").write_text((package / "stroll/mina.yaml").read_text())
    assert "mina.yaml: give the path of one of them" in refused("run", "mina")
    assert "hiro" in virl("agents").stdout


def test_a_character_here_whose_routine_cannot_be_imported_is_a_line_too(package: Path) -> None:
    Path("bo.py").write_text("import nothing_of_this_name\n")
    character_of("bo")
    Path("notes.yaml").write_text("milk: 2\n")
    done = virl("agents")
    told = done.stdout.partition("Not readable:")[2]
    assert "bo.yaml: routine 'bo' in bo.py cannot be imported (ModuleNotFoundError: " in told
    assert "mina" in done.stdout


def test_two_packages_with_a_model_of_the_same_name_are_both_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = {"virl.models": ["more-signs = mytown.more_signs:KIND"]}
    package = install_plugin(monkeypatch, tmp_path / "site", lines)
    folder = package / "more"
    folder.mkdir()
    (folder / "coloured-signs.yaml").write_text((package / "models/coloured-signs.yaml").read_text())
    (package / "more_signs.py").write_text(
        "from dataclasses import replace\nfrom pathlib import Path\nfrom .coloured_signs import KIND as K\n"
        "KIND = replace(K, models=Path(__file__).parent / 'more')\n"
    )
    assert "more/coloured-signs.yaml: give the path of one of them" in refused(
        "run", "hiro", "--detector", "coloured-signs"
    )
    assert "coloured-signs" in virl("models").stdout


HERE = """\
name: Bo
city: crossville
start: Corner Cafe
background: New in town.
intention: Bo wants to know what is open.
senses: {detector: coloured-signs}
tools: [open_now, move]
"""
SCRIPT = """\
turns:
  - {tool: open_now, args: {radius_m: 300}}
  - {answer: Nothing., succeeded: false}
"""


def test_a_character_uses_its_tool_and_the_journal_has_the_data(package: Path) -> None:
    Path("bo.yaml").write_text(HERE)
    Path("script.yaml").write_text(SCRIPT)
    virl("check", "bo.yaml", "--mind", "scripted:script.yaml")
    virl("run", "bo.yaml", "--mind", "scripted:script.yaml", "--out", "out")
    [note, _] = [
        one for one in read_journal(Path("out")) if isinstance(one, NoteRecord) and one.topic == "tool"
    ]
    data = TOOLS.find("open_now").returns.model_validate(note.data["data"])
    assert str(data) == note.data["content"]
    assert note.data["failed"] is False


def test_its_tool_is_offered_wherever_tools_are(package: Path) -> None:
    assert tool_names()[-1] == "open_now"
    assert made_character(tools="all").tools == tool_names()
    [listed] = [one for one in listed_tools() if one.name == "open_now"]
    assert (listed.title, listed.annotations and listed.annotations.read_only_hint) == ("Open now", True)
    assert "radius_m" in listed.input_schema["properties"]
    with open_tools("crossville", names=["open_now"], out="out") as made:
        told = made[0].invoke({"radius_m": 300})
        assert told == "Nothing around is open." or "| " in told
        asked = InspectChatModel().bind_tools(made).kwargs["tools"]  # type: ignore[attr-defined]
    assert [one["name"] for one in asked] == ["open_now", "finish"]


def test_a_tool_that_there_is_not_is_refused_with_those_that_there_are(package: Path) -> None:
    Path("bo.yaml").write_text(
        HERE.replace("open_now,", "open_then,").replace("know what is open", "find a cafe")
    )
    line = refused("check", "bo.yaml")
    assert "bo.yaml, line 7: tools, entry 1: must be one of look, look_closer, " in line
    assert line.endswith("open_now, not 'open_then'; did you mean 'open_now'?")


def test_a_tool_that_cannot_be_imported_is_refused_where_it_is_named(package: Path) -> None:
    Path("bo.yaml").write_text(HERE)
    (package / "open_now.py").write_text("import nothing_of_this_name\n")
    fault = "tool 'open_now' of mytown cannot be imported (ModuleNotFoundError: "
    assert fault in refused("run", "bo.yaml")
    done = virl("agents")
    assert done.stderr.startswith(fault)
    assert "hiro" in done.stdout
    assert "look" in {one.name for one in listed_tools()}
