"""The map of a town: streets, houses and places, as few SVG paths as there are kinds of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.drawing.paper import Extent, Paper, Point, lay_out, on_paper
from virl.geo import LatLng, LocalFrame
from virl.platform.city import City
from virl.platform.networks import held_street_map

# The looks of the map, all chosen.
ACROSS_PX = 820.0
ASPECTS = (0.85, 2.0)
MARGIN = 0.02  # of the town's longer side
STREET_M, STREET_PX = 7.0, 1.3  # a street is as wide as the larger of the two
KERB_PX = 0.9  # on each side of it
DETAIL_PX = 0.15  # what is smaller is not drawn: maps are zoomed in up to twelve times
FINE_M = 4000.0  # a wider map is written in whole metres

Shapes = Sequence[shapely.Geometry]


@dataclass(frozen=True, slots=True)
class TownMap:
    """The map, as SVG draws it."""

    paper: Paper
    streets: str
    """Path data of the centre lines."""
    street_m: float
    """Width at which they are drawn."""
    kerb_m: float
    """Width of what lies below them, which sets them off from the ground."""
    houses: str
    """Path data of the outlines; empty where none are known."""
    places: str
    """Path data of points; empty where none are known."""


def town_map(city: City, shown: Sequence[LatLng] = ()) -> TownMap:
    """Lay out the map of a city that is held whole.

    Args:
        city: with at least one street.
        shown: positions that have to be on the map too.
    """
    lines = held_street_map(city).lines()
    frame = LocalFrame(city.center)
    streets = [np.array([on_paper(frame, *position) for position in line]) for line in lines if len(line) > 1]
    ends = np.concatenate([*streets, np.array([on_paper(frame, *one) for one in shown]).reshape(-1, 2)])
    wide, high = np.ptp(ends, axis=0)
    aspect = float(np.clip(wide / max(high, 1.0), *ASPECTS))
    extent = Extent(aspect=aspect, margin_m=20.0 + MARGIN * float(max(wide, high)), beyond=0.0, scale=1 / 6)
    low, top = ends.min(axis=0), ends.max(axis=0)
    paper = lay_out(frame, [tuple(low.tolist()), tuple(top.tolist())], (), extent=extent, across=ACROSS_PX)
    inventory = city.inventory
    houses = [_turned(frame, house.outline) for house in inventory.houses()] if inventory else []
    places = [on_paper(frame, *place.position) for place in inventory.places()] if inventory else []
    street_m = max(STREET_M, STREET_PX * paper.pixel)
    return TownMap(
        paper,
        _path(paper, [shapely.LineString(line) for line in streets]),
        street_m,
        street_m + 2 * KERB_PX * paper.pixel,
        _path(paper, houses),
        "".join(f"M{_at(paper, place)}h0" for place in places if _is_on(paper, place)),
    )


def _turned(frame: LocalFrame, outline: shapely.Polygon) -> shapely.Polygon:
    """An outline in degrees, on paper; SVG tells its courtyards by their sense of rotation."""

    def flat(lng_lat: np.ndarray) -> np.ndarray:
        x, y = frame.to_metres(lng_lat[:, 1], lng_lat[:, 0])
        return np.column_stack([x, -y])

    return shapely.orient_polygons(shapely.transform(outline, flat))


def _path(paper: Paper, shapes: Shapes) -> str:
    """Path data of the lines and rings of shapes, those off the paper left out."""
    sheet = shapely.box(paper.left, paper.top, paper.left + paper.width, paper.top + paper.height)
    near = np.array([shape for shape in shapes if sheet.intersects(shape)], object)
    written = []
    for shape in shapely.simplify(near, DETAIL_PX * paper.pixel).tolist():
        rings = [shape.exterior, *shape.interiors] if isinstance(shape, shapely.Polygon) else [shape]
        for ring in rings:
            corners = [_at(paper, point) for point in ring.coords]
            closed = "z" if isinstance(shape, shapely.Polygon) else ""
            written.append(f"M{'L'.join(corners[:-1] if closed else corners)}{closed}")
    return "".join(written)


def _at(paper: Paper, point: Sequence[float]) -> str:
    decimals = 1 if paper.width < FINE_M else 0
    return f"{point[0]:.{decimals}f} {point[1]:.{decimals}f}"


def _is_on(paper: Paper, point: Point) -> bool:
    x, y = point[0] - paper.left, point[1] - paper.top
    return 0 <= x <= paper.width and 0 <= y <= paper.height
