"""Runs made by an earlier version are read and gone on with."""

import shutil
from pathlib import Path

import pytest

from virl.journal.journal import Journal, read_journal
from virl.journal.records import EndRecord, StartRecord

RUNS = Path(__file__).parents[1] / "data" / "made-by-3ed9348b" / "runs"
FOLDERS = sorted(folder.name for folder in RUNS.iterdir() if folder.is_dir())


def test_there_are_twelve_small_runs() -> None:
    assert len(FOLDERS) == 12
    for name in FOLDERS:
        assert sum(file.stat().st_size for file in (RUNS / name).rglob("*") if file.is_file()) < 200_000


@pytest.mark.parametrize("name", FOLDERS)
def test_a_run_is_read_and_resumed(name: str, tmp_path: Path) -> None:
    records = read_journal(RUNS / name)
    assert isinstance(records[0], StartRecord)
    is_over = isinstance(records[-1], EndRecord)
    assert is_over == name.endswith(("-finished", "-limited"))
    copy = shutil.copytree(RUNS / name, tmp_path / name)
    journal, resumed = Journal.resume(copy)
    with journal:
        assert resumed == records
        assert journal.next_seq == len(records)
    assert bool(list(copy.glob("journal.jsonl.cut-*"))) == name.endswith("-torn")


@pytest.mark.parametrize("name", FOLDERS)
def test_runs_of_consulted_agents_are_read(name: str) -> None:
    for file in (RUNS / name).glob("consulted/**/journal.jsonl"):
        assert isinstance(read_journal(file)[0], StartRecord)
