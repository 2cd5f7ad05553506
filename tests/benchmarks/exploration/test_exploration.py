"""The exploration benchmark: who walks, what counts as found, and a whole small run without Hiro."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.exploration import definition
from benchmarks.exploration.definition import (
    ExploredCity,
    Options,
    RandomRoads,
    choose_starts,
    episodes,
    fitting_places,
)
from benchmarks.exploration.score import METRICS, score, show
from virl.agent.character_file import find_character, load_character
from virl.bench.agent_runs import EpisodeModels
from virl.bench.episode import Record
from virl.bench.resources import Resources
from virl.bench.statistics import estimate
from virl.cli.bench import bench_app
from virl.errors import BadInput, NoImagery, UnknownName
from virl.mind.rules import RuleMind
from virl.platform.city.city import City


def record(case: str, entered: str | None, success: bool, spl: float, steps: int) -> Record:
    data: dict[str, Any] = {
        "start": "p1",
        "entered": entered,
        "success": success,
        "steps": steps,
        "walked_m": 120.0,
        "shortest_m": 60.0,
        "spl": spl,
        "nearest": {"id": "a", "name": "Mild", "position": [51.5, -0.12]},
        "path": [[51.5, -0.13], [51.5, -0.12]],
    }
    if entered:
        data |= {"entered_name": "Hot", "entered_position": [51.51, -0.12]}
    return Record(f"hiro/virlton/{case}", case, "virlton", "hiro", "done", data)


def test_walks_are_counted_by_what_was_entered() -> None:
    walks = [
        record("start-000", "a", True, 0.5, 10),
        record("start-001", "b", False, 0.0, 20),
        record("start-002", None, False, 0.0, 60),
        record("start-003", "a", True, 1.0, 6),
    ]
    tallies = score(walks, Options()).tallies
    assert set(tallies) == {metric.key for metric in METRICS}
    mean = {key: found.mean for key, own in tallies.items() if (found := estimate(own))}
    assert mean == {"success": 0.5, "spl": 0.375, "steps": 24.0, "entered_another": 0.25, "gave_up": 0.25}
    assert [show(one).outcome for one in walks[:3]] == [
        "entered Hot, which fits",
        "entered Hot, which does not fit",
        "gave up after 60 steps",
    ]
    shown = [[(point.role, point.score) for point in show(walk).points] for walk in walks[:3]]
    assert shown == [[("entered", 1.0)], [("goal", 0.0), ("entered", 0.0)], [("goal", 0.0)]]


def test_what_fits_is_open_and_not_spicy(virlton: City) -> None:
    hiro = load_character(find_character("hiro"))
    fitting = fitting_places(virlton, hiro)
    assert virlton.truth is not None
    assert fitting
    for place in fitting:
        assert "restaurant" in place.types
        assert place.open_at(*hiro.day_and_minute)
        assert not virlton.truth.attributes(place.id)["spicy"]


def test_starts_are_the_same_for_a_seed_and_for_every_policy(virlton: City) -> None:
    starts = choose_starts(virlton, Options(starts=5, seed=0))
    assert (
        starts
        == choose_starts(virlton, Options(starts=5, seed=0))
        != choose_starts(virlton, Options(starts=5, seed=1))
    )
    assert len(set(starts)) == 5
    with pytest.raises(BadInput, match="at most"):
        choose_starts(virlton, Options(starts=1_000_000))
    found = episodes(Options(starts=2, policy=("oracle", "random")), Resources())
    assert [(one.case, one.model) for one in found] == [
        ("start-000", "oracle"),
        ("start-000", "random"),
        ("start-001", "oracle"),
        ("start-001", "random"),
    ]
    with pytest.raises(UnknownName, match="hiro-random-roads"):
        episodes(Options(policy=("hero",)), Resources())


def test_starts_of_a_band_are_that_far_along_the_streets(virlton: City) -> None:
    fitting = fitting_places(virlton, load_character(find_character("hiro")))
    asked = Options(starts=5, within=600.0, band=("0-150",))
    for start in choose_starts(virlton, asked):
        assert definition.band_of(definition._metres_to_nearest(virlton, fitting, start)) == "0-150"
    with pytest.raises(UnknownName, match="300-600"):
        episodes(Options(band=("600-900",)), Resources())


def test_random_roads_are_drawn_by_the_seed() -> None:
    class RoadPrompt:
        name = "movement/intention-road"

        class reply:  # noqa: N801 - as a prompt has it
            @staticmethod
            def model_validate(data: dict[str, Any]) -> int:
                return int(data["index"])

    def drawn(seed: int) -> list[Any]:
        mind = RandomRoads(RuleMind(), seed)
        prompt: Any = RoadPrompt()
        return [mind.ask(prompt, roads=list("abcd")) for _ in range(20)]

    assert drawn(0) == drawn(0) != drawn(1)
    assert set(drawn(0)) == {0, 1, 2, 3}


def test_a_walk_on_random_roads_begins_again_where_hiros_goes_on(
    virlton: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []

    def stop(*_: object, **__: object) -> None:
        begun.append((tmp_path / "journal.jsonl").exists())
        raise NoImagery("seen enough")

    monkeypatch.setattr(definition, "run_in_folder", stop)
    hiro = load_character(find_character("hiro"))
    explored = ExploredCity(virlton, hiro, RuleMind, EpisodeModels(Resources(), "virlton"), (), 60)
    start = virlton.streetview.panorama(choose_starts(virlton, Options(starts=1))[0])
    for policy in ("hiro", "hiro-random-roads"):
        (tmp_path / "journal.jsonl").write_text("{}")
        with pytest.raises(NoImagery):
            definition.POLICIES[policy](explored, start, 0, tmp_path)
        tmp_path.mkdir(exist_ok=True)
    assert begun == [True, False]


@pytest.mark.slow
def test_a_run_of_the_oracle_and_the_random_walker(tmp_path: Path) -> None:
    options = ["exploration", "--policy", "oracle", "--policy", "random"]
    options += ["--out", str(tmp_path), "--workers", "1", "--engine", "threads"]
    told = CliRunner().invoke(bench_app, [*options, "--set", "starts=2"])
    assert told.exit_code == 0, told.output
    rows = {row["model"]: row for row in json.loads((tmp_path / "results.json").read_text())["rows"]}
    assert rows["oracle"]["values"]["success"][0] == rows["oracle"]["values"]["spl"][0] == 1.0
    kept = [json.loads(line)["data"] for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert len(kept) == 4
    assert all(one["walked_m"] >= one["shortest_m"] - 1 for one in kept if one["success"])
    other = CliRunner().invoke(bench_app, [*options, "--resume", "--starts", "3"])
    assert other.exit_code == 2
    assert "starts: 2 there, 3 here" in re.sub(r"\s+", " ", other.output)
