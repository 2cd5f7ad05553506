"""Reading of regions from files: GeoJSON, or V-IRL's text format, a `lat, lng` line for each corner."""

import re
from collections.abc import Sequence
from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import JsonFault, read_json
from virl.geo.globe import LatLng, distance
from virl.geo.region import Region, RegionFault, region_fault
from virl.settings.yaml import read_text

MAX_FROM_CITY_M = 100_000.0
"""Most metres from a city's centre to a position that counts as in or near the city; chosen."""

_WGS84 = re.compile(r"(CRS84h?|EPSG:([\d.]*:)?(4326|4979))$")
"""Names of coordinate systems in GeoJSON that mean longitude and latitude in WGS84."""

LocatedCorners = list[tuple[int | None, LatLng]]
"""Corners of a region, each as (line in the file, position); `None` for an unknown line."""


def read_region(file: Path, near: LatLng | None = None) -> Region:
    """Return the region whose corners a file lists, which must lie within 100 km of `near`, if given.

    GeoJSON (a Polygon, or a Feature, FeatureCollection or MultiPolygon that holds one) has longitude first;
    a text file has latitude first. Either may leave its outline open.

    Args:
        file: begins with `{` if it is GeoJSON.
        near: where it should be, such as a city's centre: finds swapped numbers that make a position too.

    Raises:
        BadInput: the file cannot be read, holds no simple polygon, or one more than 100 km from `near`;
            names file, line and corner.
    """
    text = read_text(file)
    located = _from_geojson(text, file) if text.lstrip().startswith("{") else _from_lines(text, file)
    if not located:
        raise BadInput(f"{file}: contains no corners: write one `lat, lng` line per corner, or GeoJSON")
    corners = tuple(position for _, position in located)
    wrong = region_fault(corners) or (_distance_fault(corners, near) if near else None)
    if wrong:
        line = None if wrong.corner is None else located[wrong.corner][0]
        raise BadInput(f"{_line_source(file, line)}: {wrong}")
    return Region(corners)


def _line_source(file: Path, line: int | None) -> str:
    """Return a file, and a line unless it is `None`, as the beginning of an error message."""
    return f"{file}" if line is None else f"{file}, line {line}"


def _distance_fault(corners: Sequence[LatLng], near: LatLng) -> RegionFault | None:
    """Return the fault of a region whose first corner is too far from a city's centre; `None` if near."""
    lat, lng = corners[0]
    metres = distance(corners[0], near)
    if metres <= MAX_FROM_CITY_M:
        return None
    swapped = abs(lng) <= 90 and distance(LatLng(lng, lat), near) <= MAX_FROM_CITY_M
    hint = "are latitude and longitude swapped?" if swapped else "choose a region of the city"
    return RegionFault(f"lies {metres / 1000:,.0f} km from the city's centre {near}: {hint}", 0)


def _from_lines(text: str, file: Path) -> LocatedCorners:
    """Return the corners in a text of `lat, lng` lines; errors name `file`."""
    located: LocatedCorners = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            bare = line.strip().removeprefix("(").removesuffix(")")
            try:
                lat, lng = map(float, bare.split(","))
            except ValueError:
                raise BadInput(
                    f"{_line_source(file, number)}: {line.strip()[:40]!r} is not a `lat, lng` line"
                ) from None
            located.append((number, LatLng(lat, lng)))
    return located


def _from_geojson(text: str, file: Path) -> LocatedCorners:
    """Return the corners of the polygon in a GeoJSON text; errors name `file`."""
    try:
        data = read_json(text.encode())
    except JsonFault as fault:
        where = _line_source(file, fault.line or None)
        raise BadInput(f"{where}: not valid JSON{fault.at_column}: {fault.reason}") from None
    _check_crs(data, file)
    ring = _find_ring(data, file)
    lines = _position_lines(text, len(ring))
    located: LocatedCorners = []
    for number, (line, item) in enumerate(zip(lines, ring, strict=True), start=1):
        found = item if isinstance(item, list) else []
        is_number = [isinstance(one, int | float) and not isinstance(one, bool) for one in found]
        numbers = [float(one) for one in found] if all(is_number) else []
        if len(numbers) not in {2, 3}:
            raise BadInput(f"{_line_source(file, line)}: corner {number}: should be [longitude, latitude]")
        located.append((line, LatLng(numbers[1], numbers[0])))
    return located


def _check_crs(data: object, file: Path) -> None:
    """Check that GeoJSON, if it has a `crs`, is in longitude and latitude of WGS84.

    Raises:
        BadInput: they are not; names the system.
    """
    match data:
        case {"crs": {"properties": {"name": str(name)}}} | {"crs": str(name)} if not _WGS84.search(name):
            raise BadInput(
                f"{file}: its coordinates are in {name}: convert them to longitude and latitude (EPSG:4326)"
            )
        case {"features": [dict(only)]} | {"geometry": dict(only)}:
            _check_crs(only, file)


def _find_ring(data: object, file: Path) -> list[object]:
    """Return the positions of the only polygon's outline in GeoJSON; raise `BadInput` for none or several."""
    match data:
        case {"type": "FeatureCollection", "features": [only]}:
            return _find_ring(only, file)
        case {"type": "FeatureCollection", "features": list(many)}:
            raise BadInput(f"{file}: contains {len(many)} features: a region is one polygon")
        case {"type": "Feature", "geometry": geometry}:
            return _find_ring(geometry, file)
        case {"type": "MultiPolygon", "coordinates": [[*rings]]} | {
            "type": "Polygon",
            "coordinates": [*rings],
        }:
            match rings:
                case [[*ring]]:
                    return ring
                case [_, _, *_]:
                    raise BadInput(f"{file}: the polygon has holes: a region has a single outline")
        case {"type": "MultiPolygon", "coordinates": [_, _, *_] as many}:
            raise BadInput(f"{file}: contains {len(many)} polygons: a region is one polygon")
    raise BadInput(f"{file}: contains no GeoJSON Polygon")


def _position_lines(text: str, count: int) -> list[int | None]:
    """Return the line numbers of the first `count` positions in a GeoJSON text; `None` if unknown."""
    start = text.find('"coordinates"')
    found = [start + bracket.start() for bracket in re.finditer(r"\[[^\[\]]*\]", text[start:])][:count]
    if len(found) < count:
        return [None] * count
    return [text.count("\n", 0, at) + 1 for at in found]
