"""Cuts the part of an extract out that is read."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import osmium
import shapely

from virl.errors import BadInput
from virl.geo.region import Region
from virl.osm.box import Box, box_around
from virl.osm.outlines import is_area_relation

Member = tuple[str, int, str]
"""(kind, number, role) of a member of a relation."""

GENERATOR = "virl data osm"
"""Name of the writer in the head of a part."""
DATE_FIELD = "osmosis_replication_timestamp"
BATCH = 20_000
"""Ways that are checked together; chosen: some MB."""
DISK_FROM_MB = 100
"""Megabytes of a file from which locations lie on disk; chosen: 200 MB of memory below."""
SCRATCH_SHARE = 3.0
"""Disk space for locations, as a multiple of the file's size: 16 bytes a node."""


@dataclass(slots=True)
class _Part:
    """The objects of a part: ids of ways, and tags of points and areas."""

    points: dict[int, dict[str, str]] = field(default_factory=dict)
    """Tags of each node in the box that has any, by number."""
    ways: set[int] = field(default_factory=set)
    """Numbers of the ways."""
    areas: dict[int, tuple[dict[str, str], list[Member]]] = field(default_factory=dict)
    """Tags and members of each multipolygon, by number."""


def cut(path: Path, region: Region, part: Path, date: str = "") -> None:
    """Write the part of a file within a region's box: ways and areas whole, points inside.

    Memory grows with the region and not with the file. The locations of all nodes of a large file lie beside
    `part` meanwhile, on disk.

    Args:
        path: the file to read.
        region: what to keep.
        part: the file to write; its head tells the box, so that a town of it ends there.
        date: of the data, for its head.

    Raises:
        BadInput: there is no room for them.
    """
    reading = osmium.FileProcessor(str(path)).with_locations(_storage(path, part.parent))
    box = box_around(region)
    found = _objects_in(reading, box)
    locations = cast("osmium.index.LocationTable", reading.node_location_storage)
    members = {ref for _, parts in found.areas.values() for kind, ref, _ in parts if kind == "w"}
    ways = {
        way.id: (dict(way.tags), [node.ref for node in way.nodes])
        for way in osmium.FileProcessor(str(path), osmium.osm.WAY)
        if isinstance(way, osmium.osm.Way) and (way.id in found.ways or way.id in members)
    }
    nodes = {node for _, refs in ways.values() for node in refs} | found.points.keys()
    with osmium.SimpleWriter(str(part), header=_head(box, date)) as writer:
        for node in sorted(nodes):
            with suppress(KeyError):  # the file lacks it
                at, tags = locations[node], found.points.get(node, {})
                writer.add_node(osmium.osm.mutable.Node(id=node, location=at, tags=tags))
        for way, (tags, refs) in ways.items():
            writer.add_way(osmium.osm.mutable.Way(id=way, nodes=refs, tags=tags))
        for area, (tags, parts) in found.areas.items():
            writer.add_relation(osmium.osm.mutable.Relation(id=area, members=parts, tags=tags))


def _objects_in(reading: osmium.FileProcessor, box: Box) -> _Part:
    """Return the objects of a file that touch a box."""
    part = _Part()
    sides = [[round(degrees * 1e7) for degrees in part.degrees] for part in box.parts]
    tagged = osmium.filter.EmptyTagFilter()
    tagged.enable_for(osmium.osm.NODE)
    ways = _Ways(
        shapely.union_all([shapely.box(part.west, part.south, part.east, part.north) for part in box.parts])
    )
    for one in reading.with_filter(tagged):
        if isinstance(one, osmium.osm.Node):
            at = one.location
            if any(west <= at.x <= east and south <= at.y <= north for south, west, north, east in sides):
                part.points[one.id] = dict(one.tags)
        elif isinstance(one, osmium.osm.Way):
            ways.add(one)
        elif isinstance(one, osmium.osm.Relation) and is_area_relation(dict(one.tags)):
            touching = ways.touching_ids()
            members = [(member.type, member.ref, member.role) for member in one.members]
            if any(kind == "w" and ref in touching for kind, ref, _ in members):
                part.areas[one.id] = dict(one.tags), members
    part.ways = ways.touching_ids()
    return part


class _Ways:
    """The ways of a file that touch a box, checked in batches."""

    def __init__(self, box: shapely.Geometry) -> None:
        self._box = box
        self._touching = set[int]()
        self._ids: list[int] = []
        self._wkb: list[str] = []
        self._factory = osmium.geom.WKBFactory()

    def add(self, way: osmium.osm.Way) -> None:
        """Add a way to the batch; one with missing nodes is checked by its nodes."""
        try:
            line = self._factory.create_linestring(way, osmium.geom.use_nodes.ALL)
        except (osmium.InvalidLocationError, RuntimeError):  # a node is missing, or there is but one
            if any(shapely.intersects_xy(self._box, *at) for at in _valid_nodes(way)):
                self._touching.add(way.id)
            return
        self._ids.append(way.id)
        self._wkb.append(line)
        if len(self._ids) == BATCH:
            self.touching_ids()

    def touching_ids(self) -> set[int]:
        """Return the numbers of all ways so far that touch the box."""
        if self._ids:
            hits = shapely.intersects(shapely.from_wkb(self._wkb), self._box)
            self._touching.update(np.array(self._ids)[hits].tolist())
            self._ids.clear()
            self._wkb.clear()
        return self._touching


def _valid_nodes(way: osmium.osm.Way) -> Iterator[tuple[float, float]]:
    """Yield (longitude, latitude) in degrees of a way's nodes that have a location."""
    for node in way.nodes:
        if node.location.valid():
            yield node.lon, node.lat


def _head(box: Box, date: str) -> osmium.io.Header:
    """Return the head of a part, with its box and the date of the data."""
    head = osmium.io.Header()
    head.set("generator", GENERATOR)
    if date:
        head.set(DATE_FIELD, f"{date}T00:00:00Z")
    if box.west > box.east:
        return head  # a head has no box across longitude 180: such a part is read as far as its ways go
    return head.add_box(osmium.osm.Box(box.west, box.south, box.east, box.north))


def _storage(path: Path, scratch: Path) -> str:
    """Return the kind of osmium's node index, in memory or on disk.

    Raises:
        BadInput: there is no room.
    """
    size = path.stat().st_size
    if size < DISK_FROM_MB * 1e6:
        return "flex_mem"
    needed, free = size * SCRATCH_SHARE, shutil.disk_usage(scratch).free
    if needed > free:
        raise BadInput(
            f"{path}: reading a part needs {needed / 1e9:,.0f} GB of disk in {scratch.parent}, which has "
            f"{free / 1e9:,.0f} GB: set TMPDIR to a folder with more room, or use `osmium extract` first"
        )
    return f"sparse_file_array,{scratch / 'locations'}"
