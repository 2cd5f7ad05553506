"""A user's photographs, read by an OCR model and searched by a detector, and the page that shows them."""

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
from virl.pages.pictures import jpeg_uri
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, Detector, Reader, TextLine
from virl.platform.perception.boxes import draw_detections
from virl.version import __version__

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
"""Suffixes of the files in a folder that count as pictures."""
LONGEST_PX = 2048
"""Pixels of the longer side to which pictures are shrunk for models: the most that a `Camera` has."""
USUAL_FOV = 70.0
"""Assumed horizontal field of view of a photograph, degrees; chosen: a phone's main camera has 65 to 78."""


@dataclass(frozen=True, slots=True)
class Photograph:
    """A photograph with the text and things that models found in it."""

    file: Path
    view: View
    """Picture given to the models: upright, at most 2,048 pixels a side."""
    size: tuple[int, int]
    """(width, height) of the file's picture, in pixels."""
    lines: tuple[TextLine, ...]
    detections: tuple[Detection, ...]
    read_s: float
    """Seconds that reading took."""
    detect_s: float
    """Seconds that detection took, the detector's own reading of text included."""


def photographs_in(paths: Sequence[Path]) -> list[Path]:
    """Return the files among the paths, and for each folder the picture files below it, sorted by path.

    Raises:
        BadInput: a path does not exist, or a folder has no picture.
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
    """Return a photograph with the text that a reader reads and the things that a detector finds in it.

    Args:
        file: the photograph's file.
        reader: the model that reads text.
        detector: the model that finds things.

    Raises:
        BadInput: the file is no picture that can be read.
        ModelUnavailable: a package or the weights of a model are missing.
    """
    view, size = _open_view(file)
    begun = perf_counter()
    (lines,) = reader.read([view.pixels])
    read = perf_counter()
    (detections,) = detector.detect([view], ())
    done = perf_counter()
    return Photograph(file, view, size, tuple(lines), tuple(detections), read - begun, done - read)


def _open_view(file: Path) -> tuple[View, tuple[int, int]]:
    """Return (view, (width, height) of the file's picture in pixels) of a photograph, upright and shrunk."""
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
WIDTH_PX, QUALITY = 1000, 82  # longer side and JPEG quality of a picture on the page; chosen


def write_photographs(photographs: Sequence[Photograph], out: Path, *, reader: str, detector: str) -> None:
    """Write an HTML page about photographs, with the names of the models that read and found things.

    Args:
        photographs: the photographs in the order of the page.
        out: the path of the page.
        reader: the name of the model that read text.
        detector: the name of the model that found things.

    Raises:
        CannotWrite: the page cannot be written.
    """
    html = page(
        "photographs.html.j2",
        {
            "shown": [{"photograph": one, "picture": _to_uri(to_view(one))} for one in photographs],
            "reader": reader,
            "detector": detector,
            "version": __version__,
        },
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")


def to_view(photograph: Photograph) -> View:
    """Return a photograph as a view with boxes and labels drawn on the text and things found."""
    words = (Detection(line.text, line.score, line.box) for line in photograph.lines)
    found = (
        Detection(f"{one.label} {one.score:.1f}", one.score, one.box, one.text)
        for one in photograph.detections
    )
    return draw_detections(photograph.view, (*found, *words))


def _to_uri(view: View) -> str:
    """Return a view as a JPEG data URI, at most `WIDTH_PX` pixels a side."""
    picture = PIL.Image.fromarray(view.pixels)
    picture.thumbnail((WIDTH_PX, WIDTH_PX), PIL.Image.Resampling.LANCZOS)
    return jpeg_uri(picture, QUALITY)
