import json

import cv2
import numpy as np
import pytest

from virl.errors import BadInput, ModelUnavailable
from virl.platform.perception.matchers.lightglue import LightGlueSettings, open_lightglue
from virl.platform.perception.models import ModelOptions, Models

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

HEIGHT, WIDTH = 96, 128


def picture(seed: int, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def randomise(model) -> None:
    import torch

    for weights in model.parameters():  # as made, nearly all keypoints look alike
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.3)


def save(folder, detector: dict, *, gray: bool) -> None:
    import torch
    from transformers import LightGlueConfig, LightGlueForKeypointMatching, LightGlueImageProcessor

    torch.manual_seed(0)
    config = LightGlueConfig(
        keypoint_detector_config=detector,
        descriptor_dim=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        filter_threshold=0.0,
    )
    model = LightGlueForKeypointMatching(config)
    randomise(model)
    model.save_pretrained(folder)
    size = {"height": HEIGHT, "width": WIDTH}
    LightGlueImageProcessor(size=size, do_grayscale=gray).save_pretrained(folder)


@pytest.fixture(scope="module")
def superpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lightglue-superpoint")
    detector = {
        "model_type": "superpoint",
        "encoder_hidden_sizes": [8, 8, 16, 16],
        "decoder_hidden_size": 16,
        "descriptor_decoder_dim": 32,
        "keypoint_threshold": 0.02,
    }
    save(folder, detector, gray=True)
    return folder


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    pytest.importorskip("kornia", reason="needs kornia: pip install kornia")
    from virl.platform.perception.disk_keypoints import register

    register()
    folder = tmp_path_factory.mktemp("lightglue-disk")
    detector = {"model_type": "disk", "descriptor_decoder_dim": 16, "max_num_keypoints": 80}
    save(folder, detector, gray=False)
    return folder


@pytest.fixture(params=["superpoint", "disk"])
def matcher(request):
    folder = request.getfixturevalue(request.param)

    def open_it(**changes):
        values = {
            "kind": "lightglue",
            "weights": str(folder),
            "keypoints": request.param,
            "min_score": 0.0,
            "batch": 2,
            "min_matches": 101,
            "margin": 1.5,
        }
        settings = LightGlueSettings(**{**values, **changes})
        return open_lightglue(settings, Models(ModelOptions(device="cpu")))

    return open_it


def test_points_lie_in_their_pictures_whatever_their_sizes(matcher):
    first = picture(1, 60, 200)
    second = cv2.resize(first, (100, 240))
    (match,) = matcher().match([(first, second)])
    assert match.count > 0
    for points, image in ((match.first, first), (match.second, second)):
        assert points.shape == (match.count, 2)
        assert points.dtype == np.float32
        assert np.all((points >= 0) & (points < [image.shape[1], image.shape[0]]))
    assert match.second[:, 1].max() > 100
    assert match.first[:, 0].max() > 128


def test_a_picture_matches_itself_point_by_point(matcher):
    image = picture(3)
    (match,) = matcher().match([(image, image)])
    assert match.count > 2
    np.testing.assert_array_equal(match.first, match.second)


def test_a_batch_matches_what_one_pair_after_the_other_does(matcher):
    a, b, c = picture(1), picture(2), picture(3, 40, 60)
    pairs = [(a, a), (a, b), (c, a), (b, b), (c, c)]
    together = matcher(batch=4).match(pairs)
    assert len({match.count for match in together}) > 1
    for pair, match in zip(pairs, together, strict=True):
        (alone,) = matcher(batch=1).match([pair])
        np.testing.assert_array_equal(alone.first, match.first)
        np.testing.assert_array_equal(alone.second, match.second)


def test_every_keypoint_goes_through_all_layers_so_that_no_pair_stops_before_its_batch(matcher, monkeypatch):
    opened = matcher()
    opened.match([(picture(1), picture(1))])
    model = opened._load().model
    for confidence in model.token_confidence:  # as sure as can be: with early stopping on, all would stop
        confidence.token.bias.data.fill_(50.0)
    layers = []
    last = model.transformer_layers[-1]
    last.register_forward_hook(lambda *_: layers.append(1))
    assert opened.match([(picture(1), picture(1))])[0].count > 0
    assert layers == [1]


def test_a_least_score_drops_matches(matcher):
    pair = (picture(1), picture(2))
    assert matcher(min_score=1.0).match([pair])[0].count == 0 < matcher().match([pair])[0].count


def test_results_repeat_and_gray_and_transparent_pictures_are_taken(matcher):
    opened, image = matcher(), picture(1)
    gray, clear = image[..., 0].copy(), np.dstack([image, np.full((HEIGHT, WIDTH), 255, np.uint8)])
    one, again, from_clear, from_gray = opened.match([(image, image)] * 2 + [(image, clear), (gray, gray)])
    np.testing.assert_array_equal(one.first, again.first)
    np.testing.assert_array_equal(one.first, from_clear.first)
    assert from_gray.count > 0
    assert opened.match([]) == []


def test_bad_pictures_are_refused_before_anything_is_loaded(matcher):
    for bad in (np.zeros((0, 5, 3), np.uint8), np.full((5, 5, 3), 7.0), b"jpeg"):
        with pytest.raises(BadInput):
            matcher(weights="not/there").match([(picture(1), bad)])


def test_a_missing_checkpoint_and_one_of_another_kind_are_named(matcher, owlv2):
    pair = (picture(1), picture(2))
    with pytest.raises(ModelUnavailable, match=r"not/there.*--allow-downloads"):
        matcher(weights="not/there").match([pair])
    with pytest.raises(ModelUnavailable, match="type owlv2"):
        matcher(weights=str(owlv2)).match([pair])


def test_the_wrong_keypoints_are_named(superpoint, tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "lightglue", "keypoint_detector_config": {"model_type": "disk"}})
    )
    settings = LightGlueSettings(
        kind="lightglue",
        weights=str(tmp_path),
        keypoints="superpoint",
        min_score=0,
        batch=1,
        min_matches=1,
        margin=0,
    )
    with pytest.raises(ModelUnavailable, match="disk, not superpoint"):
        open_lightglue(settings, Models(ModelOptions(device="cpu"))).match([(picture(1), picture(2))])
