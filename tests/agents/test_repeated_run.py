"""A run that repeats another in a made town draws and reads nothing, and comes to the same end."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from warm_cache import warm_cache

import virl
from virl.platform.perception.readers.rapidocr import RapidOcrReader
from virl.towns.render.renderer import CityRenderer

pytestmark = pytest.mark.slow


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("it is done again")


def told(run: Path) -> list[dict[str, object]]:
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    kept = ("kind", "step", "pose", "decided", "places", "views", "asked", "next_pano_id")
    return [{key: record[key] for key in kept if key in record} for record in records]


def test_a_repeated_run_looks_at_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    character = write_hiro(tmp_path, steps=5, start="{lat: 41.2475, lng: -38.7560}")
    virl.run(str(character), out=tmp_path / "first")
    monkeypatch.setattr(CityRenderer, "picture", refuse)
    monkeypatch.setattr(RapidOcrReader, "read", refuse)
    monkeypatch.setattr(RapidOcrReader, "read_inside", refuse)
    virl.run(str(character), out=tmp_path / "again")
    assert told(tmp_path / "first") == told(tmp_path / "again")
    first, again = (
        {file.name: file.read_bytes() for file in (tmp_path / run / "views").iterdir()}
        for run in ("first", "again")
    )
    assert first == again
    assert len(first) > 10
