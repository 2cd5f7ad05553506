"""What a detector found in a picture that never changes is kept: equal looks give equal finds."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception import kept_finds
from virl.platform.perception.base import Detection, LookScores, TextLine
from virl.platform.perception.kept_finds import KeptFinds, KeptReadings, read_views
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city
from virl.towns.streetview import RenderedView


@dataclass
class CountingEye:
    """Finds one thing in each view, and counts how often it looks."""

    looked: int = 0
    look_scores = LookScores(0.3, 0.5)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        self.looked += 1
        thing = Detection(labels[0], 0.1 + 0.2, (1.0, 2.0, 3.5, 4.0), 'Café "Süd" 茶')
        return [[thing] if view.pano_id != "empty" else [] for view in views]


def view(key: str, pano_id: str = "here") -> View:
    return View(pano_id, Camera(0.0, width=16, height=16), np.zeros((16, 16, 3), np.uint8), key)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    return tmp_path / "finds"


def test_a_look_is_not_repeated(cache: Path) -> None:
    eye, views = CountingEye(), [view("a"), view("b", "empty")]
    first = KeptFinds(eye, "eye").detect(views, ["sign"])
    again = KeptFinds(eye, "eye")
    assert again.detect(views, ["sign"]) == first == [[*first[0]], []]
    assert eye.looked == 1
    assert again.look_scores == LookScores(0.3, 0.5)


def test_whatever_differs_is_another_look(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eye, views = CountingEye(), [view("a"), view("b")]
    KeptFinds(eye, "eye").detect(views, ["sign"])
    KeptFinds(eye, "another").detect(views, ["sign"])
    KeptFinds(eye, "eye").detect(views, ["bench"])
    KeptFinds(eye, "eye").detect(views[:1], ["sign"])
    KeptFinds(eye, "eye").detect(views[::-1], ["sign"])
    assert eye.looked == 5
    monkeypatch.setattr(kept_finds, "finds_digest", lambda: "other code")
    KeptFinds(eye, "eye").detect(views, ["sign"])
    assert eye.looked == 6


def test_pictures_without_a_key_are_looked_at_each_time(cache: Path) -> None:
    eye = CountingEye()
    for _ in range(2):
        KeptFinds(eye, "eye").detect([view("a"), view("")], ["sign"])
    assert eye.looked == 2
    assert not cache.exists()
    assert KeptFinds(eye, "eye").detect([], ["sign"]) == []


def test_a_damaged_file_is_looked_at_again(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    eye = CountingEye()
    found = KeptFinds(eye, "eye").detect([view("a")], ["sign"])
    [file] = cache.iterdir()
    file.write_bytes(b"[[[1]]]")
    with caplog.at_level(logging.WARNING):
        assert KeptFinds(eye, "eye").detect([view("a")], ["sign"]) == found
    assert eye.looked == 2
    assert "not a usable look of a detector" in caplog.text


def test_a_process_keeps_no_more_than_its_first_looks(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_finds, "FIRST_KEPT", 2)
    finds = KeptFinds(CountingEye(), "eye")
    for number in range(5):
        finds.detect([view(str(number))], ["sign"])
    assert len(list(cache.iterdir())) == 2


def test_only_models_that_see_pixels_alone_keep_what_they_find(tmp_path: Path) -> None:
    models = Models()
    assert isinstance(models.keeping_detector("rendered-signs"), KeptFinds)
    assert isinstance(models.keeping_detector("rendered"), KeptFinds)
    for other in ("recorded", "grounding-dino"):
        assert models.keeping_detector(other) is models.detector(other)
    mine = tmp_path / "mine.yaml"
    own = Path(__file__).parents[3] / "platform" / "models" / "rendered.yaml"
    mine.write_text(own.read_text())
    assert models.keeping_detector(str(mine)) is models.detector(str(mine))


def test_a_reader_that_sees_signs_first_is_another_one() -> None:
    truth = open_city("virlton").truth
    assert truth
    drawn = Models(ModelOptions(truth=truth)).keeping_detector("rendered-signs")
    other = Models().keeping_detector("rendered-signs")
    assert isinstance(drawn, KeptFinds)
    assert isinstance(other, KeptFinds)
    assert drawn.name != other.name


def test_the_key_names_code_weights_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept_finds.finds_digest()
    kept_finds.finds_digest.cache_clear()
    assert kept_finds.finds_digest() == before
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    kept_finds.finds_digest.cache_clear()
    assert kept_finds.finds_digest() != before
    kept_finds.finds_digest.cache_clear()


@dataclass
class CountingReader:
    """Reads one line in each picture, and counts how often it reads."""

    reads: int = 0

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        self.reads += 1
        return [[TextLine('Café "Süd" 茶', 0.1 + 0.2, (1.0, 2.0, 3.5, 4.0))] for _ in images]


def test_a_reading_is_not_repeated_and_its_views_are_not_drawn(cache: Path) -> None:
    def refuse() -> Image:
        raise AssertionError("drawn again")

    reader, views = CountingReader(), [view("a"), view("b")]
    first = read_views(KeptReadings(reader, "eye"), views)
    undrawn = [RenderedView(one.pano_id, one.camera, refuse, one.key) for one in views]
    assert read_views(KeptReadings(reader, "eye"), undrawn) == first == reader.read([view("a").pixels] * 2)
    assert reader.reads == 2
    read_views(KeptReadings(reader, "another"), views)
    read_views(KeptReadings(reader, "eye"), views[::-1])
    read_views(KeptReadings(reader, "eye"), [view(""), view("")])
    read_views(reader, views)
    assert reader.reads == 6


def test_only_readings_of_virls_own_readers_are_kept(cache: Path) -> None:
    assert isinstance(Models().keeping_reader("sign-reader"), KeptReadings)
    given = CountingReader()
    assert Models(ModelOptions(given={"reader": given})).keeping_reader("sign-reader") is given
