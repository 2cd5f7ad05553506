"""Every agent has something to do in every town, and ends with a result in words."""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from towns.seven import seven_towns
from towns.soak import LIMIT_S, Ended, Sent, end_of_run, ends, every_run, table

from virl.agent.character_file import agent_names

JOB = "towns"
LARGE = ("helsinki", "moscow")
"""Towns that take long to build; only one of them is dealt."""
FIELDS = ("limits.steps=25",)


def dealt(towns: Sequence[str], seed: int) -> list[Sent]:
    """Return a run of each agent, in a town and with a life that are drawn from a seed."""
    chance = random.Random(seed)
    left = [town for town in towns if town not in LARGE] + [chance.choice(LARGE)]
    return [Sent(agent, chance.choice(left), chance.random() < 0.5) for agent in agent_names()]


def faults_of(found: Sequence[Ended]) -> str:
    """Return the table of the ends that are none."""
    bad = [one for one in found if one.fault]
    return table(bad) if bad else ""


def test_each_agent_is_dealt_once_and_a_seed_repeats_it() -> None:
    towns = ["village", "vaduz", *LARGE]
    runs = dealt(towns, 7)
    assert [sent.agent for sent in runs] == list(agent_names())
    assert runs == dealt(towns, 7)
    assert runs != dealt(towns, 8)
    assert len(every_run([f"town {number}" for number in range(7)])) == 7 * len(runs) * 2


@pytest.mark.slow
def test_an_agent_each_in_a_town_of_its_own(tmp_path: Path) -> None:
    seed = int(os.environ.get("TOWNS_SEED") or random.randrange(10**6))
    towns = seven_towns(tmp_path)
    found = [end_of_run(sent, towns[sent.town], tmp_path, fields=FIELDS) for sent in dealt(list(towns), seed)]
    assert not faults_of(found), f"TOWNS_SEED={seed} repeats it"


@pytest.mark.soak
def test_every_agent_in_seven_towns(tmp_path: Path) -> None:
    named = os.environ.get("SOAK_JOBS", "").split()
    if named and named[0] != JOB:
        pytest.skip("only other jobs were asked for")
    towns = seven_towns(tmp_path)
    report = Path(os.environ.get("SOAK_REPORT") or tmp_path / "soak.md")
    report = report.with_stem(f"{report.stem}-{JOB}")
    found: list[Ended] = []
    for ended in ends(every_run(list(towns), named[1:]), towns, tmp_path, limit_s=LIMIT_S):
        found.append(ended)
        report.write_text(table(found), encoding="utf-8")
    sys.stdout.write(table(found))
    assert not faults_of(found)
    assert not [one for one in found if one.says_nothing]
