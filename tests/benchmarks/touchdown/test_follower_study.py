from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.touchdown.dataset import Selection, open_data
from benchmarks.touchdown.follower_study import (
    ABLATIONS,
    Failure,
    app,
    completion,
    follower_for,
    switch_off,
    try_out,
)
from virl.platform.navigators.follower.model import default_parameters

EXPORT = Path(__file__).parents[2] / "data" / "virlton-small"


@pytest.mark.parametrize("rule", ABLATIONS)
def test_a_rule_is_switched_off_by_parameters_that_hold(rule: str) -> None:
    whole = default_parameters()
    changed = switch_off(rule, whole)
    assert changed != whole
    assert type(whole).model_validate(changed.model_dump()) == changed


@pytest.mark.slow
def test_every_failure_has_a_reason() -> None:
    data = open_data(Selection(EXPORT, "touchdown", "unseen", "dev", None, 12))
    follower = follower_for(data.graph, "touchdown", default_parameters(), use_map=True)
    outcomes = try_out(data, "touchdown", follower)
    assert len(outcomes) == 12
    assert completion(outcomes) == 100 * sum(outcome.is_complete for outcome in outcomes) / 12
    assert {outcome.failure for outcome in outcomes} <= {None, *Failure}


@pytest.mark.slow
def test_stop_phrases_matter_on_made_instructions() -> None:
    data = open_data(Selection(EXPORT, "map2seq", "seen", "dev"))
    parts = {
        name: completion(try_out(data, "map2seq", follower_for(data.graph, "map2seq", numbers, use_map=True)))
        for name, numbers in {
            "whole": default_parameters(),
            "without": switch_off("stop phrases place the end", default_parameters()),
        }.items()
    }
    assert parts["whole"] > parts["without"] + 10


@pytest.mark.slow
def test_the_study_prints_its_tables() -> None:
    options = ["--data", str(EXPORT), "--dataset", "map2seq", "--scenario", "seen", "--limit", "2"]
    printed = CliRunner().invoke(app, [*options, "--map", "--ablate"])
    assert printed.exit_code == 0, printed.output
    assert "follower --map, map2seq seen dev" in printed.output
    assert all(title in printed.output for title in ("ablation", "failures"))


def test_a_missing_split_is_named() -> None:
    printed = CliRunner().invoke(app, ["--data", str(EXPORT), "--split", "nowhere"])
    assert printed.exit_code == 2
