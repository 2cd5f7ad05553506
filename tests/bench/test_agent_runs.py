"""Runs of agents within episodes: kept in a folder, gone on with, and never mixed."""

import json
from pathlib import Path

import pytest
from made_high_street import FRAME, MadeModels, made_city

from virl.bench.agent_runs import EpisodeModels, cost_of_run, run_in_folder
from virl.bench.resources import Resources, Terms
from virl.errors import BadInput, MindFailed
from virl.journal.records import Result
from virl.mind.rules import RuleMind

START = FRAME.position(-20, 0)


class Speechless(RuleMind):
    """Fails at the first landmark."""

    def with_own_ledger(self):
        return self

    def ask(self, prompt, *, images=(), **inputs):
        if prompt.name == "movement/tourist-landmarks":
            raise MindFailed("no reply within the retries")
        return super().ask(prompt, images=images, **inputs)


def go(folder: Path, to: str = "Moon Bakery", seed: int = 0, mind: RuleMind | None = None) -> Result:
    city, streets = made_city()
    changes = {"start": {"lat": START.lat, "lng": START.lng}, "heading": 0.0, "follow": {"to": to}}
    models = MadeModels(streets)
    return run_in_folder("ling", city, folder, seed=seed, changes=changes, models=models, mind=mind)


def lines(folder: Path) -> list[str]:
    return (folder / "journal.jsonl").read_text().splitlines()


@pytest.mark.slow
def test_a_run_has_a_journal_and_a_report_and_is_not_repeated(tmp_path: Path) -> None:
    result = go(tmp_path)
    assert result.status == "finished"
    kept = lines(tmp_path)
    for name in ("report.html", "result.json"):
        (tmp_path / name).unlink()
    assert go(tmp_path) == result
    assert lines(tmp_path) == kept
    assert (tmp_path / "report.html").is_file()
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "finished"


@pytest.mark.slow
def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    result = go(tmp_path / "whole")
    go(tmp_path / "cut")
    whole = lines(tmp_path / "cut")
    half = len(whole) // 2
    (tmp_path / "cut" / "journal.jsonl").write_text("\n".join(whole[:half]) + "\n")
    (tmp_path / "cut" / "report.html").unlink()
    again = go(tmp_path / "cut")
    assert lines(tmp_path / "cut")[:half] == whole[:half]
    assert len(lines(tmp_path / "cut")) == len(whole)
    assert (again.answer, again.steps, again.distance_m) == (result.answer, result.steps, result.distance_m)
    assert (tmp_path / "cut" / "report.html").is_file()


@pytest.mark.slow
def test_a_folder_of_another_run_is_left_alone(tmp_path: Path) -> None:
    go(tmp_path)
    kept = lines(tmp_path)
    with pytest.raises(BadInput, match=r"a different run \(its character differs"):
        go(tmp_path, "Old Bank")
    with pytest.raises(BadInput, match=r"a different run \(its seed differs"):
        go(tmp_path, seed=1)
    assert lines(tmp_path) == kept


@pytest.mark.slow
def test_a_run_that_fails_leaves_a_report_and_goes_on_when_it_is_tried_again(tmp_path: Path) -> None:
    with pytest.raises(MindFailed):
        go(tmp_path, mind=Speechless())
    assert (tmp_path / "report.html").is_file()
    assert not (tmp_path / "result.json").exists()
    begun = lines(tmp_path)
    assert go(tmp_path).status == "finished"
    assert lines(tmp_path)[: len(begun)] == begun


@pytest.mark.slow
def test_the_cost_of_a_run_is_that_of_the_minds_it_paid(tmp_path: Path) -> None:
    cost = cost_of_run(go(tmp_path))
    assert cost == {"requests": 0.0, "input_tokens": 0.0, "output_tokens": 0.0, "usd": 0.0}


def test_models_of_an_episode_are_those_of_the_process() -> None:
    resources = Resources(Terms(seed=3))
    one, other = EpisodeModels(resources, "virlton"), EpisodeModels(resources, "virlton")
    assert one.options.seed == 3
    assert one.options.truth is resources.city("virlton").truth
    for open_model in (lambda models: models.detector("simulated"), lambda models: models.matcher("sift")):
        assert open_model(one).ask is open_model(other).ask
