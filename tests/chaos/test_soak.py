"""Runs that are killed, meet faults, jumping clocks and full disks come to the same end, cost included."""

import os
import random
import sys
import time
from pathlib import Path

import pytest
from chaos.jobs import dealt
from chaos.soak import faults_of, soak, table


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [["peng"], ["data export r2r", "bench r2r"]], ids=" or ".join)
def test_a_slice_of_the_soak(jobs: list[str], tmp_path: Path) -> None:
    work = soak(tmp_path, kills=3, seed=11, names=[dealt(jobs)], tell=False)
    assert work.kills >= 3
    assert not faults_of(work)


@pytest.mark.soak
def test_the_whole_soak(tmp_path: Path) -> None:
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))
    named = [name for name in os.environ.get("SOAK_JOBS", "").split(",") if name.strip()]
    names = [name for name in named if name.split()[0] not in ("helsinki", "towns")]
    if named and not names:
        pytest.skip("only jobs of other soaks were asked for")
    sys.stdout.write(f"\nseed {seed}: repeat with SEED={seed}\n")
    started = time.monotonic()
    report = Path(os.environ.get("SOAK_REPORT") or tmp_path / "soak.md")
    work = soak(tmp_path, int(os.environ.get("SOAK_KILLS") or 200), seed, names, report=report)
    sys.stdout.write(table(work, seed, time.monotonic() - started))
    assert not faults_of(work)
