"""The page of a town: one HTML file that needs nothing beside itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely

from virl.drawing.page import draw_exhibits
from virl.drawing.paper import Extent, Paper, Point, lay_out, on_paper
from virl.files import write_whole
from virl.geo import LatLng, LocalFrame, compass_word
from virl.journal.page import page
from virl.platform.city import City
from virl.platform.networks import held_street_map
from virl.town.facts import town_facts
from virl.town.views import TownView, town_views
from virl.version import __version__

# The looks of the map, all chosen.
ACROSS_PX = 820.0
ASPECTS = (0.85, 2.0)
MARGIN = 0.02  # of the town's longer side
STREET_M, STREET_PX = 7.0, 1.3  # a street is as wide as the larger of the two
KERB_PX = 0.9  # on each side of it
DETAIL_PX = 0.15  # what is smaller is not drawn: maps are zoomed in up to twelve times
FINE_M = 4000.0  # a wider map is written in whole metres

Shapes = Sequence[shapely.Geometry]
_TEMPLATES = Path(__file__).parent / "templates"


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


@dataclass(frozen=True, slots=True)
class _Placed:
    """A view with its place on the map."""

    view: TownView
    at: Point
    title: str
    """Its street and the way it looks."""


def write_town(city: City, out: Path, views: int = 10, seed: int = 0) -> int:
    """Write the page of a city that is held whole.

    Args:
        city: made, of OpenStreetMap, or of a graph data set.
        out: where the page goes.
        views: how many views it shows, at most; a city without pictures has none.
        seed: chooses the views, any non-negative integer.

    Returns:
        How many views it shows.

    Raises:
        BadInput: the city is asked over a network.
        CannotWrite: the page cannot be written.
    """
    facts = town_facts(city)
    shown = town_views(city, views, seed)
    ground = town_map(city)
    html = page(
        "town.html.j2",
        {
            "city": city,
            "facts": facts,
            "exhibits": draw_exhibits(facts.exhibits, ()),
            "map": ground,
            "views": [_placed(ground, view) for view in shown],
            "asked": views,
            "seed": seed,
            "version": __version__,
        },
        styles=("exhibits.css", "town.css"),
        scripts=("maps.js", "tables.js"),
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")
    return len(shown)


def _placed(ground: TownMap, view: TownView) -> _Placed:
    way = f"looking {compass_word(view.camera.heading)}"
    title = f"{view.street}, {way}" if view.street else way.capitalize()
    return _Placed(view, ground.paper.place(view.panorama.position), title)
