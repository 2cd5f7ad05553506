"""The first pictures of a made town are kept: a run that repeats another draws none of them again."""

import logging
from pathlib import Path

import numpy as np
import pytest

from virl.platform.city.streetview import Camera, Image
from virl.platform.providers.offline.city import kept_plan
from virl.towns import storage, streetview
from virl.towns.plan.town_plan import StreetPlan
from virl.towns.streetview import OfflineStreetView

CAMERA = Camera(30.0, width=20, height=16)


class CountingPainter:
    """Draws pictures of one colour, another each time."""

    def __init__(self) -> None:
        self.drawn = 0

    def picture(self, x: float, y: float, camera: Camera) -> Image:
        self.drawn += 1
        return np.full((camera.height, camera.width, 3), self.drawn, np.uint8)

    def equirectangular(self, *_: object, **__: object) -> Image:
        raise AssertionError

    equirectangular_part = equirectangular


@pytest.fixture(scope="module")
def layout() -> StreetPlan:
    return kept_plan(1).layout


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    return tmp_path / "views"


def test_a_picture_is_drawn_once_for_all_processes(layout: StreetPlan, cache: Path) -> None:
    painter = CountingPainter()
    first = OfflineStreetView(layout, lambda: painter, "a town").view("vt-00003", CAMERA)
    again = OfflineStreetView(layout, lambda: painter, "a town").view("vt-00003", CAMERA)
    assert np.array_equal(first.pixels, again.pixels)
    assert again.pixels.flags.writeable
    assert painter.drawn == 1
    assert first.key == again.key != ""


@pytest.mark.parametrize(
    ("town", "pano_id", "camera"),
    [
        ("another town", "vt-00003", CAMERA),
        ("a town", "vt-00004", CAMERA),
        ("a town", "vt-00003", Camera(30.0, 0.5, width=20, height=16)),
    ],
)
def test_whatever_differs_is_another_picture(
    layout: StreetPlan, cache: Path, town: str, pano_id: str, camera: Camera
) -> None:
    painter = CountingPainter()
    one = OfflineStreetView(layout, lambda: painter, "a town").view("vt-00003", CAMERA)
    other = OfflineStreetView(layout, lambda: painter, town).view(pano_id, camera)
    assert one.key != other.key
    assert not np.array_equal(one.pixels, other.pixels)


def test_nothing_is_kept_of_a_town_without_a_key(layout: StreetPlan, cache: Path) -> None:
    view = OfflineStreetView(layout, CountingPainter).view("vt-00003", CAMERA)
    assert view.key == ""
    assert view.pixels.shape == (16, 20, 3)
    assert not cache.exists()


def test_a_benchmark_does_not_keep_its_thousands_of_pictures(
    layout: StreetPlan, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streetview, "FIRST_KEPT", 3)
    street_view = OfflineStreetView(layout, CountingPainter, "a town")
    for number in range(9):
        _ = street_view.view(f"vt-{number:05d}", CAMERA).pixels
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("harm", ["cut", "other"])
def test_a_damaged_file_is_drawn_again_with_a_warning(
    layout: StreetPlan, cache: Path, caplog: pytest.LogCaptureFixture, harm: str
) -> None:
    painter = CountingPainter()
    street_view = OfflineStreetView(layout, lambda: painter, "a town")
    _ = street_view.view("vt-00003", CAMERA).pixels
    [file] = cache.iterdir()
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-90])
    else:
        np.savez(file, rgb=np.zeros((2, 2), np.float64))
    with caplog.at_level(logging.WARNING):
        assert (street_view.view("vt-00003", CAMERA).pixels == 2).all()
    assert "not a usable view" in caplog.text


def test_pictures_depend_on_what_draws_them(monkeypatch: pytest.MonkeyPatch) -> None:
    before = storage.picture_key("a town")
    monkeypatch.setattr(storage, "maker", lambda: "other code")
    assert storage.picture_key("a town") != before
    assert storage.picture_key("") == ""
