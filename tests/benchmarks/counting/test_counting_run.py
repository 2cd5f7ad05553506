"""Routes and regions of Virlton, and a whole small run."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.counting.definition import _walk, episodes
from benchmarks.counting.noise import PoseNoise
from benchmarks.counting.options import Options
from benchmarks.counting.variants import EVERYTHING, NO_RULES, RULES, Condition, cases_of, rules_of
from benchmarks.counting.walks import LEG_M, choose_walks, poses
from virl.bench.resources import Resources
from virl.cli.bench import bench_app
from virl.geo.globe import distance
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.perception.memory import Rules

EXACT = Condition(PoseNoise(), "default")
NOISY = Condition(PoseNoise(1.5, 2.0), "street-view")


def test_every_switch_of_the_memory_is_tried() -> None:
    assert set(RULES) == set(Rules.model_fields)
    assert rules_of(EVERYTHING.rules) == Rules()
    tried = [case.variant.rules for case in cases_of([EXACT])]
    assert all(EVERYTHING.rules ^ {rule} in tried for rule in RULES)
    assert not any(rules_of(NO_RULES.rules).model_dump().values())


def test_cases_have_names_of_their_own() -> None:
    keys = [case.key for case in cases_of([EXACT, NOISY])]
    assert len(set(keys)) == len(keys)


def test_each_condition_is_counted_with_the_other_memory_too() -> None:
    others = [case.condition for case in cases_of([EXACT, NOISY]) if case.title.startswith("memory")]
    assert others == [Condition(EXACT.noise, "street-view"), Condition(NOISY.noise, "default")]


@pytest.mark.slow
def test_more_walks_begin_with_the_fewer(virlton: City) -> None:
    assert choose_walks(virlton, 4, 1, 5)[:3] == choose_walks(virlton, 3, 0, 5)
    assert choose_walks(virlton, 3, 0, 6) != choose_walks(virlton, 3, 0, 5)


@pytest.mark.slow
def test_routes_go_where_their_kind_says(virlton: City) -> None:
    one_way, back, around = choose_walks(virlton, 3, 0, 5)
    assert (one_way.kind, back.kind, around.kind) == ("one way", "there and back", "round")
    for walk in (back, around):
        stops = list(poses(virlton, walk))
        end = virlton.streetview.panorama(stops[-1].pano_id).position
        assert distance(end, virlton.streetview.panorama(walk.start).position) <= 5.0
    visits = [pose.pano_id for pose in poses(virlton, back)]
    assert len(set(visits)) <= len(visits) / 2 + 1  # home by the same street
    legs = [distance(a, b) for a, b in pairwise(one_way.corners)]
    assert all(LEG_M[0] <= leg <= LEG_M[1] for leg in legs)


@pytest.mark.slow
def test_a_region_is_visited_panorama_by_panorama(virlton: City) -> None:
    (walk,) = choose_walks(virlton, 0, 1, 5)
    visits = [pose.pano_id for pose in poses(virlton, walk)]
    assert len(set(visits)) == len(visits) >= 100
    region = Region(walk.corners)
    assert all(region.contains(virlton.streetview.panorama(name).position) for name in visits)
    assert visits == [pose.pano_id for pose in poses(virlton, walk)]


@pytest.mark.slow
def test_a_small_run_and_its_resumption(tmp_path: Path) -> None:
    options = ["counting", "--out", str(tmp_path), "--routes", "1", "--regions", "0", "--seed", "3"]
    options += ["--engine", "threads", "--workers", "1", "--draws", "1"]
    told = CliRunner().invoke(bench_app, options)
    assert told.exit_code == 0, told.output
    assert "V-IRL, Hong Kong" in told.output
    counted = json.loads((tmp_path / "counting.json").read_text())
    exact = {row["name"]: row for row in counted["sections"][1]["rows"]}
    everything = exact["default rules"]
    assert everything["recall"]["mean"] > 0.7
    assert everything["repeats"]["mean"] < exact["no positions"]["repeats"]["mean"]
    assert everything["f1"]["mean"] > exact["no distance by the box's size"]["f1"]["mean"]
    assert everything["precision"]["mean"] > exact["no active detection"]["precision"]["mean"]
    results = json.loads((tmp_path / "results.json").read_text())
    (row,) = results["rows"]
    for key in ("precision", "recall", "count_error", "duplicates", "repeats", "lost"):
        assert row["values"][key][0] == pytest.approx(everything[key]["mean"])
    assert 'href="counting.html"' in (tmp_path / "report.html").read_text()
    for record in map(json.loads, (tmp_path / "records.jsonl").read_text().splitlines()):
        for case, rows in record["data"]["reported"].items():
            assert len(rows) == record["data"]["tallies"][case]["reported"]
            right = [row for row in rows if row["outcome"] == "right"]
            assert len(right) == record["data"]["tallies"][case]["right"]

    refused = CliRunner().invoke(bench_app, options)
    assert refused.exit_code == 2
    assert "--resume" in refused.output
    (tmp_path / "results.json").unlink()
    again = CliRunner().invoke(bench_app, [*options, "--resume"])
    assert again.exit_code == 0
    assert json.loads((tmp_path / "results.json").read_text()) == results
    other = CliRunner().invoke(bench_app, [*options, "--resume", "--pose-noise", "3,2"])
    assert other.exit_code == 2
    assert "the settings differ" in re.sub(r"\s+", " ", other.output)


def test_noise_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    told = CliRunner().invoke(bench_app, ["counting", "--out", str(tmp_path), "--pose-noise", "much"])
    assert told.exit_code == 2
    assert "pose noise 'much'" in told.output


@pytest.mark.slow
def test_a_walk_reaches_its_episode_whole(virlton: City) -> None:
    resources = Resources()
    options = Options(routes=1, regions=1, seed=5, detector=("simulated", "simulated-high"))
    found = episodes(options, resources)
    assert [(one.case, one.model) for one in found] == [
        (walk, detector) for walk in ("route-01", "region-01") for detector in ("simulated", "simulated-high")
    ]
    payloads = json.loads(json.dumps([found[0].payload, found[2].payload]))
    walks = [_walk(one.case, payload) for one, payload in zip((found[0], found[2]), payloads, strict=True)]
    assert walks == choose_walks(virlton, 1, 1, 5)


def test_things_are_counted_once_and_are_no_background() -> None:
    options = Options(things=("bench", "planter", "bench"), background=("planter", "bollard"))
    assert options.task.things == ("bench", "planter")
    assert options.task.background == ("bollard",)
    assert options.task.conditions == (EXACT, NOISY)
    assert Options(pose_noise="0,0").task.conditions == (EXACT,)
