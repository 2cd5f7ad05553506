"""Reading with PP-OCR: lines are found in a shrunk picture, or in parts of some, and read in the full one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray
from pydantic import Field

from virl.errors import ModelUnavailable
from virl.extras import Late, module
from virl.platform.city.streetview import Box, Image
from virl.platform.perception.base import TextLine
from virl.platform.perception.images import fingerprint, pixels_of, usual_threads
from virl.platform.perception.registry import Kind, ModelSettings, Needs

cv2 = Late("cv2", extra="eyes")

GAP = 16
"""Gap in pixels between parts on a sheet, so that no line reaches into the next; chosen."""
STEP = 32
"""Number of pixels of which a sheet's sides are multiples, as networks halve pictures five times."""
WIDTH, HEIGHT = 320, 1024
"""Largest width and height in pixels of a sheet, unless a single part is larger; chosen."""
GREY = 128
"""Level, of 255, of the grey between parts and around thin pictures."""


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a picture, to be put on a sheet."""

    picture: int
    """Index of the picture that the part is cut from."""
    left: int
    """First column of the part in the picture, pixels."""
    top: int
    """First row of the part in the picture, pixels."""
    pixels: Image
    """Pixels of the part at full size."""
    zoom: float
    """Number of the sheet's pixels for each pixel of the picture."""

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the part on the sheet, pixels."""
        height, width = self.pixels.shape[:2]
        return max(round(width * self.zoom), 1), max(round(height * self.zoom), 1)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture made of parts of others, in which lines of text are found at once."""

    pixels: Image
    """Pixels of the sheet, RGB."""
    placed: tuple[tuple[Crop, int, int], ...]
    """(part, its first column, its first row on the sheet) of all parts."""

    def at(self, x: float, y: float) -> tuple[Crop, int, int] | None:
        """Return (part, its first column, first row) for a pixel on a part or near it; `None` for none."""
        for part, left, top in self.placed:
            width, height = part.size
            if (
                abs(x - left - width / 2) <= (width + GAP) / 2
                and abs(y - top - height / 2) <= (height + GAP) / 2
            ):
                return part, left, top
        return None


def cut_part(
    number: int, picture: Image, box: Box, *, side: float, least: float, margin: float
) -> Crop | None:
    """Return the part in a box, zoomed (`least` to 1) to a shorter side of `side` pixels; `None` if outside.

    Args:
        number: index of the picture.
        picture: RGB, shape (H, W, 3).
        box: left, top, right, bottom in pixels; may reach beyond the picture.
        side: length in pixels of the shorter side of the box on a sheet; no part is enlarged.
        least: least zoom of a part, (0, 1].
        margin: margin on each side, as a share of the box's shorter one.
    """
    short = min(box[2] - box[0], box[3] - box[1])
    more = margin * short
    height, width = picture.shape[:2]
    left, right = max(floor(box[0] - more), 0), min(ceil(box[2] + more), width)
    top, bottom = max(floor(box[1] - more), 0), min(ceil(box[3] + more), height)
    if left >= right or top >= bottom:
        return None
    return Crop(
        number, left, top, picture[top:bottom, left:right], min(max(side / max(short, 1.0), least), 1.0)
    )


def lay_out(parts: Iterable[Crop]) -> Iterator[Sheet]:
    """Yield sheets with all parts, the highest first, in rows from the top."""
    placed: list[tuple[Crop, int, int]] = []
    left = top = row = 0
    for part in sorted(parts, key=lambda part: -part.size[1]):
        wide, high = part.size
        if left and left + wide > WIDTH:
            left, top, row = 0, top + row + GAP, 0
        if placed and top + high > HEIGHT:
            yield _sheet(placed)
            placed, left, top, row = [], 0, 0, 0
        placed.append((part, left, top))
        left, row = left + wide + GAP, max(row, high)
    if placed:
        yield _sheet(placed)


def _sheet(placed: Sequence[tuple[Crop, int, int]]) -> Sheet:
    """Return the sheet of parts, given as (part, its first column, its first row), with grey between."""
    right = max(left + part.size[0] for part, left, _ in placed)
    bottom = max(top + part.size[1] for part, _, top in placed)
    pixels = np.full((_steps(bottom), _steps(right), 3), GREY, np.uint8)
    for part, left, top in placed:
        width, height = part.size
        pixels[top : top + height, left : left + width] = cv2.resize(
            part.pixels, (width, height), interpolation=cv2.INTER_AREA
        )
    return Sheet(pixels, tuple(placed))


def _steps(pixels: int) -> int:
    """Return a number of pixels rounded up to a multiple of `STEP`."""
    return ceil(pixels / STEP) * STEP


Quad = NDArray[np.float32]
"""Corners (x, y) of a line of text in pixels from the top left on, clockwise, shape (4, 2)."""

_FIND, _READ = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
"""Names of rapidocr's model files that find lines of text, and that read them."""
SAME_LINE = 0.6
"""Least share of a line, [0, 1], inside a larger line for both to be the same line; chosen."""
_MIN_FIND_SIDE = 32
"""Least length in pixels of a side of a picture for the finder, which works on multiples of 32."""
_MOST_FIND_SIDE = 4096
"""Largest length in pixels of a side of a picture for the finder."""
_MOST_ASPECT = 40
"""Largest ratio of a picture's longer to its shorter side for rapidocr; a thinner picture is padded."""


class RapidOcrSettings(ModelSettings):
    """Settings of the reader; `platform/models/rapidocr.yaml` gives the reasons for the values."""

    sees_pixels_alone: ClassVar[bool] = True

    kind: Literal["rapidocr"]
    find_scale: float = Field(gt=0, le=2)
    """Size of the picture in which lines are looked for, as a share of the picture given."""
    min_line_height: float = Field(ge=0)
    """Least height of a line that is read, in pixels of the picture given."""
    min_score: float = Field(ge=0, le=1)
    """Least confidence, [0, 1], of a line that is kept."""
    strip_width: int = Field(ge=48, le=640)
    """Width in pixels to which shorter lines are padded for the reading model, which takes a height of 48."""
    batch: int = Field(ge=1)
    """Number of lines that are read at once."""
    threads: int | None = Field(ge=1)
    """Number of threads of ONNX Runtime; `None` for `OMP_NUM_THREADS`, else one for each core."""
    remember: int = Field(ge=0)
    """Number of recent pictures whose lines are kept in memory; 0 keeps none."""
    box_side: float = Field(gt=0)
    """Pixels to which a box's shorter side is shrunk to find lines; `find_scale` is the least zoom."""
    box_margin: float = Field(ge=0)
    """Margin added around a box, as a share of its shorter side."""

    def needs(self) -> Needs:
        """Return the requirements: the packages, which bring the weights."""
        return Needs(("rapidocr", "onnxruntime", "cv2"), "eyes")


class RapidOcrReader:
    """A reader with the PP-OCR models that the rapidocr package carries, loaded on the first read.

    Safe to share between threads, which take turns. Loading takes about a second.
    """

    def __init__(self, settings: RapidOcrSettings) -> None:
        self._settings = settings
        self._engine: Any = None
        self._turn = Lock()
        self._remembered = cached(LRUCache(settings.remember), key=fingerprint)(
            lambda image: tuple(self._read(image))
        )

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, with boxes in its pixels, from top to bottom.

        Raises:
            ModelUnavailable: the rapidocr package or its models are missing.
        """
        pictures = [pixels_of(image) for image in images]
        with self._turn:
            return [list(self._remembered(picture)) for picture in pictures]

    def read_inside(self, images: Sequence[Image], boxes: Sequence[Sequence[Box]]) -> list[list[TextLine]]:
        """Return the lines of text inside some boxes, in pixels, of each picture, from top to bottom.

        Boxes that overlap give each line once.

        Raises:
            ModelUnavailable: the rapidocr package or its models are missing.
        """
        images, settings = [pixels_of(image) for image in images], self._settings
        side, margin, least = settings.box_side, settings.box_margin, min(settings.find_scale, 1.0)
        found: list[list[TextLine]] = [[] for _ in images]
        with self._turn:
            parts = (
                part
                for number, (image, some) in enumerate(zip(images, boxes, strict=True))
                for box in some
                if (part := cut_part(number, image, box, side=side, least=least, margin=margin))
            )
            strips = _each_once(strip for sheet in lay_out(parts) for strip in self._cut_lines(sheet))
            for strip, line in zip(strips, self._recognize([strip.pixels for strip in strips]), strict=True):
                if line:
                    number = strip.part.picture
                    found[number].append(TextLine(*line, _extent(strip.quad, images[number])))
        return [sorted(lines, key=_reading_order) for lines in found]

    def find(self, images: Sequence[Image]) -> list[list[Box]]:
        """Return the boxes of the lines of text in each picture, however small the letters are.

        Raises:
            ModelUnavailable: the rapidocr package or its models are missing.
        """
        with self._turn:
            return [
                [_extent(quad, image) for quad in self._quads(np.ascontiguousarray(image[..., ::-1]))]
                for image in images
            ]

    def _read(self, image: Image) -> list[TextLine]:
        """Return the lines of text in a picture, from top to bottom."""
        bgr = np.ascontiguousarray(image[..., ::-1])
        quads = [quad for quad in self._find(bgr) if self._is_high(quad)]
        if not quads:
            return []
        read = self._recognize(self._loaded_engine.crop_text_regions(bgr, quads))
        lines = (
            TextLine(*line, _extent(quad, image)) for line, quad in zip(read, quads, strict=True) if line
        )
        return sorted(lines, key=_reading_order)

    @property
    def _loaded_engine(self) -> Any:
        """Engine of rapidocr, loaded on first use."""
        if self._engine is None:
            self._engine = _load(self._settings)
        return self._engine

    def _recognize(self, strips: Sequence[Image]) -> list[tuple[str, float] | None]:
        """Return (text, confidence) of each line; `None` below `min_score` or without letters and digits."""
        if not strips:
            return []
        read = self._loaded_engine.recognize_txt(strips)
        return [
            (text.strip(), float(score))
            if score >= self._settings.min_score and any(letter.isalnum() for letter in text)
            else None
            for text, score in zip(read.txts, read.scores, strict=True)
        ]

    def _find(self, bgr: Image) -> list[Quad]:
        """Return the corners of the lines of text in a BGR picture, found in a scaled copy of it."""
        height, width = bgr.shape[:2]
        # A small picture is enlarged for the finder, but a long strip not beyond its greatest side.
        enlarged = min(_MIN_FIND_SIDE / min(height, width), _MOST_FIND_SIDE / max(height, width))
        scale = max(self._settings.find_scale, enlarged)
        size = (max(round(width * scale), 1), max(round(height * scale), 1))
        shrunk = cv2.resize(bgr, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        ratio = np.array([width / size[0], height / size[1]])
        # Lines are found in the shrunk picture, and cut out of the whole one for reading.
        quads = [(quad * ratio).astype(np.float32) for quad in self._quads(shrunk)]
        return [np.clip(quad, 0, np.array((width, height), np.float32)) for quad in quads]

    def _quads(self, bgr: Any) -> list[Quad]:
        """Return the corners of the lines of text that the engine finds in a BGR picture as it is."""
        height, width = bgr.shape[:2]
        least = max(height, width) // _MOST_ASPECT
        below, right = max(least - height, 0), max(least - width, 0)
        if below or right:  # too thin for the finder
            bgr = np.pad(bgr, ((0, below), (0, right), (0, 0)), constant_values=GREY)
        found = self._loaded_engine(bgr, use_det=True, use_cls=False, use_rec=False)
        return [] if found.boxes is None else [np.asarray(quad, np.float32) for quad in found.boxes]

    def _is_high(self, quad: Quad) -> bool:
        """Return whether a line, given by its corners in pixels of the picture, is high enough to be read."""
        across = np.linalg.norm(quad[3] - quad[0]) + np.linalg.norm(quad[2] - quad[1])
        along = np.linalg.norm(quad[1] - quad[0]) + np.linalg.norm(quad[2] - quad[3])
        return float(min(across, along) / 2) >= self._settings.min_line_height

    def _cut_lines(self, sheet: Sheet) -> Iterator["_Strip"]:
        """Yield the lines of text on a sheet, cut out of their pictures at full size."""
        for quad in self._quads(np.ascontiguousarray(sheet.pixels[..., ::-1])):
            part, left, top = sheet.at(*quad.mean(axis=0).tolist()) or (None, 0, 0)
            if part is None:
                continue
            height, width = part.pixels.shape[:2]
            # From the sheet back to the part, at the part's own size.
            inside = np.clip((quad - (left, top)) / part.zoom, 0, (width, height)).astype(np.float32)
            if self._is_high(inside):
                bgr = np.ascontiguousarray(part.pixels[..., ::-1])
                (pixels,) = self._loaded_engine.crop_text_regions(bgr, [inside])
                yield _Strip(part, inside + np.array((part.left, part.top), np.float32), pixels)


@dataclass(frozen=True, slots=True)
class _Strip:
    """A line of text that was found, cut out to be read."""

    part: Crop
    """Part of a picture in which the line was found."""
    quad: Quad
    """Corners of the line in pixels of the whole picture."""
    pixels: Image
    """Pixels of the line alone, upright, BGR as OpenCV orders colours."""

    def is_in(self, other: "_Strip") -> bool:
        """Return whether another strip, found in another part, shows most of this one's line."""
        if self.part is other.part or self.part.picture != other.part.picture:
            return False
        shared, _ = cv2.intersectConvexConvex(self.quad, other.quad)
        return bool(shared >= SAME_LINE * cv2.contourArea(self.quad))


def _each_once(strips: Iterable[_Strip]) -> list[_Strip]:
    """Return the lines, largest first, without those that mostly lie in a larger one of another part."""
    kept: list[_Strip] = []
    for strip in sorted(strips, key=lambda strip: -cv2.contourArea(strip.quad)):
        if not any(strip.is_in(other) for other in kept):
            kept.append(strip)
    return kept


def _load(settings: RapidOcrSettings) -> Any:
    """Return the rapidocr engine, given the paths of its models so that it never looks on the network."""
    rapidocr = module("rapidocr", extra="eyes")  # heavy, and needed only once something is read
    models = Path(rapidocr.__file__).parent / "models"
    for name in (_FIND, _READ):
        if not (models / name).is_file():
            raise ModelUnavailable(
                f"{models / name} is missing: run `pip install --force-reinstall 'rapidocr>=3.10,<4'`"
            )
    engine = rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # finds upside-down lines: signs are not
            "Global.min_side_len": _MIN_FIND_SIDE,
            "Det.limit_type": "max",
            "Det.limit_side_len": _MOST_FIND_SIDE,  # the size is settled here, by find_scale
            "Rec.rec_img_shape": [3, 48, settings.strip_width],
            "Rec.rec_batch_num": settings.batch,
        }
    )
    threads = settings.threads or usual_threads()
    with module("omegaconf", extra="eyes").flag_override(engine.cfg, "allow_objects", values=True):
        engine.cfg.Det.session = _session(models / _FIND, threads)
        engine.cfg.Rec.session = _session(models / _READ, threads)
    return engine


def _session(file: Path, threads: int) -> Any:
    """Return the network in an ONNX file, ready to run on a number of threads; below 1 for one each core."""
    onnxruntime = module("onnxruntime", extra="eyes")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = max(threads, 0)  # 0: one for each core
    # Threads sleep while they wait: by default they spin, which doubles the seconds that a core works.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _reading_order(line: TextLine) -> tuple[float, float]:
    """Return a key that sorts lines from top to bottom, then from left to right."""
    return line.box[1], line.box[0]


def _extent(quad: Quad, image: Image) -> tuple[float, float, float, float]:
    """Return the box (left, top, right, bottom) around a line's corners, cut at the picture's edges."""
    height, width = image.shape[:2]
    x, y = np.clip(quad[:, 0], 0, width), np.clip(quad[:, 1], 0, height)
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


KIND = Kind("reader", RapidOcrSettings, lambda settings, _: RapidOcrReader(settings))
