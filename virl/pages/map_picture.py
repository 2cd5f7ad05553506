"""A map as a picture, for clients that show pictures and no pages."""

from collections.abc import Iterable, Sequence
from math import cos, radians, sin

import PIL.Image
import PIL.ImageDraw
import shapely

from virl.pages.fonts import font, in_face
from virl.pages.ground import Name
from virl.pages.maps import NOTICE, MapFigure, MapPath
from virl.pages.marks import Mark
from virl.pages.paper import Paper, Point
from virl.pages.symbols import symbols
from virl.pages.theme import CASING_PX, EDGES_UP_TO_M, ROADS, colour_of, colours, shapes
from virl.plain_text import plain_line

# The looks, in pixels; all chosen.
FINER = 2
"""Factor by which maps are drawn larger before they are shrunk, which smooths their edges."""
ROUTE, HALO, FAN = 5.0, 9.0, 34.0  # width of paths and of the halo below, and radius of a field of view
FOOTPATH = 1.2  # width of footpaths
WORDS, SIGN, SMALL = 13, 11, 11  # font sizes of labels, signs in marks, and names


def draw_picture(figure: MapFigure, width: int) -> PIL.Image.Image:
    """Return a map as a picture `width` pixels wide, with scale bar and notice."""
    paper = figure.paper
    height = round(width * paper.height / paper.width)
    return _Pen(paper, width, height).draw(figure).resize((width, height), PIL.Image.Resampling.LANCZOS)


class _Pen:
    """A map being drawn as a picture, `FINER` times as large as it will be."""

    def __init__(self, paper: Paper, width: int, height: int) -> None:
        """Start an empty picture of a paper; `width` and `height` are pixels of the final picture."""
        self.paper = paper
        self.known = colours()
        self.picture = PIL.Image.new("RGB", (width * FINER, height * FINER), self.known["land"])
        self.pen = PIL.ImageDraw.Draw(self.picture)
        self.per_metre = width * FINER / paper.width

    def draw(self, figure: MapFigure) -> PIL.Image.Image:
        """Draw all parts of a map, and return the picture, still `FINER` times as large."""
        pixel = FINER / self.per_metre
        for layer in self.paper.layers:
            has_edge = layer.kind == "house" and pixel <= EDGES_UP_TO_M
            for shape in layer.shapes:
                if isinstance(shape, shapely.Polygon):
                    edge = self.known["house-edge"] if has_edge else None
                    self.pen.polygon(self._all_to_pixels(shape.exterior.coords), self.known[layer.kind], edge)
                    for hole in shape.interiors:
                        self.pen.polygon(self._all_to_pixels(hole.coords), self.known["land"])
        self._draw_ways()
        for symbol, places in figure.symbols.items():
            self._draw_symbols(symbol, places)
        for name, has_room in figure.names:
            if has_room:
                self._draw_name(name)
        for path in figure.paths:
            self._draw_path(path)
        for mark in figure.marks:
            if not mark.is_joined:
                self._draw_mark(mark)
        self._write_labels(figure)
        self._draw_scale_and_notice(figure.notice)
        return self.picture

    def _write_labels(self, figure: MapFigure) -> None:
        """Write the labels of marks that have room."""
        for mark in figure.marks:
            if mark.label and mark.side:
                x, y = self._to_pixels((mark.x, mark.y))
                anchor = {0.0: "ls", 1.0: "rs"}.get(mark.side.share, "ms")
                at = x + (mark.side.x + mark.shift[0]) * FINER, y + (mark.side.y + mark.shift[1]) * FINER
                words = plain_line(mark.shown_label)
                self._write(at, words, WORDS, self.known["ink"], anchor, halo=True)

    def _draw_ways(self) -> None:
        """Draw the roads, all edges before all surfaces, then footpaths."""
        ways = [layer for layer in self.paper.layers if layer.kind in ROADS]
        for part, edge in (("casing", CASING_PX), ("road", 0.0)):
            for layer in ways:
                metres, least = ROADS[layer.kind]
                across = max(metres * self.per_metre, least * FINER) + 2 * edge * FINER
                for shape in layer.shapes:
                    self._draw_line(shape.coords, self.known[part], across)
        for layer in self.paper.layers:
            for shape in layer.shapes if layer.kind == "footpath" else ():
                self._draw_line(shape.coords, self.known["footpath"], FOOTPATH * FINER)

    def _draw_symbols(self, name: str, places: Iterable[Point]) -> None:
        """Draw a symbol at each of some places on paper, with a rim."""
        for place in places:
            x, y = self._to_pixels(place)
            drawn = [[(x + u * FINER, y + v * FINER) for u, v in part] for part in symbols()[name].shape]
            for part in drawn:
                self.pen.polygon(part, self.known["on"], self.known["on"], 3 * FINER)
            for part in drawn:
                self.pen.polygon(part, colour_of(f"at-{name}"))

    def _draw_path(self, path: MapPath) -> None:
        """Draw a path, with a halo unless it is thin."""
        is_thin = path.kind.startswith(("sight", "other", "region"))
        if not is_thin:
            self._draw_line(path.points, self.known["on"], HALO * FINER)
        self._draw_line(path.points, colour_of(path.kind), (2.0 if is_thin else ROUTE) * FINER)

    def _draw_line(self, points: Iterable[Sequence[float]], colour: str, across: float) -> None:
        """Draw a line of points in metres with round ends, `across` pixels of the large picture wide."""
        corners = self._all_to_pixels(points)
        self.pen.line(corners, colour, max(1, round(across)), joint="curve")
        for x, y in (corners[0], corners[-1]):
            half = across / 2
            self.pen.ellipse((x - half, y - half, x + half, y + half), colour)

    def _draw_mark(self, mark: Mark) -> None:
        """Draw a mark with its field of view, its shape and its sign."""
        (x, y), shape = self._to_pixels((mark.x, mark.y)), shapes()[mark.shape]
        colour = colour_of(mark.kind)
        is_hollow = mark.kind.endswith(("walk", "from"))
        fill, edge = (self.known["on"], colour) if is_hollow else (colour, self.known["on"])
        if mark.heading is not None:
            box = [x - FAN * FINER, y - FAN * FINER, x + FAN * FINER, y + FAN * FINER]
            self.pen.pieslice(box, mark.heading - 135, mark.heading - 45, _tint(colour, self.known["land"]))
        place, x, y = (x, y), x + mark.shift[0] * FINER, y + mark.shift[1] * FINER
        self.pen.line((*place, x, y), self.known["ink"], FINER)
        if isinstance(shape, tuple):
            corners = [(x + dx * FINER, y + dy * FINER) for dx, dy in shape]
            self.pen.polygon(corners, fill, edge, 2 * FINER)
        else:
            r = shape * FINER
            self.pen.ellipse((x - r, y - r, x + r, y + r), fill, edge, round(1.6 * FINER))
        if mark.sign:
            up = 17 * FINER if mark.shape == "pin" else 0
            self._write((x, y - up), mark.shown_sign, SIGN, self.known["on"], "mm")

    def _draw_scale_and_notice(self, notice: str) -> None:
        """Draw the scale bar at the lower left, and the notice's first line below it."""
        bottom, ink = self.picture.height - (12 + (NOTICE if notice else 0)) * FINER, self.known["ink"]
        left, length = 12 * FINER, self.paper.scale_m * self.per_metre
        self.pen.line((left, bottom, left + length, bottom), ink, 2 * FINER)
        scale = f"{self.paper.scale_words}, north is up"
        self._write((left, bottom - 6 * FINER), scale, SMALL, ink, "ls", halo=True)
        line = plain_line(notice.splitlines()[0]) if notice else ""
        self._write((left, self.picture.height - 6 * FINER), line, SMALL, ink, "ls", halo=True)

    def _write(
        self, at: Point, text: str, size: int, colour: str, anchor: str, *, halo: bool = False
    ) -> None:
        """Write text at a pixel of the large picture by Pillow's `anchor`; `size` is in final pixels."""
        text, face = in_face(text)
        edge = 2 * FINER if halo else 0
        letters, ground = font(face, size * FINER), self.known["land"]
        self.pen.text(at, text, colour, letters, anchor, stroke_width=edge, stroke_fill=ground)

    def _draw_name(self, name: Name) -> None:
        """Write a street's name along the street, or an area's name horizontally."""
        text, face = in_face(plain_line(name.text))
        letters, edge = font(face, SMALL * FINER), 2 * FINER
        box = self.pen.textbbox((0, 0), text, letters, "mm", stroke_width=edge)
        size = round(box[2] - box[0]), round(box[3] - box[1])
        stamp = PIL.Image.new("RGBA", size, (0, 0, 0, 0))
        PIL.ImageDraw.Draw(stamp).text(
            (size[0] / 2, size[1] / 2), text, self.known[f"{name.kind}-name"], letters, "mm",
            stroke_width=edge, stroke_fill=self.known["on"],
        )  # fmt: skip
        turned = stamp.rotate(-name.turn, PIL.Image.Resampling.BICUBIC, expand=True)
        x, y = self._to_pixels((name.x, name.y))
        x -= name.aside * FINER * sin(radians(name.turn))
        y += name.aside * FINER * cos(radians(name.turn))
        self.picture.paste(turned, (round(x - turned.width / 2), round(y - turned.height / 2)), turned)

    def _all_to_pixels(self, points: Iterable[Sequence[float]]) -> list[Point]:
        """Return points (x, y) on paper, metres, as pixels of the large picture."""
        return [self._to_pixels((point[0], point[1])) for point in points]

    def _to_pixels(self, point: Point) -> Point:
        """Return a point on paper, metres, as a pixel of the large picture."""
        return (point[0] - self.paper.left) * self.per_metre, (point[1] - self.paper.top) * self.per_metre


def _tint(colour: str, other: str) -> str:
    """Return the mix of one part of a colour with two parts of another, each `#rrggbb`."""
    parts = [(int(colour[i : i + 2], 16) + 2 * int(other[i : i + 2], 16)) // 3 for i in (1, 3, 5)]
    return "#" + "".join(f"{part:02x}" for part in parts)
