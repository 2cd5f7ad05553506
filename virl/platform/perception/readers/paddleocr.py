"""Reading with PaddleOCR 3 (package `paddleocr`) and weights of the user's."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from virl.errors import BadInput, ModelUnavailable, first_line
from virl.extras import missing_packages
from virl.platform.city.streetview import Image
from virl.platform.perception.base import TextLine
from virl.platform.perception.images import clip_box, pixels_of
from virl.platform.perception.models import ModelOptions, Models, ModelSettings, Needs
from virl.platform.perception.registry import Kind
from virl.platform.perception.weights import PADDLE, Once, checkpoint
from virl.settings.model import load_settings

_CONFIG = "inference.yml"
_DEVICES = {"auto": None, "cpu": "cpu", "cuda": "gpu"}  # None: a GPU where PaddleOCR finds one
PIP = "'virl[paddleocr]'"
_ADVICE = f"pip install {PIP} in an environment of its own"


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
        return Needs(("paddleocr", self.package), weights=(self.find_weights, self.read_weights), pip=PIP)

    @property
    def package(self) -> str:
        """Name of the package that runs the models."""
        return self.engine


class _Global(BaseModel):
    """The section of `inference.yml` with the model's name."""

    model_name: str


class _Exported(BaseModel):
    """The part of a model's `inference.yml` that is read."""

    Global: _Global


def open_paddleocr(settings: PaddleOcrSettings, models: Models) -> "PaddleOcrReader":
    """Return the reader, whose weights are loaded on first use."""
    return PaddleOcrReader(Once(lambda: _load(settings, models.options)), settings)


KIND = Kind("reader", PaddleOcrSettings, open_paddleocr)


class PaddleOcrReader:
    """A reader by PaddleOCR. One thread at a time may use it."""

    def __init__(self, engine: Once[Any], settings: PaddleOcrSettings) -> None:
        self._engine = engine
        self._settings = settings

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, in pixels of that picture, top to bottom.

        Raises:
            ModelUnavailable: a package or a model is missing.
            BadInput: a picture is none.
        """
        pictures = [pixels_of(image) for image in images]
        return [self._read(picture) for picture in pictures]

    def _read(self, image: Image) -> list[TextLine]:
        """Return the lines of text in a picture, top to bottom."""
        (result,) = self._engine.get().predict(np.ascontiguousarray(image[..., ::-1]))
        return lines_of(result, image, self._settings.min_score)


def lines_of(result: Mapping[str, Any], image: Image, min_score: float) -> list[TextLine]:
    """Return the lines of text in one result of PaddleOCR, with a confidence of at least `min_score`.

    Args:
        result: has the entries `rec_texts`, `rec_scores` and `rec_polys`, one of each for a line.
        image: the picture that was read.
        min_score: least confidence, [0, 1].
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
    """Return the name under which a model was exported, which PaddleOCR has to be given."""
    try:
        return load_settings(folder / _CONFIG, _Exported).Global.model_name
    except (BadInput, ValidationError) as fault:
        raise ModelUnavailable(f"{folder} is not a model that PaddleOCR exported ({fault})") from fault
