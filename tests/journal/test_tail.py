"""A journal is read while another process writes it."""

import os
from pathlib import Path

import pytest
from made_run import keep_made_run

from virl.errors import JournalBroken
from virl.journal.journal import JOURNAL, JournalTail, read_journal


@pytest.fixture
def lines(tmp_path: Path) -> list[bytes]:
    keep_made_run(tmp_path / "whole", size=16)
    return (tmp_path / "whole" / JOURNAL).read_bytes().splitlines(keepends=True)


def grow(folder: Path, *parts: bytes) -> None:
    with (folder / JOURNAL).open("ab") as file:
        file.write(b"".join(parts))


def test_records_come_as_they_are_written(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, *lines[:3])
    tail = JournalTail(tmp_path)
    assert [record.seq for record in tail.read_new()] == [0, 1, 2]
    assert list(tail.read_new()) == []
    grow(tmp_path, *lines[3:])
    assert not tail.is_over
    later = list(tail.read_new())
    assert tail.is_over
    assert tuple(later) == read_journal(tmp_path)[3:]


def test_half_a_line_waits_for_its_rest(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, lines[0], lines[1][:40])
    tail = JournalTail(tmp_path)
    assert len(list(tail.read_new())) == 1
    grow(tmp_path, lines[1][40:])
    assert [record.seq for record in tail.read_new()] == [1]


def test_what_a_crash_left_is_passed_over_when_the_run_is_resumed(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, lines[0], b"\0" * 30 + b"\n")
    tail = JournalTail(tmp_path)
    assert len(list(tail.read_new())) == 1
    (tmp_path / JOURNAL).write_bytes(b"".join(lines[:3]))
    assert [record.seq for record in tail.read_new()] == [1, 2]


def test_a_line_without_end_is_not_taken_into_memory(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, lines[0])
    os.truncate(tmp_path / JOURNAL, 20_000_000_000)
    with pytest.raises(JournalBroken, match="line 2: is longer than"):
        list(JournalTail(tmp_path).read_new())


def test_a_damaged_line_is_named_after_those_before_it(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, lines[0], lines[1], b'{"kind": "step"}\n')
    tail = JournalTail(tmp_path)
    found = []
    with pytest.raises(JournalBroken, match="line 3"):
        found.extend(record.seq for record in tail.read_new())
    assert found == [0, 1]


def test_lines_that_are_gone_or_out_of_order_are_told(tmp_path: Path, lines: list[bytes]) -> None:
    grow(tmp_path, *lines[:2])
    tail = JournalTail(tmp_path)
    list(tail.read_new())
    (tmp_path / JOURNAL).write_bytes(lines[0])
    with pytest.raises(JournalBroken, match="gone"):
        list(tail.read_new())
    (tmp_path / JOURNAL).write_bytes(lines[0] + lines[2])
    with pytest.raises(JournalBroken, match="line 2: has sequence number 2"):
        list(JournalTail(tmp_path).read_new())
    with pytest.raises(JournalBroken, match="cannot be read"):
        list(JournalTail(tmp_path / "nowhere").read_new())
