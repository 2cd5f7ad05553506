"""Each file that grows by lines: after a kill in its last line, with a damaged line, and on a full disk.

`tests/journal/test_journal.py` holds the journal to the same.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from full_disk import full_disk

from benchmarks.touchdown.train.metrics import metrics_of, read_metrics
from virl.bench.records import open_records, read_records
from virl.datasets.collect.dataset import Row, Rows
from virl.errors import CannotWrite, VirlError
from virl.geo.globe import LatLng
from virl.money.book import Price
from virl.money.ledger import Ledger
from virl.platform.navigators.survey import Ordered, SurveyPlan, SurveyStore
from virl.platform.perception.memory.log import Begun, Joined, Log
from virl.platform.perception.memory.objects import Estimate
from virl.platform.perception.memory.settings import MemorySettings

PLAN = SurveyPlan(
    corners=(LatLng(0, 0), LatLng(0, 1), LatLng(1, 0)), spacing=10, radius=20, follow_links=False
)


class Thing(Row):
    pass


@dataclass(frozen=True)
class Growing:
    """A file of lines as its owner writes and reads it.

    Args:
        file: its name.
        open: gives what adds the line of a number, from 1 on; line 1 is there when it is open or added then.
        read: the numbers in it.
    """

    file: str
    open: Callable[[Path], Callable[[int], None]]
    read: Callable[[Path], list[int]]

    def fill(self, path: Path, count: int = 3) -> bytes:
        add = self.open(path)
        for number in range(1, count + 1):
            add(number)
        return path.read_bytes()


def spending(path: Path) -> Callable[[int], None]:
    ledger = Ledger(book=path)
    return lambda number: ledger.hold(Price("a", 1, 10.0 ** (6 - number)), "static_image")


def spent(path: Path) -> list[int]:
    micro = round(Ledger(book=path).spent_usd * 1e6)
    return [number for number in range(1, 7) if micro // 10 ** (6 - number) % 10]


def records(path: Path) -> Callable[[int], None]:
    def add(number: int) -> None:
        with open_records(path.parent, {}, resume=True) as found:
            found.append({"id": str(number), "status": "done"})

    return add


def survey(path: Path) -> Callable[[int], None]:
    store = SurveyStore(PLAN, path)
    return lambda number: None if number == 1 else store.add(Ordered(start=str(number), ids=()))


def surveyed(path: Path) -> list[int]:
    return [1, *(int(order.start) for order in SurveyStore(PLAN, path).orders)]


def rows(path: Path) -> Callable[[int], None]:
    found = Rows(path, Thing)
    return lambda number: found.add(Thing(id=str(number)))


def memory(path: Path) -> Callable[[int], None]:
    log = Log(path)
    list(log.read())

    def add(number: int) -> None:
        estimate = Estimate(LatLng(0, 0), (1.0, 0.0, 1.0))
        joined = Joined(seq=number - 1, object_id="a", gone_id="b", reason="near", estimate=estimate)
        log.append(Begun(settings=MemorySettings()) if number == 1 else joined)

    return add


def remembered(path: Path) -> list[int]:
    return [record.seq + 1 for _, record in Log(path).read()]


def metrics(path: Path) -> Callable[[int], None]:
    lines = metrics_of(path.parent, path.stat().st_size if path.exists() else 0)
    return lambda number: lines.append(json.dumps({"kind": "update", "step": number}))


GROWING = [
    Growing("spending.jsonl", spending, spent),
    Growing("records.jsonl", records, lambda path: [int(number) for number in read_records(path)]),
    Growing("region.jsonl", survey, surveyed),
    Growing("rows.jsonl", rows, lambda path: [int(row.id) for row in Rows(path, Thing).all]),
    Growing("memory.jsonl", memory, remembered),
    Growing("metrics.jsonl", metrics, lambda path: [line["step"] for line in read_metrics(path.parent)]),
]

each = pytest.mark.parametrize("growing", GROWING, ids=[one.file for one in GROWING])


@pytest.mark.parametrize("growing", GROWING[1:], ids=[one.file for one in GROWING[1:]])  # a book keeps sums
def test_a_last_line_cut_at_any_byte_is_lost_and_no_other(growing: Growing, tmp_path: Path) -> None:
    path = tmp_path / growing.file
    whole = growing.fill(path)
    assert growing.read(path) == [1, 2, 3]
    start = whole.rindex(b"\n", 0, -1) + 1
    for size in range(start, len(whole)):
        path.write_bytes(whole[:size])
        assert growing.read(path) == [1, 2]
        growing.open(path)(3)
        assert path.read_bytes() == whole


@each
def test_a_file_of_holes_is_not_taken_into_memory(growing: Growing, tmp_path: Path) -> None:
    path = tmp_path / growing.file
    growing.fill(path)
    os.truncate(path, 20_000_000_000)
    with pytest.raises(VirlError, match="longer than 100 MB"):
        growing.read(path)


@each
def test_a_cut_first_line_begins_anew(growing: Growing, tmp_path: Path) -> None:
    path = tmp_path / growing.file
    whole = growing.fill(path)
    path.write_bytes(whole[:9])
    assert growing.fill(path) == whole


@each
@pytest.mark.parametrize("line", [b"nonsense", b'{"kind": ', b"", b"\0\0\0"])
def test_a_damaged_line_is_named_and_nothing_is_changed(
    growing: Growing, tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / growing.file
    first, _, third = growing.fill(path).splitlines()
    path.write_bytes(b"\n".join([first, line, third]) + b"\n")
    before = path.read_bytes()
    with pytest.raises(VirlError) as refused:
        growing.read(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


@each
def test_after_a_full_disk_the_same_process_goes_on(growing: Growing, tmp_path: Path) -> None:
    path = tmp_path / growing.file
    whole = growing.fill(path)
    path.unlink()
    two = growing.fill(path, 2)
    add = growing.open(path)
    for room in (0, 1, len(whole) - len(two) - 1):
        with full_disk(len(two) + room), pytest.raises(CannotWrite, match=f"cannot write {path}") as refused:
            add(3)
        assert "\n" not in str(refused.value)
        assert path.read_bytes() == two
    add(3)
    assert path.read_bytes() == whole
    assert growing.read(path) == [1, 2, 3]
