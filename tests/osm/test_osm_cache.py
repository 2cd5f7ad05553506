"""A town that was rebuilt once opens from the cache."""

import hashlib
import io
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from written_extract import Writer, box

from virl.osm import cache as module
from virl.osm import extract as extracts
from virl.osm.cache import load_twin
from virl.platform.providers.osm.city_file import city_of_path

AROUND = "60.17,24.94"


def write(file: Path, name: str = "Kahvila") -> Path:
    town = Writer(file)
    town.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Main Street")
    town.way(*box(-60, 8, -20, 25), building="yes", height="12")
    town.node(-40, 9, amenity="cafe", name=name)
    town.close()
    return file


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache/twins"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "town.osm.pbf")


def test_a_large_extract_is_known_by_its_size_and_time(
    file: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extracts, "LARGEST_MB", 0)
    part = city_of_path(f"{file}@{AROUND},250").part
    load_twin(file, part)
    monkeypatch.setattr(hashlib, "file_digest", None)
    load_twin(file, part)
    assert len(list(kept.iterdir())) == 1
    file.touch()
    load_twin(file, part)
    assert len(list(kept.iterdir())) == 2


def unbuildable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it is built again")

    monkeypatch.setattr(module, "build_twin", refuse)


def test_a_twin_is_read_from_the_cache(file: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_twin(file, None)
    assert len(list(kept.iterdir())) == 1
    unbuildable(monkeypatch)
    again = load_twin(file, None)
    assert again.plan.shops == first.plan.shops
    assert again.plan.layout.buildings == first.plan.layout.buildings
    assert again.plan.layout.frontages == first.plan.layout.frontages
    assert again.extract.points.tags == first.extract.points.tags
    assert again.pois.unmapped == first.pois.unmapped
    assert np.array_equal(again.streets.panoramas.xy, first.streets.panoramas.xy)
    assert again.streets.panoramas.xy.dtype == first.streets.panoramas.xy.dtype
    moved = file.rename(file.with_name("elsewhere.osm.pbf"))
    assert load_twin(moved, None).plan.shops == first.plan.shops


def test_another_extract_or_part_is_another_twin(file: Path, kept: Path) -> None:
    load_twin(file, None)
    part = city_of_path(f"{file}@{AROUND},250").part
    load_twin(file, part)
    assert len(list(kept.iterdir())) == 2
    file.unlink()
    write(file, name="Leipomo")
    assert [shop.place.name for shop in load_twin(file, None).plan.shops] == ["Leipomo"]


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "other"])
def test_a_file_that_is_no_twin_is_named_and_made_anew(
    damage: str, file: Path, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    twin = load_twin(file, None)
    [cached] = kept.iterdir()
    other = io.BytesIO()
    np.savez(other, allow_pickle=False, tree=np.frombuffer(b'{"a": 1}', np.uint8))
    damaged = {
        "cut": cached.read_bytes()[:-100],
        "empty": b"",
        "text": b"not an archive",
        "other": other.getvalue(),
    }
    cached.write_bytes(damaged[damage])
    with caplog.at_level(logging.WARNING):
        assert load_twin(file, None).plan.shops == twin.plan.shops
    assert "not a usable town" in caplog.text
    caplog.clear()
    load_twin(file, None)
    assert not caplog.text


def test_where_no_cache_can_be_written_the_town_still_opens(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "plain").write_text("a file")
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "plain"))
    with caplog.at_level(logging.WARNING):
        assert load_twin(file, None).plan.shops
    assert "could not be cached" in caplog.text


def test_the_oldest_go_first(file: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TWINS", replace(module._TWINS, most=2))
    for radius in (210, 220, 230):
        load_twin(file, city_of_path(f"{file}@{AROUND},{radius}").part)
    assert len(list(kept.iterdir())) == 2


def test_what_a_large_file_takes_is_told_before_it_is_read_whole(
    file: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "TOLD_FROM_MB", 1e-9)
    monkeypatch.setattr(module, "HOUSES_OF_MB", 3_904_000 / (file.stat().st_size / 1e6))
    load_twin(file, city_of_path(f"{file}@{AROUND},250").part)
    assert not caplog.records
    load_twin(file, None)
    load_twin(file, None)
    [told] = caplog.messages
    assert told.startswith(f"{file}: all of it has about 3,904,000 houses and takes ")
    assert kept.is_dir()
