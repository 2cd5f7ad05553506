"""A city's panoramas as a graph of networkx, with OSMnx's names of attributes."""

import re
from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import shapely

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.platform.city.city import City, StreetMap
from virl.platform.city.inventory import MappedStreet

if TYPE_CHECKING:
    import networkx as nx

CRS = "epsg:4326"
"""Coordinate reference system of the graph: WGS84 degrees."""
UNCLASSIFIED = "unclassified"
"""Value of `highway` for streets of an unknown class."""
ON_STREET_M = 3.0
"""Metres from the nearest street beyond which a position is on none; chosen."""


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
    """Return the position halfway between two."""
    return LatLng((one.lat + other.lat) / 2, one.lng + signed_turn(one.lng, other.lng) / 2)


def _metres(frame: LocalFrame, positions: Sequence[LatLng]) -> np.ndarray:
    """Return positions in metres of a frame, shape (positions, 2): east and north."""
    lat, lng = np.array(positions, float).T
    return np.column_stack(frame.to_metres(lat, lng))
