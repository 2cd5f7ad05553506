"""An hour of learning finds more than no eyes, and than walking at random."""

import subprocess
import sys
from pathlib import Path

import learn_extra  # noqa: F401 - first of all
import pytest
from rich.console import Console

from benchmarks.sight_learning.definition import Options
from virl.bench.benchmark import Tally
from virl.bench.report.runs import gather
from virl.bench.run import run_benchmark
from virl.bench.statistics import estimate

MINUTES, SEARCHES = 45, 200


@pytest.mark.soak
def test_the_learner_finds_more_than_all_that_do_not_see(tmp_path: Path) -> None:
    learned = {}
    for name in ("seen", "black"):
        words = ["--out", str(tmp_path / name), "--minutes", str(MINUTES)]
        command = [sys.executable, "-m", "benchmarks.sight_learning.learn", *words]
        subprocess.run([*command, *(["--black"] if name == "black" else [])], check=True)
        learned[name] = str(tmp_path / name / "policy.zip")
    options = Options(count=SEARCHES, models=(*learned.values(), "random", "blind"))
    run_benchmark("sight-learning", options, tmp_path / "run", Console(quiet=True))
    records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    found = {
        model: estimate(
            [Tally(one.case, float(one.data["found"])) for one in records if one.model == model],
            is_share=True,
        )
        for model in options.models
    }
    print(found)
    seen = found.pop(learned["seen"])
    assert seen
    assert all(other and seen.low > other.high for other in found.values())
