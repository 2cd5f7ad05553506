"""Elements of an OpenStreetMap extract, as they are in the file."""

from pathlib import Path

import osmium

from servers.overpass.elements import Elements, OsmNode, OsmRelation, OsmWay
from servers.overpass.queries import Kind
from virl.osm.extract import check_name, damage_reported, date_of

_KINDS: dict[str, Kind] = {"n": "node", "w": "way", "r": "relation"}


def elements_of_extract(path: Path) -> Elements:
    """All of a file.

    Raises:
        BadInput: it is missing, or no extract.
    """
    check_name(path)
    nodes: dict[int, OsmNode] = {}
    ways: dict[int, OsmWay] = {}
    relations: dict[int, OsmRelation] = {}
    with damage_reported(path):
        for one in osmium.FileProcessor(str(path)):
            if isinstance(one, osmium.osm.Node):
                if one.location.valid():
                    nodes[one.id] = OsmNode(one.id, one.lat, one.lon, dict(one.tags))
            elif isinstance(one, osmium.osm.Way):
                ways[one.id] = OsmWay(one.id, [node.ref for node in one.nodes], dict(one.tags))
            elif isinstance(one, osmium.osm.Relation):
                members = [(_KINDS[part.type], part.ref, part.role) for part in one.members]
                relations[one.id] = OsmRelation(one.id, members, dict(one.tags))
        date = date_of(path)
    return Elements(nodes, ways, relations, f"{date}T00:00:00Z" if date else "")
