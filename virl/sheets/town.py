"""A picture sheet of a town: its views side by side, and a map that says where each was taken."""

import io
from collections.abc import Sequence
from math import ceil, sqrt
from pathlib import Path

import PIL.Image
import PIL.ImageDraw

from virl.errors import BadInput
from virl.files.writing import write_whole
from virl.geo.globe import LocalFrame, compass_word
from virl.journal.walk_map import ground_of
from virl.pages.fonts import font, in_face
from virl.pages.map_picture import draw_picture
from virl.pages.maps import map_figure
from virl.pages.paper import Extent, lay_out, on_paper
from virl.pages.theme import colours
from virl.platform.city.city import City
from virl.sheets.town_page import view_mark
from virl.sheets.views import TownView, town_views

# The looks of a sheet, all chosen.
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}  # Pillow's name of each suffix's format
QUALITY = 88  # of JPEG
CELL = 480, 360  # width and height of a view, pixels
CAPTION_PX, HEAD_PX, GAP_PX, TEXT_PX, TITLE_PX = 26, 56, 8, 16, 26
MAP_SHARE = 0.34  # share of the sheet's width that the map takes
MARGIN_M = 40.0  # ground around the views on the map


def write_sheet(city: City, out: Path, views: int = 40, seed: int = 0) -> int:
    """Write a picture with numbered views of a city and their map; return the number of views.

    The head of the sheet names whoever mapped the city, and the date of the data.

    Args:
        city: a made town, or a twin of OpenStreetMap.
        out: the path of a `.png`, `.jpg` or `.jpeg`.
        views: the most views that it shows.
        seed: the seed by which views are chosen, any non-negative integer.

    Raises:
        BadInput: the file has another suffix, or the city is fetched over a network, or has no pictures.
        CannotWrite: the sheet cannot be written.
    """
    if out.suffix.lower() not in FORMATS:
        raise BadInput(f"{out}: a picture sheet is a {', '.join(FORMATS)} file: give another name")
    shown = town_views(city, views, seed)
    if not shown:
        raise BadInput(f"{city.title} has no views for a picture sheet: choose another city, or more --views")
    columns = max(2, round(sqrt(len(shown) * 1.3)))
    rows = ceil(len(shown) / columns)
    grid = columns * (CELL[0] + GAP_PX), rows * (CELL[1] + CAPTION_PX + GAP_PX)
    wide = round(grid[0] * MAP_SHARE / (1 - MAP_SHARE))
    sheet = PIL.Image.new("RGB", (wide + grid[0] + 2 * GAP_PX, HEAD_PX + grid[1] + GAP_PX), colours()["card"])
    sheet.paste(_draw_map(city, shown, (wide, grid[1] - GAP_PX)), (GAP_PX, HEAD_PX))
    draw = PIL.ImageDraw.Draw(sheet)
    _write(draw, (GAP_PX, 12), f"{city.title}: {len(shown)} views", TITLE_PX)
    if city.attribution:
        _write(draw, (sheet.width - GAP_PX, 18), city.attribution, TEXT_PX + 4, anchor="ra")
    for number, view in enumerate(shown):
        row, column = divmod(number, columns)
        left = wide + 2 * GAP_PX + column * (CELL[0] + GAP_PX)
        top = HEAD_PX + row * (CELL[1] + CAPTION_PX + GAP_PX)
        small = PIL.Image.fromarray(view.pixels).resize(CELL, PIL.Image.Resampling.LANCZOS)
        sheet.paste(small, (left, top + CAPTION_PX))
        street = f" {view.street}" if view.street else ""
        looking = f"looking {compass_word(view.camera.heading)}, {view.panorama.id}"
        _write(draw, (left, top + 4), f"{number + 1} {street} {looking}", TEXT_PX)
    file = io.BytesIO()
    sheet.save(file, FORMATS[out.suffix.lower()], quality=QUALITY, optimize=True)
    write_whole(out, file.getvalue(), "choose another --sheet")
    return len(shown)


def _draw_map(city: City, views: Sequence[TownView], size: tuple[int, int]) -> PIL.Image.Image:
    """Return a picture, of this (width, height) in pixels, of the map with all views and their headings."""
    frame = LocalFrame(city.center)
    points = [on_paper(frame, *view.panorama.position) for view in views]
    extent = Extent(size[0] / size[1], MARGIN_M, beyond=0.0)
    paper = lay_out(frame, points, ground_of(city), extent=extent, across=size[0])
    marks = [view_mark(paper, number, view) for number, view in enumerate(views, 1)]
    return draw_picture(map_figure(city.title, paper, (), marks), size[0])


def _write(
    draw: PIL.ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, *, anchor: str = "la"
) -> None:
    """Write a text at pixel (x, y) `at`; `size`: font size in pixels, `anchor`: as Pillow's `text` has it."""
    text, face = in_face(text)
    draw.text(at, text, colours()["ink"], font(face, size), anchor=anchor)
