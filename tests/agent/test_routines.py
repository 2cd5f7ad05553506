"""Routines of other people: beside a character's file, and in an installed package."""

import subprocess
import sys
from pathlib import Path

import pytest

from virl.agent.character_file import (
    LoadedCharacter,
    agent_names,
    find_character,
    load_character,
    recorded_character,
)
from virl.agent.roster import roster
from virl.errors import BadInput, ModelUnavailable

CHARACTER = """name: Zed
city: virlton
start: 91 Station Street
background: nobody
intention: to greet
"""
SETTINGS = """from virl.agent.character import CharacterField
from virl.settings.model import Settings

class Greeting(Settings):
    words: str
    times: int = 1

GREETING = CharacterField("greeting", Greeting | None, None, "What is said.")
FIELDS = (GREETING,)
"""
ROUTINE = '''"""Zed, the greeter: says what he was told to say."""

from .settings import GREETING

def run(agent):
    return GREETING.of(agent)
'''


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package `zedtown` with a routine and its character, installed as far as entry points go."""
    site = tmp_path / "site"
    write(site / "zedtown", __init__="")
    home = write(site / "zedtown" / "zed", __init__="", routine=ROUTINE, settings=SETTINGS)
    (home / "zed.yaml").write_text(CHARACTER + "greeting: {words: hello, times: 2}\n")
    info = site / "zedtown-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zedtown\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[virl.routines]\nzed = zedtown.zed.routine:run\n")
    monkeypatch.syspath_prepend(str(site))
    yield home
    for name in [name for name in sys.modules if name.partition(".")[0] == "zedtown"]:
        del sys.modules[name]


def test_an_installed_package_brings_a_routine_its_fields_and_its_character(installed):
    assert "zed" in agent_names()
    path = find_character("zed")
    assert path == installed / "zed.yaml"
    character = load_character(path)
    assert LoadedCharacter(path, character).routine.run()(character).times == 2
    entry = next(entry for entry in roster()[0] if entry.name == "zed")
    assert entry.about == "to greet"


def test_its_fields_are_checked_as_any_other(installed):
    path = installed / "zed.yaml"
    path.write_text(CHARACTER + "greeting: {wrods: hello}\n")
    with pytest.raises(
        BadInput, match=r"zed.yaml, line 6: greeting.wrods: unknown field; did you mean 'words'"
    ):
        load_character(path)
    path.write_text(CHARACTER + "greeting: {words: hello, tmies: 3}\n")
    with pytest.raises(BadInput, match=r"greeting\.tmies: unknown field; did you mean 'times'"):
        load_character(path)


def test_a_field_of_another_package_is_unknown_to_virls_own_agents(installed, tmp_path):
    path = tmp_path / "me.yaml"
    path.write_text(CHARACTER + "routine: explore\ngreeting: {words: hello}\n")
    with pytest.raises(BadInput, match="line 7: greeting: unknown field"):
        load_character(path)


def test_a_broken_package_is_named_in_one_line_and_stops_no_other(installed):
    (installed / "settings.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(ModelUnavailable) as caught:
        load_character(installed / "zed.yaml")
    assert "routine 'zed'" in str(caught.value)
    assert "No module named 'nothing_of_this_name'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert load_character(find_character("hiro")).name == "Hiro"


def test_a_folder_beside_the_character_imports_relatively(tmp_path):
    write(tmp_path / "zed", routine=ROUTINE, settings=SETTINGS)
    path = tmp_path / "me.yaml"
    path.write_text(CHARACTER + "routine: zed\ngreeting: {words: hello, times: 3}\n")
    character = load_character(path)
    assert LoadedCharacter(path, character).routine.run()(character).words == "hello"


def test_two_folders_of_one_name_are_two_routines(tmp_path):
    for name, words in (("a", "one"), ("b", "two")):
        write(tmp_path / name / "zed", routine=f"def run(agent): return {words!r}\n")
        (tmp_path / name / "zed.yaml").write_text(CHARACTER)
    said = [
        LoadedCharacter(path, load_character(path)).routine.run()(None)
        for path in (tmp_path / "a" / "zed.yaml", tmp_path / "b" / "zed.yaml")
    ]
    assert said == ["one", "two"]


def test_a_module_beside_the_character_may_declare_fields(tmp_path):
    (tmp_path / "zed.py").write_text(SETTINGS + "\ndef run(agent):\n    return GREETING.of(agent)\n")
    path = tmp_path / "zed.yaml"
    path.write_text(CHARACTER + "greeting: {words: hi}\n")
    character = load_character(path)
    assert LoadedCharacter(path, character).routine.run()(character).words == "hi"


def test_a_routine_of_the_old_name_is_told_the_new_one(tmp_path):
    (tmp_path / "zed.py").write_text("def live(agent): ...\n")
    path = tmp_path / "zed.yaml"
    path.write_text(CHARACTER)
    with pytest.raises(
        BadInput, match=r"zed.py: a routine needs a function `run\(agent\)`; rename its `live"
    ):
        LoadedCharacter(path, load_character(path)).routine.run()


def test_an_agents_name_stands_for_its_routine(tmp_path):
    path = tmp_path / "me.yaml"
    path.write_text(CHARACTER + "routine: hiro\n")
    routine = LoadedCharacter(path, load_character(path)).routine.run()
    assert routine.__module__ == "virl.routines.explore.routine"


@pytest.mark.parametrize("name", ["../other", "''", "a.b", "a/b"])
def test_a_routine_is_a_name_and_no_path(tmp_path, name):
    for folder in (tmp_path, tmp_path / "here", tmp_path / "other"):
        write(folder, routine="raise RuntimeError('imported')\n")
    path = tmp_path / "here" / "me.yaml"
    path.write_text(CHARACTER + f"routine: {name}\n")
    with pytest.raises(BadInput, match=r"me\.yaml, line 6: routine: must be a name of letters, digits"):
        load_character(path)


def test_a_journal_of_an_earlier_version_names_the_routine_by_the_agent():
    path = find_character("hiro")
    data = load_character(path).model_dump(mode="json") | {"routine": "hiro"}
    character = recorded_character(path, data)
    assert LoadedCharacter(path, character).routine.run().__module__ == "virl.routines.explore.routine"


def test_an_unknown_routine_lists_those_there_are(tmp_path):
    path = tmp_path / "me.yaml"
    path.write_text(CHARACTER + "routine: hirro\n")
    fault = r"unknown routine 'hirro'"
    with pytest.raises(BadInput, match=fault):
        LoadedCharacter(path, load_character(path)).routine.run()


@pytest.mark.slow
def test_a_character_is_read_without_what_routines_run_on():
    code = (
        "import sys\n"
        "from virl.agent.character_file import find_character, load_character\n"
        "load_character(find_character('diego'))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "virl.routines.day.settings" in loaded
    assert not {"virl.routines.day.routine", "virl.routines.explore.routine", "langchain", "cv2"} & set(
        loaded
    )
