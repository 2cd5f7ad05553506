import json
from math import exp
from pathlib import Path
from typing import Any

import pytest
from made_r2r import route, write_r2r
from real_data import real_data
from typer.testing import CliRunner

from benchmarks.r2r.score_file import score_file
from virl.cli.bench import bench_app
from virl.errors import BadInput


def entry(path_id: int, trajectory: list[str], **fields: Any) -> dict[str, Any]:
    return {"path_id": path_id, "scan": "made", "trajectory": trajectory} | fields


def written(folder: Path, entries: object) -> Path:
    file = folder / "walked.json"
    file.write_text(json.dumps(entries), encoding="utf-8")
    return file


def test_the_published_scores_are_met_exactly() -> None:
    folder = real_data("r2r")
    scored = score_file(folder / "expected" / "trajectory_metrics.json", folder)
    assert len(scored.scores) == 200
    assert not scored.malformed
    assert not scored.skipped
    assert len(scored.differences) == 1800
    assert max(scored.differences.values()) < 1e-9


def test_a_trajectory_is_scored_by_hand(tmp_path: Path) -> None:
    data = write_r2r(tmp_path / "r2r")
    scored = score_file(written(tmp_path, [entry(1, ["a0", "a1"])]), data)
    score = scored.scores[0]
    assert score.trajectory_lengths == pytest.approx(2)
    assert score.nav_error == pytest.approx(2)
    assert (score.success, score.oracle_success, score.spl) == (1, 1, 1)
    assert score.nDTW == pytest.approx(exp(-2 / (3 * 3)))
    assert not scored.differences


@pytest.mark.slow
def test_the_largest_difference_is_told(tmp_path: Path) -> None:
    data = write_r2r(tmp_path / "r2r")
    entries = [
        entry(1, ["a0", "a1", "a2"], metrics={"success": 1.0}),
        entry(1, ["a0", "a1"], metrics={"nav_error": 2.25, "spl": 1.0}),
    ]
    result = CliRunner().invoke(
        bench_app, ["r2r", "score", "--trajectories", str(written(tmp_path, entries)), "--data", str(data)]
    )
    assert result.exit_code == 0
    assert "2 trajectories scored, 0 malformed, 0 skipped" in result.output
    assert "from the 3 expected values: 0.25 (nav_error, entry 1)" in result.output


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"path_id": 1, "scan": "made"}, "trajectory: Field required"),
        (entry(1, []), "trajectory: "),
        (entry(1, ["a0", 7]), "trajectory.1: "),  # type: ignore[list-item]
        (entry(1, ["a0"], metrics={"sucess": 1.0}), "metrics.sucess: "),
        (entry(1, ["a0"], metrics={"spl": "high"}), "metrics.spl: "),
        ("a0 a1", "valid dictionary"),
    ],
)
def test_a_malformed_entry_is_named_and_the_rest_is_scored(tmp_path: Path, bad: object, told: str) -> None:
    data = write_r2r(tmp_path / "r2r")
    file = written(tmp_path, [entry(1, ["a0"]), bad])
    scored = score_file(file, data)
    assert list(scored.scores) == [0]
    assert told in scored.malformed[1]
    result = CliRunner().invoke(bench_app, ["r2r", "score", "--trajectories", str(file), "--data", str(data)])
    assert f"{file}, entry 1: malformed: " in result.output.replace("\n", "")


@pytest.mark.parametrize(
    ("unfit", "told"),
    [
        (entry(9, ["a0"]), "no R2R file has the path 9"),
        (entry(1, ["a0"], scan="elsewhere"), "no connectivity file of the scan 'elsewhere'"),
        (entry(1, ["a0", "z9"]), "viewpoint 'z9' is not in the scan"),
        (entry(1, ["b0", "a0"]), "starts at 'b0', not at the path's start 'a0'"),
        (entry(5, ["a0"]), "gold path's viewpoint 'gone'"),
        (entry(6, ["a0"]), "is in the scan 'other', not in 'made'"),
    ],
)
def test_what_cannot_be_scored_is_skipped_with_the_reason(tmp_path: Path, unfit: object, told: str) -> None:
    routes = [route(1, ["a0", "a1"]), route(5, ["a0", "gone"]), route(6, ["a0", "a1"], scan="other")]
    data = write_r2r(tmp_path / "r2r", routes)
    scored = score_file(written(tmp_path, [unfit, entry(1, ["a0"])]), data)
    assert list(scored.scores) == [1]
    assert told in scored.skipped[0]


def test_a_jump_is_counted_and_the_shortest_way_scored(tmp_path: Path) -> None:
    data = write_r2r(tmp_path / "r2r")
    scored = score_file(written(tmp_path, [entry(1, ["a0", "a2"]), entry(1, ["a0", "a0", "a1"])]), data)
    assert scored.jumps == 1
    assert scored.scores[0].trajectory_lengths == pytest.approx(4)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"path_id": 1}', "\x00"])
def test_a_file_that_is_no_list_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    data = write_r2r(tmp_path / "r2r")
    file = tmp_path / "walked.json"
    file.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(bench_app, ["r2r", "score", "--trajectories", str(file), "--data", str(data)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"virl: {file}: ")
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        score_file(tmp_path / "none.json", write_r2r(tmp_path / "r2r"))
