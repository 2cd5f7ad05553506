"""A bug in somebody's own code is one line, and what was done so far is reported."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.bugs import bug_of
from virl.cli.main import app
from virl.errors import CannotWrite

CHARACTER = """name: Zed
city: virlton
start: 91 Station Street
background: nobody
intention: to greet
routine: greeter
"""
ROUTINE = """import json
from virl.platform.city.outcome import Outcome

def run(agent):
    if not agent.run.find_note("greeting", "first"):
        agent.run.note("greeting", "first", "Zed says hello.")
    greet(agent)

def greet(agent):
    {bug}
    agent.run.end(Outcome("finished", "all were greeted"))
"""


@pytest.fixture
def zed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zed.yaml").write_text(CHARACTER)
    return tmp_path / "zed.yaml"


def go(zed: Path, bug: str, *more: str):
    # a module is imported once a process: another bug needs another name
    name = f"greeter{abs(hash(bug))}"
    (zed.parent / f"{name}.py").write_text(ROUTINE.format(bug=bug))
    zed.write_text(CHARACTER.replace("greeter", name))
    return CliRunner().invoke(app, ["run", str(zed), "--out", "run", "--quiet", *more])


@pytest.mark.slow
def test_a_bug_in_a_routine_is_one_line_and_the_run_goes_on_once_it_is_mended(
    zed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "geheim-geheim")
    done = go(zed, 'raise ValueError("my bug\\nis geheim-geheim")')
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert ".py, line 10, in greet: ValueError: my bug is ***" in line
    assert "run folder: run" in line
    assert "--resume" in line
    assert "--debug" in line
    assert "Zed says hello." in Path("run/report.html").read_text()
    assert not Path("run/result.json").exists()
    module = next(zed.parent.glob("greeter*.py"))
    assert line.startswith(f"virl: {module}, line 10")


@pytest.mark.slow
def test_a_bug_below_the_routine_is_told_where_the_routine_called(zed: Path) -> None:
    done = go(zed, 'json.loads("{")')
    assert "line 10, in greet: JSONDecodeError" in done.stderr


@pytest.mark.slow
def test_debug_shows_the_traceback(zed: Path) -> None:
    done = go(zed, "1 / 0", "--debug")
    assert done.exit_code == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.slow
def test_a_package_of_an_extra_that_is_not_installed_is_no_bug() -> None:
    told = bug_of(ModuleNotFoundError("No module named 'osmium'", name="osmium"))
    assert str(told) == "this needs osmium, which is not installed: pip install 'virl[osm]'"


def test_a_full_disk_is_no_bug(zed: Path) -> None:
    done = go(zed, 'raise OSError(28, "No space left on device", "notes.txt")')
    assert done.exit_code == 2
    assert "cannot write notes.txt: No space left on device" in done.stderr
    assert isinstance(bug_of(OSError(30, "Read-only file system", "x")), CannotWrite)


@pytest.mark.slow
def test_a_run_that_has_finished_is_said_to_have(zed: Path) -> None:
    assert go(zed, "pass").exit_code == 0
    again = CliRunner().invoke(app, ["run", str(zed), "--out", "run", "--resume"])
    assert again.exit_code == 0
    assert "already finished" in again.stdout
    assert "report: run/report.html" in again.stdout


@pytest.mark.slow
def test_a_routine_that_is_mended_goes_on_where_it_broke(zed: Path) -> None:
    assert go(zed, "agent.missing()").exit_code == 1
    module = next(zed.parent.glob("greeter*.py"))
    module.write_text(module.read_text().replace("agent.missing()", "pass"))
    arguments = ["-m", "virl", "run", str(zed), "--out", "run", "--quiet", "--resume"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "finished" in Path("run/result.json").read_text()
    assert "Zed says hello." in Path("run/report.html").read_text()
