"""The command lines of the measurements in `benchmarks/perf`."""

import json
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

PERF = Path(__file__).parents[2] / "benchmarks" / "perf"
SCRIPTS = sorted(path.stem for path in PERF.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
MEASUREMENTS = [script for script in SCRIPTS if not script.startswith("make_")]


def run(script: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", [script, *options])
    import_module(f"benchmarks.perf.{script}").main()


@pytest.mark.parametrize("script", MEASUREMENTS)
def test_each_has_help_and_json(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(script, monkeypatch, "--help")
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert "--json" in told
    assert (import_module(f"benchmarks.perf.{script}").__doc__ or "?").splitlines()[0] in told


def test_json_is_all_that_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("scale", monkeypatch, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["numbers"]["gpus"]["value"] == 8
    assert {stage["name"] for stage in found["stages"]}
    run("scale", monkeypatch)
    assert capsys.readouterr().out.startswith("| number | value | source |")


def test_a_measurement_keeps_its_figures_for_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("movers", monkeypatch, "--steps", "4", "--json")
    movers = json.loads(capsys.readouterr().out)["movers"]
    assert {mover["mover"] for mover in movers} == {"paper", "links", "hybrid", "grid, one by one", "grid"}
    assert all(mover["recall"] > 0 for mover in movers)


@pytest.mark.slow
def test_nearby_places_of_a_dense_street_are_monotonic_and_cheap(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("nearby", monkeypatch, "--places", "300", "--json")
    found = json.loads(capsys.readouterr().out)
    counts, costs = ([one[name] for one in found["questions"]] for name in ("found", "requests"))
    assert counts == sorted(counts), "never fewer for a wider radius"
    assert max(after - before for before, after in pairwise(costs)) <= 3
    assert all(one["found"] == one["there"] for one in found["questions"] if one["whole"] >= one["radius"])
