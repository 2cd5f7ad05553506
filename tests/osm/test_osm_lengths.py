"""The walk network is OSMnx's, and so are the lengths of routes, on real data."""

import re
from pathlib import Path

import networkx as nx
import numpy as np
import osmium
import osmnx
import pytest
from osmnx._overpass import _get_network_filter
from real_data import real_data

from virl.geo.globe import LatLng
from virl.osm.extract import read_extract
from virl.osm.maps import WayGraph
from virl.osm.network import only_ways, way_network
from virl.osm.ways import is_walk_network
from virl.platform.city.maps import TravelMode

PAIRS = 50
FAR_M = 300.0
SNAPPED_M = 30.0
"""A junction of OSMnx's that is farther from our ways is on one that ours leave out."""


def _excluded(kind: str) -> list[tuple[str, str]]:
    """What OSMnx leaves out: it asks Overpass for `["highway"]["area"!~"yes"]...`.

    It has no public function that filters a file so.
    """
    excluded = re.findall(r'\["([^"]+)"!~"([^"]+)"\]', _get_network_filter(kind))
    assert len(excluded) > 5
    return excluded


def _is_theirs(tags: osmium.osm.TagList, excluded: list[tuple[str, str]]) -> bool:
    return "highway" in tags and not any(re.search(values, tags.get(key, "")) for key, values in excluded)


def _is_whole(way: osmium.osm.Way) -> bool:
    return all(node.location.valid() for node in way.nodes)


def _their_graph(file: Path, kind: str, scratch: Path) -> nx.MultiDiGraph:
    excluded, kept = _excluded(kind), scratch / f"{kind}.osm"
    with osmium.BackReferenceWriter(str(kept), ref_src=str(file), remove_tags=False) as writer:
        for way in osmium.FileProcessor(str(file)).with_locations():
            if isinstance(way, osmium.osm.Way) and _is_theirs(way.tags, excluded) and _is_whole(way):
                writer.add_way(way)
    return osmnx.graph_from_xml(kept, bidirectional=kind == "walk", simplify=False, retain_all=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki.osm.pbf", "moscow.osm.gz"])
def test_its_length_is_that_of_osmnx(name: str, tmp_path: Path) -> None:
    file = real_data("osm") / name
    ours = way_network(read_extract(file), is_walk_network).length.sum()
    theirs = osmnx.convert.to_undirected(_their_graph(file, "walk", tmp_path)).size(weight="length")
    assert ours == pytest.approx(theirs, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki.osm.pbf", "moscow.osm.gz"])
@pytest.mark.parametrize(("mode", "kind"), [("walking", "walk"), ("driving", "drive")])
def test_routes_are_as_long_as_those_of_osmnx(name: str, mode: TravelMode, kind: str, tmp_path: Path) -> None:
    file = real_data("osm") / name
    extract = only_ways(read_extract(file))
    ours = WayGraph(extract, mode)
    theirs = osmnx.truncate.largest_component(_their_graph(file, kind, tmp_path), strongly=True)
    nodes, rng, ratios = list(theirs.nodes), np.random.default_rng(0), list[float]()
    while len(ratios) < PAIRS:
        ends = [nodes[index] for index in rng.choice(len(nodes), 2)]
        metres = nx.shortest_path_length(theirs, *ends, weight="length")
        here, there = (
            ours.snap(extract.frame.point(LatLng(theirs.nodes[end]["y"], theirs.nodes[end]["x"])))
            for end in ends
        )
        assert here
        assert there
        if metres > FAR_M and max(here.away, there.away) < SNAPPED_M:
            found = ours.way(here, there)
            assert found
            ratios.append(found.metres / metres)
    assert np.median(ratios) == pytest.approx(1, abs=0.02)
