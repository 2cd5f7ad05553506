"""Boxes of a file stand in for a detector, in whatever view they are looked for."""

import json

import numpy as np
import pytest

from virl.errors import BadInput, ModelUnavailable
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection
from virl.platform.perception.cameras import carry_box
from virl.platform.perception.detectors.recorded import write_boxes
from virl.platform.perception.models import Models
from virl.platform.perception.standing import model_readiness

WIDE = Camera(90.0, 0.0, 60.0)
BIN = (300.0, 330.0, 340.0, 390.0)
MODEL = (
    "kind: recorded\nboxes: {}\nmin_score: 0.2\nfirst_look: 0.55\nsecond_look: 0.65\n"
    "min_seen: 0.3\nmax_overlap: 0.5\n"
)


def view(camera, pano_id="p1"):
    return View(pano_id, camera, np.zeros((camera.height, camera.width, 3), np.uint8))


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "boxes.jsonl"
    beside = (0.0, 300.0, 20.0, 380.0)
    write_boxes(
        file,
        [
            (view(WIDE), [Detection("trash bin", 0.8, BIN), Detection("bench", 0.1, BIN)]),
            (view(Camera(150.0, 0.0, 60.0)), [Detection("trash bin", 0.7, beside)]),
            (view(WIDE, "p2"), []),
        ],
    )
    return file


@pytest.fixture
def detector(file, tmp_path):
    (tmp_path / "mine.yaml").write_text(MODEL.format(file))
    return Models().detector(str(tmp_path / "mine.yaml"))


def test_boxes_are_found_in_the_view_that_they_were_recorded_in(detector):
    found = detector.detect([view(WIDE), view(WIDE, "p2")], ["Trash_Bin"])
    assert found == [[Detection("Trash_Bin", 0.8, BIN)], []]


def test_a_closer_view_shows_the_same_thing(detector):
    closer = Camera(90.0, -3.0, 30.0, 512, 512)
    (found,) = detector.detect([view(closer)], ["trash bin"])
    assert found[0].box == pytest.approx(carry_box(BIN, WIDE, closer))


def test_a_view_that_shows_too_little_of_a_thing_does_not_show_it(detector):
    assert detector.detect([view(Camera(270.0, 0.0, 60.0))], ["trash bin"]) == [[]]
    edge = Camera(121.3, 0.0, 60.0)  # cuts the bin at its left edge
    whole = carry_box(BIN, WIDE, edge)
    assert 0 < whole[2] < 0.3 * (whole[2] - whole[0])
    assert all(one.score < 0.8 for one in detector.detect([view(edge)], ["trash bin"])[0])


def test_scores_and_labels_are_kept_apart(detector):
    assert detector.detect([view(WIDE)], ["bench"]) == [[]]  # its score is too low
    assert detector.detect([view(WIDE)], ["mailbox"]) == [[]]
    assert [one.label for one in detector.detect([view(WIDE)], [])[0]] == ["trash bin"]


def test_a_panorama_without_a_line_is_no_panorama_without_boxes(detector, file):
    with pytest.raises(ModelUnavailable, match="no line for panorama 'p3': record its boxes"):
        detector.detect([view(WIDE, "p3")], ["trash bin"])


def test_a_missing_file_is_named_before_and_when_it_is_used(tmp_path):
    model = tmp_path / "mine.yaml"
    model.write_text(MODEL.format(tmp_path / "gone.jsonl"))
    assert any("gone.jsonl" in need.lacks for need in model_readiness("detector", str(model)).needs)
    with pytest.raises(ModelUnavailable, match=r"no file .*gone\.jsonl: write one"):
        Models().detector(str(model)).detect([view(WIDE)], ["bench"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"boxes": [{"label": "bench", "box": [5, 5, 5, 9]}]}, r"line 4: boxes\.0\.box: must be left, top"),
        ({"camera": {"heading": 0, "fov": 200}}, r"line 4: camera\.fov"),
        ({"pano_id": ""}, "line 4: pano_id"),
    ],
)
def test_a_damaged_line_is_named(detector, file, change, said):
    line = {"pano_id": "p9", "camera": {"heading": 0}, "boxes": []} | change
    file.write_text(file.read_text() + json.dumps(line) + "\n")
    with pytest.raises(BadInput, match=said):
        detector.detect([view(WIDE)], ["bench"])


def test_a_line_without_an_end_is_not_dropped_in_silence(detector, file):
    file.write_text(file.read_text() + json.dumps({"pano_id": "p9", "camera": {"heading": 0}}))
    with pytest.raises(BadInput, match="line 4: is cut off"):
        detector.detect([view(WIDE)], ["bench"])
