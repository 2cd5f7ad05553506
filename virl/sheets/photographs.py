"""Photographs read by an OCR model and searched by a detector."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import PIL.Image
import PIL.ImageOps

from virl.errors import BadInput
from virl.files.pictures import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.files.writing import write_whole
from virl.journal.report import page
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, Detector, Reader, TextLine
from virl.platform.perception.boxes import draw_detections
from virl.version import __version__

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
LONGEST_PX = 2048
"""Pixels of the longer side of pictures given to models, the most that a `Camera` has."""
USUAL_FOV = 70.0
"""Degrees across a photograph; chosen: a phone's main camera has 65 to 78."""


@dataclass(frozen=True, slots=True)
class Photograph:
    """A photograph with what models read and found in it."""

    file: Path
    view: View
    """Picture given to the models: upright, at most 2,048 pixels a side."""
    size: tuple[int, int]
    """Width and height of the file, in pixels."""
    lines: tuple[TextLine, ...]
    detections: tuple[Detection, ...]
    read_s: float
    """Seconds that reading took."""
    detect_s: float
    """Seconds that detection took, its own reading included."""


def photographs_in(paths: Sequence[Path]) -> list[Path]:
    """Return the picture files given, and all pictures in the folders given, by name.

    Raises:
        BadInput: there is no such file, or no picture in a folder.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file()
            )
            if not inside:
                raise BadInput(f"{path}: no pictures here: give a folder of {', '.join(SUFFIXES)} files")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise BadInput(f"{path}: no such file: give a photograph, or a folder of them")
    return found


def look_at(file: Path, reader: Reader, detector: Detector) -> Photograph:
    """Return a photograph with the text read and the things found in it.

    Args:
        file: the photograph.
        reader: of text.
        detector: of signs.

    Raises:
        BadInput: the file is no picture that can be read.
        ModelUnavailable: what a model needs is missing.
    """
    view, size = _open_view(file)
    begun = perf_counter()
    (lines,) = reader.read([view.pixels])
    read = perf_counter()
    (detections,) = detector.detect([view], ())
    done = perf_counter()
    return Photograph(file, view, size, tuple(lines), tuple(detections), read - begun, done - read)


def _open_view(file: Path) -> tuple[View, tuple[int, int]]:
    """Return a photograph as a view, upright and shrunk, and the size of the file's picture, pixels."""
    try:
        with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
            size = picture.size
            upright = PIL.ImageOps.exif_transpose(picture).convert("RGB")
            upright.thumbnail((LONGEST_PX, LONGEST_PX), PIL.Image.Resampling.LANCZOS)
            pixels = np.asarray(upright)
            height, width = pixels.shape[:2]
            camera = Camera(0.0, 0.0, USUAL_FOV, width, height)
    except PictureFault as fault:
        raise BadInput(f"{file}: {fault}: give JPEG, PNG or WebP files") from fault
    return View(file.name, camera, pixels), size


_TEMPLATES = Path(__file__).parent / "templates"
WIDTH_PX, QUALITY = 1000, 82  # of a picture on the page; chosen


@dataclass(frozen=True, slots=True)
class _Shown:
    """A photograph with its picture for the page."""

    photograph: Photograph
    picture: str
    """A data URI."""


def write_photographs(photographs: Sequence[Photograph], out: Path, *, reader: str, detector: str) -> None:
    """Write the page of photographs as one HTML file.

    Args:
        photographs: in the order of the page.
        out: where the page goes.
        reader: name of the model that read.
        detector: name of the model that searched.

    Raises:
        CannotWrite: the page cannot be written.
    """
    html = page(
        "photographs.html.j2",
        {
            "shown": [_Shown(one, _data_uri(to_view(one))) for one in photographs],
            "reader": reader,
            "detector": detector,
            "version": __version__,
        },
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")


def to_view(photograph: Photograph) -> View:
    """Return a photograph as a view with the lines read and things found drawn in."""
    words = (Detection(line.text, line.score, line.box) for line in photograph.lines)
    found = (
        Detection(f"{one.label} {one.score:.2f}", one.score, one.box, one.text)
        for one in photograph.detections
    )
    return draw_detections(photograph.view, (*found, *words))


def _data_uri(view: View) -> str:
    """Return a view as a JPEG data URI of at most `WIDTH_PX` pixels a side."""
    picture = PIL.Image.fromarray(view.pixels)
    picture.thumbnail((WIDTH_PX, WIDTH_PX), PIL.Image.Resampling.LANCZOS)
    jpeg = io.BytesIO()
    picture.save(jpeg, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.getvalue()).decode()
