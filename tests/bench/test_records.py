import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from virl.bench.records import open_records, versions, write_results
from virl.errors import BadInput, JournalBroken

SETTINGS = {"agent": "gold", "split": "dev"}


def filled(folder: Path, count: int = 3) -> Path:
    with open_records(folder, SETTINGS, resume=False) as records:
        for number in range(count):
            records.append({"id": str(number), "note": "né 街"})
    return folder / "records.jsonl"


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    filled(tmp_path)
    with open_records(tmp_path, SETTINGS, resume=True) as records:
        assert list(records.done) == ["0", "1", "2"]
        assert records.done["1"]["note"] == "né 街"
        assert not records.cut
        records.append({"id": "3"})
    with open_records(tmp_path, SETTINGS, resume=True) as records:
        assert len(records.done) == 4


def test_the_later_record_of_an_episode_counts(tmp_path: Path) -> None:
    with open_records(tmp_path, SETTINGS, resume=True) as records:
        records.append({"id": "a", "status": "failed"})
        records.append({"id": "a", "status": "done"})
    with open_records(tmp_path, SETTINGS, resume=True) as records:
        assert records.done == {"a": {"id": "a", "status": "done"}}


def test_a_second_run_needs_resume(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(BadInput, match="--resume"), open_records(tmp_path, SETTINGS, resume=False):
        pass


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    filled(tmp_path)
    with (
        pytest.raises(BadInput, match="agent: 'gold' there, 'random' here"),
        open_records(tmp_path, SETTINGS | {"agent": "random"}, resume=True),
    ):
        pass
    with open_records(tmp_path, SETTINGS, resume=True) as records:  # the refusal let go of the lock
        assert len(records.done) == 3


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        open_records(tmp_path, SETTINGS, resume=False),
        pytest.raises(JournalBroken, match="writing this run"),
        open_records(tmp_path, SETTINGS, resume=True),
    ):
        pass


def test_a_cut_at_any_byte_of_the_last_line_loses_at_most_that_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = filled(tmp_path / "whole").read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for size in range(start, len(whole) + 1):
        folder = tmp_path / str(size)
        filled(folder).write_bytes(whole[:size])
        caplog.clear()
        with open_records(folder, SETTINGS, resume=True) as records:
            kept = len(records.done)
            assert kept == (3 if size == len(whole) else 2)
            lost = kept == 2 and size > start
            assert bool(records.cut) == lost == ("line 3: was cut off" in caplog.text)
            records.append({"id": "next"})
        lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == [*["0", "1", "2"][:kept], "next"]


def test_a_last_line_of_zeros_is_cut(tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes() + b"\0\0\0\n")
    with open_records(tmp_path, SETTINGS, resume=True) as records:
        assert len(records.done) == 3
        assert "line 4" in records.cut


@pytest.mark.parametrize("damage", ["{", '{"note": 1}', "[1]", ""])
def test_damage_in_the_middle_is_named(tmp_path: Path, damage: str) -> None:
    path = filled(tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], damage, lines[2]]) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 2: is no record"), open_records(tmp_path, SETTINGS, resume=True):
        pass


def test_records_are_appended_from_threads(tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=10)

    def work(number: int) -> None:
        together.wait()
        records.append({"id": str(number), "note": "x" * 10_000})

    with open_records(tmp_path, SETTINGS, resume=False) as records, ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(40)))
    lines = (tmp_path / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["id"] for line in lines} == {str(number) for number in range(40)}


def test_a_run_that_was_refused_before_its_first_record_stands_in_no_ones_way(tmp_path: Path) -> None:
    with open_records(tmp_path, SETTINGS, resume=False):
        pass
    with open_records(tmp_path, SETTINGS | {"agent": "random"}, resume=False):
        pass
    assert json.loads((tmp_path / "settings.json").read_text())["agent"] == "random"


def test_the_options_that_differ_are_named_alone(tmp_path: Path) -> None:
    settings = {"benchmark": "walks", "options": {"agent": "gold", "seed": 0}}
    with open_records(tmp_path, settings, resume=False) as records:
        records.append({"id": "a"})
    with (
        pytest.raises(BadInput, match=r"the settings differ \(seed: 0 there, 1 here\)"),
        open_records(tmp_path, settings | {"options": {"agent": "gold", "seed": 1}}, resume=True),
    ):
        pass


def test_a_run_of_an_earlier_version_is_refused_with_the_reason(tmp_path: Path) -> None:
    filled(tmp_path)
    with (
        pytest.raises(BadInput, match="an earlier version of virl wrote this run"),
        open_records(tmp_path, {"benchmark": "touchdown", "options": {}}, resume=True),
    ):
        pass


def test_results_are_replaced_whole(tmp_path: Path) -> None:
    write_results(tmp_path, {"metrics": {"sr": 0.5}})
    path = write_results(tmp_path, {"metrics": {"sr": 0.6}})
    assert json.loads(path.read_text(encoding="utf-8")) == {"metrics": {"sr": 0.6}}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["results.json"]


def test_versions_leave_out_what_is_not_installed() -> None:
    found = versions("rich", "no-such-package")
    assert {"virl", "python", "numpy", "scipy", "rich"} == set(found)
