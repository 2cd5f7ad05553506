import json
import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from full_disk import full_disk

from virl.errors import BadInput, CannotWrite, JournalBroken
from virl.files.writing import JsonLines, _clear_leftovers, replace_file, write_whole


def filled(path: Path, count: int = 3) -> bytes:
    lines = JsonLines(path, "go on")
    for number in range(count):
        lines.append(json.dumps({"n": number, "text": "héllo"}))
    return path.read_bytes()


def numbers(path: Path) -> list[int]:
    return [found["n"] for found in JsonLines(path, "go on").read(json.loads)]


def test_lines_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines.jsonl"
    lines = JsonLines(path, "go on")
    assert list(lines.read(bytes)) == []
    assert not path.parent.exists()
    lines.append('{"a": 1}')
    lines.append('{"a": "é"}')
    assert path.read_bytes() == '{"a": 1}\n{"a": "é"}\n'.encode()
    assert list(JsonLines(path, "go on").read(bytes)) == [b'{"a": 1}', '{"a": "é"}'.encode()]
    assert (lines.count, lines.size) == (2, path.stat().st_size)


def test_each_line_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "lines.jsonl", "go on", sync=False)
    for number in range(3):
        lines.append(json.dumps({"n": number}))
        assert numbers(tmp_path / "lines.jsonl") == list(range(number + 1))


def test_a_last_line_cut_anywhere_is_left_out_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = filled(path)
    start = whole.rindex(b"\n", 0, -1) + 1
    for size in range(start, len(whole)):
        path.write_bytes(whole[:size])
        lines = JsonLines(path, "go on")
        assert [found["n"] for found in lines.read(json.loads)] == [0, 1]
        assert lines.torn == whole[start:size]
        assert path.read_bytes() == whole[:size]
        lines.append('{"n": 7}')
        assert path.read_bytes() == whole[:start] + b'{"n": 7}\n'
        assert lines.torn == b""


@pytest.mark.parametrize("tail", [b"\0\0\0", b"\0\0\0\n", b'{"n": 3\0\0\n', b"\n", b" \n"])
def test_what_a_crash_of_the_machine_leaves_is_torn_too(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    whole = filled(path)
    path.write_bytes(whole + tail)
    lines = JsonLines(path, "go on")
    assert len(list(lines.read(json.loads))) == 3
    assert lines.torn == tail
    lines.heal()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("line", [b"nonsense", b"", b"\0\0", b'{"n": ', b"\xff"])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    first, _, third = filled(path).splitlines()
    path.write_bytes(b"\n".join([first, line, third]) + b"\n")
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"lines\.jsonl, line 2: .*: delete it$"):
        list(JsonLines(path, "go on").read(json.loads, mend=": delete it"))
    with pytest.raises(JournalBroken, match=r"lines\.jsonl, line 2: "):
        list(JsonLines(path, "go on").read(json.loads, broken=JournalBroken))
    assert path.read_bytes() == before


def test_a_damaged_last_line_that_has_its_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(filled(path) + b"nonsense\n")
    with pytest.raises(BadInput, match="line 4"):
        numbers(path)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{tmp_path}: cannot be read"):
        numbers(tmp_path)


def test_a_full_disk_takes_all_of_a_line_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = filled(path)
    lines = JsonLines(path, "resume the run")
    list(lines.read(bytes))
    for room in range(9):
        with full_disk(len(whole) + room), pytest.raises(CannotWrite) as caught:
            lines.append('{"n": 3}')
        assert str(caught.value) == (f"cannot write {path}: File too large: fix that, then resume the run")
        assert path.read_bytes() == whole
    with full_disk(len(whole) + 9):
        lines.append('{"n": 3}')
    assert numbers(path) == [0, 1, 2, 3]


def test_what_an_interrupted_append_left_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.jsonl"
    lines = JsonLines(path, "go on")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lines.append('{"n": 0}')
    assert path.read_bytes() == b""
    lines.append('{"n": 1}')
    assert numbers(path) == [1]


def test_lines_of_another_process_are_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    filled(path)
    one, other = JsonLines(path, "go on"), JsonLines(path, "go on")
    for lines in (one, other):
        list(lines.read(bytes))
    one.append('{"n": 3}')
    before = path.read_bytes()
    with pytest.raises(CannotWrite, match="another process has written to it"):
        other.append('{"n": 4}')
    assert path.read_bytes() == before


def test_lines_that_are_gone_are_not_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = filled(path)
    lines = JsonLines(path, "go on")
    list(lines.read(bytes))
    path.write_bytes(whole[:-1])
    with pytest.raises(CannotWrite, match="lines have been removed from it"):
        lines.append('{"n": 3}')
    path.unlink()
    with pytest.raises(CannotWrite, match="No such file"):
        lines.append('{"n": 3}')
    assert not path.exists()


def test_a_reader_who_stops_early_drops_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    filled(path)
    lines = JsonLines(path, "go on")
    for _ in lines.read(bytes):
        if lines.count == 1:
            break
    lines.heal()
    lines.append('{"n": 9}')
    assert numbers(path) == [0, 9]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.json"
    write_whole(path, b"old", "go on")
    with path.open("rb") as reader:
        with replace_file(path, "go on") as file:
            file.write(b"new")
            assert path.read_bytes() == b"old"
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old", "go on")
    with full_disk(100), pytest.raises(CannotWrite, match=f"cannot write {path}: File too large: .* go on"):
        write_whole(path, b"n" * 101, "go on")
    with suppress(ValueError), replace_file(path, "go on") as file:
        file.write(b"half")
        raise ValueError("of the caller")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match=r"Not a directory|File exists"):
        write_whole(tmp_path / "file" / "a" / "b", b"", "go on")
    with pytest.raises(CannotWrite, match=r"Not a directory|File exists"):
        JsonLines(tmp_path / "file" / "a", "go on").append("{}")


def test_of_several_writers_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    together = threading.Barrier(4)

    def write(content: bytes) -> None:
        together.wait()
        for _ in range(20):
            with replace_file(path, "go on") as file:
                file.write(content)

    threads = [threading.Thread(target=write, args=(bytes([65 + i]) * 5000,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    content = path.read_bytes()
    assert len(content) == 5000
    assert len(set(content)) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_was_writing_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    with replace_file(tmp_path / "a.txt", "go on") as file:
        (mine,) = tmp_path.glob(".*.part")
        file.write(b"a")
        gone = subprocess.Popen(["true"])
        gone.wait()
        theirs = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{gone.pid}-"))
        theirs.write_bytes(b"half")
        _clear_leftovers.cache_clear()
        with replace_file(tmp_path / "b.txt", "go on") as other:
            other.write(b"b")
        assert mine.exists()
        assert not theirs.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]
