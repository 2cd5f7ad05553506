"""Trees from a seed: in forests and orchards, and along rows of trees."""

from collections.abc import Iterator

import numpy as np
import shapely
from numpy.random import Generator
from shapely import LineString, Polygon

from virl.geo.globe import Floats
from virl.osm.extract import OsmExtract, Tags
from virl.osm.spots import Spots
from virl.osm.ways import WayFilter, is_hidden
from virl.towns.plan.town_plan import Furniture

# All chosen.
MOST = 20_000
"""Most trees of a town; those nearest to houses are planted."""
SEEN_M = 55.0
"""Most metres from a tree to the nearest panorama: farther ones are hidden by nearer ones."""
FOREST_M, ORCHARD_M, ROW_M = 6.5, 7.0, 9.0  # from tree to tree
JITTER = 0.35
"""Largest random move of a forest's trees, as a share of their distance."""
OFF_STREET_M, OFF_HOUSE_M, OFF_SIGHT_M, OFF_THING_M, OFF_EYE_M = 1.5, 3.0, 2.5, 3.0, 3.5
ROW_OFF_STREET_M = 0.3
CROWDED = 60_000
"""Most spots that are tried, those nearest to houses first."""


def trees_of(extract: OsmExtract, spots: Spots, seed: int) -> tuple[Furniture, ...]:
    """Return random trees in mapped woods, orchards and rows, near panoramas.

    Args:
        extract: OpenStreetMap data.
        spots: that are free.
        seed: same seed, same trees.
    """
    rng = np.random.default_rng([seed, 0x7EE5])
    forest = [_grow_grid(area, FOREST_M, JITTER, rng) for area in _areas(extract, _is_forest)]
    orchard = [_grow_grid(area, ORCHARD_M, 0.0, rng) for area in _areas(extract, _is_orchard)]
    rows = [_points_along(line) for line in _rows(extract)]
    lines = _free(_join(rows), spots, ROW_OFF_STREET_M)
    woods = _free(_join([*forest, *orchard]), spots, OFF_STREET_M)
    xy = np.concatenate([lines, woods])
    xy = xy[:MOST]
    kinds = rng.integers(0, 997, len(xy))
    return tuple(
        Furniture(
            f"seeded-tree-{number + 1:05d}", "tree", round(x, 2), round(y, 2), float(kind % 360), kind,
            is_mapped=False,
        )
        for number, ((x, y), kind) in enumerate(zip(xy.tolist(), kinds.tolist(), strict=True))
    )  # fmt: skip


def _free(xy: Floats, spots: Spots, off_street: float) -> Floats:
    """Return the points where a tree can stand, those nearest to houses first, metres, shape (n, 2)."""
    if not len(xy):
        return xy
    away = spots.near_panoramas(xy)
    xy = xy[(away <= SEEN_M) & (away >= OFF_EYE_M)]
    xy = xy[np.argsort(spots.near_houses(xy), kind="stable")[:CROWDED]]
    xy = xy[spots.off_streets(xy, off_street)]
    xy = xy[spots.off_houses(xy, OFF_HOUSE_M)]
    xy = xy[spots.off_things(xy, OFF_THING_M)]
    return xy[spots.off_sights(xy, OFF_SIGHT_M, tall=True)]


def _is_forest(tags: Tags) -> bool:
    """Return whether an area is a forest."""
    return tags.get("landuse") == "forest" or tags.get("natural") == "wood"


def _is_orchard(tags: Tags) -> bool:
    """Return whether an area is an orchard."""
    return tags.get("landuse") == "orchard"


def _areas(extract: OsmExtract, which: WayFilter) -> Iterator[Polygon]:
    """Yield each polygon, metres, of the areas that a filter keeps."""
    for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True):
        if which(tags):
            for part in shapely.get_parts(shapely.intersection(shape, extract.outline)):
                if isinstance(part, Polygon) and part.area > FOREST_M**2:
                    yield part


def _rows(extract: OsmExtract) -> Iterator[LineString]:
    """Yield the lines of rows of trees."""
    for tags, line in zip(extract.lines.tags, extract.lines.shapes, strict=True):
        if tags.get("natural") == "tree_row" and not is_hidden(tags):
            yield line


def _grow_grid(area: Polygon, apart: float, jitter: float, rng: Generator) -> Floats:
    """Return grid points in an area, moved at random by up to a share of the step, shape (n, 2)."""
    west, south, east, north = area.bounds
    x, y = np.meshgrid(np.arange(west, east, apart), np.arange(south, north, apart))
    xy = np.stack([x.ravel(), y.ravel()], axis=1)
    xy += rng.uniform(-jitter, jitter, xy.shape) * apart
    shapely.prepare(area)
    grown: Floats = xy[shapely.contains_xy(area, xy[:, 0], xy[:, 1])]
    return grown


def _points_along(line: LineString) -> Floats:
    """Return points about `ROW_M` metres apart along a line, shape (n, 2)."""
    count = max(1, round(line.length / ROW_M))
    at = shapely.line_interpolate_point(line, np.arange(count + 1) / count, normalized=True)
    points: Floats = shapely.get_coordinates(at)
    return points


def _join(parts: list[Floats]) -> Floats:
    """Return points of all parts, shape (n, 2)."""
    return np.concatenate([*parts, np.empty((0, 2))])
