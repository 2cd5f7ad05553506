import dataclasses
import json
import shutil

import numpy as np
import pytest

from virl.errors import BadInput, ModelUnavailable
from virl.platform.perception.detectors.owlvit import OwlSettings, open_owl
from virl.platform.perception.models import ModelOptions, Models

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

LABELS = ["trash bin", "jewelry_store", "Bench"]
CPU = ModelOptions(device="cpu")


@pytest.fixture(params=["owlv2", "owlvit"])
def owl(request):
    folder = request.getfixturevalue(request.param)

    def open_it(**changes):
        values = {
            "kind": request.param,
            "weights": str(folder),
            "prompt": "a {label}",
            "min_score": 0.0,
            "first_look": 0.0,
            "second_look": 0.0,
            "max_overlap": None,
            "batch": 2,
        }
        return open_owl(OwlSettings(**{**values, **changes}), Models(CPU))

    return open_it


def test_boxes_lie_in_the_picture_and_labels_are_those_asked_for(owl, make_view):
    view = make_view(1, 96, 128)
    found = owl().detect([view], LABELS)[0]
    assert len(found) > 4
    assert {one.label for one in found} <= set(LABELS)
    assert len({one.label for one in found}) > 1
    for one in found:
        assert 0 <= one.box[0] < one.box[2] <= 128
        assert 0 <= one.box[1] < one.box[3] <= 96
        assert 0 <= one.score <= 1
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] + 0.1


def test_a_batch_sees_what_one_view_after_the_other_shows(owl, make_view):
    views = [make_view(1), make_view(2), make_view(3, 64, 64), make_view(4)]
    detector = owl()
    together = detector.detect(views, LABELS)
    assert together[0] != together[1]
    for view, found in zip(views, together, strict=True):
        alone = detector.detect([view], LABELS)[0]
        assert [one.label for one in alone] == [one.label for one in found]
        np.testing.assert_allclose([one.box for one in alone], [one.box for one in found], atol=1e-3)
        np.testing.assert_allclose([one.score for one in alone], [one.score for one in found], atol=1e-5)
        assert detector.detect([view], LABELS)[0] == alone


def test_the_answer_for_a_label_does_not_depend_on_the_order_of_labels(owl, make_view):
    view = make_view(5)
    forth, back = owl().detect([view], LABELS)[0], owl().detect([view], LABELS[::-1])[0]
    assert [one.label for one in forth] == [one.label for one in back]
    np.testing.assert_allclose([one.score for one in forth], [one.score for one in back], atol=1e-5)


def test_thresholds_drop_the_weak_and_the_doubles(owl, make_view):
    view = make_view(1)
    every = owl().detect([view], LABELS)[0]
    middle = every[len(every) // 2].score
    assert owl(min_score=middle).detect([view], LABELS)[0] == [one for one in every if one.score >= middle]
    apart = owl(max_overlap=0.0).detect([view], LABELS)[0]
    assert 0 < len(apart) < len(every)
    assert apart[0] == every[0]


def test_gray_and_transparent_pictures_are_looked_at(owl, make_view):
    view = make_view(1)
    gray = view.pixels.mean(axis=2).astype(np.uint8)
    clear = np.dstack([view.pixels, np.full(view.pixels.shape[:2], 255, np.uint8)])
    detector = owl()
    assert detector.detect([dataclasses.replace(view, pixels=clear)], LABELS) == detector.detect(
        [view], LABELS
    )
    assert detector.detect([dataclasses.replace(view, pixels=gray)], LABELS)[0]


@pytest.mark.parametrize(
    ("labels", "pixels", "message"),
    [
        ([], (4, 4, 3), "finds only the labels it is given"),
        ([" "], (4, 4, 3), "label ' ' is empty"),
        (["x" * 60], (4, 4, 3), r"has \d+ tokens, and the model accepts 40"),
        (["bin"], (0, 4, 3), "no pixels"),
        (["bin"], (4, 4, 2), r"shape \(H, W, 3\)"),
    ],
)
def test_bad_input_is_refused_in_one_line(owl, make_view, labels, pixels, message):
    view = dataclasses.replace(make_view(), pixels=np.zeros(pixels, np.uint8))
    with pytest.raises(BadInput, match=message) as fault:
        owl().detect([view], labels)
    assert "\n" not in str(fault.value)


def test_a_checkpoint_of_another_kind_is_named(owlvit, owlv2, grounding_dino, make_view):
    for kind, folder, found in (("owlv2", owlvit, "owlvit"), ("owlvit", grounding_dino, "grounding-dino")):
        settings = OwlSettings(
            kind=kind,
            weights=str(folder),
            prompt="{label}",
            min_score=0,
            first_look=0,
            second_look=0,
            max_overlap=None,
            batch=1,
        )
        detector = open_owl(settings, Models(CPU))
        with pytest.raises(ModelUnavailable, match=f"of type {found}: use one of type {kind}"):
            detector.detect([make_view()], LABELS)


def test_a_checkpoint_that_lacks_weights_or_files_is_refused(owl, owlvit, tmp_path, make_view):
    from safetensors.torch import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(owlvit, broken)
    weights = load_file(broken / "model.safetensors")
    del weights["box_head.dense2.bias"]
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    kind = json.loads((broken / "config.json").read_text())["model_type"]
    settings = {"prompt": "{label}", "min_score": 0, "max_overlap": None, "batch": 1, "kind": kind}
    settings |= {"first_look": 0, "second_look": 0}
    with pytest.raises(ModelUnavailable, match=r"lacks weights, such as box_head\.dense2\.bias"):
        open_owl(OwlSettings(weights=str(broken), **settings), Models(CPU)).detect([make_view()], LABELS)
    (broken / "model.safetensors").unlink()
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as fault:
        open_owl(OwlSettings(weights=str(broken), **settings), Models(CPU)).detect([make_view()], LABELS)
    assert "\n" not in str(fault.value)
    (broken / "config.json").unlink()
    with pytest.raises(ModelUnavailable, match="is not a transformers checkpoint"):
        open_owl(OwlSettings(weights=str(broken), **settings), Models(CPU)).detect([make_view()], LABELS)


def test_a_full_gpu_asks_for_a_smaller_batch(owl, make_view, monkeypatch):
    import torch

    detector = owl()
    detector.detect([make_view()], LABELS)
    model = {"owlv2": "Owlv2ForObjectDetection", "owlvit": "OwlViTForObjectDetection"}

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    for name in model.values():
        monkeypatch.setattr(f"transformers.{name}.forward", full)
    with pytest.raises(ModelUnavailable, match="memory is too small for 2 at once: set `batch` below 2"):
        detector.detect([make_view(1), make_view(2)], LABELS)
    with pytest.raises(ModelUnavailable, match="use smaller pictures, or use the device cpu"):
        detector.detect([make_view(1)], LABELS)
