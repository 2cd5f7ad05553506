"""Diego in Virlton: a whole day, killed and resumed, with a client who speaks up."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import icalendar
import pytest

pytestmark = pytest.mark.slow

DAY = ["--set", "day.starts=10:00", "--set", "day.ends=15:00", "--set", "day.scenic=false"]
FEEDBACK = """\
- after: 1
  say: No libraries, please.
- at: "12:00"
  say: My feet hurt.
  state: {hunger: 95}
"""


def command(out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "virl", "run", "diego", "--out", str(out), "--quiet", *more]


def answer(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())["answer"]
    return found


def notes(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "note"]


def killed_after(process: "subprocess.Popen[bytes]", run: Path, activities: int) -> None:
    """Kill a run once it has committed so many activities."""
    journal = run / "journal.jsonl"
    while process.poll() is None:
        held = journal.read_text().count('"topic":"activity"') if journal.exists() else 0
        if held >= activities:
            process.kill()
            break
        time.sleep(0.02)
    process.wait()


def test_a_day_that_is_killed_between_activities_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    feedback = tmp_path / "feedback.yaml"
    feedback.write_text(FEEDBACK)
    more = ["--feedback", str(feedback), *DAY]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run(command(whole, *more), check=True)
    process = subprocess.Popen(command(broken, *more))
    killed_after(process, broken, 2)
    assert not (broken / "result.json").exists()
    subprocess.run(command(broken, "--resume"), check=True)
    assert answer(broken)["activities"] == answer(whole)["activities"]
    keys = [(note["topic"], note["key"]) for note in notes(broken)]
    assert len(keys) == len(set(keys))


def test_the_client_is_heard_and_the_day_can_be(tmp_path: Path) -> None:
    feedback = tmp_path / "feedback.yaml"
    feedback.write_text(FEEDBACK)
    run = tmp_path / "run"
    subprocess.run(command(run, "--feedback", str(feedback), *DAY), check=True)
    said = [note for note in notes(run) if note["topic"] == "feedback"]
    assert [note["data"]["say"] for note in said] == ["No libraries, please.", "My feet hurt."]
    assert said[1]["data"]["state"]["hunger"] == 95
    assert said[1]["data"]["state"]["pain"] > 0
    planned = answer(run)
    visits = [one for one in planned["activities"] if one["kind"] != "transport"]
    assert "library" not in {one["sort"] for one in visits[1:]}
    assert "eat" in {one["kind"] for one in visits}
    assert planned["violations"] == []
    calendar = icalendar.Calendar.from_ical((run / "itinerary.ics").read_text())
    assert len(calendar.events) == len(planned["activities"])
    page = (run / "report.html").read_text()
    assert all(one["what"] in page for one in visits)
