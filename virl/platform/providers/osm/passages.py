"""Passages through houses: the ground they leave open, and the rooms above them."""

from collections.abc import Iterator

import numpy as np
import shapely
from shapely import Geometry, LineString, Polygon

from virl.geo import Floats, Ints
from virl.platform.providers.osm.extract import OsmExtract, Shapes, Tags
from virl.platform.providers.osm.measures import metres
from virl.platform.providers.osm.ways import ROADS, is_hidden, is_passage

FOOT_M, ROAD_M = 2.6, 3.8  # usual widths of a passage; chosen
WIDTHS_M = (1.8, 7.0)
CLEAR_M = 3.4  # from the ground to the rooms above; chosen
LINTEL_M = 0.8  # what is left of a low house above its passage, at least; chosen
LOWEST_M = 2.3
BEYOND_M = 1.5  # passages are cut so far beyond a way's end, for walls that it meets at an angle
SMALLEST_M2 = 1.5


def passages_of(extract: OsmExtract) -> Shapes:
    """The ground of all passages and covered ways in metres, shape (n,)."""
    found = [
        _ground(shape, tags)
        for tags, shape in zip(extract.lines.tags, extract.lines.shapes, strict=True)
        if is_passage(tags) and not is_hidden(tags) and shape.length > 0
    ]
    made = np.empty(len(found), object)
    made[:] = found
    return made


def open_passages(
    footprints: Shapes, heights: Floats, passages: Shapes
) -> tuple[Shapes, Ints, Shapes, Ints, Floats]:
    """Cut passages out of houses.

    Args:
        footprints: of n houses.
        heights: of their walls, metres, shape (n,).
        passages: the ground to be left open.

    Returns:
        What still stands on the ground and the house that each piece is of; the rooms over passages, the
        house that each is of, and the metres from the ground to each.
    """
    cuts: dict[int, list[Polygon]] = {}
    for passage, house in shapely.STRtree(footprints).query(passages, predicate="intersects").T.tolist():
        cuts.setdefault(house, []).append(passages[passage])
    standing, owner = [], []
    rooms, below, clear = [], [], []
    for house, footprint in enumerate(footprints.tolist()):
        if house not in cuts:
            standing.append(footprint)
            owner.append(house)
            continue
        ground = shapely.union_all(cuts[house])
        for piece in _polygons(shapely.difference(footprint, ground)):
            standing.append(piece)
            owner.append(house)
        for room in _polygons(shapely.intersection(footprint, ground)):
            rooms.append(room)
            below.append(house)
            clear.append(max(min(CLEAR_M, heights[house] - LINTEL_M), LOWEST_M))
    return (
        _array(standing),
        np.array(owner, np.int64),
        _array(rooms),
        np.array(below, np.int64),
        np.array(clear),
    )


def _ground(line: LineString, tags: Tags) -> Polygon:
    """The ground of a passage: as wide as tagged or usual, and a little longer than its way."""
    usual = ROAD_M if tags.get("highway") in ROADS else FOOT_M
    width = min(max(metres(tags.get("width")) or usual, WIDTHS_M[0]), WIDTHS_M[1])
    xy = shapely.get_coordinates(line)
    first, last = xy[0] - xy[1], xy[-1] - xy[-2]
    xy[0] += first / max(float(np.hypot(*first)), 1e-6) * BEYOND_M
    xy[-1] += last / max(float(np.hypot(*last)), 1e-6) * BEYOND_M
    return LineString(xy).buffer(width / 2, cap_style="flat", join_style="mitre")


def _polygons(shape: Geometry) -> Iterator[Polygon]:
    for part in shapely.get_parts(shapely.make_valid(shape)):
        if isinstance(part, Polygon) and part.area >= SMALLEST_M2:
            yield shapely.orient_polygons(part, exterior_cw=False)


def _array(polygons: list[Polygon]) -> Shapes:
    made = np.empty(len(polygons), object)
    made[:] = polygons
    return made
