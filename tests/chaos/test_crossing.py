"""Agents and movers in a dense town over HTTP: faults and kills change nothing of what a run ends with."""

import os
import random
import sys
from pathlib import Path

import pytest
from chaos.crossing import cross, faults_of, table
from chaos.dense_town import crossing_jobs, opened_town
from chaos.jobs import dealt
from headless import needs_chromium
from real_data import real_data

TOWN = "helsinki"
"""How `JOBS` of `make soak` names the cross: `helsinki`, `helsinki hiro`, `helsinki hiro web`."""


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
def test_a_slice_of_the_cross(tmp_path: Path) -> None:
    with opened_town(tmp_path, real_data("osm") / "helsinki.osm.pbf") as world:
        wanted = dealt(["aria hybrid", "hiro web"])
        jobs = [job for job in crossing_jobs(world.data) if job.name == wanted]
        work = cross(world, jobs, seed=7, tell=False)
    assert not faults_of(work)
    assert work.rows[wanted].kills == 3


@pytest.mark.soak
@needs_chromium
@pytest.mark.parametrize("odd", [False, True])
def test_the_whole_cross(odd: bool, tmp_path: Path) -> None:
    """With faults and kills; in a town with every oddity of the server, each agent only comes to an end."""
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))
    named = [name.split() for name in os.environ.get("SOAK_JOBS", "").split(",") if name.strip()]
    words = [set(rest) for town, *rest in named if town == TOWN]
    if named and not words:
        pytest.skip("no job of the cross was asked for")
    sys.stdout.write(f"\nseed {seed}: repeat with SEED={seed}\n")
    report = Path(os.environ.get("SOAK_REPORT") or tmp_path / "soak.md")
    report = report.with_stem(f"{report.stem}-{TOWN}{'-odd' if odd else ''}")
    how = {"faulty": False, "kills": 0} if odd else {}
    with opened_town(tmp_path, real_data("osm") / "helsinki.osm.pbf", odd=odd) as world:
        jobs = [
            job
            for job in crossing_jobs(world.data)
            if not words or any(asked <= set(job.name.split()) for asked in words)
        ]
        work = cross(world, jobs, seed, report=report, **how)
    sys.stdout.write(table(work))
    assert not faults_of(work)
