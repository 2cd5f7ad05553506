"""What is true is told when a run has ended, and reaches nothing that is sent or written before."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_characters import PLANNER, write_hiro
from typer.testing import CliRunner

from virl.cli.main import app
from virl.platform.city.city import City, Truth

KNOWN = "Known because"
pytestmark = pytest.mark.slow


class GuardedTruth:
    """A truth that may be asked only once a run's journal has ended.

    Args:
        truth: the town's.
        folder: of the run.
    """

    def __init__(self, truth: Truth, folder: Path) -> None:
        self._truth, self._folder, self.asked = truth, folder, 0

    def __getattr__(self, name: str) -> Any:
        last = (self._folder / "journal.jsonl").read_text().splitlines()[-1]
        assert json.loads(last)["kind"] == "end", f"{name} was asked for while the run went on"
        self.asked += 1
        return getattr(self._truth, name)


def ran(
    character: Path, city: City, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], str]:
    """Run a character in a guarded town; its result, and what the terminal says."""
    assert city.truth
    guard = GuardedTruth(city.truth, folder)

    @contextmanager
    def opened(*_: object) -> Iterator[City]:
        yield replace(city, truth=guard)

    monkeypatch.setattr("virl.agent.start.opened_city", opened)
    done = CliRunner().invoke(app, ["run", str(character), "--out", str(folder)])
    assert done.exit_code == 0, done.output
    assert guard.asked
    for journal in folder.rglob("journal.jsonl"):
        assert KNOWN not in journal.read_text()
    assert KNOWN in (folder / "report.html").read_text()
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result, done.output


def test_hiro_is_told_by_result_page_and_terminal(
    virlton: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    character = write_hiro(tmp_path, steps=40, start="91 Station Street")
    text = character.read_text().replace("routine: hiro", "routine: explore")
    character.write_text(text + "senses: {detector: rendered-signs}\n")
    result, told = ran(character, virlton, tmp_path / "run", monkeypatch)
    [one] = result["truth"]["checked"]
    assert one["claimed"] == result["place"]["name"]
    assert "Truth" in told
    again = CliRunner().invoke(app, ["run", str(character), "--out", str(tmp_path / "run"), "--resume"])
    assert again.exit_code == 0
    assert json.loads((tmp_path / "run/result.json").read_text()) == result


def test_who_consults_is_told_and_who_was_consulted_is_not(
    virlton: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "planner.yaml"
    path.write_text(
        PLANNER.replace("routine: imani", "routine: survey")
        .replace("simulated", "rendered")
        .replace("steps: 200", "steps: 4")
    )
    result, _ = ran(path, virlton, tmp_path / "run", monkeypatch)
    numbers = [one["numbers"] for one in result["truth"]["checked"]]
    assert [one["reported"] for one in numbers] == list(result["found"].values())
    [nested] = (tmp_path / "run/consulted").glob("*/result.json")
    assert json.loads(nested.read_text())["truth"] is None
    assert KNOWN not in nested.with_name("report.html").read_text()
