"""The page of photographs, in one HTML file: what models saw is drawn into each."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import PIL.Image

from virl.files import write_whole
from virl.journal.page import page
from virl.looking.photographs import Photograph
from virl.platform.perception.base import Detection
from virl.platform.perception.boxes import draw_detections
from virl.platform.streetview import View
from virl.version import __version__

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
