"""Runs in processes, and runs that are interrupted or killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_benchmark import NAME, Options, tries
from rich.console import Console

from virl.bench.run import Engine, run_benchmark

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent.parent
QUIET = Console(quiet=True)
CASES = 12


def run(out: Path, options: Options, kind: Any, *, resume: bool = False) -> Any:
    engine = Engine(kind, 2, first_wait_s=0.001, pictures=False)
    run_benchmark(NAME, options, out, QUIET, engine=engine, resume=resume)
    return without_times(out)


def without_times(out: Path) -> Any:
    found = json.loads((out / "results.json").read_text())
    for row in found["rows"]:
        del row["seconds"]
    return found


def done(out: Path) -> Counter[str]:
    path = out / "records.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(json.loads(line)["id"] for line in lines if line.endswith("}"))


def test_processes_find_what_threads_find_though_some_die(tmp_path: Path) -> None:
    for name in ("threads", "processes"):
        (tmp_path / name).mkdir()
    troubles: dict[str, str] = {"case 1": "never"}
    threads = run(tmp_path / "a", Options(trouble=troubles, models=("sharp",)), "threads")
    dying = Options(folder=str(tmp_path), trouble=troubles | {"case 4": "die once"}, models=("sharp",))
    processes = run(tmp_path / "b", dying, "processes")
    del threads["runs"], processes["runs"]
    assert processes == threads
    kept = [json.loads(line) for line in (tmp_path / "b" / "records.jsonl").read_text().splitlines()]
    assert Counter(record["id"] for record in kept) == done(tmp_path / "a")
    assert {record["attempts"] for record in kept if record["case"] == "case 4"} == {2}


def test_an_episode_that_kills_its_process_each_time_fails_alone(tmp_path: Path) -> None:
    options = Options(
        folder=str(tmp_path), cities=("north",), models=("sharp",), count=3, trouble={"case 1": "die"}
    )
    found = run(tmp_path / "out", options, "processes")
    assert [(one["id"], one["fault"]) for one in found["failures"]] == [("sharp/north/case 1", "WorkerLost")]
    assert tries(tmp_path, "sharp/north/case 1") == 3
    assert found["rows"][0]["episodes"]["done"] == 2


def started(out: Path, seconds: float) -> "subprocess.Popen[str]":
    fields = [f"--set=count={CASES}", f"--set=seconds={seconds}", "--city=north", "--model=sharp"]
    command = [sys.executable, "-m", "virl", "bench", NAME, *fields, "--workers=2", f"--out={out}"]
    return subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def wait_for(out: Path, episodes: int) -> None:
    limit = time.monotonic() + 60
    while len(done(out)) < episodes:
        assert time.monotonic() < limit
        time.sleep(0.05)


def finish(out: Path, seconds: float) -> Any:
    options = Options(cities=("north",), models=("sharp",), count=CASES, seconds=seconds)
    return run(out, options, "threads", resume=True)


def test_an_interruption_leaves_a_valid_part_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = started(tmp_path, 0.4)
    wait_for(tmp_path, 2)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in told
    counts = without_times(tmp_path)["rows"][0]["episodes"]
    assert 2 <= counts["done"] < CASES
    assert counts["missing"] == CASES - counts["done"]
    before = done(tmp_path)
    assert finish(tmp_path, 0.4)["rows"][0]["episodes"]["done"] == CASES
    after = done(tmp_path)
    assert set(after.values()) == {1}
    assert set(before) < set(after)


def test_a_second_interruption_does_not_wait(tmp_path: Path) -> None:
    process = started(tmp_path, 300.0)
    limit = time.monotonic() + 60
    while not (tmp_path / "plan.json").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None  # it waits for the episodes under way
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert without_times(tmp_path)["rows"][0]["episodes"]["missing"] == CASES


def test_a_kill_loses_only_the_episodes_under_way(tmp_path: Path) -> None:
    process = started(tmp_path, 0.3)
    wait_for(tmp_path, 3)
    process.kill()
    process.communicate()
    assert finish(tmp_path, 0.3)["rows"][0]["episodes"]["done"] == CASES
    assert set(done(tmp_path).values()) == {1}
