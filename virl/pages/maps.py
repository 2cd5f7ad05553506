"""Maps laid out as numbers and text: ground, paths and marks, with as many labels as have room.

They know no city. `virl.pages.map_svg` draws them for pages, `virl.pages.map_picture` as pictures, and
`templates/maps.js` lets readers pan, zoom and go through their time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, cos, hypot, radians, sin
from unicodedata import east_asian_width

import numpy as np
import shapely

from virl.geo.globe import LatLng, LocalFrame
from virl.pages.exhibits import MapExhibit, MapLine
from virl.pages.ground import AREAS, MapGround, Name
from virl.pages.marks import (
    ROOM,
    LabelAnchor,
    Mark,
    Rectangle,
    box_of,
    meet,
    move_apart,
    shape_box,
    to_pixels,
)
from virl.pages.paper import ARROW_EVERY_M, Arrow, Extent, Paper, Point, arrows_along, lay_out, on_paper
from virl.pages.symbols import symbols

# The looks of a map, in pixels on the page; all chosen.
NARROW, WIDE = 560.0, 1130.0  # width of a map beside something else, and alone
WIDE_ASPECT = 2.0  # ratio of width to height of a map alone
LETTER, LINE = 7.2, 15.0  # about the width of a letter, and the height of a line
NAME_LETTER = 6.2  # about the width of a letter of a street's name
ARROWS = 18  # most arrows across the width of a map
CORNER = (170.0, 34.0)  # room of the scale bar, at the lower left
TOOLS = (46.0, 122.0)  # room of the buttons, at the upper left
NOTICE = 16.0  # height of the line with the notice, below the scale bar
SYMBOL_ROOM, SYMBOL_SIZE = 28.0, 14.0  # least distance between two symbols, and their width
SYMBOLS_UP_TO_M = 6.0  # most metres per pixel at which symbols are drawn
ASIDES = (15.0, -15.0, 19.0, -19.0)  # distances from a path at which the name of its street may stand
RESULTS = ("pin enter", "spot pick")  # kinds of marks of results, which get their labels first
SAME_NAME = 150.0  # distance below which a name is not written again

_RANK = ("start", "pick", "stop", "landmark", "candidate", "beside")
"""Styles of points, the most important first: they get labels first and lie on top."""
_WORDS = {
    "start": "start",
    "pick": "chosen place",
    "stop": "place to visit",
    "landmark": "turn",
    "candidate": "other place",
    "beside": "on or beside the way",
}
"""Words of the legend by style of points."""
_SHAPES = dict(zip(_RANK, ("disc", "hexagon", "disc", "plate", "lozenge", "lozenge"), strict=True))
"""Shapes of points with a sign, by style."""


@dataclass(frozen=True, slots=True)
class MapPath:
    """A path on the paper, with its arrows."""

    points: Sequence[Point]
    kind: str = "main"
    """Style classes of the path, separated by spaces; the last one names its colour."""
    label: str = ""
    """Text shown when the path is pointed at; may be empty."""
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True, slots=True)
class MapFigure:
    """A laid-out map: paper, paths, marks, names and legend, with labels placed."""

    title: str
    paper: Paper
    paths: tuple[MapPath, ...]
    """Paths, the most important last."""
    marks: tuple[Mark, ...]
    """Marks, the most important last."""
    names: tuple[tuple[Name, bool], ...]
    """Names of streets and areas, each as (name, True if there is room to write it)."""
    legend: tuple[tuple[str, str], ...] = ()
    """Lines of the legend, each as (style classes, words)."""
    notice: str = ""
    """Credits that the map has to show; may be empty."""
    symbols: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    """Points of the symbols that have room, by symbol."""


def map_figure(
    title: str,
    paper: Paper,
    paths: Iterable[MapPath],
    marks: Iterable[Mark],
    *,
    legend: Iterable[tuple[str, str]] = (),
    notice: str = "",
) -> MapFigure:
    """Return a map with its labels placed: first those of marks, then names of the ground.

    Args:
        title: the title, for those who do not see the map.
        paper: the paper with the ground.
        paths: the paths, the most important last.
        marks: the marks, the most important last.
        legend: (style classes, words) of each line; the pins, areas and symbols that are drawn follow.
        notice: credits that the map has to show.
    """
    room = _Room(paper.across, paper.height / paper.pixel - (NOTICE if notice else 0.0))
    # The most important marks stand last, and get their places and labels first.
    # All shapes take their room before any label, so that none covers a mark.
    shown = move_apart(paper, tuple(marks)[::-1])
    room.taken += [box_of(paper, mark) for mark in shown if not mark.is_joined]
    for at in sorted(range(len(shown)), key=lambda at: shown[at].kind not in RESULTS):
        shown[at] = _add_label(paper, shown[at], room)
    ways = tuple(paths)
    names = tuple(_place_names(paper, tuple(_boxes_along(paper, ways)), room))
    pins = dict.fromkeys(
        (f"pin {mark.kind.split()[-1]}", mark.label.lower())
        for mark in shown[::-1]
        if mark.shape == "pin" and mark.label
    )
    drawn = _symbols_with_room(paper, room)
    signs = ((f"symbol {name}", symbols()[name].legend) for name in drawn)
    lines = dict.fromkeys((*legend, *pins, *_areas_in_view(paper), *signs))
    return MapFigure(title, paper, ways, tuple(shown[::-1]), names, tuple(lines), notice, drawn)


def _areas_in_view(paper: Paper) -> Iterator[tuple[str, str]]:
    """Yield (kind, words of the legend) of each kind of area that the paper shows."""
    view = shapely.box(paper.left, paper.top, paper.left + paper.width, paper.top + paper.height)
    seen = {layer.kind for layer in paper.layers if np.any(shapely.intersects(layer.shapes, view))}
    yield from ((kind, words) for kind, words in AREAS.items() if kind in seen)


def at_width(figure: MapFigure, across: float) -> MapFigure:
    """Return a map without legend whose marks, labels and names are placed for a width of `across` pixels."""
    marks = [
        replace(mark, shift=(0.0, 0.0), side=None, is_joined=False)
        for mark in figure.marks
        if not mark.is_group
    ]
    paper = replace(figure.paper, across=across)
    return map_figure(figure.title, paper, figure.paths, marks, notice=figure.notice)


def _boxes_along(paper: Paper, paths: Sequence[MapPath]) -> Iterator[Rectangle]:
    """Yield rectangles in pixels along paths, which no name and no symbol may cover."""
    for path in paths:
        line = shapely.LineString(path.points if len(path.points) > 1 else ())
        if line.length:  # else GEOS divides by nothing
            for place in shapely.get_coordinates(shapely.segmentize(line, 6 * paper.pixel)).tolist():
                x, y = to_pixels(paper, (place[0], place[1]))
                yield x - 3, y - 3, x + 3, y + 3


def _symbols_with_room(paper: Paper, room: "_Room") -> dict[str, list[Point]]:
    """Return the points of the symbols that have room on a map, by symbol, `SYMBOL_ROOM` pixels apart."""
    drawn: dict[str, list[Point]] = {}
    cells: dict[tuple[int, int], Point] = {}
    for name, *place in paper.places if paper.pixel <= SYMBOLS_UP_TO_M else ():
        x, y = to_pixels(paper, (place[0], place[1]))
        column, row = int(x // SYMBOL_ROOM), int(y // SYMBOL_ROOM)
        near = [cells.get((column + i, row + j)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        half = SYMBOL_SIZE / 2
        if not any(
            other and hypot(other[0] - x, other[1] - y) < SYMBOL_ROOM for other in near
        ) and room.is_free(x - half, y - half, x + half, y + half):
            cells[column, row] = x, y
            drawn.setdefault(name, []).append((place[0], place[1]))
    return drawn


class _Room:
    """The free room of a map for labels; the buttons and the scale bar are taken from the start."""

    def __init__(self, width: float, height: float) -> None:
        """Start with the buttons and the scale bar taken; `width` and `height` are the map's pixels."""
        self.width, self.height = width, height
        self.taken: list[Rectangle] = [(0, 0, *TOOLS), (0, height - CORNER[1], CORNER[0], height)]

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Return whether a rectangle in pixels is on the map, and none that is taken overlaps it."""
        if left < 0 or top < 0 or right > self.width or bottom > self.height:
            return False
        return not any(meet((left, top, right, bottom), other) for other in self.taken)

    def take(self, *boxes: Rectangle) -> bool:
        """Return whether rectangles in pixels are all free, and mark them as taken if so."""
        if not all(self.is_free(*box) for box in boxes):
            return False
        self.taken += boxes
        return True


def _add_label(paper: Paper, mark: Mark, room: _Room) -> Mark:
    """Return a mark with a place for its label, taken in `room`; unchanged without label or free place."""
    if not mark.label or mark.is_joined:
        return mark
    x, y = (
        place + moved for place, moved in zip(to_pixels(paper, (mark.x, mark.y)), mark.shift, strict=True)
    )
    width = LETTER * letters_wide(mark.shown_label)
    for side in label_anchors(mark.shape):
        left, base = x + side.x - side.share * width, y + side.y
        if room.take((left, base - LINE * 0.8, left + width, base + LINE * 0.2)):
            return replace(mark, side=side)
    return mark


def label_anchors(shape: str) -> tuple[LabelAnchor, ...]:
    """Return the positions of a label beside a shape, the preferred one first."""
    left, top, right, bottom = shape_box(shape)
    middle = (top + bottom) / 2 + 4
    return (
        LabelAnchor("below", 0, bottom + LINE + ROOM, 0.5),
        LabelAnchor("above", 0, top - LINE * 0.2 - 2 * ROOM, 0.5),
        LabelAnchor("to-right", right + 2 * ROOM + 1, middle, 0.0),
        LabelAnchor("to-left", left - 2 * ROOM - 1, middle, 1.0),
        LabelAnchor("to-right", right, bottom + LINE + ROOM, 0.0),
        LabelAnchor("to-left", left, bottom + LINE + ROOM, 1.0),
        LabelAnchor("to-right", right, top - LINE * 0.2 - 2 * ROOM, 0.0),
        LabelAnchor("to-left", left, top - LINE * 0.2 - 2 * ROOM, 1.0),
    )


def _place_names(paper: Paper, crossed: Sequence[Rectangle], room: _Room) -> Iterator[tuple[Name, bool]]:
    """Yield each name and whether it has room: first those of the streets that paths (`crossed`) go along.

    They stand beside the path; no other name stands on it.
    """
    fitting = [name for name in paper.names if _width_of(name) <= name.room / paper.pixel]
    walked = [
        name
        for name in fitting
        if name.kind == "street" and any(meet(one, box) for one in _squares(paper, name) for box in crossed)
    ]
    room.taken += crossed
    written: list[Name] = []
    for name in (*walked, *(name for name in paper.names if name not in walked)):
        asides = ASIDES if name in walked else (0.0,)
        is_told = any(
            one.text == name.text and hypot(one.x - name.x, one.y - name.y) < SAME_NAME * paper.pixel
            for one in written
        )
        places = (replace(name, aside=aside) for aside in asides if name in fitting and not is_told)
        placed = next((one for one in places if room.take(*_squares(paper, one))), None)
        written += [placed] if placed else ()
        yield placed or name, placed is not None


def _width_of(name: Name) -> float:
    """Return about how many pixels wide a name is."""
    return NAME_LETTER * letters_wide(name.text)


def letters_wide(text: str) -> int:
    """Return how many Latin letters are about as wide as a text."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _squares(paper: Paper, name: Name) -> list[Rectangle]:
    """Return squares in pixels along a name, so that what stands beside a slanted one keeps its room."""
    width, (x, y) = _width_of(name), to_pixels(paper, (name.x, name.y))
    east, south = cos(radians(name.turn)), sin(radians(name.turn))
    x, y = x - name.aside * south, y + name.aside * east
    half, count = LINE / 2, max(2, ceil(width / LINE))
    along = np.linspace(half - width / 2, width / 2 - half, count).tolist()
    middles = [(x + away * east, y + away * south) for away in along]
    return [(u - half, v - half, u + half, v + half) for u, v in middles]


def draw_map(
    exhibit: MapExhibit, ground: MapGround, *, across: float = NARROW, extent: Extent | None = None
) -> MapFigure | None:
    """Return an exhibit as a map over a city's ground, `across` pixels wide; `None` if it is empty.

    Args:
        exhibit: the points and lines.
        ground: the ground; the parts far off are left out.
        across: approximate width in pixels at which it is shown.
        extent: how much ground is shown; `None` for what suits the width.
    """
    where = [(point.lat, point.lng) for point in exhibit.points]
    where += [position for line in exhibit.lines for position in line.points]
    if not where:
        return None
    frame = LocalFrame(LatLng(*where[0]))
    points = [on_paper(frame, *position) for position in where]
    extent = extent or (Extent(aspect=WIDE_ASPECT) if across >= WIDE else Extent())
    paper = lay_out(frame, points, ground, extent=extent, across=across)
    lines = sorted(exhibit.lines, key=lambda line: line.style == "main")
    paths, marks = exhibit_paths(paper, lines), exhibit_marks(paper, exhibit)
    return map_figure(exhibit.title, paper, paths, marks, legend=exhibit_legend(exhibit, lines))


def exhibit_paths(paper: Paper, lines: Iterable[MapLine]) -> Iterator[MapPath]:
    """Yield an exhibit's lines as paths on paper, the main ones with arrows."""
    for line in lines:
        if line.points:
            points = [paper.place(LatLng(*position)) for position in line.points]
            every = max(ARROW_EVERY_M, paper.width / ARROWS)
            arrows = arrows_along(points, every) if line.style == "main" else ()
            yield MapPath(points, line.style, line.label, arrows)


def exhibit_marks(paper: Paper, exhibit: MapExhibit) -> list[Mark]:
    """Return an exhibit's points as marks on paper, the most important last, so that it lies on top."""
    ranked = sorted(exhibit.points, key=lambda point: _RANK.index(point.style), reverse=True)
    labels = without_common_end([point.label for point in ranked])
    return [
        Mark(
            *paper.place(LatLng(point.lat, point.lng)),
            f"spot {point.style}",
            ": ".join(part for part in (point.label or _WORDS[point.style], point.text) if part),
            shape=_SHAPES[point.style] if point.mark else "diamond",
            sign=point.mark,
            label=label,
        )
        for point, label in zip(ranked, labels, strict=True)
    ]


def exhibit_legend(exhibit: MapExhibit, lines: Sequence[MapLine]) -> list[tuple[str, str]]:
    """Return the legend of points and lines, each as (style classes, words)."""
    styles = {point.style for point in exhibit.points}
    points: list[tuple[str, str]] = [(style, _WORDS[style]) for style in _RANK if style in styles]
    ways = dict.fromkeys((f"line {line.style}", line.label or "way") for line in lines if line.points)
    return points + list(ways if len(ways) <= 4 else dict.fromkeys((kind, "way") for kind, _ in ways))


def without_common_end(labels: Sequence[str]) -> list[str]:
    """Return labels without a last part that all labels with commas share, such as the city's name."""
    ends = [label.rpartition(", ")[2] for label in labels if ", " in label]
    shared = f", {ends[0]}" if len(ends) > 1 and len(set(ends)) == 1 else ""
    return [label.removesuffix(shared) if shared else label for label in labels]
