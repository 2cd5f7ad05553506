"""Posts below roofs without walls and below what juts out of houses, clear of streets."""

from collections.abc import Sequence

import numpy as np
import shapely
from shapely import Polygon

from virl.platform.providers.offline.plan import Point, Street
from virl.platform.providers.osm.houses import Houses
from virl.platform.providers.osm.network import Floats

# All chosen.
INSET_M, SMOOTHED_M, EVERY_M = 0.35, 0.5, 8.0
HIGHEST_M = 16.0  # what begins higher hangs between towers, or is a mistake in the data
LEAST_OPEN_M2 = 8.0  # of open ground below it
OFF_HOUSE_M, OFF_STREET_M = 0.5, 0.5
MOST = 60


def supports(houses: Houses, streets: Sequence[Street]) -> list[tuple[Point, ...]]:
    """The posts below each overhang of the houses, metres; none below a room over a passage."""
    above = houses.above
    ground, all_above = shapely.STRtree(houses.footprints), shapely.STRtree(above.footprints)
    lines = np.array([shapely.LineString(street.line) for street in streets], object)
    half = np.array([street.road / 2 or street.pavement for street in streets])
    ways = shapely.STRtree(lines)
    reach = float(half.max(initial=0.0)) + OFF_STREET_M
    found: list[tuple[Point, ...]] = []
    for number, footprint in enumerate(above.footprints.tolist()):
        if above.passages[number] or above.bases[number] > HIGHEST_M:
            found.append(())
            continue
        lower = [one for one in all_above.query(footprint) if above.bases[one] < above.bases[number]]
        below = [*houses.footprints[ground.query(footprint)], *above.footprints[lower]]
        taken = shapely.union_all(below)
        if shapely.difference(footprint, taken).area < LEAST_OPEN_M2:
            found.append(())
            continue
        xy = _along_edge(footprint)
        points = np.asarray(shapely.points(xy))
        free = shapely.distance(points, taken) > OFF_HOUSE_M if below else np.ones(len(xy), bool)
        point, way = ways.query(points, predicate="dwithin", distance=reach).reshape(2, -1)
        in_way = shapely.distance(points[point], lines[way]) < half[way] + OFF_STREET_M
        free[point[in_way]] = False
        found.append(tuple((float(x), float(y)) for x, y in xy[free][:MOST]))
    return found


def _along_edge(footprint: Polygon) -> Floats:
    """The corners of a footprint and points between them, a little inwards."""
    inner = shapely.simplify(shapely.buffer(footprint, -INSET_M, join_style="mitre"), SMOOTHED_M)
    rings = [
        part.exterior for part in shapely.get_parts(inner) if isinstance(part, Polygon) and not part.is_empty
    ]
    if not rings:
        return np.empty((0, 2))
    xy = np.concatenate([shapely.get_coordinates(shapely.segmentize(ring, EVERY_M))[:-1] for ring in rings])
    spots: Floats = np.round(xy, 2)
    return spots
