import json
from pathlib import Path

import pytest
from made_benchmark import NAME, Options
from typer.testing import CliRunner

from virl.bench.registry import find_benchmark
from virl.cli.bench import bench_app
from virl.errors import BadInput, ModelUnavailable, UnknownName

FAST = ["--no-pictures", "--workers", "2"]


def bench(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(bench_app, list(arguments))
    return done.exit_code, done.output


def test_what_the_command_line_says_is_what_is_run(tmp_path: Path) -> None:
    code, told = bench(
        NAME,
        "--city",
        "east",
        "--model",
        "blunt",
        "--set",
        "count=3",
        "--seed",
        "4",
        "--out",
        str(tmp_path),
        *FAST,
    )
    assert code == 0, told
    settings = json.loads((tmp_path / "settings.json").read_text())
    asked = Options(cities=("east",), models=("blunt",), count=3, seed=4)
    assert settings == {"benchmark": NAME, "options": asked.model_dump(mode="json")}
    assert "published" in told
    assert str(tmp_path / "report.html") in told.replace("\n", "")


def test_shards_are_merged_by_report(tmp_path: Path) -> None:
    parts = [str(tmp_path / name) for name in "ab"]
    for number, part in enumerate(parts, start=1):
        code, told = bench(NAME, "--set", "count=4", "--shard", f"{number}/2", "--out", part, *FAST)
        assert code == 0, told
        assert "missing" in told
    code, told = bench("report", *parts, "--out", str(tmp_path / "all"))
    assert code == 0, told
    found = json.loads((tmp_path / "all" / "results.json").read_text())
    assert {row["episodes"]["missing"] for row in found["rows"]} == {0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such"], "unknown benchmark 'no-such'"),
        ([NAME, "--set", "count"], "FIELD=VALUE"),
        ([NAME, "--set", "colour=red"], "colour: unknown field"),
        ([NAME, "--shard", "3/2"], "I/N"),
        ([NAME, "--rate", "0"], "above 0"),
        (["report", "/no/such/folder"], "name the folder of a run"),
        (["made_benchmark:Options"], "is no virl.bench.benchmark.Benchmark"),
        (["made_benchmark:NOTHING"], "cannot be imported"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    out = [] if arguments[0] == "report" else ["--out", str(tmp_path / "out")]
    code, told = bench(*arguments, *out)
    assert code == 2
    assert message in told
    assert told.startswith("virl: ")
    assert told.count("\n") == 1


def test_the_help_of_a_benchmark_is_that_of_its_command() -> None:
    code, told = bench(NAME, "--help")
    assert code == 0
    assert "--shard" in told


def test_a_benchmark_is_found_by_module_and_object() -> None:
    assert find_benchmark(NAME).name == "made"
    with pytest.raises(UnknownName):
        find_benchmark("made")
    with pytest.raises(ModelUnavailable):
        find_benchmark("no_such_module:BENCHMARK")
    with pytest.raises(BadInput):
        find_benchmark("made_benchmark:episodes")
