"""Place recognition: photos are ranked among 96 types, and whatever was cut off goes on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_dataset import HARMFUL, place_row, value, write_dataset
from rich.console import Console

from benchmarks.place_recognition.definition import (
    BENCHMARK,
    LABELS,
    Options,
    episodes,
    open_classifier,
    run,
    score,
    show,
)
from virl.bench.episode import Record
from virl.bench.resources import Resources
from virl.bench.run import Engine, Part, run_benchmark
from virl.errors import BadInput, UnknownName
from virl.platform.city.place_types import types_96
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, LookScores

NAME = "benchmarks.place_recognition.definition:BENCHMARK"


def options_of(folder: Path, **more: Any) -> Options:
    return Options.model_validate(
        {"cities": ("made",), "models": ("sign-detector",), "data": str(folder.parent)} | more
    )


def record(case: str, types: str, *ranked: str) -> Record:
    data = {"name": HARMFUL, "types": types.split(), "position": [0, 0], "ranked": list(ranked)}
    return Record(f"m/made/{case}", case, "made", "m", "done", data, (f"{case}/photo.jpg",))


def test_every_place_with_a_photo_is_asked_about_and_ranked_among_96(tmp_path: Path) -> None:
    places = [
        place_row("a", "bakery store", 0, name=HARMFUL, image=True),
        place_row("b", "bar", 9),
        place_row("c", "gym", 18, image=True),
    ]
    red = np.zeros((20, 30, 3), np.uint8) + np.array([200, 0, 0], np.uint8)
    folder = write_dataset(tmp_path / "made", places=places, pictures={"a": red})
    asked = episodes(options_of(folder), Resources())
    assert [episode.case for episode in asked] == ["a", "c"]
    seen: list[tuple[Image, Sequence[str]]] = []

    def classifier(image: Image, labels: Sequence[str]) -> list[str]:
        seen.append((image, labels))
        return ["bakery", "bar", "cafe", "gym", "spa", "zoo"]

    result = run(asked[0], {"sign-detector": classifier})
    ((image, labels),) = seen
    assert image.shape == (20, 30, 3)
    assert image[0, 0].tolist() == pytest.approx([200, 0, 0], abs=9)
    assert labels == LABELS
    assert set(LABELS) == types_96()
    assert result.data["ranked"] == ["bakery", "bar", "cafe", "gym", "spa"]
    assert result.data["name"] == HARMFUL
    assert result.files["photo.jpg"].startswith(b"\xff\xd8")


def test_a_photo_weighs_one_over_k_for_each_of_its_k_types() -> None:
    scores = score(
        [
            record("1", "bar", "bar"),
            record("2", "bar cafe", "spa", "gym", "cafe"),
            record("3", "cafe spa", "spa"),
        ],
        Options(),
    )
    # bar: 1 / (1 + 1/2); cafe: (1/2) / (1/2 + 1/2); spa: 1
    assert value(scores, "top1") == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert value(scores, "top3") == 1.0
    assert value(scores, "top5") == 1.0
    assert value(scores, "plain") == pytest.approx(2 / 3)
    assert set(scores.tallies) == {metric.key for metric in BENCHMARK.metrics}


def test_naming_no_type_is_wrong_and_said() -> None:
    scores = score([record("1", "bar"), record("2", "bar", "bar")], Options())
    assert value(scores, "plain") == 0.5
    assert scores.notes == ["m, made: 1 of 2 photos: no type named, counted as wrong"]
    (confusion,) = scores.confusions
    assert confusion.counts[confusion.labels.index("bar")][confusion.labels.index("nothing")] == 1
    assert score([], Options()).confusions == ()


def test_several_pictures_in_a_record_are_all_shown() -> None:
    # The published code asserts that a record holds one.
    one = record("1", "bar", "cafe", "bar")
    many = Record(one.id, "1", "made", "m", "done", one.data, ("x/photo-0.jpg", "x/photo-1.jpg"))
    shown = show(many)
    assert [view.file for view in shown.views] == ["x/photo-0.jpg", "x/photo-1.jpg"]
    assert (shown.outcome, shown.score) == ("wrong: cafe for bar", 0.0)
    assert show(record("2", "bar")).outcome == "wrong: nothing for bar"
    assert show(record("2", "bar cafe", "cafe")).outcome == "right: cafe"


class Boxes:
    look_scores = LookScores(0.5, 0.5)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        assert views[0].camera.width == 64
        assert views[0].camera.height == 48
        box = (0.0, 0.0, 9.0, 9.0)
        return [[Detection("bar", 0.2, box), Detection("spa", 0.9, box), Detection("bar", 0.5, box)]]


class Likeness:
    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> np.ndarray:
        assert not any("_" in label for label in labels)
        return np.array([[1.0 if label == "book store" else 0.5 for label in labels]], np.float32)


class MadeResources(Resources):
    def detector(self, name: str, city: str = "") -> Any:
        return Boxes()

    def recognizer(self, name: str) -> Any:
        return Likeness()


def test_a_detector_ranks_by_its_best_boxes_and_a_recognizer_by_the_bare_names() -> None:
    image = np.zeros((48, 64, 3), np.uint8)
    assert open_classifier("sign-detector", MadeResources())(image, LABELS) == ["spa", "bar"]
    ranked = open_classifier("clip-vit-b-32", MadeResources())(image, LABELS)
    assert ranked[0] == "book_store"
    assert sorted(ranked) == sorted(LABELS)
    with pytest.raises(
        UnknownName, match="unknown recognizer or detector 'rapidocr': choose one of: clip-bigg"
    ):
        open_classifier("rapidocr", MadeResources())


@pytest.mark.slow
def test_recognition_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    # The published code cannot: it starts anew.
    folder = write_dataset(
        tmp_path / "made", places=[place_row(name, "bar", 0, image=True) for name in ("a", "b", "c")]
    )
    options, out = options_of(folder), tmp_path / "out"
    quiet, engine = Console(quiet=True), Engine("threads", workers=1)
    run_benchmark(NAME, options, out, quiet, engine=engine, part=Part(limit=2))
    first = (out / "records.jsonl").read_text().splitlines()
    run_benchmark(NAME, options, out, quiet, engine=engine, resume=True)
    again = (out / "records.jsonl").read_text().splitlines()
    assert again[:2] == first
    assert sorted(json.loads(line)["case"] for line in again) == ["a", "b", "c"]
    row = json.loads((out / "results.json").read_text())["rows"][0]
    assert row["values"]["plain"] == pytest.approx([0.0, 0.0, 0.5615], abs=1e-4)  # Wilson's, of three


def test_a_data_set_without_photos_is_named(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "made", places=[place_row("a", "bar", 0)])
    with pytest.raises(BadInput, match=r"contains no images: run `virl collect places --city made"):
        episodes(options_of(folder), Resources())


@pytest.mark.slow
def test_signs_tell_the_type_of_some_photos(tmp_path: Path, virlton_data: Path) -> None:
    options = Options(data=str(virlton_data))
    engine = Engine("threads", workers=2)
    run_benchmark(NAME, options, tmp_path, Console(quiet=True), engine=engine, part=Part(limit=8))
    (row,) = (
        row for row in json.loads((tmp_path / "results.json").read_text())["rows"] if row["city"] == "virlton"
    )
    assert row["episodes"]["done"] >= 5
    assert 0.2 < row["values"]["plain"][0] <= 1
