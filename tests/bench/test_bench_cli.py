import json
import re
from pathlib import Path

import pytest
from made_benchmark import NAME, Options
from typer.testing import CliRunner

from virl.bench.benchmark import find_benchmark
from virl.cli.bench import bench_app, run_module
from virl.errors import BadInput, ModelUnavailable, UnknownName

FAST = ["--no-pictures", "--workers", "2"]


def bench(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(bench_app, list(arguments))
    return done.exit_code, done.output


def test_what_the_command_line_says_is_what_is_run(tmp_path: Path) -> None:
    words = ["--city", "east", "--model", "blunt", "--set", "count=3", "--seed", "4"]
    code, told = bench(NAME, *words, "--out", str(tmp_path), *FAST)
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
        assert "8 episodes not run yet" in told
    code, told = bench("report", *parts, "--out", str(tmp_path / "all"))
    assert code == 0, told
    found = json.loads((tmp_path / "all" / "results.json").read_text())
    assert {row["episodes"]["missing"] for row in found["rows"]} == {0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such", "--count", "3"], "unknown benchmark 'no-such'"),
        ([NAME, "--set", "count"], "FIELD=VALUE"),
        ([NAME, "--set", "colour=red"], "colour: unknown field"),
        ([NAME, "--count", "many"], "count: must be a whole number, not 'many'"),
        ([NAME, "--trouble", "{"], "--trouble: not valid YAML"),
        ([NAME, "--shard", "3/2"], "I/N"),
        ([NAME, "--rate", "0"], "above 0"),
        (["report", "/no/such/folder"], "give a run folder"),
        (["made_benchmark:Options"], "is not a virl.bench.benchmark.Benchmark"),
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


def test_the_help_of_a_benchmark_has_its_own_options_too() -> None:
    code, told = bench(NAME, "--help")
    assert code == 0
    for option in ("--shard", "--count", "--city", "--matcher"):
        assert option in told


def test_each_field_of_the_options_is_an_option(tmp_path: Path) -> None:
    options = ["--count", "2", "--text", "3", "--trouble", "{case 1: never}", "--set", "seconds=0.5"]
    code, told = bench(NAME, *options, "--seconds", "0.01", "--out", str(tmp_path), *FAST)
    assert code == 0, told
    settings = json.loads((tmp_path / "settings.json").read_text())
    asked = Options(count=2, text="3", trouble={"case 1": "never"}, seconds=0.01)
    assert settings["options"] == asked.model_dump(mode="json")


def test_options_of_every_type(tmp_path: Path) -> None:
    code, told = bench("made_options:BENCHMARK", "--help")
    assert code == 0
    assert "--flag" in told
    assert "--no-flag" in told
    assert "low|high" in told
    assert "--limit" in told
    assert "Taken" not in told  # the engine's own --limit; the field can be set with --set
    words = ["--flag", "--level", "high", "--parts", "2", "--parts", "3", "--maybe", "7", "--set", "limit=4"]
    code, told = bench("made_options:BENCHMARK", *words, "--out", str(tmp_path))
    assert code == 0, told
    options = json.loads((tmp_path / "settings.json").read_text())["options"]
    given = {"flag": True, "level": "high", "parts": [2, 3], "maybe": 7, "limit": 4}
    assert options == given | {"seed": 0, "who": ""}


def test_an_option_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADE_WHO", "me")
    assert bench("made_options:BENCHMARK", "--out", str(tmp_path))[0] == 0
    assert json.loads((tmp_path / "settings.json").read_text())["options"]["who"] == "me"


def test_a_benchmark_may_have_further_commands() -> None:
    code, told = bench("made_options:BENCHMARK", "twice", "21")
    assert (code, told) == (0, "42\n")


def test_a_list_has_a_line_for_each_and_the_options_of_one() -> None:
    code, told = bench("list")
    assert code == 0
    assert set(told.split()) >= {"vln", "touchdown", "r2r", "place-vqa"}
    assert "cannot be imported" not in told
    code, told = bench("list", NAME)
    assert code == 0
    assert re.search(r"--count +6 +Cases in each city\.", told)


def test_a_benchmark_is_found_by_module_and_object() -> None:
    assert find_benchmark(NAME).name == "made"
    with pytest.raises(UnknownName):
        find_benchmark("made")
    with pytest.raises(ModelUnavailable):
        find_benchmark("no_such_module:BENCHMARK")
    with pytest.raises(BadInput):
        find_benchmark("made_benchmark:episodes")


@pytest.mark.parametrize("first", [[], ["run"]])
def test_a_benchmarks_module_does_what_its_command_does(
    first: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--count", "1", "--out", str(tmp_path / "out"), *FAST]
    monkeypatch.setattr("sys.argv", ["benchmarks.made", *first, *options])
    with pytest.raises(SystemExit) as ended:
        run_module(NAME)
    assert ended.value.code == 0
    assert (tmp_path / "out" / "report.html").is_file()
