"""Counting what Hiro does from journals."""

import json
from pathlib import Path
from typing import Any

import pytest

from virl import __version__
from virl.doctor.costs import count_runs
from virl.errors import BadInput, JournalBroken

START = {
    "kind": "start", "seq": 0, "format": 1, "virl": __version__, "agent": "hiro", "city": "virlton",
    "mind": "rules", "seed": 0, "started": "2026-01-01T00:00:00+00:00", "character": {},
}  # fmt: skip
BOX = {"label": "restaurant", "score": 0.9, "box": [0, 0, 10, 10]}
PLACE = {
    "id": "p", "name": "P", "types": ["restaurant"], "lat": 0, "lng": 0, "decision": "continue", "reason": "",
}  # fmt: skip


def view(purpose: str, number: int, *, found: bool = False) -> dict[str, Any]:
    return {
        "file": f"views/{number}.jpg", "pano_id": "a", "heading": 0, "pitch": 0, "fov": 60, "width": 640,
        "height": 640, "purpose": purpose, "detections": [BOX] if found else [],
    }  # fmt: skip


def write_run(folder: Path, *steps: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    records = [START] + [
        {
            "kind": "step", "seq": number + 1, "step": number, "distance_m": 10, "decided": "on",
            "pose": {"pano_id": "a", "heading": 0, "lat": 0, "lng": 0}, **step,
        }
        for number, step in enumerate(steps)
    ]  # fmt: skip
    (folder / "journal.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def test_counts_over_all_runs_of_a_folder(tmp_path: Path) -> None:
    looks = [view("look", 0), view("look", 1, found=True), view("look", 2)]
    closer = [view("closer", 3, found=True), view("closer", 4, found=True)]
    write_run(tmp_path / "a", {"views": [*looks, *closer], "places": [PLACE]}, {"views": looks[:1]})
    write_run(tmp_path / "b" / "c", {"views": [view("look", 0), view("road", 1), view("road", 2)]})
    counted = count_runs([tmp_path])
    assert (counted.runs, counted.steps) == (2, 3)
    assert (counted.closer, counted.crossings, counted.roads) == (2, 1, 2)
    assert (counted.nearby, counted.details) == (1, 1)
    assert counted.a_step(counted.roads) == pytest.approx(2 / 3)
    assert str(tmp_path) in counted.source


def test_no_runs_are_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no steps with views"):
        count_runs([tmp_path])


def test_runs_that_kept_no_views_are_not_counted_as_cheap(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"views": [], "places": [PLACE]})
    with pytest.raises(BadInput, match="folders of runs with their views"):
        count_runs([tmp_path])


def test_a_broken_journal_is_not_counted_silently(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"views": []})
    journal = tmp_path / "a" / "journal.jsonl"
    start, step = journal.read_text().splitlines()
    journal.write_text(f"{start}\nnonsense\n{step}\n")
    with pytest.raises(JournalBroken):
        count_runs([tmp_path])
