"""Reads an OpenStreetMap extract: the points, lines and areas that a town is built from."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import osmium
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from virl.errors import BadInput
from virl.geo.globe import Floats, LatLng, LocalFrame, signed_turn
from virl.geo.region import Region
from virl.osm.box import SUFFIXES, Box
from virl.osm.cut import (
    AREA_KEYS,
    DATE_FIELD,
    GENERATOR,
    Unclosed,
    is_area_relation,
    is_outline,
    mend_outlines,
)
from virl.osm.extract_file import check_unpacked, data_date, in_order, read_header, shown_number
from virl.osm.tags import is_there
from virl.osm.thin import cut_part, newest_day
from virl.plain_text import plain_line
from virl.platform.city.left_out import LeftOut, Omission

Tags = Mapping[str, str]
"""Values of an OpenStreetMap object's tags by key, such as `{"shop": "bakery"}`."""
Shapes = NDArray[np.object_]
"""Shapely geometries in the metres of a frame."""

BESIDE_M = 30.0
"""Margin in metres around all ways of a file that is read whole, which still belongs to the town; chosen."""
LARGEST_MB = 100
"""Size in megabytes above which a file is read only with a box or polygon; chosen."""
COUNTRY_MB = 8000
"""Largest size in megabytes of a file that is searched for its busiest town; chosen: more takes hours."""

WIDEST_M = 100_000.0
"""Largest width of a town in metres; chosen: Liechtenstein is 28 km wide."""

POINT_KEYS = (
    "addr:housenumber", "advertising", "amenity", "barrier", "club", "craft", "education", "emergency",
    "entrance", "healthcare", "highway", "historic", "leisure", "man_made", "name", "natural", "office",
    "public_transport", "railway", "shop", "tourism",
)  # fmt: skip
"""Keys of tags of which a node needs at least one to be read."""
LINE_KEYS = ("highway", "railway", "barrier", "waterway")
"""Keys of tags of which a way needs at least one to be read as a line; see also `NATURAL_LINES`."""
NATURAL_LINES = frozenset({"coastline", "tree_row"})
"""Values of the tag `natural` for ways that are read as lines."""

_WITHIN_M = 0.05
"""Distance in metres inside the outline at which a way that crosses the outline gets a new node."""

_Nodes = tuple[int, ...]
"""Numbers of the OpenStreetMap nodes of a way, in order."""


@dataclass(frozen=True, slots=True)
class OsmObjects:
    """Objects of one kind of geometry, as sequences of length n."""

    ids: tuple[str, ...]
    """Letter of node, way or relation and number of each object, such as `n12`, `w34` or `r56`."""
    tags: tuple[Tags, ...]
    """Tags of each object."""
    shapes: Shapes
    """Geometry of each object in metres east and north, shape (n,)."""

    def tagged_shapes(self) -> Iterator[tuple[Tags, Any]]:
        """Yield (tags, geometry in metres) of each object."""
        return zip(self.tags, self.shapes, strict=True)


@dataclass(frozen=True, slots=True)
class OsmExtract:
    """The objects of an extract, or of a part of it."""

    frame: LocalFrame
    """Frame of the metres of all shapes; its origin is the middle of the part."""
    outline: Polygon
    """Outline of the part that was read, metres."""
    date: str
    """Date of the data, such as `2022-07-24`; empty where the file does not say."""
    points: OsmObjects
    """Nodes, and named areas with a broken outline, as points."""
    lines: OsmObjects
    """Streets, railways, barriers, waterways, coastlines and rows of trees, as lines."""
    line_nodes: tuple[tuple[int, ...], ...]
    """Numbers of the nodes of each line, in order: lines that share a node meet there.
    A line that crosses the outline between two nodes outside has two more, with negative numbers."""
    areas: OsmObjects
    """Polygons of all areas, with their holes."""
    left_out: tuple[Omission, ...] = ()
    """Objects, by kind, that lack nodes in the file or have broken rings: left out, or made points."""


def read_extract(path: Path, region: Region | None = None, day: str = "") -> OsmExtract:
    """Return the objects of an extract, or of a region of it, that exist on the file's date, else on `day`.

    Memory grows with the region, not with the file: a file that reaches beyond the region is cut first.

    Args:
        path: a file as `SUFFIXES` name them.
        region: the part to read; by default, the whole file.
        day: as 2022-07-24; objects that had ended or were not yet open on it are left out. The date of the
            data, where the file has one, counts instead.

    Raises:
        BadInput: the file is missing, no extract, damaged, too large to be read whole, or holds nothing here.
    """
    check_readable(path, region)
    with damage_reported(path), tempfile.TemporaryDirectory(prefix="virl-osm-") as scratch:
        if region is None:
            part = in_order(path, Path(scratch))
        else:
            part = Path(scratch, "part.osm.pbf")
            cut_part(path, region, part)
        # The file's date counts first: a town must not change with the day on which it is opened.
        return _Reading(part).extract(path, region, date_of(path) or newest_day(path) or day)


def check_extract(path: Path) -> str:
    """Check that an extract can be read to its end, and return the date of its data; empty if unknown.

    Raises:
        BadInput: the file is missing, no extract, or damaged.
    """
    check_name(path)
    check_unpacked(path)
    with damage_reported(path):
        for _ in osmium.FileProcessor(str(path)):
            pass
        return date_of(path)


def covered_box(path: Path) -> tuple[float, float, float, float] | None:
    """Return (south, west, north, east) in degrees from a file's header; `None` if it has no valid box.

    Raises:
        BadInput: the file is missing, no extract, or too large once unpacked.
    """
    check_unpacked(path)  # also the header is found by unpacking what comes before it
    with damage_reported(path):
        return _sides(read_header(path).box())


def has_streets(path: Path) -> bool:
    """Return whether a file has any way with the tag `highway`."""
    ways = osmium.FileProcessor(str(path), osmium.osm.WAY).with_filter(osmium.filter.KeyFilter("highway"))
    return any(True for _ in ways)


def cut_box(path: Path) -> Region | None:
    """Return the box of a part that `virl.osm.cut.cut` wrote, from the file's header; `None` for other files.

    Raises:
        BadInput: the file is missing, no extract, or too large once unpacked.
    """
    if is_large(path):
        return None
    check_unpacked(path)
    with damage_reported(path):
        is_cut = read_header(path).get("generator", "") == GENERATOR
    box = covered_box(path) if is_cut else None
    return Box(*box).region if box else None


def check_name(path: Path) -> None:
    """Check that a file exists and that its name ends as an OpenStreetMap extract's; else raise `BadInput`.

    Raises:
        BadInput: there is none, or it has another name.
    """
    if not path.is_file():
        raise BadInput(
            f"{path}: no such file: give an OpenStreetMap extract ({', '.join(SUFFIXES)}), or copy one of "
            "this name to the data folder with `virl data osm FILE`"
        )
    if not path.name.endswith(SUFFIXES):
        raise BadInput(f"{path}: not the name of an OpenStreetMap extract: it ends in {', '.join(SUFFIXES)}")


def is_large(path: Path) -> bool:
    """Return whether a file is larger than `LARGEST_MB` megabytes, and so holds more than one town."""
    return path.stat().st_size > LARGEST_MB * 1e6


def is_country(path: Path) -> bool:
    """Return whether a file holds more than a town, by its size or width, yet is small enough to search.

    Raises:
        BadInput: the file is no extract.
        FileNotFoundError: there is no such file.
    """
    if is_large(path):
        return path.stat().st_size <= COUNTRY_MB * 1e6
    box = covered_box(path)
    return box is not None and max(Box(*box).size_km) * 1000 > WIDEST_M


def check_readable(path: Path, region: Region | None) -> None:
    """Check by its size and header that a file can be read, and that it meets `region` if one is given.

    Raises:
        BadInput: the file is missing, no extract, too large to be read whole or once unpacked, or lies wholly
            outside the region.
    """
    check_name(path)
    if region is None and is_large(path):
        megabytes = path.stat().st_size / 1e6
        raise BadInput(
            f"{path}: {megabytes:,.0f} MB is more than one town: give the part to read, as in "
            "`--around 60.17,24.94 --radius 800`"
        )
    box = covered_box(path)
    if region is not None and box is not None:
        south, west, north, east = box
        lats, lngs = zip(*region.corners, strict=True)
        if max(lats) < south or min(lats) > north or max(lngs) < west or min(lngs) > east:
            raise BadInput(
                f"{path}: the region lies outside this extract, {_covers(south, west, north, east)}"
            )


def _covers(south: float, west: float, north: float, east: float) -> str:
    """Return "which covers latitude ... and longitude ...", for an error text, of a box in degrees."""
    return f"which covers latitude {south:.4f} to {north:.4f} and longitude {west:.4f} to {east:.4f}"


def _box_of_nodes(path: Path) -> tuple[float, float, float, float] | None:
    """Return (south, west, north, east) of all nodes in a file, degrees; `None` if it has none."""
    box = osmium.osm.Box(osmium.osm.Location(), osmium.osm.Location())
    for node in osmium.FileProcessor(str(path), osmium.osm.NODE):
        if isinstance(node, osmium.osm.Node) and node.location.valid():
            box.extend(node.location)
    return _sides(box)


def _sides(box: osmium.osm.Box) -> tuple[float, float, float, float] | None:
    """Return (south, west, north, east) of osmium's box in degrees; `None` if it is not valid."""
    if not box.valid():
        return None
    return box.bottom_left.lat, box.bottom_left.lon, box.top_right.lat, box.top_right.lon


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Raise `BadInput` of one line for an error of osmium within the `with` block that reads `path`.

    Raises:
        BadInput: in place of an error of osmium.
    """
    try:
        yield
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        if type(error) is ValueError and not str(error).startswith(("illegal", "OSM ")):  # osmium's all do
            raise
        reason = " ".join(str(error).split())
        raise BadInput(
            f"{path}: cannot be read as an OpenStreetMap extract ({reason}): download it again"
        ) from None


class _Object(NamedTuple):
    """An object as read from a file: a node, a piece of a way, or an area."""

    name: str
    """Letter and number of the object, such as `w34`."""
    tags: Tags
    """Tags of the object."""
    wkb: str
    """Shape in degrees as hexadecimal WKB; empty for a mended outline, whose shape is known in metres."""
    nodes: _Nodes = ()
    """Numbers of the nodes of a piece of a way, in order."""


class _Reading:
    """A reader that collects the needed objects of a sorted extract file when it is made."""

    def __init__(self, path: Path) -> None:
        """Read the file once, and collect its points, lines, areas and unclosed outlines."""
        self._path = path
        self._found: dict[str, list[_Object]] = {"points": [], "lines": [], "areas": []}
        self._outlines: dict[str, Unclosed] = {}
        self._left_out = LeftOut(is_told=False)
        factory = osmium.geom.WKBFactory()
        # Without a filter osmium would make an area of every closed way, also of roundabouts.
        areas = osmium.filter.KeyFilter(*AREA_KEYS)
        keys = osmium.filter.KeyFilter(*{*POINT_KEYS, *LINE_KEYS, *AREA_KEYS})
        for one in osmium.FileProcessor(str(path)).with_areas(areas).with_filter(keys):
            tags = {key: plain_line(value).strip() for key, value in dict(one.tags).items()}
            try:
                self._add_object(one, tags, factory)
            except (osmium.InvalidLocationError, RuntimeError) as fault:
                # An area that cannot be made stays in `_outlines`: it is mended, or told of, there.
                if isinstance(one, osmium.osm.Node):
                    self._left_out.add("points", f"n{shown_number(one.id)}: {fault}", one.id)

    def _add_object(self, osm_object: object, tags: Tags, factory: osmium.geom.WKBFactory) -> None:
        """Add an osmium object with these tags to the points, lines, areas or outlines, if it is needed."""
        if isinstance(osm_object, osmium.osm.Node):
            if not tags.keys().isdisjoint(POINT_KEYS):
                name = f"n{shown_number(osm_object.id)}"
                self._found["points"].append(_Object(name, tags, factory.create_point(osm_object)))
        elif isinstance(osm_object, osmium.osm.Area):
            if not tags.keys().isdisjoint(AREA_KEYS):
                name = f"{'w' if osm_object.from_way() else 'r'}{shown_number(osm_object.orig_id())}"
                self._found["areas"].append(_Object(name, tags, factory.create_multipolygon(osm_object)))
        elif isinstance(osm_object, osmium.osm.Way):
            self._add_way(osm_object, tags)
        elif isinstance(osm_object, osmium.osm.Relation) and is_area_relation(tags):
            ways = [member for member in osm_object.members if member.type == "w"]
            name, numbers = f"r{shown_number(osm_object.id)}", tuple(member.ref for member in ways)
            inner = frozenset(member.ref for member in ways if member.role == "inner")
            self._outlines[name] = Unclosed(name, tags, numbers, inner)

    def _add_way(self, way: osmium.osm.Way, tags: Tags) -> None:
        """Add a way with these tags to the lines or to the outlines that should be areas, if it is needed."""
        name = f"w{shown_number(way.id)}"
        if is_outline(tags, closed=way.is_closed()):
            self._outlines[name] = Unclosed(name, tags, (way.id,))
        if tags.keys().isdisjoint(LINE_KEYS) and tags.get("natural") not in NATURAL_LINES:
            return
        lacking = sum(not node.location.valid() for node in way.nodes)
        if lacking:
            self._left_out.add(
                "ways", f"{name}: the file lacks {lacking} of its {len(way.nodes)} nodes", name
            )
        # What is known of a coast tells sea from land, and nobody walks on rails.
        if lacking and tags.get("natural") != "coastline" and ("highway" in tags or "railway" not in tags):
            return
        known = groupby(way.nodes, key=lambda node: node.location.valid())
        parts = [list(nodes) for is_known, nodes in known if is_known]
        # A slip of the mapper: a node that is named twice in a row is one corner.
        runs = [[next(same) for _, same in groupby(nodes, key=lambda node: node.ref)] for nodes in parts]
        runs = [run for run in runs if len(run) >= 2]
        if not runs and not lacking:
            self._left_out.add("ways", f"{name}: it has fewer than two nodes", name)
        for run in runs:
            line = shapely.LineString([(node.lon, node.lat) for node in run])
            nodes = tuple(node.ref for node in run)
            self._found["lines"].append(_Object(name, tags, shapely.to_wkb(line, hex=True), nodes))

    def extract(self, path: Path, region: Region | None, day: str) -> OsmExtract:
        """Return the objects of a region, or all, that existed on `day`; `path` is named in error texts."""
        kept = {kind: [one for one in each if is_there(one.tags, day)] for kind, each in self._found.items()}
        degrees = {kind: shapely.from_wkb([one.wkb for one in each]) for kind, each in kept.items()}
        if not len(degrees["lines"]):
            if region is None:
                raise BadInput(f"{path}: no street is in it: give another file")
            box = covered_box(path) or _box_of_nodes(path)
            covers = f", {_covers(*box)}" if box else ""
            raise BadInput(f"{path}: no street is in this region of it{covers}: give another region")
        frame = region.frame if region else _frame_around(degrees["lines"])
        shapes = {kind: _to_metres(each, frame) for kind, each in degrees.items()}
        outline = region.polygon if region else _box_around(path, shapes["lines"])
        # A way that only passes a corner of the region has no node inside, and would be lost.
        nodes = [one.nodes for one in kept["lines"]]
        shapes["lines"], line_nodes = _with_crossings(shapes["lines"], nodes, outline)
        self._mend(frame, kept, shapes, day)
        points, lines, areas = (
            OsmObjects(tuple(one.name for one in each), tuple(one.tags for one in each), shapes[kind])
            for kind, each in kept.items()
        )
        left_out = self._left_out.omissions()
        return OsmExtract(frame, outline, date_of(path), points, lines, line_nodes, areas, left_out)

    def _mend(
        self, frame: LocalFrame, kept: dict[str, list[_Object]], shapes: dict[str, Shapes], day: str
    ) -> None:
        """Add to `kept`, and in metres to `shapes`, an area or a point for each outline left unclosed."""
        closed = {one.name for one in kept["areas"]}
        unclosed = [
            one for name, one in self._outlines.items() if name not in closed and is_there(one.tags, day)
        ]
        for one, made in zip(unclosed, mend_outlines(self._path, unclosed, frame), strict=True):
            if made.fault:
                self._left_out.add("outlines", f"{one.name}: {made.fault}", one.name)
            if made.shape is None or (made.fault and "name" not in one.tags):
                continue
            kind = "points" if made.fault else "areas"
            shape = shapely.transform(made.shape, lambda xy: np.round(xy, 3))
            kept[kind].append(_Object(one.name, one.tags, ""))
            shapes[kind] = np.append(shapes[kind], np.array([shape], object))


def _frame_around(lines: Shapes) -> LocalFrame:
    """Return a frame of metres whose origin is the middle of lines in degrees, also across longitude 180."""
    lng, lat = shapely.get_coordinates(lines).T
    east = signed_turn(lng[0], lng)
    middle = signed_turn(0.0, float(lng[0] + (np.min(east) + np.max(east)) / 2))
    return LocalFrame(LatLng(round(float(np.min(lat) + np.max(lat)) / 2, 6), round(middle, 6)))


def _to_metres(degrees: Shapes, frame: LocalFrame) -> Shapes:
    """Return shapes in degrees as shapes in metres of a frame, to the millimetre."""

    def flat(lng_lat: Floats) -> Floats:
        """Return (longitude, latitude) in degrees as metres east and north of the frame, shape (n, 2)."""
        return np.asarray(np.round(np.column_stack(frame.to_metres(lng_lat[:, 1], lng_lat[:, 0])), 3), float)

    return np.asarray(shapely.transform(degrees, flat), dtype=object)


def date_of(path: Path) -> str:
    """Return the date of a file's data from its header, such as `2022-07-24`; empty where it is not known."""
    # Overpass writes the date in an element of its own, which osmium does not read.
    return read_header(path).get(DATE_FIELD, "")[:10] or data_date(path)


def _box_around(path: Path, lines: Shapes) -> Polygon:
    """Return the box around a file's lines in metres, `BESIDE_M` larger; raise `BadInput` for a wide one."""
    west, south, east, north = shapely.total_bounds(lines)
    box: Polygon = shapely.box(west - BESIDE_M, south - BESIDE_M, east + BESIDE_M, north + BESIDE_M)
    span = max(east - west, north - south) + 2 * BESIDE_M
    if span > WIDEST_M:
        raise BadInput(
            f"{path}: its ways are up to {span / 1000:,.0f} km apart: give the part to read, as in "
            f"`--around 60.17,24.94 --radius 800`; a town is at most {WIDEST_M / 1000:g} km wide"
        )
    return box


def _with_crossings(
    lines: NDArray[np.object_], nodes: Sequence[_Nodes], outline: shapely.Polygon
) -> tuple[NDArray[np.object_], tuple[_Nodes, ...]]:
    """Return (lines in metres, node numbers of each), with new nodes where segments cross the outline.

    Only segments with both ends outside the outline get them; the new nodes have negative numbers.
    """
    corners, owner = shapely.get_coordinates(lines, return_index=True)
    shapely.prepare(outline)
    outside = ~shapely.intersects_xy(outline, corners[:, 0], corners[:, 1])
    both = np.flatnonzero((owner[1:] == owner[:-1]) & outside[1:] & outside[:-1])
    segments = shapely.linestrings(np.stack([corners[both], corners[both + 1]], axis=1))
    crossing = both[shapely.intersects(outline, segments)]
    if not len(crossing):
        return lines, tuple(nodes)
    found, numbers = lines.copy(), list(nodes)
    fresh = count(-1, -1)
    begins = np.searchsorted(owner, np.arange(len(lines)))
    # A node right on the outline would count as inside or outside by rounding.
    inner = shapely.buffer(outline, -_WITHIN_M)
    for line in np.unique(owner[crossing]).tolist():
        begin = int(begins[line])
        xy, refs = shapely.get_coordinates(lines[line]).tolist(), list(nodes[line])
        # From the last one on: what is inserted moves the corners after it.
        for at in sorted((crossing[owner[crossing] == line] - begin).tolist(), reverse=True):
            points = _points_inside(shapely.LineString(xy[at : at + 2]), inner)
            xy[at + 1 : at + 1] = points
            refs[at + 1 : at + 1] = [next(fresh) for _ in points]
        found[line], numbers[line] = shapely.LineString(xy), tuple(refs)
    return found, tuple(numbers)


def _points_inside(segment: shapely.LineString, inner: shapely.Polygon) -> list[list[float]]:
    """Return the ends [x, y], metres, of a segment's stretches inside a polygon, and a point in each gap."""
    parts = [part for part in shapely.get_parts(shapely.intersection(segment, inner)) if part.length > 0]
    ends = sorted((sorted(segment.project(shapely.Point(end)) for end in (part.coords[0], part.coords[-1])))
                  for part in parts)  # fmt: skip
    along: list[float] = []
    for first, last in ends:
        # A node outside parts two stretches: a network ends its ways where a node lies outside.
        along += [*([(along[-1] + first) / 2] if along else []), first, last]
    return [list(segment.interpolate(metres).coords[0]) for metres in along]
