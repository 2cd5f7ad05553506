"""Outlines that osmium does not close: crossed rings are mended, and what cannot be closed keeps a point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import osmium
import shapely

from virl.geo.globe import Floats, LatLng, LocalFrame

Tags = Mapping[str, str]
AREA_KEYS = (
    "addr:housenumber", "amenity", "area:highway", "building", "building:part", "club", "craft", "education",
    "emergency", "healthcare", "highway", "landuse", "leisure", "man_made", "natural", "office", "place",
    "railway", "shop", "tourism", "water",
)  # fmt: skip
"""Keys of closed ways that are areas."""
DRAWN_KEYS = frozenset(
    {"building", "building:part", "club", "craft", "education", "healthcare", "landuse", "office", "shop"}
)
"""Keys of ways that should be closed: an open one has a broken ring."""
LINE_TAGS = frozenset({"highway", "railway", "barrier", "waterway"})


@dataclass(frozen=True, slots=True)
class Unclosed:
    """An object that should be an area, but was not closed by osmium."""

    name: str
    tags: Tags
    ways: tuple[int, ...]
    """Numbers of the ways of its rings."""
    inner: frozenset[int] = frozenset()
    """Numbers of those ways that are rings of holes."""


@dataclass(frozen=True, slots=True)
class Mended:
    """The shape made of an outline, and what is wrong with it."""

    shape: shapely.Geometry | None
    """Area, or a point in its place, metres; `None` where the file has no node of it."""
    fault: str = ""
    """The reason why it is no area; empty where it is one."""


def is_outline(tags: Tags, *, closed: bool) -> bool:
    """Return whether a way with these tags should be an area.

    Args:
        tags: of the way.
        closed: whether it ends where it begins.
    """
    is_line = not LINE_TAGS.isdisjoint(tags) and tags.get("area") != "yes"
    if tags.get("area") == "no" or is_line:
        return False
    return not tags.keys().isdisjoint(AREA_KEYS if closed else DRAWN_KEYS)


def is_area_relation(tags: Tags) -> bool:
    """Return whether a relation is an area, and not the border of a district."""
    if tags.get("type") == "boundary":
        return not (tags.keys() - {"place"}).isdisjoint(AREA_KEYS)
    return tags.get("type") == "multipolygon" and not tags.keys().isdisjoint(AREA_KEYS)


def mend_outlines(path: Path, unclosed: Sequence[Unclosed], frame: LocalFrame) -> list[Mended]:
    """Return the best shape for each outline: an area, or else a point.

    Args:
        path: the file they are from; it is sorted.
        unclosed: the outlines.
        frame: the metres of the shapes.
    """
    if not unclosed:
        return []
    rings = _Rings(path, {way for one in unclosed for way in one.ways}, frame)
    return [_mend_outline(one, rings) for one in unclosed]


class _Rings:
    """The nodes of some ways, as far as a file has them."""

    def __init__(self, path: Path, ways: set[int], frame: LocalFrame) -> None:
        wanted = osmium.filter.IdFilter(ways)
        self._nodes = {
            way.id: [node.ref for node in way.nodes]
            for way in osmium.FileProcessor(str(path), osmium.osm.WAY).with_filter(wanted)
            if isinstance(way, osmium.osm.Way)
        }
        corners = osmium.filter.IdFilter({ref for nodes in self._nodes.values() for ref in nodes})
        self._at = {
            node.id: frame.point(LatLng(node.lat, node.lon))
            for node in osmium.FileProcessor(str(path), osmium.osm.NODE).with_filter(corners)
            if isinstance(node, osmium.osm.Node) and node.location.valid()
        }

    def lacks(self, way: int) -> bool:
        """Return whether the file lacks a way, or some of its nodes."""
        return way not in self._nodes or any(node not in self._at for node in self._nodes[way])

    def corners(self, way: int) -> Floats:
        """Return the known nodes of a way, metres, shape (n, 2)."""
        known = [self._at[node] for node in self._nodes.get(way, ()) if node in self._at]
        return np.array(known, float).reshape(-1, 2)


def _mend_outline(one: Unclosed, rings: _Rings) -> Mended:
    """Return the best shape of one outline, and its fault."""
    corners = np.concatenate([rings.corners(way) for way in one.ways])
    if not len(corners):
        return Mended(None, "the file lacks all of its nodes")
    point = shapely.Point(corners.mean(axis=0))
    lacking = sum(rings.lacks(way) for way in one.ways)
    if lacking:
        what = (
            f"{lacking} of its {len(one.ways)} ways, or nodes of them"
            if len(one.ways) > 1
            else "some of its nodes"
        )
        return Mended(point, f"the file lacks {what}")
    outer, inner = (
        _fill_rings([rings.corners(way) for way in one.ways if (way in one.inner) == is_inner])
        for is_inner in (False, True)
    )
    area = _areas(shapely.difference(outer, inner))
    return Mended(point, "its outline is not closed") if area.is_empty else Mended(area)


def _fill_rings(rings: Sequence[Floats]) -> shapely.Geometry:
    """Return the ground that rings enclose; a closed ring that crosses itself is mended."""
    lines = [shapely.LineString(ring) for ring in rings if len(ring) > 1]
    closed = [shapely.make_valid(shapely.Polygon(line.coords)) for line in lines if _ends_meet(line)]
    open_lines = [line for line in lines if not _ends_meet(line)]
    joined = shapely.get_parts(shapely.polygonize(list(shapely.get_parts(shapely.union_all(open_lines)))))
    return _areas(shapely.union_all([*closed, *joined.tolist()]))


def _ends_meet(line: shapely.LineString) -> bool:
    """Return whether a line is a closed ring."""
    return len(line.coords) > 3 and line.coords[0] == line.coords[-1]


def _areas(shape: shapely.Geometry) -> shapely.MultiPolygon:
    """Return the areas of a shape, without its lines and points."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, shapely.Polygon) and part.area > 0]
    return shapely.MultiPolygon(parts)
