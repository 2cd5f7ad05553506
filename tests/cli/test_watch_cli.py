"""`virl watch` as a command: what it refuses in one line, and the file that it saves."""

from pathlib import Path

import pytest
from made_run import keep_made_run
from rich.console import Console
from typer.testing import CliRunner

from virl.agent import start
from virl.agent.plan import RunOptions
from virl.cli import watch
from virl.cli.main import app
from virl.serve.watch import server


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a run folder"),
        (["nowhere"], "nowhere: no such folder"),
        (["--episode", "1", "."], "need --play"),
        (["--play", "vln", "."], "remove the folders"),
        (["--play", "vnl"], "unknown benchmark 'vnl'"),
        (["--play", "vln", "--set", "models"], "write it as FIELD=VALUE"),
    ],
)
def test_what_cannot_be_watched_is_said_in_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["watch", *words])
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_replay_is_saved(tmp_path: Path) -> None:
    keep_made_run(tmp_path / "runs" / "one", size=16)
    out = tmp_path / "replay.html"
    done = CliRunner().invoke(app, ["watch", str(tmp_path / "runs"), "--save", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == f"replay: {out}"
    page = out.read_text(encoding="utf-8")
    assert "Noodle Bar Mei" in page
    assert page.count("data:image/webp") > 20
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_waits_for_its_page_where_somebody_can_open_it(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setattr(watch, "BROWSER_S", 0.01)
    monkeypatch.setattr(start, "run_agent", lambda *_: "the end")
    monkeypatch.setattr(server, "wait_for_interrupt", lambda: None)
    told: list[object] = []
    watch.watch_run(RunOptions(agent="hiro", out=tmp_path / "run"), Console(quiet=True), told.append)
    assert ("starts once the page is open" in capsys.readouterr().err) == terminal
    assert told == ["the end"]
