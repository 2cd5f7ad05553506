"""The benchmark `sight-learning`: its walkers, and a whole run."""

from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.sight_learning.definition import Options, score, show
from virl.bench.report.runs import gather
from virl.bench.run import run_benchmark
from virl.errors import UnknownName


@pytest.mark.slow
def test_the_oracle_finds_all_and_every_walker_gets_the_same_starts(tmp_path: Path) -> None:
    options = Options(count=6, pixels=16)
    run_benchmark("sight-learning", options, tmp_path / "run", Console(quiet=True))
    records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    found = {model: [one.data["found"] for one in records if one.model == model] for model in options.models}
    assert found["oracle"] == [True] * 6
    assert sum(found["random"]) < 6
    assert sum(found["blind"]) < 6
    starts = {(one.case, one.data["kind"], *one.data["walked"][0]) for one in records}
    assert len(starts) == 6
    for one in records:
        assert len(one.data["walked"]) == one.data["actions"] + 1 <= 41
        assert show(one).outcome in ("found", "stopped elsewhere", "ran out of actions")
    oracle = score([one for one in records if one.model == "oracle"], options)
    assert [tally.hit for tally in oracle.tallies["found"]] == [1.0] * 6


def test_an_unknown_walker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="walker 'teleporter'"):
        run_benchmark(
            "sight-learning", Options(models=("teleporter",)), tmp_path / "run", Console(quiet=True)
        )
