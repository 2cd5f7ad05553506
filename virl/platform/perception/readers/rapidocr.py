"""Reading with PP-OCR: lines are found in a shrunk picture, and read in the full one."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import cv2
import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray
from pydantic import Field

from virl.errors import ModelUnavailable
from virl.platform.perception.base import TextLine
from virl.platform.perception.models import Models, ModelSettings, Needs
from virl.platform.perception.registry import Kind
from virl.platform.perception.shared.threads import usual_threads
from virl.platform.streetview import Image

Quad = NDArray[np.float32]
"""Corners of a line from the top left on, clockwise, shape (4, 2)."""

_Fingerprint = tuple[tuple[int, ...], bytes]

_FIND, _READ = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_MIN_FIND_SIDE = 32  # the finder works on multiples of 32 pixels


class RapidOcrSettings(ModelSettings):
    """Settings of the reader; `platform/models/rapidocr.yaml` gives the reasons for the values."""

    kind: Literal["rapidocr"]
    find_scale: float = Field(gt=0, le=2)
    """Size of the picture in which lines are looked for, over that of the picture given."""
    min_line_height: float = Field(ge=0)
    """Pixels of the picture given; lower lines are not read."""
    min_score: float = Field(ge=0, le=1)
    """Lines read with less confidence are dropped."""
    strip_width: int = Field(ge=48, le=640)
    """Pixels; the least width of a line for the reading model, whose height is 48."""
    batch: int = Field(ge=1)
    """Lines read at once."""
    threads: int | None = Field(ge=1)
    """Threads of ONNX Runtime; `None` is as many as `OMP_NUM_THREADS` says, else one for each core."""
    remember: int = Field(ge=0)
    """Recent pictures whose lines are kept; 0 keeps none."""

    def needs(self) -> Needs:
        """The packages, which bring the weights."""
        return Needs(packages=("rapidocr", "onnxruntime"))


def open_rapidocr(settings: RapidOcrSettings, _: Models) -> "RapidOcrReader":
    """The reader of these settings."""
    return RapidOcrReader(settings)


KIND = Kind("reader", RapidOcrSettings, open_rapidocr)


class RapidOcrReader:
    """Reads with the PP-OCR models that the rapidocr package carries.

    The models are loaded on the first read (about a second). Safe to share between threads, which then
    take turns.
    """

    def __init__(self, settings: RapidOcrSettings) -> None:
        self._settings = settings
        self._engine: Any = None
        self._turn = Lock()
        self._remembered = cached(LRUCache(settings.remember), key=_fingerprint)(self._lines)

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """The lines of text in each picture, in pixels of that picture, top to bottom.

        Raises:
            ModelUnavailable: the rapidocr package or its models are missing.
        """
        with self._turn:
            return [list(self._remembered(image)) for image in images]

    def _lines(self, image: Image) -> tuple[TextLine, ...]:
        return tuple(self._read(image))

    def _read(self, image: Image) -> list[TextLine]:
        if self._engine is None:
            self._engine = _load(self._settings)
        bgr = np.ascontiguousarray(image[..., ::-1])
        quads = [quad for quad in self._find(bgr) if _line_height(quad) >= self._settings.min_line_height]
        if not quads:
            return []
        read = self._engine.recognize_txt(self._engine.crop_text_regions(bgr, quads))
        lines = [
            TextLine(text.strip(), float(score), _extent(quad, image))
            for text, score, quad in zip(read.txts, read.scores, quads, strict=True)
            if score >= self._settings.min_score and any(letter.isalnum() for letter in text)
        ]
        return sorted(lines, key=lambda line: (line.box[1], line.box[0]))

    def _find(self, bgr: Image) -> list[Quad]:
        height, width = bgr.shape[:2]
        scale = max(self._settings.find_scale, _MIN_FIND_SIDE / min(height, width))
        size = (round(width * scale), round(height * scale))
        shrunk = cv2.resize(bgr, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        found = self._engine(shrunk, use_det=True, use_cls=False, use_rec=False)
        if found.boxes is None:
            return []
        ratio = np.array([width / size[0], height / size[1]])
        return [(np.asarray(quad) * ratio).astype(np.float32) for quad in found.boxes]


def _load(settings: RapidOcrSettings) -> Any:
    """The rapidocr engine, told where its models are so that it never looks for them on the network."""
    try:
        import rapidocr  # noqa: PLC0415 - heavy, and needed only once something is read
    except ImportError as fault:
        raise ModelUnavailable(
            f"the reader needs the rapidocr package ({fault}): run `pip install rapidocr onnxruntime`"
        ) from fault
    models = Path(rapidocr.__file__).parent / "models"
    for name in (_FIND, _READ):
        if not (models / name).is_file():
            raise ModelUnavailable(
                f"{models / name} is missing: run `pip install --force-reinstall 'rapidocr>=3.10,<4'`"
            )
    onnx = "EngineConfig.onnxruntime"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # finds upside-down lines: signs are not
            "Global.min_side_len": _MIN_FIND_SIDE,
            "Det.model_path": str(models / _FIND),
            "Det.limit_type": "max",
            "Det.limit_side_len": 4096,  # the size is settled here, by find_scale
            "Rec.model_path": str(models / _READ),
            "Rec.rec_img_shape": [3, 48, settings.strip_width],
            "Rec.rec_batch_num": settings.batch,
            f"{onnx}.enable_cpu_mem_arena": True,  # keeps its buffers between pictures
            f"{onnx}.intra_op_num_threads": settings.threads or usual_threads(),
        }
    )


def _fingerprint(image: Image) -> _Fingerprint:
    return image.shape, hashlib.blake2b(image.tobytes(), digest_size=16).digest()


def _line_height(quad: Quad) -> float:
    """Pixels across the letters, also of a slanting or upright line."""
    across = np.linalg.norm(quad[3] - quad[0]) + np.linalg.norm(quad[2] - quad[1])
    along = np.linalg.norm(quad[1] - quad[0]) + np.linalg.norm(quad[2] - quad[3])
    return float(min(across, along) / 2)


def _extent(quad: Quad, image: Image) -> tuple[float, float, float, float]:
    height, width = image.shape[:2]
    x, y = np.clip(quad[:, 0], 0, width), np.clip(quad[:, 1], 0, height)
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())
