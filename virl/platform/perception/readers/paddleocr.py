"""Reading with PaddleOCR 3 (package `paddleocr`) and weights of the user's."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from virl.errors import BadInput, ModelUnavailable, first_line
from virl.extras import missing_packages
from virl.platform.city.streetview import Image
from virl.platform.perception.base import TextLine
from virl.platform.perception.images import clip_box, pixels_of
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.registry import Kind, ModelSettings, Needs
from virl.platform.perception.weights import PADDLE, checkpoint, load_once
from virl.settings.model import load_settings

_CONFIG = "inference.yml"
"""Name of the file in a model's folder that states the model's name."""
_DEVICES = {"auto": None, "cpu": "cpu", "cuda": "gpu"}
"""PaddleOCR's name of each device; `None` for "auto", where PaddleOCR takes a GPU if it finds one."""
PIP = "'virl[paddleocr]'"
"""Argument of `pip install` for the packages."""
_ADVICE = f"pip install {PIP} in an environment of its own"
"""Remedy for missing packages, in words."""


class PaddleOcrSettings(ModelSettings):
    """Settings of the reader; `platform/models/paddleocr.yaml` gives the reasons for the values."""

    kind: Literal["paddleocr"]
    find_weights: str
    """Folder of the model that finds lines of text, as PaddleOCR exports it."""
    read_weights: str
    """Folder of the model that reads the lines."""
    engine: Literal["paddle", "onnxruntime"]
    """Library that runs the models; `onnxruntime` takes folders with an `inference.onnx`."""
    longest_side: int = Field(ge=32)
    """Length in pixels to which a larger picture's longer side is shrunk to look for lines."""
    min_score: float = Field(ge=0, le=1)
    """Least confidence, [0, 1], of a line that is kept."""
    batch: int = Field(ge=1)
    """Number of lines that are read at once."""

    def needs(self) -> Needs:
        """Return the requirements: PaddleOCR's packages and the folders of its two models."""
        return Needs(("paddleocr", self.engine), weights=(self.find_weights, self.read_weights), pip=PIP)


class _Global(BaseModel):
    """The section of `inference.yml` with the model's name."""

    model_name: str
    """Name under which the model was exported."""


class _Exported(BaseModel):
    """The part of a model's `inference.yml` that is read."""

    Global: _Global
    """Section with the model's name."""


def open_paddleocr(settings: PaddleOcrSettings, models: Models) -> "PaddleOcrReader":
    """Return the reader, whose weights are loaded on first use."""
    return PaddleOcrReader(load_once(lambda: _load(settings, models.options)), settings)


KIND = Kind("reader", PaddleOcrSettings, open_paddleocr)


class PaddleOcrReader:
    """A reader by PaddleOCR. One thread at a time may use it."""

    def __init__(self, load: Callable[[], Any], settings: PaddleOcrSettings) -> None:
        """Use an engine of PaddleOCR that `load` gives, called when it is needed, with its settings."""
        self._load = load
        self._settings = settings

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, with boxes in its pixels, from top to bottom.

        Raises:
            ModelUnavailable: a package or a model is missing.
            BadInput: a picture is none.
        """
        read = []
        for picture in [pixels_of(image) for image in images]:
            # PaddleOCR takes colours in the order blue, green, red.
            (result,) = self._load().predict(np.ascontiguousarray(picture[..., ::-1]))
            read.append(lines_of(result, picture, self._settings.min_score))
        return read


def lines_of(result: Mapping[str, Any], image: Image, min_score: float) -> list[TextLine]:
    """Return a picture's lines of text with `min_score` or more in PaddleOCR's result, from top to bottom.

    Args:
        result: lists `rec_texts`, `rec_scores` and `rec_polys`, each with an entry for each line.
        image: the picture that was read.
        min_score: least confidence of a returned line, [0, 1].
    """
    lines = []
    height, width = image.shape[:2]
    for text, score, corners in zip(
        result["rec_texts"], result["rec_scores"], result["rec_polys"], strict=True
    ):
        x, y = np.asarray(corners, float).T.tolist()
        box = clip_box((min(x), min(y), max(x), max(y)), width, height)
        if box is not None and score >= min_score and any(letter.isalnum() for letter in text):
            lines.append(TextLine(text.strip(), float(score), box))
    return sorted(lines, key=lambda line: (line.box[1], line.box[0]))


def _load(settings: PaddleOcrSettings, options: ModelOptions) -> Any:
    """Return PaddleOCR with the two models of the settings."""
    missing = missing_packages(settings.needs().packages)
    if missing:
        raise ModelUnavailable(f"PaddleOCR needs {' and '.join(missing)}: {_ADVICE}")
    find, read = (
        Path(checkpoint(name, options, PADDLE)) for name in (settings.find_weights, settings.read_weights)
    )
    names = _model_name(find), _model_name(read)
    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")  # else it looks for model hubs
    try:
        from paddleocr import PaddleOCR  # noqa: PLC0415  takes seconds

        return PaddleOCR(
            text_detection_model_name=names[0],
            text_detection_model_dir=str(find),
            text_recognition_model_name=names[1],
            text_recognition_model_dir=str(read),
            text_recognition_batch_size=settings.batch,
            text_det_limit_side_len=settings.longest_side,
            text_det_limit_type="max",
            use_doc_orientation_classify=False,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            engine=settings.engine,
            device=_DEVICES[options.device],
        )
    except Exception as fault:  # PaddleOCR raises errors of many kinds for files that are missing or broken
        raise ModelUnavailable(
            f"PaddleOCR cannot load {find} and {read} ({first_line(fault)}): check the folders, or {_ADVICE}"
        ) from fault


def _model_name(folder: Path) -> str:
    """Return the name under which the model in a folder was exported, which PaddleOCR has to be given."""
    try:
        return load_settings(folder / _CONFIG, _Exported).Global.model_name
    except (BadInput, ValidationError) as fault:
        raise ModelUnavailable(f"{folder} is not a model that PaddleOCR exported ({fault})") from fault
