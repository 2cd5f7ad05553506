"""Runs of the benchmark from the command line, on made streets."""

import json
from pathlib import Path
from typing import Any

import pytest
from made_streets_data import write_made_data
from real_data import real_data
from typer.testing import CliRunner, Result

from virl.cli.bench import bench_app

EXPORT = Path(__file__).parents[2] / "data" / "virlton-small"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_made_data(tmp_path / "data", 12)


def run(*options: str) -> Result:
    return CliRunner().invoke(bench_app, ["touchdown", *options])


def results_of(out: Path) -> dict[str, Any]:
    return json.loads((out / "results.json").read_text())


def means_of(out: Path) -> dict[str, float]:
    return {name: value[0] for name, value in results_of(out)["rows"][0]["values"].items()}


def records_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]


def test_gold_is_perfect_and_everything_is_written(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("--agent", "gold", "--data", str(data), "--out", str(out))
    assert done.exit_code == 0, done.output
    (row,) = results_of(out)["rows"]
    assert means_of(out) == {"tc": 1, "spd": 0, "kpa": 1, "kpa_published": 1, "nDTW": 1, "SDTW": 1, "CLS": 1}
    assert row["episodes"] == {"planned": 12, "done": 12, "failed": 0, "missing": 0}
    assert (row["model"], row["city"]) == ("gold", "map2seq unseen dev of data")
    episodes = [json.loads(line) for line in (data / "map2seq_unseen" / "dev.jsonl").read_text().splitlines()]
    paths = {record["case"]: record["data"]["pano_path"] for record in records_of(out)}
    assert paths == {str(episode["id"]): episode["route_panoids"] for episode in episodes}
    assert "Walk number 3." in (out / "episodes.html").read_text()
    report = (out / "report.html").read_text()
    assert 'href="episodes.html"' in report
    assert "On the map" not in report, "of walks alone, on blank land"
    pages = [page.read_text() for page in out.glob("episodes/*/index.html")]
    assert len(pages) == 12
    assert sum("Walk number 3." in page and "forward" in page for page in pages) == 1


@pytest.mark.slow
def test_the_engine_makes_no_difference(data: Path, tmp_path: Path) -> None:
    agents = ("--agent", "random", "--data", str(data))
    run(*agents, "--workers", "1", "--out", str(tmp_path / "one"))
    run(*agents, "--workers", "4", "--out", str(tmp_path / "four"))
    assert means_of(tmp_path / "one") == means_of(tmp_path / "four")


@pytest.mark.slow
def test_set_and_the_option_of_the_field_are_the_same(data: Path, tmp_path: Path) -> None:
    where = ("--data", str(data), "--limit", "2")
    run("--set", "agent=follower", "--set", "map=true", *where, "--out", str(tmp_path / "set"))
    run("--agent", "follower", "--map", *where, "--out", str(tmp_path / "option"))
    assert results_of(tmp_path / "set")["rows"][0]["model"] == "follower --map"
    assert means_of(tmp_path / "set") == means_of(tmp_path / "option")


def test_an_export_of_a_made_city_says_so(tmp_path: Path) -> None:
    where = ("--data", str(EXPORT), "--dataset", "touchdown", "--limit", "2")
    done = run("--agent", "forward", *where, "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    (row,) = results_of(tmp_path)["rows"]
    assert row["city"].startswith("touchdown unseen dev of virlton")
    assert "a made city, not Manhattan" in row["notes"][0]
    assert results_of(tmp_path)["published"] == []
    for page in ("report.html", "episodes.html"):
        assert "a made city, not Manhattan" in (tmp_path / page).read_text()


@pytest.mark.slow
def test_a_report_without_the_data_goes_without_the_page_of_walks(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("--agent", "forward", "--data", str(data), "--out", str(out))
    data.rename(tmp_path / "elsewhere")
    done = CliRunner().invoke(bench_app, ["report", str(out), "--out", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    assert "episodes.html: not written: no touchdown data" in done.output
    assert "episodes.html" not in (tmp_path / "report" / "report.html").read_text()


def test_a_page_names_its_data_without_the_folder_of_all_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_made_data(tmp_path / "touchdown", 3)
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    done = run("--agent", "gold", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "report.html").read_text()
    assert "data: touchdown/map2seq_unseen/dev.jsonl" in page
    assert str(tmp_path) not in page


@pytest.mark.slow
def test_made_streets_have_no_published_rows(data: Path, tmp_path: Path) -> None:
    run("--agent", "forward", "--data", str(data), "--out", str(tmp_path / "made"))
    assert results_of(tmp_path / "made")["published"] == []


@pytest.mark.slow
def test_episodes_that_cannot_be_tried_are_named(data: Path, tmp_path: Path) -> None:
    file = data / "map2seq_unseen" / "dev.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["route_panoids"][0] = "nowhere"
    lines[1]["route_panoids"] = [lines[1]["route_panoids"][0], lines[1]["route_panoids"][-1]]
    lines[2]["navigation_text"] = ""
    lines[3]["navigation_text"] = "left " * 10_000
    lines[4]["navigation_text"] = "Turn left \N{DANCER} and go on."
    lines[5]["navigation_text"] = "Turn\x00 left"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n")
    out = tmp_path / "out"
    done = run("--agent", "follower", "--data", str(data), "--out", str(out))
    assert done.exit_code == 0, done.output
    failures = {one["id"].rsplit("/", 1)[1]: one for one in results_of(out)["failures"]}
    assert set(failures) == {"1000", "1001", "1002", "1003", "1005", "line 13"}
    assert {one["fault"] for one in failures.values()} == {"CannotTry"}
    assert "'nowhere'" in failures["1000"]["reason"]
    assert "no link" in failures["1001"]["reason"]
    assert "10,000 words" in failures["1003"]["reason"]
    counts = results_of(out)["rows"][0]["episodes"]
    assert counts == {"planned": 13, "done": 7, "failed": 6, "missing": 0}
    assert "6 episodes cannot be run" in done.output
    assert "not walked: " in (out / "episodes.html").read_text()


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_cut_off(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--agent", "random", "--data", str(data), "--out", str(out))
    assert run(*options).exit_code == 0
    whole, records = results_of(out), out / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:5]) + lines[5][:40])
    again = run(*options)
    assert again.exit_code == 2
    assert "--resume" in again.output
    resumed = run(*options, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert "was cut off" in resumed.output
    assert _without_seconds(results_of(out)) == _without_seconds(whole)
    other = run(*options, "--resume", "--seed", "5")
    assert other.exit_code == 2
    assert "seed: 0 there, 5 here" in other.output


def _without_seconds(results: dict[str, Any]) -> dict[str, Any]:
    return results | {"rows": [row | {"seconds": 0} for row in results["rows"]]}


def test_a_run_of_an_earlier_version_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"agent": "gold", "data": str(data)}))
    (tmp_path / "records.jsonl").write_text('{"id": "1000", "status": "walked"}\n')
    done = run("--agent", "gold", "--data", str(data), "--out", str(tmp_path), "--resume")
    assert done.exit_code == 2
    assert "an earlier version of virl wrote this run" in done.output
    done = CliRunner().invoke(bench_app, ["report", str(tmp_path)])
    assert (done.exit_code, "an earlier version of virl" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--agent", "teleport"), "unknown agent 'teleport'"),
        (("--agent", "gold", "--map"), "--map requires --agent follower, velma or navgpt"),
        (("--agent", "velma", "--prior"), "--prior, --signs and --recognizer require"),
        (("--agent", "gold", "--recognizer", "clip-vit-b-32"), "--recognizer require --agent follower"),
        (
            ("--agent", "follower", "--signs", "--recognizer", "x"),
            "--signs and --recognizer look for",
        ),
        (("--agent", "follower", "--recognizer", "clip-vit-b-32"), "--recognizer needs pictures"),
        (("--agent", "velma", "--map", "--compat", "velma"), "--map does not go with --compat velma"),
        (("--split", "train"), "data: map2seq_unseen/dev)"),
        (("--agent", "velma", "--mind", "gpt"), "unknown mind 'gpt'"),
        (("--agent", "velma", "--features", "x.npz"), "need --statistics"),
    ],
)
def test_a_wrong_option_is_one_line(data: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = run("--data", str(data), "--out", str(tmp_path / "out"), *options)
    assert done.exit_code == 2
    assert said in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_finished_walks_are_scored_and_compared(data: Path, tmp_path: Path) -> None:
    episodes = [json.loads(line) for line in (data / "map2seq_unseen" / "dev.jsonl").read_text().splitlines()]
    walks = [
        {
            "id": episode["id"],
            "pano_path": episode["route_panoids"],
            "metrics": {"tc": 1.0, "spd": 0, "kpa": 1},
        }
        for episode in episodes[:3]
    ]
    walks[1]["metrics"]["spd"] = 0.25
    broken = [{"id": 1, "pano_path": ["x"]}, {"id": 1003}, {"id": 1003, "pano_path": ["x"]}]
    file = tmp_path / "walks.json"
    file.write_text(json.dumps({"instances": walks + broken}))
    done = run("score", "--walks", str(file), "--data", str(data))
    assert done.exit_code == 0, done.output
    assert "3 walks scored, 3 left out" in done.output
    assert "largest difference from the 9 expected values: 0.25 (spd, episode 1001)" in done.output
    assert "entry 3: not scored: the split has no episode '1'" in done.output
    assert "entry 4: not scored: pano_path: Field required" in done.output
    assert "entry 5: not scored: no panorama has the id 'x'" in done.output


def test_records_can_be_scored_again(data: Path, tmp_path: Path) -> None:
    run("--agent", "random", "--data", str(data), "--out", str(tmp_path))
    done = run("score", "--walks", str(tmp_path / "records.jsonl"), "--data", str(data))
    assert done.exit_code == 0, done.output
    assert "12 walks scored, 0 left out" in done.output
    (tmp_path / "records.jsonl").write_text("{")
    done = run("score", "--walks", str(tmp_path / "records.jsonl"), "--data", str(data))
    assert (done.exit_code, "contains no walks" in done.output) == (2, True)


@pytest.mark.slow
def test_the_published_baselines_are_scored_as_published() -> None:
    folder = real_data("touchdown")
    file = folder / "expected" / "baseline_random_map2seq_unseen_dev.json"
    done = run("score", "--walks", str(file), "--data", str(folder))
    assert done.exit_code == 0, done.output
    assert "800 walks scored, 0 left out" in done.output
    assert "largest difference from the 2400 expected values: 0 " in done.output


def test_missing_data_names_the_command_that_gets_it(tmp_path: Path) -> None:
    done = run("--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert "touchdown" in done.output


def test_a_wrong_first_try_does_not_occupy_the_folder(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("--agent", "gold", "--data", str(tmp_path / "none"), "--out", str(out)).exit_code == 2
    assert run("--agent", "gold", "--data", str(data), "--out", str(out)).exit_code == 0


@pytest.mark.slow
def test_the_follower_on_manhattan_is_as_published_here(tmp_path: Path) -> None:
    folder = real_data("touchdown")
    for options, completed in (((), 42.875), (("--map",), 51.875)):
        out = tmp_path / f"follower{len(options)}"
        done = run("--agent", "follower", *options, "--data", str(folder), "--out", str(out), "--no-pictures")
        assert done.exit_code == 0, done.output
        assert 100 * means_of(out)["tc"] == pytest.approx(completed, abs=1e-9)


@pytest.mark.slow
def test_gold_and_forward_on_manhattan(tmp_path: Path) -> None:
    folder = real_data("touchdown")
    for dataset, spd in (("map2seq", 37.9), ("touchdown", 42.6)):
        for agent in ("gold", "forward"):
            out = tmp_path / f"{dataset}-{agent}"
            where = ("--dataset", dataset, "--data", str(folder), "--out", str(out))
            done = run("--agent", agent, *where, "--no-pictures")
            assert done.exit_code == 0, done.output
            results = results_of(out)
            assert results["rows"][0]["episodes"] == {"planned": 800, "done": 800, "failed": 0, "missing": 0}
            wanted = 0.0 if agent == "gold" else spd
            assert "VELMA-RBL (LLaMA-7B)" in [row["name"] for row in results["published"]]
            assert means_of(out)["spd"] == pytest.approx(wanted, abs=0.1)


def test_a_run_is_continued_from_another_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    where = ("--agent", "gold", "--out", str(tmp_path / "out"))
    assert run(*where, "--data", data.name, "--limit", "3").exit_code == 0
    monkeypatch.chdir(data)
    assert run(*where, "--data", ".", "--resume").exit_code == 0
    assert results_of(tmp_path / "out")["rows"][0]["episodes"]["done"] == 12
