"""With the PP-OCR weights that the rapidocr package carries, exported as PaddleOCR wants them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image, ImageDraw, ImageFont

from virl.errors import BadInput, ModelUnavailable
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.readers.paddleocr import PaddleOcrSettings, lines_of, open_paddleocr

TEXTS = {"Golden Noodle House": (60, 40), "BLUE DOOR BOOKS": (120, 150)}
DECODE = {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}}
NORMALIZE = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "scale": "1./255.", "order": "hwc"}
FIND = {
    "Global": {"model_name": "PP-OCRv6_small_det"},
    "PreProcess": {
        "transform_ops": [
            DECODE,
            {"DetResizeForTest": {"resize_long": 960}},
            {"NormalizeImage": NORMALIZE},
            {"ToCHWImage": None},
        ]
    },
    "PostProcess": {
        "name": "DBPostProcess",
        "thresh": 0.3,
        "box_thresh": 0.6,
        "max_candidates": 1000,
        "unclip_ratio": 1.5,
    },
}
READ = {
    "Global": {"model_name": "PP-OCRv6_small_rec"},
    "PreProcess": {"transform_ops": [DECODE, {"RecResizeImg": {"image_shape": [3, 48, 320]}}]},
}


def export(folder: Path, model: Path, config: dict) -> str:
    folder.mkdir()
    shutil.copy(model, folder / "inference.onnx")
    (folder / "inference.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    pytest.importorskip("paddleocr", reason="needs PaddleOCR: pip install paddleocr")
    import onnxruntime
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    read = models / "PP-OCRv6_rec_small.onnx"
    letters = onnxruntime.InferenceSession(read).get_modelmeta().custom_metadata_map["character"].split("\n")
    decode = {"PostProcess": {"name": "CTCLabelDecode", "character_dict": letters}}
    folder = tmp_path_factory.mktemp("paddleocr")
    return {
        "find_weights": export(folder / "find", models / "PP-OCRv6_det_small.onnx", FIND),
        "read_weights": export(folder / "read", read, READ | decode),
    }


def settings(**changes) -> PaddleOcrSettings:
    values = {
        "kind": "paddleocr",
        "find_weights": "not/there",
        "read_weights": "not/there",
        "engine": "onnxruntime",
        "longest_side": 960,
        "min_score": 0.6,
        "batch": 4,
    }
    return PaddleOcrSettings(**{**values, **changes})


@pytest.fixture(scope="module")
def paddle(weights):
    return open_paddleocr(settings(**weights), Models(ModelOptions(device="cpu")))


@pytest.fixture(scope="module")
def signs() -> np.ndarray:
    picture = Image.new("RGB", (640, 260), (170, 140, 120))
    pen = ImageDraw.Draw(picture)
    for text, (x, y) in TEXTS.items():
        pen.rectangle((x - 10, y - 10, x + 480, y + 60), fill=(150, 20, 30))
        pen.text((x, y), text, font=ImageFont.load_default(40), fill=(250, 245, 235))
    return np.asarray(picture)


def test_signs_are_read_top_to_bottom_where_they_stand(paddle, signs):
    (lines,) = paddle.read([signs])
    assert [line.text for line in lines] == list(TEXTS)
    for line, (x, y) in zip(lines, TEXTS.values(), strict=True):
        assert line.score > 0.9
        assert abs(line.box[0] - x) < 15
        assert y - 10 <= line.box[1] < line.box[3] <= y + 65


def test_pictures_are_read_each_for_itself(paddle, signs):
    blank = np.full((64, 64, 3), 120, np.uint8)
    gray = signs[..., 1].copy()
    one, none, from_gray = paddle.read([signs, blank, gray])
    assert none == []
    assert [line.text for line in from_gray] == [line.text for line in one] == list(TEXTS)
    assert paddle.read([signs]) == [one]


def test_bad_pictures_and_missing_weights_are_named(paddle):
    with pytest.raises(BadInput):
        paddle.read([np.zeros((0, 4, 3), np.uint8)])
    with pytest.raises(ModelUnavailable, match="not/there"):
        open_paddleocr(settings(), Models()).read([np.zeros((40, 40, 3), np.uint8)])


def test_a_folder_that_is_no_export_is_named(weights, tmp_path):
    reader = open_paddleocr(settings(**{**weights, "find_weights": str(tmp_path)}), Models())
    with pytest.raises(ModelUnavailable, match="not a model that PaddleOCR exported"):
        reader.read([np.zeros((40, 40, 3), np.uint8)])


def test_results_are_kept_inside_the_picture_and_weak_ones_dropped():
    corners = np.array([(-5, 2), (30, 1), (30, 12), (-5, 13)])
    result = {
        "rec_texts": ["low", "CAFE ", "--", "weak"],
        "rec_scores": [0.9, 0.8, 0.99, 0.5],
        "rec_polys": [corners + np.array([0, 20]), corners, corners, corners],
    }
    lines = lines_of(result, np.zeros((40, 20, 3), np.uint8), 0.6)
    assert [(line.text, line.score, line.box) for line in lines] == [
        ("CAFE", 0.8, (0.0, 1.0, 20.0, 13.0)),
        ("low", 0.9, (0.0, 21.0, 20.0, 33.0)),
    ]
