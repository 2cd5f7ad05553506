"""Every agent has something to do in every town, and ends with a result in words."""

import os
import random
import sys
from itertools import product
from pathlib import Path

import pytest
from seven_towns.seven import LARGE, seven_towns
from seven_towns.soak import Ended, end_of_run, table
from warm_cache import warm_cache

from virl.agent.character_file import agent_names

AGENTS = 7
"""How many of the agents a run of CI sends out; chosen: the slice then takes a minute."""


@pytest.mark.slow
def test_agents_that_are_dealt_to_towns(tmp_path: Path) -> None:
    seed, towns = int(os.environ.get("TOWNS_SEED") or random.randrange(10**6)), seven_towns(tmp_path)
    chance = random.Random(seed)
    del towns[chance.choice(LARGE)]
    warm_cache(tmp_path / "cache")
    found = []
    for agent in chance.sample(agent_names(), AGENTS):
        town, is_invented = chance.choice(list(towns)), chance.random() < 0.5
        found.append(end_of_run(agent, town, towns[town], tmp_path, is_invented=is_invented, steps=12))
    assert not [one.row for one in found if one.fault], f"TOWNS_SEED={seed} repeats it"


@pytest.mark.soak
def test_every_agent_in_seven_towns(tmp_path: Path) -> None:
    named = os.environ.get("SOAK_JOBS", "").split()
    if named and named[0] != "towns":
        pytest.skip("only other jobs were asked for")
    towns, found = seven_towns(tmp_path), list[Ended]()
    report = Path(os.environ.get("SOAK_REPORT") or tmp_path / "soak.md")
    report = report.with_stem(f"{report.stem}-towns")
    for town, is_invented, agent in product(towns, (False, True), named[1:] or agent_names()):
        found.append(end_of_run(agent, town, towns[town], tmp_path, is_invented=is_invented))
        sys.stdout.write(f"{found[-1].row}\n")
        report.write_text(table(found), encoding="utf-8")
    assert not [one.row for one in found if one.fault or one.says_nothing]
