"""Hiro killed, starved of disk, and resumed: the same end, no step twice."""

import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_characters import write_hiro

pytestmark = pytest.mark.slow

STEPS = 14
KILLS = 5
START = "{lat: 41.2475, lng: -38.7560}"


def command(character: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "virl", "run", str(character), "--out", str(out), *more]


def steps_of(run: Path) -> list[dict[str, object]]:
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    kept = ("seq", "kind", "step", "pose", "decided", "next_pano_id", "places", "views", "distance_m")
    return [{key: record[key] for key in kept if key in record} for record in records[1:]]


def end_of(run: Path) -> tuple[object, ...]:
    result = json.loads((run / "result.json").read_text())
    return tuple(result[key] for key in ("status", "steps", "distance_m", "place", "reason", "outcome"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("undisturbed")
    character = write_hiro(folder, steps=STEPS, start=START)
    subprocess.run(command(character, folder / "run", "--quiet"), check=True, capture_output=True)
    return character, folder / "run"


def test_killed_at_random_points_and_resumed(undisturbed: tuple[Path, Path], tmp_path: Path) -> None:
    character, whole = undisturbed
    run, chance, kills = tmp_path / "run", random.Random(3), 0
    while not (run / "result.json").exists():
        more = ["--resume"] if (run / "journal.jsonl").exists() else []
        process = subprocess.Popen(
            command(character, run, "--quiet", *more), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if kills < KILLS:
            before = journal_size(run)
            while process.poll() is None and journal_size(run) == before:
                time.sleep(0.01)
            try:
                process.wait(chance.uniform(0.0, 0.15))  # what is kept makes steps short
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
        _, errors = process.communicate()
        assert process.returncode in (0, -9), errors
    assert kills >= 3, "the run must have been killed for the test to mean anything"
    assert steps_of(run) == steps_of(whole)
    assert end_of(run) == end_of(whole)


def journal_size(run: Path) -> int:
    journal = run / "journal.jsonl"
    return journal.stat().st_size if journal.exists() else 0


def test_a_full_disk_loses_nothing(undisturbed: tuple[Path, Path], tmp_path: Path) -> None:
    character, whole = undisturbed
    run = tmp_path / "run"
    limit = journal_size(whole) * 2 // 3  # no file may grow beyond: the journal hits it in its later steps

    def starve() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command(character, run, "--quiet"), preexec_fn=starve, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    (message,) = done.stderr.strip().splitlines()
    assert str(run) in message
    assert "resume" in message
    subprocess.run(command(character, run, "--quiet", "--resume"), check=True, capture_output=True)
    assert steps_of(run) == steps_of(whole)
