"""What a city holds, as tables of GeoPandas, and as a file for a geographic information system."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import shapely

from virl.extras import require
from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.inventory import Inventory
from virl.platform.city.networks import CRS, held_street_map

if TYPE_CHECKING:
    import geopandas as gpd

GEOPACKAGE = ".gpkg"
"""Suffix of a file of the format GeoPackage."""

Row = dict[str, object]
"""A row of a table: values by column."""


def to_geodataframes(city: City) -> "dict[str, gpd.GeoDataFrame]":
    """Return tables of a city's `streets`, `panoramas`, `houses`, `places` and `furniture`, by name.

    Tables of what the city does not know are left out: a graph data set has streets and panoramas only. All
    are in WGS84 degrees (`epsg:4326`); `attrs["attribution"]` of each says whom to name.

    Raises:
        BadInput: the city's streets are not all known, since it is asked over a network.
        ModelUnavailable: GeoPandas is not installed.
    """
    street_map = held_street_map(city)
    require("geo", "geopandas", what="to_geodataframes")
    import geopandas as gpd  # noqa: PLC0415 - an extra

    rows = {
        "streets": _streets(city.inventory) if city.inventory else _lines(street_map.lines()),
        "panoramas": [_panorama(city, name) for name in street_map.panorama_ids()],
        "houses": _houses(city.inventory) if city.inventory else [],
        "places": _places(city.inventory) if city.inventory else [],
        "furniture": _furniture(city),
    }
    frames = {}
    for layer, found in rows.items():
        if found:
            frames[layer] = gpd.GeoDataFrame(found, geometry="geometry", crs=CRS)
            frames[layer].attrs["attribution"] = city.notice
    return frames


def save_geodataframes(frames: "Mapping[str, gpd.GeoDataFrame]", path: Path) -> None:
    """Write the tables of a city to a file that geographic information systems open.

    The description of each layer says whom to name.

    Args:
        frames: as `to_geodataframes` gives them.
        path: a GeoPackage that gets all tables, if it ends in `.gpkg`; else a folder that gets a GeoJSON file
            for each.

    Raises:
        CannotWrite: the disk refuses.
    """
    with tempfile.TemporaryDirectory(prefix="virl-geo-") as scratch:
        if path.suffix == GEOPACKAGE:
            whole = Path(scratch, path.name)
            for layer, frame in frames.items():
                said = {"DESCRIPTION": frame.attrs.get("attribution", "")}
                frame.to_file(whole, layer=layer, layer_options=said, engine="pyogrio")
            write_whole(path, whole.read_bytes(), "choose another file")
            return
        for layer, frame in frames.items():
            part = Path(scratch, f"{layer}.geojson")
            said = {"DESCRIPTION": frame.attrs.get("attribution", "")}
            frame.to_file(part, driver="GeoJSON", layer_options=said, engine="pyogrio")
            write_whole(path / part.name, part.read_bytes(), "choose another folder")


def _streets(inventory: Inventory) -> list[Row]:
    """Return a row for each street: id, name, value of `highway` and line."""
    return [
        {"id": street.id, "name": street.name, "highway": street.kind, "geometry": _line(street.line)}
        for street in inventory.streets()
    ]


def _lines(lines: Iterable[Iterable[LatLng]]) -> list[Row]:
    """Return a row for each line of positions, numbered from 0."""
    return [{"id": str(number), "geometry": _line(line)} for number, line in enumerate(lines)]


def _panorama(city: City, name: str) -> Row:
    """Return the row of a panorama: id, heading in degrees, number of links and point."""
    panorama = city.streetview.panorama(name)
    return {
        "id": panorama.id,
        "heading": panorama.heading,
        "links": len(panorama.links),
        "geometry": _point(panorama.position),
    }


def _houses(inventory: Inventory) -> list[Row]:
    """Return a row for each house: id, height in metres, whether that is known, and outline."""
    return [
        {
            "id": house.id,
            "height": house.height,
            "height_known": house.is_height_known,
            "geometry": house.outline,
        }
        for house in inventory.houses()
    ]


def _places(inventory: Inventory) -> list[Row]:
    """Return a row for each place: name, types, address, hours, rating, signs and point."""
    signed, listed = inventory.ids_with_sign(), inventory.ids_on_directory()
    return [
        {
            "id": place.id,
            "name": place.name,
            "type": place.types[0] if place.types else "",
            "types": ",".join(place.types),
            "address": place.address,
            "hours": "; ".join(map(str, place.hours)),
            "rating": place.rating,
            "review_count": place.review_count,
            "is_open": place.is_open,
            "facts": "; ".join(f"{name}: {text}" for name, text in place.facts),
            "has_sign": place.id in signed,
            "on_directory": place.id in listed,
            "geometry": _point(place.position),
        }
        for place in inventory.places()
    ]


def _furniture(city: City) -> list[Row]:
    """Return a row for each piece of street furniture; none where the truth is not known."""
    return [
        {"id": thing.id, "kind": thing.kind, "is_mapped": thing.is_mapped, "geometry": _point(thing.position)}
        for thing in (city.truth.things() if city.truth else ())
    ]


def _point(position: LatLng) -> shapely.Point:
    """Return a position as a point: x is the longitude, y the latitude."""
    return shapely.Point(position.lng, position.lat)


def _line(line: Iterable[LatLng]) -> shapely.LineString:
    """Return positions as a line: x is the longitude, y the latitude."""
    return shapely.LineString([(position.lng, position.lat) for position in line])
