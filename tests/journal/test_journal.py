import json
import logging
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from full_disk import full_disk
from made_run import keep_made_run
from writer import end_record, expected, start_record, step_record, write

from virl.errors import CannotWrite, JournalBroken
from virl.journal import folder
from virl.journal.journal import Journal, read_journal, total_cost
from virl.journal.records import Result

WRITER = Path(__file__).parents[1] / "writer.py"
PIXELS = np.zeros((24, 32, 3), np.uint8)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three steps, not ended."""
    folder = tmp_path / "run"
    with Journal.create(folder, start_record()) as journal:
        for seq in (1, 2, 3):
            journal.append(step_record(seq, journal.keep_view(f"{seq:04d}", PIXELS)))
    return folder


def python(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def replace_line(run: Path, number: int, line: str) -> bytes:
    path = run / "journal.jsonl"
    lines = path.read_text().splitlines()
    lines[number - 1] = line
    path.write_text("\n".join(lines) + "\n")
    return path.read_bytes()


def refusal(run: Path) -> str:
    """The one line with which resuming fails; the journal is as before, and can be locked again."""
    path = run / "journal.jsonl"
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(JournalBroken) as caught:
            Journal.resume(run)
        assert path.read_bytes() == before
        assert not list(run.glob("*.cut-*"))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_was_appended_is_read_back(run: Path) -> None:
    journal, records = Journal.resume(run)
    with journal:
        assert list(records) == expected(3)[:-1]
        assert not journal.is_over
        write(journal, 5)
        assert journal.is_over
    assert list(read_journal(run)) == list(read_journal(run / "journal.jsonl")) == expected(5)


def test_each_record_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with Journal.create(tmp_path, start_record()) as journal:
        for seq in (1, 2):
            journal.append(step_record(seq, journal.keep_view(f"{seq}", PIXELS)))
            assert len(read_journal(tmp_path)) == seq + 1


@pytest.mark.slow
def test_killed_at_random_points_it_comes_to_the_same_end(tmp_path: Path) -> None:
    chance = random.Random(7)
    written, kills, room = 0, 8, 60
    for _ in range(kills):
        command = [sys.executable, WRITER, tmp_path, str(kills * room), str(written + room)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"writing\n"
            time.sleep(chance.uniform(0, 0.06))
            process.kill()
        records = read_journal(tmp_path)
        assert list(records) == expected(kills * room)[: len(records)]
        assert len(records) >= written, "records were lost"
        written = len(records)
    python(WRITER, tmp_path, kills * room)
    assert list(read_journal(tmp_path)) == expected(kills * room)
    assert not list((tmp_path / "views").glob("*.part"))


@pytest.mark.slow
def test_a_last_line_cut_anywhere_is_set_aside(run: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = run / "journal.jsonl"
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for size in range(last + 1, len(whole)):
        path.write_bytes(whole[:size])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            journal, records = Journal.resume(run)
        journal.close()
        assert list(records) == expected(3)[:-2]
        assert path.read_bytes() == whole[:last]
        (aside,) = run.glob("journal.jsonl.cut-*")
        assert aside.read_bytes() == whole[last:size]
        assert [aside.name in line for line in caplog.messages] == [True]
        aside.unlink()


def test_a_cut_line_is_never_overwritten_by_a_later_one(run: Path) -> None:
    path = run / "journal.jsonl"
    for tail in (b'{"kind": "st', b"\0\0\0\n"):
        path.write_bytes(path.read_bytes() + tail)
        Journal.resume(run)[0].close()
    assert (run / "journal.jsonl.cut-1").read_bytes() == b'{"kind": "st'
    assert (run / "journal.jsonl.cut-2").read_bytes() == b"\0\0\0\n"
    assert len(read_journal(run)) == 4


def test_the_run_goes_on_after_a_cut_line(run: Path) -> None:
    path = run / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    journal, _ = Journal.resume(run)
    with journal:
        assert journal.next_seq == 3
        write(journal, 4)
    assert list(read_journal(run)) == expected(4)


@pytest.mark.parametrize(
    ("number", "line", "said"),
    [
        (2, '{"kind": "step", "se', "is not JSON"),
        (2, "", "is not JSON"),
        (2, '{"kind": "step", "seq": 1}', "step.step: Field required"),
        (2, '{"kind": "dance", "seq": 1}', "is no record of a run"),
        (4, '{"kind": "step", "seq": 3, "mood": "good"}', "is no record of a run"),
        (3, "[]", "is no record of a run"),
    ],
)
def test_a_broken_line_stops_it(run: Path, number: int, line: str, said: str) -> None:
    replace_line(run, number, line)
    message = refusal(run)
    assert f"journal.jsonl, line {number}: " in message
    assert said in message


def test_a_wrong_sequence_number_stops_it(run: Path) -> None:
    replace_line(run, 3, step_record(3, "views/0003.jpg").model_dump_json())
    assert "line 3: has sequence number 3 where 2 should be" in refusal(run)


def test_a_step_that_comes_twice_stops_it(run: Path) -> None:
    twice = step_record(2, "views/0002.jpg").model_copy(update={"seq": 3})
    replace_line(run, 4, twice.model_dump_json())
    assert "line 4: is step 1 where 2 should be" in refusal(run)


def test_a_second_start_stops_it(run: Path) -> None:
    replace_line(run, 2, start_record().model_dump_json())
    assert "line 2: is a start record where a step should be" in refusal(run)


def test_a_line_after_the_end_stops_it(run: Path) -> None:
    replace_line(run, 3, end_record(2).model_dump_json())
    assert "line 4: comes after the end" in refusal(run)


def test_a_missing_view_stops_it(run: Path) -> None:
    (run / "views/0002.jpg").unlink()
    message = refusal(run)
    assert "line 3: names the view views/0002.jpg, which is missing" in message


def test_another_format_stops_it(run: Path) -> None:
    start = json.loads(start_record().model_dump_json()) | {"format": 9, "virl": "7.1", "mood": "good"}
    replace_line(run, 1, json.dumps(start))
    message = refusal(run)
    assert "journal format 9, but this version of virl reads 1" in message
    assert "virl 7.1" in message


@pytest.mark.parametrize("content", [b"", b'{"kind": "start", "se', b"\n"])
def test_nothing_whole_stops_it(run: Path, content: bytes) -> None:
    (run / "journal.jsonl").write_bytes(content)
    assert "contains no complete record" in refusal(run)


def test_no_journal_stops_it_and_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(JournalBroken, match="no such journal"):
        Journal.resume(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_a_run_is_not_begun_again(run: Path) -> None:
    before = (run / "journal.jsonl").read_bytes()
    with pytest.raises(JournalBroken, match="already contains a run"):
        Journal.create(run, start_record())
    assert (run / "journal.jsonl").read_bytes() == before


def test_numbers_must_follow(run: Path) -> None:
    journal, _ = Journal.resume(run)
    with journal:
        file = journal.keep_view("x", PIXELS)
        for record in (step_record(3, file), step_record(5, file), end_record(3)):
            with pytest.raises(ValueError, match="sequence number"):
                journal.append(record)
        with pytest.raises(ValueError, match="which is missing"):
            journal.append(step_record(4, "views/never.jpg"))
        journal.append(end_record(4))
        with pytest.raises(ValueError, match="after the end"):
            journal.append(step_record(5, file))


def test_a_view_never_takes_the_name_of_another(run: Path) -> None:
    journal, _ = Journal.resume(run)
    with journal:
        assert journal.keep_view("0002", PIXELS) == "views/0002.2.jpg"
        assert journal.keep_view("new", PIXELS) == "views/new.jpg"
        assert journal.keep_view("new", PIXELS) == "views/new.2.jpg"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a\0b", "a b"])
def test_a_view_stays_in_its_folder(run: Path, name: str) -> None:
    journal, _ = Journal.resume(run)
    with journal, pytest.raises(ValueError, match="view name"):
        journal.keep_view(name, PIXELS)


@pytest.mark.slow
def test_one_writer_at_a_time(run: Path) -> None:
    first, _ = Journal.resume(run)
    with pytest.raises(JournalBroken, match=rf"process {os.getpid()} is writing this run"):
        Journal.resume(run)
    other = python(WRITER, run, 5)
    assert f"process {os.getpid()} is writing this run" in other.stderr
    first.close()
    Journal.resume(run)[0].close()


def test_a_full_disk_is_told_in_one_line(run: Path) -> None:
    journal, _ = Journal.resume(run)
    with journal:
        with full_disk(100), pytest.raises(CannotWrite) as caught:
            journal.keep_view("0009", PIXELS)
        message = str(caught.value)
        assert message.startswith(f"cannot write {run}/views/0009.jpg: File too large")
        assert "resume the run" in message
        assert "\n" not in message
        assert not [file for file in (run / "views").iterdir() if "0009" in file.name]
        assert journal.keep_view("0009", PIXELS) == "views/0009.jpg"


def test_a_view_that_was_never_finished_is_removed(run: Path) -> None:
    unfinished = run / "views" / ".0009.jpg.1-abcd.part"
    unfinished.write_bytes(b"half")
    Journal.resume(run)[0].close()
    assert not unfinished.exists()


def test_a_closed_journal_takes_no_more(run: Path) -> None:
    journal, _ = Journal.resume(run)
    journal.close()
    before = (run / "journal.jsonl").read_bytes()
    with pytest.raises(ValueError, match="closed"):
        write(journal, 4)
    assert (run / "journal.jsonl").read_bytes() == before


@pytest.mark.slow
def test_a_line_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    """A limit on file size makes the kernel take a part of a line only, as a full disk does."""
    code = f"""
import resource, signal, sys
sys.path.insert(0, {str(WRITER.parent)!r})
from pathlib import Path
import writer
from virl.journal.journal import Journal
from virl.errors import CannotWrite
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
folder = Path({str(tmp_path)!r})
journal = Journal.create(folder, writer.start_record())
try:
    writer.write(journal, 200)
except CannotWrite as fault:
    sys.stdout.write(str(fault))
assert (folder / "journal.jsonl").read_bytes().endswith(b"\\n")
"""
    done = python("-c", code)
    assert done.stdout.startswith(f"cannot write {tmp_path}/journal.jsonl: File too large")
    assert not done.stderr
    journal, records = Journal.resume(tmp_path)
    with journal:
        assert list(records) == expected(60)[: len(records)]
        assert 1 < len(records) < 60
        write(journal, 60)
    assert list(read_journal(tmp_path)) == expected(60)
    assert not list(tmp_path.glob("*.cut-*"))


def test_what_an_interrupted_append_left_is_taken_back(run: Path) -> None:
    journal, _ = Journal.resume(run)
    with journal:
        with (run / "journal.jsonl").open("ab") as file:
            file.write(b'{"kind": "st')
        write(journal, 4)
    assert list(read_journal(run)) == expected(4)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(CannotWrite, match=r"cannot write .*runs/hiro: Not a directory: .* start again"):
        Journal.create(tmp_path / "runs" / "hiro", start_record())


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal is put in the place of the kernel's."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CannotWrite, match=r"cannot write .*\.lock: Permission denied"):
        folder.lock_run(tmp_path)


def test_the_result_is_plain_json(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", size=64)
    text = (folder / "result.json").read_text()
    assert text.startswith('{\n  "agent": "hiro"')
    result = Result.model_validate_json(text)
    assert result.place is not None
    assert result.place.name == "Noodle Bar Mei"


@pytest.mark.slow
def test_the_cost_counts_models_and_not_rules(tmp_path: Path) -> None:
    paid = total_cost(read_journal(keep_made_run(tmp_path / "paid", mind="openai:m", size=64)))
    assert (paid.llm_calls, paid.llm_cached) == (5, 2)  # the place type, two roads, two decisions; summaries
    assert paid.input_tokens == 4 * 700
    assert paid.usd == pytest.approx(4 * 0.0031)
    assert paid.views == 21 * 3 + 3 + 2 * 3
    assert paid.seconds == pytest.approx(21 * 0.8)
    free = total_cost(read_journal(keep_made_run(tmp_path / "free", size=64)))
    assert (free.llm_calls, free.llm_cached, free.usd, free.views) == (0, 0, 0, paid.views)
