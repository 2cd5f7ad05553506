"""Parts that are cut out of an extract, and mended outlines of what osmium does not close."""

import shutil
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import osmium
import shapely

from virl.errors import BadInput
from virl.geo.globe import Floats, LatLng, LocalFrame
from virl.geo.region import Region
from virl.osm.box import Box, box_around

Tags = Mapping[str, str]
"""Values of an OpenStreetMap object's tags by key, such as `{"shop": "bakery"}`."""
AREA_KEYS = (
    "addr:housenumber", "amenity", "area:highway", "building", "building:part", "club", "craft", "education",
    "emergency", "healthcare", "highway", "landuse", "leisure", "man_made", "natural", "office", "place",
    "railway", "shop", "tourism", "water",
)  # fmt: skip
"""Keys of OpenStreetMap tags that make a closed way an area."""
DRAWN_KEYS = frozenset(
    {"building", "building:part", "club", "craft", "education", "healthcare", "landuse", "office", "shop"}
)
"""Keys of tags of ways that should be closed rings; an open way with one has lost a part of its ring."""
LINE_TAGS = frozenset({"highway", "railway", "barrier", "waterway"})
"""Keys of tags that make a way a line, unless `area=yes` says otherwise."""


@dataclass(frozen=True, slots=True)
class Unclosed:
    """An OpenStreetMap object that should be an area, but whose rings osmium could not close."""

    name: str
    """Letter and number of the object, such as `w34`."""
    tags: Tags
    """Tags of the object."""
    ways: tuple[int, ...]
    """Numbers of the ways that the object's rings are made of."""
    inner: frozenset[int] = frozenset()
    """Numbers of those among `ways` that are rings of holes."""


@dataclass(frozen=True, slots=True)
class Mended:
    """The shape that was made of an unclosed outline, and the fault that the outline has."""

    shape: shapely.Geometry | None
    """Area, or a point in its place, metres; `None` where the file has none of the outline's nodes."""
    fault: str = ""
    """The reason why the shape is no area, in words; empty where it is one."""


def is_outline(tags: Tags, *, closed: bool) -> bool:
    """Return whether a way with these tags should be an area; `closed`: whether it ends where it begins."""
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
    """Return for each unclosed outline of a file its best shape in a frame's metres: an area, else a point.

    Args:
        path: the sorted file that the outlines are from.
        unclosed: the outlines.
        frame: local frame of the metres of the shapes.
    """
    if not unclosed:
        return []
    rings = _Rings(path, {way for one in unclosed for way in one.ways}, frame)
    return [_mend_outline(one, rings) for one in unclosed]


class _Rings:
    """The corners of some ways, as far as a file has their nodes."""

    def __init__(self, path: Path, ways: set[int], frame: LocalFrame) -> None:
        """Read the nodes of the ways with these numbers from a file, as metres of a local frame."""
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
        """Return whether the file lacks the way of this number, or any of its nodes."""
        return way not in self._nodes or any(node not in self._at for node in self._nodes[way])

    def corners(self, way: int) -> Floats:
        """Return (east, north) in metres of the known nodes of the way of this number, shape (n, 2)."""
        known = [self._at[node] for node in self._nodes.get(way, ()) if node in self._at]
        return np.array(known, float).reshape(-1, 2)


def _mend_outline(one: Unclosed, rings: _Rings) -> Mended:
    """Return the shape made of one unclosed outline from the corners of its ways, and its fault."""
    corners = np.concatenate([rings.corners(way) for way in one.ways])
    if not len(corners):
        return Mended(None, "the file lacks all of its nodes")
    point = shapely.Point(corners.mean(axis=0))
    lacking = sum(rings.lacks(way) for way in one.ways)
    if lacking:
        several = f"{lacking} of its {len(one.ways)} ways, or nodes of them"
        return Mended(point, f"the file lacks {several if len(one.ways) > 1 else 'some of its nodes'}")
    outer, inner = (
        _fill_rings([rings.corners(way) for way in one.ways if (way in one.inner) == is_inner])
        for is_inner in (False, True)
    )
    area = _areas(shapely.difference(outer, inner))
    return Mended(point, "its outline is not closed") if area.is_empty else Mended(area)


def _fill_rings(rings: Sequence[Floats]) -> shapely.Geometry:
    """Return the ground that rings and pieces of rings, as corners (n, 2), enclose, with loops mended."""
    lines = [shapely.LineString(ring) for ring in rings if len(ring) > 1]
    closed = [shapely.make_valid(shapely.Polygon(line.coords)) for line in lines if _ends_meet(line)]
    open_lines = [line for line in lines if not _ends_meet(line)]
    joined = shapely.get_parts(shapely.polygonize(list(shapely.get_parts(shapely.union_all(open_lines)))))
    return _areas(shapely.union_all([*closed, *joined.tolist()]))


def _ends_meet(line: shapely.LineString) -> bool:
    """Return whether a line is a ring: its ends meet, and it has at least three corners."""
    return len(line.coords) > 3 and line.coords[0] == line.coords[-1]


def _areas(shape: shapely.Geometry) -> shapely.MultiPolygon:
    """Return the polygons of a shape, without its lines and points."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, shapely.Polygon) and part.area > 0]
    return shapely.MultiPolygon(parts)


Member = tuple[str, int, str]
"""(kind, number, role) of a member of a relation, such as `("w", 34, "inner")`."""

GENERATOR = "virl data osm"
"""Name of the program in the header of a file that `cut` wrote."""
DATE_FIELD = "osmosis_replication_timestamp"
"""Name of the header field with the time of the data."""
BATCH = 20_000
"""Number of ways whose corners are tested against the box at once; chosen: some MB of memory."""
DISK_FROM_MB = 100
"""Size in megabytes of a file from which node positions are kept on disk, and not in memory; chosen."""
SCRATCH_SHARE = 3.0
"""Disk space for the positions of all nodes, as a multiple of the size of the file they are from."""


@dataclass(slots=True)
class _Part:
    """The objects of a file that belong to a part: numbers of ways, and tags of points and areas."""

    points: dict[int, dict[str, str]] = field(default_factory=dict)
    """Tags of each node in the box that has any, by number."""
    ways: set[int] = field(default_factory=set)
    """Numbers of the ways that touch the box."""
    areas: dict[int, tuple[dict[str, str], list[Member]]] = field(default_factory=dict)
    """Tags and members of each area relation that touches the box, by number."""


def cut(path: Path, region: Region, part: Path, date: str = "", near: Container[int] | None = None) -> None:
    """Write to `part` a file's objects that touch a region's box; `near`: ids of ways to test (`None`: all).

    Memory grows with the region and not with the file. The locations of all nodes of a large file lie beside
    `part` meanwhile, on disk.

    Args:
        path: the file to read.
        region: what to keep.
        part: the file to write; its header tells the box, so that a town of it ends there.
        date: of the data as 2022-07-24, for the file's header; empty if unknown.
        near: numbers of the ways that may touch the region; by default, all may.
    """
    is_large = path.stat().st_size >= DISK_FROM_MB * 1e6
    storage = f"sparse_file_array,{part.parent / 'locations'}" if is_large else "flex_mem"
    reading = osmium.FileProcessor(str(path)).with_locations(storage)
    box = box_around(region)
    found = _objects_in(reading, box, near)
    locations = cast("osmium.index.LocationTable", reading.node_location_storage)
    # Ways are read a second time: areas come last in a file, and say only then which ways they need.
    members = {ref for _, parts in found.areas.values() for kind, ref, _ in parts if kind == "w"}
    ways = {
        way.id: (dict(way.tags), [node.ref for node in way.nodes])
        for way in osmium.FileProcessor(str(path), osmium.osm.WAY)
        if isinstance(way, osmium.osm.Way) and (way.id in found.ways or way.id in members)
    }
    nodes = {node for _, refs in ways.values() for node in refs} | found.points.keys()
    with osmium.SimpleWriter(str(part), header=_header(box, date)) as writer:
        for node in sorted(nodes):
            with suppress(KeyError):  # the file lacks it
                at, tags = locations[node], found.points.get(node, {})
                writer.add_node(osmium.osm.mutable.Node(id=node, location=at, tags=tags))
        for way, (tags, refs) in ways.items():
            writer.add_way(osmium.osm.mutable.Way(id=way, nodes=refs, tags=tags))
        for area, (tags, parts) in found.areas.items():
            writer.add_relation(osmium.osm.mutable.Relation(id=area, members=parts, tags=tags))


def _objects_in(reading: osmium.FileProcessor, box: Box, near: Container[int] | None) -> _Part:
    """Return a file's tagged nodes, ways and areas in a box; `near`: ids of ways to test, `None` for all."""
    part = _Part()
    # osmium keeps degrees as whole numbers of 1e-7: to compare these is exact.
    sides = [[round(degrees * 1e7) for degrees in part.degrees] for part in box.parts]
    tagged = osmium.filter.EmptyTagFilter()
    tagged.enable_for(osmium.osm.NODE)
    ways = _TouchingWays(
        shapely.union_all([shapely.box(part.west, part.south, part.east, part.north) for part in box.parts])
    )
    for one in reading.with_filter(tagged):
        if isinstance(one, osmium.osm.Node):
            at = one.location
            if any(west <= at.x <= east and south <= at.y <= north for south, west, north, east in sides):
                part.points[one.id] = dict(one.tags)
        elif isinstance(one, osmium.osm.Way):
            if near is None or one.id in near:
                ways.add(one)
        elif isinstance(one, osmium.osm.Relation) and is_area_relation(dict(one.tags)):
            touching = ways.touching_ids()
            members = [(member.type, member.ref, member.role) for member in one.members]
            if any(kind == "w" and ref in touching for kind, ref, _ in members):
                part.areas[one.id] = dict(one.tags), members
    part.ways = ways.touching_ids()
    return part


class _TouchingWays:
    """The ways of a file that touch a box, found in batches."""

    def __init__(self, box: shapely.Geometry) -> None:
        """Begin with no ways; `box` is a shape in degrees, (longitude, latitude)."""
        self._box = box
        self._touching = set[int]()
        self._ids: list[int] = []
        self._wkb: list[str] = []
        self._factory = osmium.geom.WKBFactory()

    def add(self, way: osmium.osm.Way) -> None:
        """Add a way to the batch of ways to test; a way with missing nodes is tested node by node at once."""
        try:
            line = self._factory.create_linestring(way, osmium.geom.use_nodes.ALL)
        except (osmium.InvalidLocationError, RuntimeError):  # a node is missing, or there is but one
            if any(shapely.intersects_xy(self._box, n.lon, n.lat) for n in way.nodes if n.location.valid()):
                self._touching.add(way.id)
            return
        self._ids.append(way.id)
        self._wkb.append(line)
        if len(self._ids) == BATCH:
            self.touching_ids()

    def touching_ids(self) -> set[int]:
        """Return the numbers of all ways added so far that touch the box."""
        if self._ids:
            hits = shapely.intersects(shapely.from_wkb(self._wkb), self._box)
            self._touching.update(np.array(self._ids)[hits].tolist())
            self._ids.clear()
            self._wkb.clear()
        return self._touching


def _header(box: Box, date: str) -> osmium.io.Header:
    """Return the header of a new file, with its box unless it crosses longitude 180, and any date."""
    header = osmium.io.Header()
    header.set("generator", GENERATOR)
    if date:
        header.set(DATE_FIELD, f"{date}T00:00:00Z")
    if box.west > box.east:
        return header  # a header has no box across longitude 180: such a part is read as far as its ways go
    return header.add_box(osmium.osm.Box(box.west, box.south, box.east, box.north))


def check_room(path: Path, scratch: Path) -> None:
    """Raise `BadInput` if a large file is to be cut and the disk of the folder `scratch` lacks room for it.

    Raises:
        BadInput: there is no room.
    """
    size = path.stat().st_size
    needed, free = size * SCRATCH_SHARE, shutil.disk_usage(scratch).free
    if size >= DISK_FROM_MB * 1e6 and needed > free:
        raise BadInput(
            f"{path}: reading a part needs {needed / 1e9:,.0f} GB of disk in {scratch.parent}, which has "
            f"{free / 1e9:,.0f} GB: set TMPDIR to a folder with more room, or use `osmium extract` first"
        )
