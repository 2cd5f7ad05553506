"""The picture of a run that links to its page show: its result, the view of its end and its map."""

import io
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import PIL.Image
import PIL.ImageDraw
import PIL.ImageOps

from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside, write_whole
from virl.pages.fonts import font, in_face
from virl.pages.map_picture import draw_picture
from virl.pages.maps import MapFigure, at_width
from virl.pages.theme import rgb
from virl.plain_text import plain_line, shorten

SHARE = "share.jpg"
"""Name of the picture, beside the page."""
SIZE = (1200, 630)
_EDGE, _GAP, _TOP, _MAP_WIDTH = 40, 20, 176, 450  # pixels of the layout; all chosen
_LETTERS = 44  # of a line of the headline


def write_share(folder: Path, headline: str, about: str, view: str, figure: MapFigure | None) -> None:
    """Write the picture of a run, 1200 x 630 pixels, beside its page.

    Args:
        folder: of the run.
        headline: what came of it.
        about: who did it and where, in a line.
        view: path of the view of its end in the folder; empty for none.
        figure: its map; `None` for none.

    Raises:
        CannotWrite: the picture cannot be written.
    """
    picture = PIL.Image.new("RGB", SIZE, rgb("page"))
    pen = PIL.ImageDraw.Draw(picture)
    _write(pen, (_EDGE, 26), shorten(plain_line(about), 80), 22, "soft")
    for number, line in enumerate(wrap(shorten(plain_line(headline), 2 * _LETTERS), _LETTERS)[:2]):
        _write(pen, (_EDGE, 60 + 50 * number), line, 40, "ink")
    seen, room = _read(folder, view), SIZE[0] - 2 * _EDGE
    beside = _MAP_WIDTH + _GAP if seen and figure else 0
    if seen:
        _paste(picture, seen, _EDGE, room - beside)
    if figure:
        width = _MAP_WIDTH if seen else room
        _paste(picture, draw_picture(at_width(figure, width), width), _EDGE + room - width, width)
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=86, optimize=True)
    write_whole(folder / SHARE, data.getvalue(), "write the report again")


def _paste(picture: PIL.Image.Image, panel: PIL.Image.Image, left: int, width: int) -> None:
    """Draw the middle of a panel below the headline; `left` and `width` are in pixels."""
    size = width, SIZE[1] - _TOP - _EDGE
    picture.paste(PIL.ImageOps.fit(panel, size, PIL.Image.Resampling.LANCZOS), (left, _TOP))


def _read(folder: Path, view: str) -> PIL.Image.Image | None:
    """Return a picture in a folder; `None` for one that is missing, broken or outside."""
    if not view or not is_inside(folder, view):
        return None
    try:
        with open_picture(folder / view, formats=("JPEG",)) as picture:
            return picture.convert("RGB")
    except PictureFault:
        return None


def _write(pen: PIL.ImageDraw.ImageDraw, at: Sequence[float], text: str, size: int, colour: str) -> None:
    """Write a line of text in a colour of the theme; `at` is its upper left corner, `size` in pixels."""
    text, face = in_face(text)
    pen.text((at[0], at[1]), text, rgb(colour), font(face, size))
