"""The pictures of a film: a view with the map in its corner, or the map alone, and words below."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, sqrt
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageDraw

from virl.errors import BadInput
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside
from virl.film.story import Moment, Rank, Story
from virl.geo.globe import LatLng, LocalFrame
from virl.pages.exhibits import MapLine
from virl.pages.fonts import font, in_face
from virl.pages.ground import MapGround
from virl.pages.map_picture import draw_picture
from virl.pages.maps import CORNER, MapFigure, MapPath, exhibit_marks, exhibit_paths, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Extent, Paper, lay_out, on_paper
from virl.pages.theme import rgb
from virl.platform.city.streetview import Box, view_of_picture
from virl.platform.perception.boxes import draw_detections

Size = tuple[int, int]
"""Width and height in pixels."""
Since = list[tuple[Mark, Path | None, int]]
"""Each mark of a map, with the folder of its run (none: of any) and the moment from which it is shown."""

# The looks, all chosen; lengths are shares of the side of a square as large as the film.
INSET, INSET_ASPECT, GAP, ROUND, RIM = 0.34, 4 / 3, 0.026, 0.017, 0.004
SMALL, LARGE, LEADING = 0.022, 0.032, 1.3
"""Sizes of type, and the distance of lines as a multiple of it."""
MOST_LINES = 4
SENTENCE = re.compile(r"(?:(?<=\w{3}[.!?])|(?<=;)) ")
"""Space after a sentence, or a part of one; the word before it is long enough to be no abbreviation."""
BELOW = 0.5
"""Room below the positions on a map without a view, for words, as a share of their height."""
MARGIN, MOST_MARGIN = 28, 0.2
"""Least margin of a map in pixels, so that pins have room, but at most this share of what it shows."""
EDGE = 10_000.0
"""Greatest coordinate of a box, in pixels: damaged runs may have any."""
PANEL = (16, 20, 24, 205)
"""Colour of the ground of words: red, green, blue, and opacity, each in [0, 255]."""


@dataclass(frozen=True, slots=True)
class FoundBox:
    """A label and its box, as `draw_detections` draws them."""

    label: str
    box: Box


@dataclass(frozen=True, slots=True)
class Shot:
    """A view as a picture of any size, with the boxes of what was found in its pixels."""

    picture: PIL.Image.Image
    found: tuple[FoundBox, ...]
    is_marked: bool = False
    """True if the boxes are drawn into the picture."""


def recorded_shot(moment: Moment) -> Shot:
    """Return the view of a moment as it was recorded.

    Raises:
        BadInput: its file is missing, damaged, or outside the run's folder.
    """
    view = moment.view
    if view is None or not is_inside(moment.folder, view.file):
        raise BadInput(f"{moment.folder}: a picture lies outside of the run's folder")
    try:
        with open_picture(moment.folder / view.file) as picture:
            whole = picture.convert("RGB")
    except PictureFault as fault:
        raise BadInput(f"{moment.folder / view.file}: {fault}") from fault
    found = [
        FoundBox(one.text or one.label, np.clip(one.box, -EDGE, EDGE).tolist()) for one in view.detections
    ]
    return Shot(whole, tuple(found), moment.is_marked)


class Sheet:
    """The pictures of a story's moments, all of one size, with maps over the ground of its city."""

    def __init__(
        self,
        story: Story,
        ground: MapGround,
        size: Size,
        shot: Callable[[Moment], Shot] = recorded_shot,
        letters: float = 1.0,
    ) -> None:
        """Keep what is drawn.

        Args:
            story: of the run.
            ground: of its city.
            size: width and height in pixels.
            shot: returns the picture of a moment's view.
            letters: size of words as a multiple of the usual one.
        """
        self.story, self.ground, self.size, self.shot, self.letters = story, ground, size, shot, letters
        self._maps: dict[Size, tuple[MapFigure, Since]] = {}

    @cached_property
    def _positions(self) -> Sequence[LatLng]:
        """All positions that the maps of the film show."""
        paths = {id(one.path): one.path for one in self.story.moments}.values()
        found = [position for path in paths for position in path]
        for places in {one.folder: one.places for one in self.story.moments}.values():
            found += [LatLng(one.lat, one.lng) for one in places]
        for _, exhibit in self.story.maps:
            found += [LatLng(one.lat, one.lng) for one in exhibit.points]
            found += [LatLng(*position) for line in exhibit.lines for position in line.points]
        return found

    def draw(self, index: int) -> PIL.Image.Image:
        """Return the picture of the moment with this index."""
        moment = self.story.moments[index]
        width, height = self.size
        unit = sqrt(width * height)
        if moment.view is None:
            sheet = (
                self._map(index, self.size) if self._positions else PIL.Image.new("RGB", self.size, PANEL[:3])
            )
            self._write(sheet, moment, width, CORNER[1])
            return sheet
        sheet, gap = fill(self.shot(moment), self.size), round(GAP * unit)
        if self._positions:
            inset = self._map(index, (round(INSET * unit * INSET_ASPECT), round(INSET * unit)))
            _paste_round(sheet, inset, (width - gap - inset.width, height - gap - inset.height))
            width -= inset.width + gap
        self._write(sheet, moment, width)
        return sheet

    def _write(self, sheet: PIL.Image.Image, moment: Moment, room: int, above: float = 0.0) -> None:
        """Write a moment's words and the notice at the lower left, `room` pixels wide, `above` higher."""
        pen, height = PIL.ImageDraw.Draw(sheet, "RGBA"), sheet.height - round(above)
        unit = self.letters * sqrt(sheet.width * sheet.height)
        gap, small, large, radius = (round(share * unit) for share in (GAP, SMALL, LARGE, ROUND))
        texts = [(moment.where, small, 200)]
        texts += [(line, large, 255) for line in wrap_words(pen, moment.said, large, room - 4 * gap)]
        texts += [
            (line, small, 170) for line in wrap_words(pen, self.story.notice, small, room - 4 * gap)[:1]
        ]
        lines = [(*in_face(text), size, light) for text, size, light in texts if text]
        if not lines:
            return
        widest = max(pen.textlength(text, font(face, size)) for text, face, size, _ in lines)
        tall = sum(round(size * LEADING) for _, _, size, _ in lines)
        box = (gap, height - gap - tall - 1.2 * gap, gap + widest + 2 * gap, height - gap)
        pen.rounded_rectangle(box, radius, PANEL)
        y = box[1] + 0.6 * gap
        for text, face, size, light in lines:
            pen.text((2 * gap, y + size * LEADING / 2), text, (255, 255, 255, light), font(face, size), "lm")
            y += round(size * LEADING)

    def _map(self, index: int, size: Size) -> PIL.Image.Image:
        """Return the map at a moment: the path up to there, the places told of, and the view's direction."""
        if size not in self._maps:
            self._maps[size] = self._lay_out(size)
        figure, since = self._maps[size]
        paper, moment = figure.paper, self.story.moments[index]
        homes = {home for _, home, _ in since if home}
        if moment.folder in homes or moment.rank is not Rank.END:
            homes = {moment.folder}
        marks = [mark for mark, home, first in since if first <= index and home in (None, *homes)]
        paths: list[MapPath] = []
        if moment.rank is Rank.END or not moment.walked:  # what was walked tells more than what was planned
            lines = [one for home, shown in self.story.maps if home in homes for one in shown.lines]
            places = [mark for mark, home, _ in since if home in homes]
            told = (one for one in lines if one.points and _mark_at_end(paper, one, places) in (None, *marks))
            paths += exhibit_paths(paper, told)
        if moment.walked:
            points = [paper.place(position) for position in moment.path[: moment.walked]]
            paths.append(MapPath(points))
            heading = moment.view.heading if moment.view and moment.view.purpose != "photo" else None
            if moment.rank is not Rank.END:
                marks.insert(0, Mark(*points[-1], "to", "", shape="small", heading=heading))
        return draw_picture(replace(figure, paths=tuple(paths), marks=tuple(marks)), size[0]).resize(size)

    def _lay_out(self, size: Size) -> tuple[MapFigure, Since]:
        """Return (map of this size, each mark with its folder and the moment from which it is shown)."""
        frame = LocalFrame(self._positions[0])
        points = [on_paper(frame, *position) for position in self._positions]
        if size == self.size:  # the words lie below what the map shows
            low, high = np.min(points, axis=0), np.max(points, axis=0)
            points.append((low[0], high[1] + BELOW * self.letters * (high[1] - low[1])))
        share = min(MOST_MARGIN, MARGIN / max(1, size[1] - 2 * MARGIN))
        margin = max(Extent().margin_m, share * float(np.max(np.ptp(points, axis=0))))
        extent = Extent(aspect=size[0] / size[1], margin_m=margin, beyond=0.0)
        paper = lay_out(frame, points, self.ground, extent=extent, across=size[0])
        moments, last = self.story.moments, len(self.story.moments) - 1
        since: Since = []
        for home, exhibit in self.story.maps:
            for mark in exhibit_marks(paper, exhibit):
                name = mark.title.partition(": ")[0]
                own = (pair for pair in enumerate(moments) if pair[1].folder == home)
                first = (index for index, one in own if name in one.said)
                since.append((mark, home, 0 if mark.kind == "spot start" else next(first, last)))
        known: set[str] = set()
        for index, one in enumerate(moments):
            for place in (place for place in one.places if place.id not in known):
                known.add(place.id)
                at, name = paper.place(LatLng(place.lat, place.lng)), place.name
                mark = Mark(*at, f"pin {place.decision}", name, shape="diamond", label=name)
                since.append((mark, one.folder, index))
        since += self._ends(paper)
        walks = {id(one.path): one.path for one in moments if one.path}.values()
        paths = [MapPath([paper.place(position) for position in path]) for path in walks]
        figure = map_figure("", paper, paths, [mark for mark, _, _ in since])
        told, placed = iter(since), Since()
        for mark in figure.marks:  # one for several comes after the first of them
            placed.append((mark, *(placed[-1] if mark.is_group else next(told))[1:]))
        return figure, placed

    def _ends(self, paper: Paper) -> Iterator[tuple[Mark, None, int]]:
        """Yield the pins of each walk's start and end, as reports have them, as `Since` does."""
        walks: dict[int, list[int]] = {}
        for index, one in enumerate(self.story.moments):
            walks.setdefault(id(one.path), []).append(index)
        for first, *_, last in ([*indices, indices[-1]] for indices in walks.values()):
            path, places = self.story.moments[last].path, self.story.moments[last].places
            end = "enter" if any(place.decision == "enter" for place in places) else "to"
            ends = ("from", "Start", first), (end, "End", last)
            for position, (kind, label, index) in zip(
                dict.fromkeys((*path[:1], *path[-1:])), ends, strict=False
            ):
                mark = Mark(*paper.place(position), f"step {kind}", label, shape="pin", label=label)
                yield mark, None, index


def _mark_at_end(paper: Paper, line: MapLine, marks: Sequence[Mark]) -> Mark | None:
    """Return the mark that is nearest to the end of a line, of those that stand for one place, if any."""
    x, y = paper.place(LatLng(*line.points[-1]))
    single = (one for one in marks if not one.is_group)
    return min(single, key=lambda one: hypot(one.x - x, one.y - y), default=None)


def fill(shot: Shot, size: Size) -> PIL.Image.Image:
    """Return a picture that fills `size` pixels, cut at its longer side around what was found in it."""
    (width, height), (wide, high) = shot.picture.size, size
    scale = max(wide / width, high / height)
    spare_x, spare_y = width - wide / scale, height - high / scale
    boxes = [one.box for one in shot.found] or [(0.0, 0.0, float(width), float(height))]
    middle = np.mean(boxes, axis=0)
    left = float(np.clip((middle[0] + middle[2]) / 2 - wide / scale / 2, 0, spare_x))
    top = float(np.clip((middle[1] + middle[3]) / 2 - 0.35 * high / scale, 0, spare_y))
    cut = (left, top, left + wide / scale, top + high / scale)
    drawn = shot.picture.resize(size, PIL.Image.Resampling.LANCZOS, box=cut)
    if shot.is_marked:
        return drawn
    found = [
        FoundBox(one.label, tuple((np.subtract(one.box, (left, top, left, top)) * scale).tolist()))
        for one in shot.found
    ]
    return PIL.Image.fromarray(draw_detections(view_of_picture(np.asarray(drawn)), found).pixels)


def _paste_round(sheet: PIL.Image.Image, picture: PIL.Image.Image, at: tuple[int, int]) -> None:
    """Draw a picture into a sheet at a pixel, with round corners and a white rim."""
    unit = sqrt(sheet.width * sheet.height)
    rim, radius = max(2, round(RIM * unit)), round(ROUND * unit)
    for grow, colour in ((rim, PIL.Image.new("RGB", picture.size, rgb("card"))), (0, picture)):
        size = picture.width + 2 * grow, picture.height + 2 * grow
        # Drawn twice as large and shrunk, for smooth corners.
        mask = PIL.Image.new("L", (2 * size[0], 2 * size[1]))
        box = (0, 0, 2 * size[0] - 1, 2 * size[1] - 1)
        PIL.ImageDraw.Draw(mask).rounded_rectangle(box, 2 * (radius + grow), 255)
        sheet.paste(colour.resize(size), (at[0] - grow, at[1] - grow), mask.resize(size))


def wrap_words(pen: PIL.ImageDraw.ImageDraw, text: str, size: int, room: float) -> list[str]:
    """Return a text in at most `MOST_LINES` lines; one that is longer ends with a sentence or with "…".

    Args:
        pen: measures the letters.
        text: to wrap.
        size: of the letters, pixels.
        room: width of a line, pixels.
    """
    drawn, face = in_face(text)
    letters = font(face, size)
    lines = [""]
    for word in drawn.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if pen.textlength(longer, letters) <= room or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) <= MOST_LINES:
        return lines if lines[0] else []
    *lines, last = lines[:MOST_LINES]
    told = " \n".join([*lines, last])
    ends = [one.start() for one in SENTENCE.finditer(told)]
    if ends and ends[-1] > len(told) / 3:
        return told[: ends[-1]].rstrip(";").split(" \n")
    while " " in last and pen.textlength(f"{last} …", letters) > room:
        last = last.rpartition(" ")[0]
    return [*lines, f"{last} …"]
