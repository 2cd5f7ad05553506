"""A picture sheet of a town: its views side by side, and a map that says where each was taken."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, radians, sin, sqrt
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageDraw
import shapely

from virl.errors import BadInput
from virl.files import write_whole
from virl.geo import LocalFrame, compass_word
from virl.pages.fonts import face_for, font
from virl.pages.paper import on_paper
from virl.platform.city import City
from virl.platform.networks import held_street_map
from virl.town.views import TownView, town_views

# The looks of a sheet, all chosen.
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
QUALITY = 88
CELL = 480, 360  # pixels of a view
CAPTION_PX, HEAD_PX, GAP_PX, TEXT_PX, TITLE_PX = 26, 56, 8, 16, 26
MAP_SHARE = 0.34  # of the sheet's width
FINER = 2  # the map is drawn so many times as large, then made smaller
MARGIN_M = 40.0
STREET_M = 6.0
PAPER, GROUND, HOUSE, STREET, MARK, INK = "#ffffff", "#eeeae2", "#c9beb0", "#ffffff", "#b3261e", "#202020"


def write_sheet(city: City, out: Path, views: int = 40, seed: int = 0) -> int:
    """Write a picture sheet of a city that is held whole: views in order of their numbers on a map.

    The head of the sheet names whoever mapped the city, and the date of the data.

    Args:
        city: made, or of OpenStreetMap.
        out: a `.png`, `.jpg` or `.jpeg`.
        views: how many, at most.
        seed: chooses them, any non-negative integer.

    Returns:
        How many views it shows.

    Raises:
        BadInput: another kind of file; the city is asked over a network, or has no pictures.
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
    sheet = PIL.Image.new("RGB", (wide + grid[0] + 2 * GAP_PX, HEAD_PX + grid[1] + GAP_PX), PAPER)
    sheet.paste(_map(city, shown, (wide, grid[1] - GAP_PX)), (GAP_PX, HEAD_PX))
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
        way = f"looking {compass_word(view.camera.heading)}, {view.panorama.id}"
        _write(
            draw,
            (left, top + 4),
            f"{number + 1}  {view.street} {way}".replace("  looking", " looking"),
            TEXT_PX,
        )
    file = io.BytesIO()
    sheet.save(file, FORMATS[out.suffix.lower()], quality=QUALITY, optimize=True)
    write_whole(out, file.getvalue(), "choose another --sheet")
    return len(shown)


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of the ground on a picture, north up."""

    frame: LocalFrame
    west: float
    north: float
    per_metre: float

    def at(self, lat: float, lng: float) -> tuple[float, float]:
        x, y = on_paper(self.frame, lat, lng)
        return (x - self.west) * self.per_metre, (y + self.north) * self.per_metre


def _map(city: City, views: Sequence[TownView], size: tuple[int, int]) -> PIL.Image.Image:
    """Houses, streets, and the views with the way they look."""
    across, down = size[0] * FINER, size[1] * FINER
    picture = PIL.Image.new("RGB", (across, down), GROUND)
    draw = PIL.ImageDraw.Draw(picture)
    window = _window(city, views, (across, down))
    seen = shapely.box(0, 0, across, down)
    wide = max(FINER, round(STREET_M * window.per_metre))
    for line in held_street_map(city).lines():
        points = [window.at(*position) for position in line]
        if len(points) > 1 and seen.intersects(shapely.LineString(points)):
            draw.line(points, STREET, wide, joint="curve")
    for house in city.inventory.houses() if city.inventory else ():
        for ring, fill in (
            (house.outline.exterior, HOUSE),
            *((hole, GROUND) for hole in house.outline.interiors),
        ):
            points = [window.at(lat, lng) for lng, lat in ring.coords]
            if seen.intersects(shapely.LineString(points)):
                draw.polygon(points, fill)
    for number, view in enumerate(views):
        _mark(draw, window.at(*view.panorama.position), view.camera.heading, str(number + 1))
    return picture.resize(size, PIL.Image.Resampling.LANCZOS)


def _window(city: City, views: Sequence[TownView], size: tuple[int, int]) -> _Window:
    """What holds all views, as large as it fits."""
    frame = LocalFrame(city.center)
    xy = np.array([on_paper(frame, *view.panorama.position) for view in views])
    low, high = xy.min(axis=0) - MARGIN_M, xy.max(axis=0) + MARGIN_M
    per_metre = float((np.array(size) / (high - low)).min())
    spare = (np.array(size) / per_metre - (high - low)) / 2
    west, top = (low - spare).tolist()
    return _Window(frame, west, -top, per_metre)


def _mark(draw: PIL.ImageDraw.ImageDraw, at: tuple[float, float], heading: float, label: str) -> None:
    x, y = at
    radius, reach, half = 11 * FINER, 30 * FINER, 26.0
    fan = [
        (x + reach * sin(radians(heading + turn)), y - reach * cos(radians(heading + turn)))
        for turn in (-half, half)
    ]
    draw.polygon([at, *fan], "#e8a09b")
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), MARK)
    _write(draw, at, label, 13 * FINER, anchor="mm", fill=PAPER)


def _write(
    draw: PIL.ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, *, anchor: str = "la",
    fill: str = INK,
) -> None:  # fmt: skip
    try:
        face = face_for(text, 0)
    except BadInput:  # no shipped face has all of it
        text = text.encode("ascii", "replace").decode()
        face = face_for(text, 0)
    draw.text(at, text, fill, font(face, size), anchor=anchor)
