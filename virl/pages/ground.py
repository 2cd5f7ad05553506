"""The ground of a map: streets, houses, parks, water and squares with their names, laid out on paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import shapely

from virl.geo.globe import LocalFrame
from virl.pages.symbols import symbols
from virl.pages.theme import EDGES_UP_TO_M

Position = tuple[float, float]
"""A position as (latitude, longitude), WGS84 degrees."""
Shape = shapely.Polygon | shapely.LineString
"""A geometry of the ground: a polygon or a line."""
WayKind = Literal["main", "street", "lane", "footpath"]
"""Kind of a way: a main road, street, lane or footpath."""
AreaKind = Literal["park", "water", "square", "house"]
"""Kind of an area: a park, water, a paved square or a house."""

AREAS: Mapping[AreaKind, str] = {"park": "park", "water": "water", "square": "paved square", "house": "house"}
"""Words of the legend by kind of area, in the order in which they are drawn."""
WAYS: tuple[WayKind, ...] = ("footpath", "lane", "street", "main")
"""Kinds of ways in the order in which they are drawn."""
# The looks of the ground, all chosen.
DETAIL_PX = 0.15
"""Most pixels by which a simplified line leaves the true one, before a map is zoomed."""
MOST_ZOOM = 12
"""Largest factor by which readers can enlarge a map."""
TOGETHER_M = 1.0
"""Metres per pixel above which houses that touch are drawn as one."""
MOST_NAMES = 200
"""Most names that are written on a map."""
NAMES_OF_A_WAY = 4
"""Most times that a street's name is written along it."""
STRAIGHT_M = 3.0  # a name stands along a piece of its street that bends less than this
SHORTEST_M = 25.0  # length of the shortest piece of street that carries a name


@dataclass(frozen=True, slots=True)
class Way:
    """A street or path: its kind, centre line and name."""

    line: Sequence[Position]
    """Positions of the centre line, (lat, lng) in degrees."""
    kind: WayKind = "street"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """A house, park, water or paved square: its kind, outline and name."""

    outline: shapely.Polygon
    """Outline in WGS84 degrees, with the longitude as x."""
    kind: AreaKind
    name: str = ""


@dataclass(frozen=True, slots=True)
class MapGround:
    """Ways, areas and places of a city that maps draw as the ground."""

    ways: Sequence[Way] = ()
    areas: Sequence[Area] = ()
    places: Sequence[tuple[str, Position]] = ()
    """Places, each as (name of its symbol, position)."""


def ground_of_lines(lines: Sequence[Sequence[Position]]) -> MapGround:
    """Return a ground with only streets of one kind, from their centre lines in degrees."""
    return MapGround([Way(line) for line in lines])


@dataclass(frozen=True, slots=True)
class Layer:
    """Geometries of one kind of ground, in metres on paper: x to the east, y to the south."""

    kind: str
    """Kind of area or way."""
    shapes: tuple[Shape, ...]
    """Lines or polygons of the layer."""
    grain: float
    """Metres to which coordinates are rounded in SVG."""

    @property
    def data(self) -> str:
        """The layer's geometries as SVG path data of relative moves, rounded to `grain` metres."""
        rings: list[shapely.Geometry] = []
        areas: list[bool] = []
        for shape in self.shapes:
            if isinstance(shape, shapely.Polygon):
                rings += [shape.exterior, *shape.interiors]
            else:
                rings.append(shape)
            areas += [isinstance(shape, shapely.Polygon)] * (len(rings) - len(areas))
        # All rings at once: a town has a hundred thousand, each of a few corners.
        places, ring = shapely.get_coordinates(rings, return_index=True)
        corners = np.rint(places / self.grain)
        kept = np.append(True, np.any(np.diff(corners, axis=0), axis=1) | (np.diff(ring) > 0))
        corners, ring = corners[kept[: len(corners)]] * self.grain, ring[kept[: len(ring)]]
        starts = np.searchsorted(ring, np.arange(len(rings) + 1)).tolist()
        moves = corners.tolist()
        steps = np.round(np.diff(corners, axis=0), 2).tolist()
        data = []
        for is_area, first, end in zip(areas, starts[:-1], starts[1:], strict=True):
            if end - first >= (4 if is_area else 2):
                last = end - (2 if is_area else 1)
                words = " ".join([f"{x:.6g} {y:.6g}" for x, y in steps[first:last]])
                x, y = moves[first]
                data.append(f"M{x:.7g} {y:.7g}l{words}{'z' if is_area else ''}")
        return "".join(data)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a street or area, with the place on the paper where it may be written."""

    text: str
    kind: Literal["street", "area"]
    x: float
    """Middle of the name, in metres east of the frame's origin."""
    y: float
    """Middle of the name, in metres south of the frame's origin."""
    turn: float
    """Degrees by which the name is turned clockwise from level, [-90, 90]."""
    room: float
    """Length in metres that the name may take on the map."""
    aside: float = 0.0
    """Pixels by which the name is written below its place, across its direction."""


def layers_on(
    ground: MapGround,
    frame: LocalFrame,
    window: shapely.Polygon,
    pixel: float,
    view: shapely.Polygon | None = None,
) -> tuple[tuple[Layer, ...], tuple[Name, ...]]:
    """Return (layers, names with the most room first) of the ground in a window; a pixel is `pixel` metres.

    Args:
        ground: the ground, of any size.
        frame: the frame of the paper.
        window: a polygon on the paper, in metres; whole shapes that touch it are kept.
        pixel: metres that one pixel covers; details smaller than a fraction of it are left out.
        view: the part of the window that is seen first, in which each street is named for itself.
    """
    across = window.bounds[2] - window.bounds[0]
    # Digits make a page large: coordinates are as coarse as the map's scale allows.
    grain = 0.05 if pixel < 0.15 else 0.5 if across < 12_000 else 1.0
    layers, names = [], []
    seen = [kind for kind in AREAS if kind != "house" or pixel < EDGES_UP_TO_M * MOST_ZOOM]
    for kind in seen:
        areas = [area for area in ground.areas if area.kind == kind]
        shapes, kept = _shapes_near(_to_paper(frame, [area.outline for area in areas]), window)
        rows = shapes
        if kind == "house" and pixel > TOGETHER_M:  # rows of houses as one: a third of the digits
            rows = shapely.get_parts(shapely.union_all(shapely.make_valid(shapes), grid_size=grain))
        layers.append(Layer(kind, _simplify(rows, pixel), grain))
        for index, shape in zip(kept, shapes.tolist(), strict=True):
            if text := areas[index].name:
                middle = shape.representative_point()
                room = shape.bounds[2] - shape.bounds[0]
                names.append(Name(text, "area", middle.x, middle.y, 0.0, room))
    for way_kind in WAYS:
        ways = [way for way in ground.ways if way.kind == way_kind and len(way.line) > 1]
        lines = [shapely.LineString([(lng, lat) for lat, lng in way.line]) for way in ways]
        shapes, kept = _shapes_near(_to_paper(frame, lines), window)
        layers.append(Layer(way_kind, _simplify(shapes, pixel), grain))
        names += _way_names([ways[index].name for index in kept], shapes, view or window)
    names.sort(key=lambda name: -name.room)
    return tuple(layer for layer in layers if layer.shapes), tuple(names[:MOST_NAMES])


def places_on(
    ground: MapGround, frame: LocalFrame, window: shapely.Polygon
) -> tuple[tuple[str, float, float], ...]:
    """Return the places in a window, each as (symbol, metres east, metres south), in the order of symbols.

    Args:
        ground: the ground, of any size.
        frame: the frame of the paper.
        window: a polygon on the paper, in metres.
    """
    points = _to_paper(frame, [shapely.Point(lng, lat) for _, (lat, lng) in ground.places])
    near, kept = _shapes_near(points, window)
    names = [ground.places[index][0] for index in kept]
    order = {name: number for number, name in enumerate(symbols())}
    placed = [
        (name, round(2 * one.x) / 2, round(2 * one.y) / 2)
        for name, one in zip(names, near.tolist(), strict=True)
    ]
    return tuple(sorted(placed, key=lambda one: order[one[0]]))


def _to_paper(frame: LocalFrame, shapes: Sequence[shapely.Geometry]) -> np.ndarray:
    """Return geometries in degrees, longitude as x, as geometries in metres on paper."""

    def on_paper(lng_lat: np.ndarray) -> np.ndarray:
        """Return points (lng, lat) in degrees as metres east and south."""
        x, y = frame.to_metres(lng_lat[:, 1], lng_lat[:, 0])
        return np.column_stack([x, -y])

    moved: np.ndarray = shapely.transform(np.array(shapes, object), on_paper)
    return moved


def _shapes_near(shapes: np.ndarray, window: shapely.Polygon) -> tuple[np.ndarray, Sequence[int]]:
    """Return (geometries that touch a window, their indices)."""
    kept = np.flatnonzero(shapely.intersects(shapes, window)) if len(shapes) else np.zeros(0, int)
    return shapes[kept], kept.tolist()


def _simplify(shapes: np.ndarray, pixel: float) -> tuple[Shape, ...]:
    """Return geometries simplified for pixels of `pixel` metres, without those that are empty then."""
    found = shapely.simplify(shapes, DETAIL_PX * pixel).tolist() if len(shapes) else []
    return tuple(shape for shape in found if not shape.is_empty)


def _way_names(names: Sequence[str], shapes: np.ndarray, view: shapely.Polygon) -> Iterator[Name]:
    """Yield each street's name at the middles of its longest straight pieces in and out of a view."""
    lines: dict[str, list[shapely.LineString]] = {}
    for text, shape in zip(names, shapes.tolist(), strict=True):
        if text:
            lines.setdefault(text, []).append(shape)
    for text, pieces in lines.items():
        whole = shapely.simplify(shapely.line_merge(shapely.MultiLineString(pieces)), STRAIGHT_M)
        for part in (shapely.intersection(whole, view), shapely.difference(whole, view)):
            straight = [
                (float(np.hypot(x1 - x0, y1 - y0)), (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0)
                for line in shapely.get_parts(part).tolist()
                if isinstance(line, shapely.LineString)
                for (x0, y0), (x1, y1) in pairwise(line.coords)
            ]
            for length, x, y, east, south in sorted(straight, reverse=True)[:NAMES_OF_A_WAY]:
                if length >= SHORTEST_M:
                    yield Name(text, "street", x, y, _text_turn(east, south), length)


def _text_turn(x: float, y: float) -> float:
    """Return the turn, [-90, 90] degrees clockwise, at which words along (x, y) read left to right."""
    turn = float(np.degrees(np.arctan2(y, x)))
    return turn - 180.0 if turn > 90.0 else turn + 180.0 if turn < -90.0 else turn
