"""Thresholds of single labels, from a detector's or a character's file to the count of a run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.main import app
from virl.platform.perception.models import model_file

CHARACTER = """\
name: RX-399
city: virlton
background: One that counts.
intention: To count.
routine: counting
senses: {detector: DETECTOR}
start: 130 Chapel Street
route: [130 Elm Walk]
count: {things: [trash bin, fire hydrant], background: [mailbox, planter, bollard]}
limits: {steps: 12}
"""


def count(folder: Path, detector: str, *more: str) -> dict[str, int]:
    character = folder / "bot.yaml"
    character.write_text(CHARACTER.replace("DETECTOR", detector))
    done = CliRunner().invoke(
        app, ["run", str(character), "--out", str(folder / "run"), "--seed", "4", *more]
    )
    assert done.exit_code == 0, done.output
    found: dict[str, int] = json.loads((folder / "run" / "result.json").read_text())["found"]
    return found


@pytest.mark.slow
def test_hydrants_alone_need_a_higher_score(tmp_path: Path) -> None:
    as_it_is = count(tmp_path, "simulated")
    assert min(as_it_is.values()) > 0
    mine = tmp_path / "mine.yaml"
    hydrants = "by_label:\n  fire hydrant: {first_look: 0.55, second_look: 1}\n"
    mine.write_text(model_file("simulated").read_text() + hydrants)
    (tmp_path / "run").rename(tmp_path / "before")
    assert count(tmp_path, str(mine)) == as_it_is | {"fire hydrant": 0}
    (tmp_path / "run").rename(tmp_path / "by-detector")
    alone = "count.recheck={fire hydrant: 1}"
    assert count(tmp_path, "simulated", "--set", alone) == as_it_is | {"fire hydrant": 0}
    page = (tmp_path / "run" / "report.html").read_text()
    assert "fire hydrant from 100 %, others from the score in the detector" in page


def test_a_recheck_of_something_that_is_not_counted_is_refused(tmp_path: Path) -> None:
    character = tmp_path / "bot.yaml"
    character.write_text(CHARACTER.replace("DETECTOR", "simulated"))
    done = CliRunner().invoke(
        app, ["run", str(character), "--dry-run", "--set", "count.recheck={bollard: 0.9}"]
    )
    assert done.exit_code == 2
    assert "`recheck` names 'bollard', which is not among `things`" in " ".join(done.output.split())


def test_a_fault_is_told_with_file_line_and_field_before_the_run(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    before = model_file("simulated").read_text()
    mine.write_text(f"{before}by_label:\n  fire hydrant: {{first_look: 0.55, second_look: 0.5}}\n")
    character = tmp_path / "bot.yaml"
    character.write_text(CHARACTER.replace("DETECTOR", str(mine)))
    done = CliRunner().invoke(app, ["run", str(character), "--out", str(tmp_path / "run")])
    line = len(before.splitlines()) + 2
    assert done.exit_code != 0
    assert f"mine.yaml, line {line}: by_label.fire hydrant: second_look should be" in done.output.replace(
        "\n", " "
    )
    assert not (tmp_path / "run" / "journal.jsonl").exists()
