"""RX-399 and Imani killed and resumed in Virlton: the same end, the same objects, nothing twice."""

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from virl.agent.going_on import replace_missing_panoramas
from virl.journal.journal import read_journal
from virl.platform.providers.cities import open_city

pytestmark = pytest.mark.slow

SENSES = """\
city: virlton
background: One that counts.
intention: To count.
senses: {detector: simulated}
"""
ROBOT = f"""\
name: RX-399
{SENSES}start: 130 Chapel Street
routine: rx399
route: [130 Elm Walk]
count: {{things: [trash bin], background: [mailbox, planter]}}
limits: {{steps: 40}}
"""
PLANNER = f"""\
name: Imani
{SENSES}start: 98 King Lane
routine: imani
region: [[41.2506, -38.7502], [41.2506, -38.7490], [41.2516, -38.7490], [41.2516, -38.7502]]
count: {{things: [trash bin, fire hydrant, bench], background: [mailbox, planter, bollard]}}
limits: {{steps: 200}}
"""
KILLS = 3


def command(character: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "virl", "run", str(character), "--out", str(out), "--quiet", *more]


def size_of(run: Path) -> int:
    """Of the files that grow with every step and every batch of a survey."""
    return sum(file.stat().st_size for file in run.rglob("*.jsonl"))


def steps_of(run: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [{key: record[key] for key in record if key != "seconds"} for record in records[1:-1]]


def end_of(run: Path) -> tuple[object, ...]:
    result = json.loads((run / "result.json").read_text())
    return tuple(result[key] for key in ("status", "steps", "distance_m", "found", "reason", "outcome"))


def interrupted(character: Path, run: Path, chance: random.Random) -> int:
    """Run to the end, killed again and again a moment after something was written; how often."""
    kills = 0
    while not (run / "report.html").exists():  # which follows the result
        more = ["--resume"] if (run / "journal.jsonl").exists() else []
        process = subprocess.Popen(
            command(character, run, *more), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if kills < KILLS:
            before = size_of(run)
            while process.poll() is None and size_of(run) == before:
                time.sleep(0.002)
            try:
                process.wait(chance.uniform(0.0, 0.4))
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
        _, errors = process.communicate()
        assert process.returncode in (0, -9), errors
    return kills


@pytest.mark.parametrize(
    ("name", "text", "counted", "seed"),
    [("robot", ROBOT, ".", 5), ("planner", PLANNER, "consulted/round", 6)],
)
def test_killed_at_random_points_and_resumed(
    name: str, text: str, counted: str, seed: int, tmp_path: Path
) -> None:
    character = tmp_path / f"{name}.yaml"
    character.write_text(text)
    whole, run, town = tmp_path / "whole", tmp_path / "run", open_city("virlton")
    run.mkdir()
    first = subprocess.run(command(character, whole), capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    if name == "planner":  # a tour is searched by the clock: both walk the one that was found first
        survey = whole / counted / "region.jsonl"
        assert len([line for line in survey.read_text().splitlines() if '"order"' in line]) == 1
        done = read_journal(whole / counted / "journal.jsonl")
        remarks = [replace_missing_panoramas(done[:cut], town, "links")[1] for cut in range(1, len(done))]
        assert not any(remarks), "a tour that leads where no link does was taken for one whose link is gone"
        (run / counted).mkdir(parents=True)
        shutil.copy(survey, run / counted)
    assert interrupted(character, run, random.Random(seed)) == KILLS
    assert steps_of(run / counted) == steps_of(whole / counted)
    assert end_of(run) == end_of(whole)
    assert end_of(run / counted) == end_of(whole / counted)
    for file in ("objects.csv", "objects.geojson", "memory/memory.jsonl"):
        assert (run / counted / file).read_bytes() == (whole / counted / file).read_bytes(), file
    assert (run / "report.html").exists()
    assert sum(end_of(run)[3].values()) >= 3, "something must have been found"  # type: ignore[attr-defined]
