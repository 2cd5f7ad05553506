"""A walker learns a little, is scored, and its searches are recorded for others to imitate."""

import csv
import subprocess
import sys
from pathlib import Path

import learn_extra  # noqa: F401 - first of all
import minari
import numpy as np
import pytest
from chaos.jobs import dealt
from rich.console import Console

from benchmarks.sight_learning import collect, recording
from benchmarks.sight_learning.definition import Options
from benchmarks.sight_learning.walkers import open_policy
from virl.bench.report.runs import gather
from virl.bench.run import run_benchmark
from virl.errors import BadInput
from virl.gym.sight import SightEnv

STEPS = 500


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is learned from pictures, or from black ones, as is dealt."""
    folder: Path = tmp_path_factory.mktemp("learned")
    words = ["--out", str(folder), "--town", "virlham", "--walkers", "2", *dealt(([], ["--black"]))]
    # In a process of its own: there the folder `tests/gym` cannot be taken for the package `gym`.
    command = [sys.executable, "-m", "benchmarks.sight_learning.learn", *words]
    subprocess.run([*command, "--steps", str(STEPS // 2)], check=True)
    subprocess.run([*command, "--steps", str(STEPS), "--resume"], check=True)
    return folder


def test_training_that_is_resumed_makes_one_policy_and_one_curve(learned: Path) -> None:
    with (learned / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["steps"]) for row in rows] == [256, 512]
    assert all(0 <= float(row["found"]) <= 1 for row in rows)


def test_a_policy_is_scored_beside_the_others_and_draws_by_the_seed(learned: Path, tmp_path: Path) -> None:
    policy = str(learned / "policy.zip")
    for name in ("once", "again"):
        options = Options(count=3, models=("blind", policy))
        run_benchmark("sight-learning", options, tmp_path / name, Console(quiet=True))
    runs = [
        [record.data for run in gather([tmp_path / name]).runs for record in run.records]
        for name in ("once", "again")
    ]
    assert runs[0] == runs[1]
    assert [data["actions"] > 0 for data in runs[0]] == [True] * 6


def test_a_policy_for_other_pictures_and_a_file_of_something_else_are_refused(learned: Path) -> None:
    env = SightEnv(size=(32, 32))
    with pytest.raises(BadInput, match="learned from pictures of 84 x 84: give --pixels 84"):
        open_policy(str(learned / "policy.zip"), env, 0)
    refused = subprocess.run(
        [sys.executable, "-m", "benchmarks.sight_learning.learn", "--out", str(learned)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert refused.stderr.endswith("policy.zip: give --resume, or a new --out\n")
    other = learned / "other.zip"
    other.write_bytes(b"no archive")
    with pytest.raises(BadInput, match="no policy can be read"):
        open_policy(str(other), env, 0)
    with pytest.raises(BadInput, match="no such file"):
        open_policy(str(learned / "none.zip"), env, 0)


@pytest.mark.filterwarnings("ignore::UserWarning:minari")  # of fields for those who publish a data set
def test_recorded_searches_are_those_that_minari_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    monkeypatch.setattr(recording, "EPISODES", 2)
    collect.main("virlham/sight/oracle-v0", city="virlham", episodes=5, pixels=48)
    assert capsys.readouterr().out.startswith("5 searches, ")
    kept = minari.load_dataset("virlham/sight/oracle-v0")
    env = kept.recover_environment()
    episodes = list(kept.iterate_episodes())
    assert len(episodes) == kept.total_episodes == 5
    for number, episode in enumerate(episodes):
        seen, _ = env.reset(seed=number)
        for step, action in enumerate(episode.actions):
            assert np.array_equal(seen["pixels"], episode.observations["pixels"][step])
            assert seen["kind"] == episode.observations["kind"][step]
            seen, reward, stopped, cut, _ = env.step(action)
            assert (reward, stopped, cut) == (
                episode.rewards[step], episode.terminations[step], episode.truncations[step],
            )  # fmt: skip
        assert np.array_equal(seen["pixels"], episode.observations["pixels"][-1])
        assert episode.rewards[-1] == 1
