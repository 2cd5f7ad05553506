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
from virl.geo.globe import Floats, LatLng, LocalFrame, signed_turn
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
    held_street_map(city)
    import networkx as nx  # noqa: PLC0415 - takes a tenth of a second, when it is needed

    panoramas = [city.streetview.panorama(name) for name in city.panorama_ids]
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
    ends = ((panoramas[start].position, panoramas[end].position) for start, end, _ in links)
    # A link may cross the 180th meridian, so longitudes are halved by their signed difference.
    middles = [
        LatLng((one.lat + other.lat) / 2, one.lng + signed_turn(one.lng, other.lng) / 2)
        for one, other in ends
    ]
    streets = streets_at(middles, city.mapped_streets)
    nearest = streets_at(middles, city.mapped_streets, inf)
    for (start, end, link), street, near in zip(links, streets, nearest, strict=True):
        way = re.fullmatch(r"w(\d+)", street.id) if street else None
        graph.add_edge(
            start,
            end,
            osmid=int(way[1]) if way else -(1 + min(start, end) * len(panoramas) + max(start, end)),
            length=link.distance,
            bearing=link.heading,
            oneway=(end, start) not in pairs,
            reversed=start > end,
            **({"name": street.name} if street and street.name else {}),
            highway=(near and near.kind) or UNCLASSIFIED,
        )
    return graph


def streets_at(
    positions: Sequence[LatLng], streets: Sequence[MappedStreet], most_m: float = ON_STREET_M
) -> list[MappedStreet | None]:
    """Return the street nearest to each position; `None` where none is within `most_m` metres.

    Args:
        positions: any number of positions.
        streets: any number of streets.
        most_m: largest distance in metres; infinite for any distance.
    """
    found: list[MappedStreet | None] = [None] * len(positions)
    if not positions or not streets:
        return found
    frame = LocalFrame(positions[0])
    lines = shapely.STRtree([shapely.LineString(in_metres(frame, street.line)) for street in streets])
    there, nearest = lines.query_nearest(
        shapely.points(in_metres(frame, positions)),
        max_distance=None if most_m == inf else most_m,
        all_matches=False,
    )
    for position, street in zip(there.tolist(), nearest.tolist(), strict=True):
        found[position] = streets[street]
    return found


def held_street_map(city: City) -> StreetMap:
    """Return the street map of a city; raise `BadInput` where it is not all known at once.

    Raises:
        BadInput: the city is asked over a network, panorama by panorama.
    """
    if city.street_map is None:
        raise BadInput(
            f"virl reads {city.title} panorama by panorama, so it has no street graph: use a made city, "
            "a town of OpenStreetMap, or one of a graph data set"
        )
    return city.street_map


def in_metres(frame: LocalFrame, positions: Sequence[LatLng]) -> Floats:
    """Return positions as metres (east, north) from the middle of a frame, shape (positions, 2)."""
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

    inventory = city.inventory
    rows: dict[str, list[Row]] = {
        "streets": [
            {"id": one.id, "name": one.name, "highway": one.kind, "geometry": _line(one.line)}
            for one in inventory.streets()
        ]
        if inventory
        else [{"id": str(n), "geometry": _line(line)} for n, line in enumerate(street_map.lines())],
        "panoramas": [
            {"id": one.id, "heading": one.heading, "links": len(one.links), "geometry": _point(one.position)}
            for one in map(city.streetview.panorama, street_map.panorama_ids())
        ],
        "houses": [
            {"id": one.id, "height": one.height, "height_known": one.is_height_known, "geometry": one.outline}
            for one in (inventory.houses() if inventory else ())
        ],
        "places": _places(inventory) if inventory else [],
        "furniture": [
            {"id": one.id, "kind": one.kind, "is_mapped": one.is_mapped, "geometry": _point(one.position)}
            for one in (city.truth.things() if city.truth else ())
        ],
    }
    frames = {}
    for layer, table in rows.items():
        if table:
            frames[layer] = gpd.GeoDataFrame(table, geometry="geometry", crs=CRS)
            frames[layer].attrs["attribution"] = city.notice
    return frames


def save_geodataframes(frames: "Mapping[str, gpd.GeoDataFrame]", path: Path) -> None:
    """Write tables of `to_geodataframes` to a GeoPackage `path`, `.gpkg`, or as GeoJSON files to a folder.

    The description of each layer says whom to name.

    Raises:
        CannotWrite: the disk refuses.
    """
    is_whole = path.suffix == GEOPACKAGE
    with tempfile.TemporaryDirectory(prefix="virl-geo-") as scratch:
        whole = Path(scratch, path.name)
        for layer, frame in frames.items():
            options = {"DESCRIPTION": frame.attrs.get("attribution", "")}
            if is_whole:
                frame.to_file(whole, layer=layer, layer_options=options, engine="pyogrio")
            else:
                part = Path(scratch, f"{layer}.geojson")
                frame.to_file(part, driver="GeoJSON", layer_options=options, engine="pyogrio")
                write_whole(path / part.name, part.read_bytes(), "choose another folder")
        if is_whole:
            write_whole(path, whole.read_bytes(), "choose another file")


def _places(inventory: Inventory) -> list[Row]:
    """Return a row for each place: id, name, types, address, hours, rating, facts, signs and point."""
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


def _point(position: LatLng) -> shapely.Point:
    """Return a position as a point: x is the longitude, y the latitude."""
    return shapely.Point(position.lng, position.lat)


def _line(line: Iterable[LatLng]) -> shapely.LineString:
    """Return positions as a line: x is the longitude, y the latitude."""
    return shapely.LineString([(position.lng, position.lat) for position in line])
