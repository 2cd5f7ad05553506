"""Buildings of an extract: their footprints, and how high they stand."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from virl.platform.providers.osm.extract import OsmExtract, Shapes, Tags
from virl.platform.providers.osm.measures import metres, number

STOREY_M = 3.2
GROUND_FLOOR_M = 4.0
SMALLEST_M2 = 6.0  # a smaller outline is a box in the street; chosen
HIGHEST_M = 500.0  # chosen: a taller height is a mistake in the data
TOLERANCE_M = 0.15  # corners are dropped where the wall moves less than this
NEIGHBOURS = 8  # known heights that an unknown one is taken from
NEIGHBOURHOOD_M = 120.0

USUAL_M: Mapping[str, float] = {
    "apartments": 14.0, "barn": 7.0, "bungalow": 4.5, "cabin": 3.5, "carport": 2.8, "cathedral": 25.0,
    "chapel": 8.0, "church": 16.0, "commercial": 11.0, "detached": 6.5, "farm": 6.5, "garage": 3.0,
    "garages": 3.0, "greenhouse": 3.5, "hospital": 16.0, "hotel": 16.0, "house": 6.5, "hut": 3.0,
    "industrial": 8.0, "kiosk": 3.2, "mosque": 12.0, "office": 16.0, "public": 12.0, "residential": 9.0,
    "retail": 8.0, "roof": 4.0, "school": 10.0, "semidetached_house": 6.5, "service": 3.0, "shed": 2.6,
    "stable": 4.5, "temple": 10.0, "terrace": 7.0, "tower": 25.0, "train_station": 10.0, "university": 14.0,
    "warehouse": 8.0,
}  # fmt: skip
"""Metres of a building of each kind where its height is unknown; chosen."""
DEFAULT_M = 7.0
LOW = frozenset(
    {"garage", "garages", "carport", "shed", "hut", "roof", "kiosk", "service", "greenhouse", "cabin"}
)
"""Kinds that are no higher where their neighbours are."""


@dataclass(frozen=True, slots=True)
class Houses:
    """n buildings."""

    ids: tuple[str, ...]
    tags: tuple[Tags, ...]
    footprints: Shapes
    """Polygons in metres, with their courtyards, shape (n,)."""
    heights: NDArray[np.float64]
    """Metres, shape (n,)."""
    known: NDArray[np.bool_]
    """Whether the data give the height or the levels, shape (n,)."""


def houses_of(extract: OsmExtract) -> Houses:
    """All buildings of an extract. Where parts are mapped, they stand for the building around them."""
    outlines = [n for n, tags in enumerate(extract.areas.tags) if _is_building(tags)]
    parts = [n for n, tags in enumerate(extract.areas.tags) if tags.get("building:part", "no") != "no"]
    kept = [*_without_parts(extract, outlines, parts), *(n for n in parts if not _floats(extract, n))]
    polygons, owner = shapely.get_parts(
        shapely.make_valid(shapely.simplify(extract.areas.shapes[kept], TOLERANCE_M)), return_index=True
    )
    usable = (shapely.get_type_id(polygons) == shapely.GeometryType.POLYGON) & (
        shapely.area(polygons) >= SMALLEST_M2
    )
    polygons, owner = polygons[usable], owner[usable]
    tags = tuple(extract.areas.tags[kept[n]] for n in owner)
    heights = _heights(tags, polygons)
    return Houses(
        tuple(extract.areas.ids[kept[n]] for n in owner),
        tags,
        shapely.orient_polygons(polygons, exterior_cw=False),
        *heights,
    )


def tagged_height(tags: Tags) -> float | None:
    """Metres of a building whose height or levels are mapped; `None` where neither is, or it is absurd."""
    height = metres(tags.get("height"))
    if height is None and (levels := number(tags.get("building:levels"))):
        height = GROUND_FLOOR_M + STOREY_M * (levels - 1)
    return height if height is not None and 1.5 <= height <= HIGHEST_M else None


def _is_building(tags: Tags) -> bool:
    return tags.get("building", "no") != "no" and not tags.get("layer", "0").startswith("-")


def _floats(extract: OsmExtract, part: int) -> bool:
    """Whether a part begins above the heads of passers-by: the building below it is drawn instead."""
    return (metres(extract.areas.tags[part].get("min_height")) or 0.0) > STOREY_M


def _without_parts(extract: OsmExtract, outlines: list[int], parts: list[int]) -> list[int]:
    """The outlines that their parts do not cover."""
    if not parts or not outlines:
        return outlines
    shapes = extract.areas.shapes
    standing = [part for part in parts if not _floats(extract, part)]
    tree = shapely.STRtree(shapely.point_on_surface(shapes[standing]))
    outline, part = tree.query(shapes[outlines], predicate="contains")
    covered = np.bincount(
        outline, weights=shapely.area(shapes[standing])[part], minlength=len(outlines)
    ) / np.maximum(shapely.area(shapes[outlines]), 1e-6)
    return [number for number, share in zip(outlines, covered, strict=True) if share < 0.7]


def _heights(tags: tuple[Tags, ...], polygons: Shapes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The height of each building, and whether it is known; else by its kind and its neighbours."""
    tagged = np.array([tagged_height(one) or np.nan for one in tags], float)
    known = ~np.isnan(tagged)
    kinds = [one.get("building", one.get("building:part", "yes")) for one in tags]
    usual = np.array([USUAL_M.get(kind, np.nan) for kind in kinds], float)
    low = np.array([kind in LOW for kind in kinds], bool)
    heights = np.where(known, tagged, usual)
    model = np.flatnonzero(known & ~low)
    unknown = np.flatnonzero(~known & ~low)
    if len(model) and len(unknown):
        middles = shapely.get_coordinates(shapely.centroid(polygons))
        away, near = cKDTree(middles[model]).query(middles[unknown], k=min(NEIGHBOURS, len(model)))
        away, near = away.reshape(len(unknown), -1), near.reshape(len(unknown), -1)
        around = np.where(away <= NEIGHBOURHOOD_M, tagged[model][near], np.nan)
        some = (~np.isnan(around)).sum(axis=1) >= 3
        median = np.full(len(unknown), np.nan)
        if some.any():
            median[some] = np.nanmedian(around[some], axis=1)
        own = usual[unknown]
        heights[unknown] = np.where(
            np.isnan(own), median, np.where(np.isnan(median), own, (own + median) / 2)
        )
    return np.where(np.isnan(heights), DEFAULT_M, heights), known
