"""Counts of what was left out."""

from pathlib import Path

from virl.platform.city.left_out import LeftOut, Omission
from virl.platform.providers import open_city


def test_cities_are_keys_of_caches_with_what_they_left_out() -> None:
    assert len({open_city("virlton"), open_city("virlton")}) == 2


def test_a_part_counts_once_however_often_it_is_read() -> None:
    left_out = LeftOut()
    for _ in range(2):
        left_out.add("Places", "displayName: Field required", {"id": "a"})
    left_out.add("Places", "displayName: Field required", {"id": "b"})
    assert [(one.source, one.count) for one in left_out.omissions()] == [("Places", 2)]


def test_counts_that_are_kept_go_on_with_a_part_read_again(tmp_path: Path) -> None:
    for _ in range(2):
        counted = LeftOut()
        counted.add("s", "first", 1)
        counted.keep(tmp_path / "left_out.jsonl")
        counted.add("s", "second", 2)
        assert counted.omissions() == (Omission("s", 2, ("first", "second")),)
    assert len((tmp_path / "left_out.jsonl").read_text().splitlines()) == 2
