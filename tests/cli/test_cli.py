"""The command line as a user meets it: good runs, and every kind of bad input."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from typer.testing import CliRunner, Result
from warm_cache import warm_cache

from virl.cli.main import app


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("VIRL_MIND", "OPENAI_API_KEY", "OPENAI_BASE_URL", "VIRL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def virl(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The one line that a refused command prints; checks the exit code, and that there is no traceback."""
    done = virl(*arguments)
    assert done.exit_code == 2, done.output
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("virl: ")
    return lines[0]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run that has ended."""
    folder = tmp_path_factory.mktemp("finished")
    done = virl("run", write_hiro(folder), "--out", folder / "run", "--quiet")
    assert done.exit_code == 0, done.output
    return folder / "run"


@pytest.mark.slow
def test_a_run_leaves_a_journal_a_result_and_a_report(finished: Path) -> None:
    result = json.loads((finished / "result.json").read_text())
    assert {"agent", "city", "status", "steps", "distance_m", "place", "reason", "cost", "versions"} <= set(
        result
    )
    assert result["city"] == "virlton"
    lines = (finished / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(len(lines)))
    assert json.loads(lines[0])["mind"] == "rules"
    report = (finished / "report.html").read_text()
    assert "Hiro" in report
    assert "<svg" in report


@pytest.mark.slow
def test_json_prints_the_result_and_nothing_else(finished: Path, tmp_path: Path) -> None:
    done = virl("run", write_hiro(tmp_path), "--out", finished, "--resume", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads((finished / "result.json").read_text())


@pytest.mark.slow
def test_the_story_says_that_rules_decide(tmp_path: Path) -> None:
    done = virl("run", write_hiro(tmp_path, steps=1), "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "Rules decide" in done.stdout
    assert f"report: {tmp_path / 'run' / 'report.html'}" in done.stdout.replace("\n", "")


def test_lists_agents_and_cities() -> None:
    assert "hiro" in virl("agents").stdout
    assert "virlton" in virl("cities").stdout


def test_a_region_is_checked_and_placed(tmp_path: Path) -> None:
    park = tmp_path / "park.txt"
    park.write_text("35.690, 139.700\n35.690, 139.705\n35.694, 139.705\n35.694, 139.700\n")
    said = virl("cities", "--region", park).stdout
    assert "4 corners, 0.201 km2" in said
    assert "of tokyo (Shinjuku, Tokyo, Japan)" in said
    park.write_text("35.690, 139.700\n35.694, 139.705\n")
    assert str(park) in refused("cities", "--region", park)


def test_how_to_move_pay_and_keep_is_checked_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert "unknown mover 'fly': choose one of: grid, hybrid, links, web" in refused(
        "run", "hiro", "--mover", "fly"
    )
    for amount in ("-1", "inf", "nan", "1e300"):
        assert f"--budget-usd of {float(amount):g} dollars: must be from 0 to 1,000,000" in refused(
            "run", "hiro", "--budget-usd", amount
        )
    assert "needs no network" in refused("run", "hiro", "--record", "here")
    assert "no pictures of different days" in refused("run", "hiro", "--as-of", "2024-05-31")
    assert "GOOGLE_MAPS_API_KEY is not set" in refused("run", "hiro", "--city", "tokyo")
    assert "no such folder" in refused("run", "hiro", "--city", "tokyo", "--replay", "nowhere")
    assert not list(tmp_path.rglob("journal.jsonl"))


def test_unknown_agent() -> None:
    assert "unknown agent 'hero': did you mean 'hiro'? choose one of: aria, " in refused("run", "hero")
    assert "none.yaml: no such file" in refused("run", "none.yaml")


def test_unknown_city(tmp_path: Path) -> None:
    assert "unknown city 'atlantis': `virl cities` lists all 29" in refused(
        "run", write_hiro(tmp_path), "--city", "atlantis"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("age: 22", "age: twenty"),
            "line 2: age: must be a whole number, at least 0 and at most 150, not 'twenty'",
        ),
        (("age: 22", "agee: 22"), "line 2: agee: unknown field"),
        (("routine: hiro", "routine: [hiro"), "not valid YAML"),
        (("  steps: 3", "  steps: 0"), "line 9: limits.steps: must be at least 1 and at most 100,000, not 0"),
        (("routine: hiro", "routine: heroic"), "unknown routine 'heroic'"),
        (
            ("routine: hiro", "clock: noon"),
            "line 7: clock: must be a day and a time, such as 'wed 12:30', not 'noon'",
        ),
        (("name: Hiro\n", ""), "name: field is missing"),
    ],
)
def test_broken_character_files_are_named_with_field_and_line(
    tmp_path: Path, change: tuple[str, str], expected: str
) -> None:
    path = write_hiro(tmp_path)
    path.write_text(path.read_text().replace(*change))
    message = refused("run", path)
    assert str(path) in message
    assert expected in message
    assert not (tmp_path / "runs").exists(), "nothing may be written before the input is known to be good"


def test_a_start_outside_the_city(tmp_path: Path) -> None:
    message = refused("run", write_hiro(tmp_path, start="{lat: 0.0, lng: 0.0}"))
    assert "start: no street view within 800 m of the start in Virlton" in message
    message = refused("run", write_hiro(tmp_path, start="7 Nowhere Boulevard"))
    assert "start: " in message
    assert "Nowhere" in message


def test_no_permission_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    message = refused("run", write_hiro(tmp_path), "--out", tmp_path / "file" / "run")
    assert str(tmp_path / "file") in message


@pytest.mark.slow
def test_a_folder_that_holds_a_run_is_not_overwritten(finished: Path, tmp_path: Path) -> None:
    before = (finished / "journal.jsonl").read_bytes()
    assert str(finished) in refused("run", write_hiro(tmp_path), "--out", finished)
    assert (finished / "journal.jsonl").read_bytes() == before


def test_nothing_to_resume(tmp_path: Path) -> None:
    assert "no run of 'hiro' to resume" in refused("run", "hiro", "--resume")
    assert str(tmp_path / "none") in refused("run", "hiro", "--resume", "--out", tmp_path / "none")


def test_missing_key_and_unknown_mind(tmp_path: Path) -> None:
    assert "OPENAI_API_KEY" in refused("run", write_hiro(tmp_path), "--mind", "openai:gpt-5-mini")
    assert "unknown mind 'opnai:x': did you mean 'openai:x'?" in refused(
        "run", write_hiro(tmp_path), "--mind", "opnai:x"
    )
    assert "unknown mind 'clever'" in refused("run", write_hiro(tmp_path), "--mind", "clever")
    assert not (tmp_path / "runs").exists()


def test_a_run_that_has_ended_says_so_when_it_is_resumed(finished: Path) -> None:
    before = (finished / "journal.jsonl").read_bytes()
    done = virl("run", "hiro", "--out", finished, "--resume")
    assert done.exit_code == 0, done.output
    result = json.loads((finished / "result.json").read_text())
    said = f"already finished: {result['status']}: {result['reason']}\nreport: {finished / 'report.html'}\n"
    assert done.stdout == said
    assert (finished / "journal.jsonl").read_bytes() == before


def copy_of(run: Path, folder: Path) -> Path:
    """The journal of a run and its views, without its end."""
    copy = folder / "copy"
    (copy / "views").mkdir(parents=True)
    for view in (run / "views").iterdir():
        (copy / "views" / view.name).write_bytes(view.read_bytes())
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    return copy


def comparable(run: Path) -> list[dict[str, object]]:
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    for record in records:
        for transient in ("seconds", "started"):
            record.pop(transient, None)
        for asked in record.get("asked", []):
            asked.pop("seconds")
        record.get("result", {}).get("cost", {}).pop("seconds", None)
    return records


@pytest.mark.slow
def test_a_journal_cut_in_the_middle_of_a_line_goes_on_to_the_same_end(
    finished: Path, tmp_path: Path
) -> None:
    copy = copy_of(finished, tmp_path)
    journal = copy / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    done = virl("run", write_hiro(tmp_path), "--out", copy, "--resume", "--quiet")
    assert done.exit_code == 0, done.output
    assert comparable(copy) == comparable(finished)
    assert list(copy.glob("journal.jsonl.cut-*")), "what was cut off is kept"


@pytest.mark.slow
def test_a_run_killed_before_its_last_line_is_ended_without_another_step(
    finished: Path, tmp_path: Path
) -> None:
    copy = copy_of(finished, tmp_path)
    done = virl("run", write_hiro(tmp_path), "--out", copy, "--resume", "--quiet")
    assert done.exit_code == 0, done.output
    assert comparable(copy) == comparable(finished)


def test_a_broken_line_in_the_middle_is_named_and_left_alone(finished: Path, tmp_path: Path) -> None:
    copy = copy_of(finished, tmp_path)
    journal = copy / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + lines[1][:50] + b"\n" + b"".join(lines[2:]))
    before = journal.read_bytes()
    message = refused("run", write_hiro(tmp_path), "--out", copy, "--resume")
    assert f"{journal}" in message
    assert "line 2" in message
    assert journal.read_bytes() == before


def test_a_journal_of_another_version_is_refused(finished: Path, tmp_path: Path) -> None:
    copy = copy_of(finished, tmp_path)
    journal = copy / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"format":1', '"format":99', 1))
    message = refused("run", write_hiro(tmp_path), "--out", copy, "--resume")
    assert "99" in message
    assert str(journal) in message


def test_a_run_is_resumed_as_it_was_begun(finished: Path, tmp_path: Path) -> None:
    message = refused("run", "hiro", "--out", finished, "--resume", "--city", "elsewhere")
    assert "was started with 'virlton', not 'elsewhere'" in message
