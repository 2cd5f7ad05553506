from pathlib import Path

import pytest

from virl.datasets.collect.dataset import Row, Rows
from virl.errors import BadInput


class Thing(Row):
    size: int


def test_what_is_added_is_there_when_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "things.jsonl"
    things = Rows(path, Thing)
    things.add(Thing(id="b", size=2))
    things.add(Thing(id="a", size=1))
    again = Rows(path, Thing)
    assert again.all == (Thing(id="b", size=2), Thing(id="a", size=1))
    assert "a" in again
    assert "c" not in again
    with pytest.raises(ValueError, match="already"):
        again.add(Thing(id="a", size=3))


def test_a_last_line_that_was_cut_off_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "things.jsonl"
    Rows(path, Thing).add(Thing(id="a", size=1))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"id": "b", "si')
    things = Rows(path, Thing)
    assert [one.id for one in things.all] == ["a"]
    things.add(Thing(id="c", size=3))
    assert path.read_bytes() == whole + b'{"id":"c","size":3}\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "the line: Invalid JSON"),
        ('{"id": "b"}', "size: Field required"),
        ('{"id": "b", "size": 1, "hat": 2}', "hat: Extra inputs"),
        ('{"id": "a", "size": 1}', "id: 'a' is repeated"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_changed(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "things.jsonl"
    path.write_text(f'{{"id": "a", "size": 1}}\n{line}\n{{"id": "z", "size": 1}}\n')
    before = path.read_bytes()
    with pytest.raises(BadInput) as refused:
        Rows(path, Thing)
    assert f"{path}, line 2: {said}" in str(refused.value)
    assert path.read_bytes() == before
