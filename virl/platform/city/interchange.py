"""A city for other libraries: a graph of networkx, tables of GeoPandas, and a file for a GIS."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import shapely

from virl.errors import BadInput
from virl.extras import require
from virl.files.writing import write_whole
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.platform.city.city import City, StreetMap
from virl.platform.city.inventory import Inventory, MappedStreet

if TYPE_CHECKING:
    import geopandas as gpd
    import networkx as nx


CRS = "epsg:4326"
"""Coordinate reference system of the graph: WGS84 degrees."""
UNCLASSIFIED = "unclassified"
"""Value of `highway` for streets of an unknown class."""
ON_STREET_M = 3.0
"""Largest distance in metres from a position to the street that it is on; chosen."""


def to_networkx(city: City) -> "nx.MultiDiGraph[int]":
    """Return a city's panoramas as the nodes of a graph and the links between them as its edges.

    Functions of networkx and OSMnx take the graph. Nodes are the numbers of the panoramas, from 0 in the
    order of `StreetMap.panorama_ids`, since OSMnx takes no text for a node. They have `x` (longitude), `y`
    (latitude), `street_count` (how many panoramas are linked to it) and `pano_id`.

    Links are edges with `length` in metres, as the city's routes count them, `bearing` in degrees, `osmid`,
    `oneway`, `reversed` and `highway` (of the nearest street; `unclassified` where the city knows no
    classes); and with `name` where they lie on a street with one. They are straight, so that no edge has a
    `geometry`. `osmid` is the number of the way in OpenStreetMap, or else a negative one that both directions
    of a link share. `graph.graph["attribution"]` says whom to name.

    Raises:
        BadInput: the city's panoramas are not all known, since it is asked over a network.

    Examples:
        >>> virl.to_networkx(town).is_directed()
        True
    """
    street_map = held_street_map(city)
    import networkx as nx  # noqa: PLC0415 - takes a tenth of a second, when it is needed

    panoramas = [city.streetview.panorama(name) for name in street_map.panorama_ids()]
    number = {panorama.id: index for index, panorama in enumerate(panoramas)}
    links = [
        (start, number[link.pano_id], link)
        for start, panorama in enumerate(panoramas)
        for link in panorama.links
    ]
    pairs = {(start, end) for start, end, _ in links}
    beside = Counter(node for pair in {frozenset(pair) for pair in pairs} if len(pair) > 1 for node in pair)
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(
        crs=CRS, name=city.title, attribution=city.attribution, simplified=False
    )
    for node, panorama in enumerate(panoramas):
        lat, lng = panorama.position
        graph.add_node(node, y=lat, x=lng, street_count=beside[node], pano_id=panorama.id)
    middles = [_halfway(panoramas[start].position, panoramas[end].position) for start, end, _ in links]
    mapped = city.inventory.streets() if city.inventory else ()
    streets, nearest = streets_at(middles, mapped), streets_at(middles, mapped, inf)
    for (start, end, link), street, near in zip(links, streets, nearest, strict=True):
        told = {"name": street.name if street else "", "highway": (near and near.kind) or UNCLASSIFIED}
        graph.add_edge(
            start,
            end,
            osmid=_way_number(street) or -(1 + min(start, end) * len(panoramas) + max(start, end)),
            length=link.distance,
            bearing=link.heading,
            oneway=(end, start) not in pairs,
            reversed=start > end,
            **{key: value for key, value in told.items() if value},
        )
    return graph


def streets_at(
    positions: Sequence[LatLng], streets: Sequence[MappedStreet], most_m: float = ON_STREET_M
) -> list[MappedStreet | None]:
    """Return the street nearest to each position; `None` where none is within `most_m` metres.

    Args:
        positions: any number.
        streets: any number.
        most_m: metres at most; infinite for any distance.
    """
    found: list[MappedStreet | None] = [None] * len(positions)
    if not positions or not streets:
        return found
    frame = LocalFrame(positions[0])
    lines = shapely.STRtree([shapely.LineString(_metres(frame, street.line)) for street in streets])
    there, nearest = lines.query_nearest(
        shapely.points(_metres(frame, positions)),
        max_distance=None if most_m == inf else most_m,
        all_matches=False,
    )
    for position, street in zip(there.tolist(), nearest.tolist(), strict=True):
        found[position] = streets[street]
    return found


def held_street_map(city: City) -> StreetMap:
    """Return the street map of a city that is held whole.

    Raises:
        BadInput: the city is asked over a network, panorama by panorama.
    """
    if city.street_map is None:
        raise BadInput(
            f"virl reads {city.title} panorama by panorama, so it has no street graph: use a made city, "
            "a town of OpenStreetMap, or one of a graph data set"
        )
    return city.street_map


def _way_number(street: MappedStreet | None) -> int | None:
    """Return the number of the OpenStreetMap way that a street is a part of; `None` where it has none."""
    return int(street.id[1:]) if street and re.fullmatch(r"w\d+", street.id) else None


def _halfway(one: LatLng, other: LatLng) -> LatLng:
    """Return the position halfway between two positions."""
    return LatLng((one.lat + other.lat) / 2, one.lng + signed_turn(one.lng, other.lng) / 2)


def _metres(frame: LocalFrame, positions: Sequence[LatLng]) -> np.ndarray:
    """Return positions in metres of a frame, shape (positions, 2): east and north."""
    lat, lng = np.array(positions, float).T
    return np.column_stack(frame.to_metres(lat, lng))


GEOPACKAGE = ".gpkg"
"""Suffix of a file of the format GeoPackage."""

Row = dict[str, object]
"""A row of a table, as values by name of the column."""


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
    """Return a row for each house: id, height in metres, True if the height is known, and outline."""
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
