"""The walk network is OSMnx's, on real data."""

import re
from pathlib import Path

import osmium
import osmnx
import pytest
from osmnx._overpass import _get_network_filter
from real_data import real_data

from virl.platform.providers.osm.extract import read_extract
from virl.platform.providers.osm.network import way_network
from virl.platform.providers.osm.ways import is_walk_network

# OSMnx asks Overpass for `["highway"]["area"!~"yes"]...`; it has no public function that filters a file so.
EXCLUDED = re.findall(r'\["([^"]+)"!~"([^"]+)"\]', _get_network_filter("walk"))


def _is_theirs(tags: osmium.osm.TagList) -> bool:
    return "highway" in tags and not any(re.search(values, tags.get(key, "")) for key, values in EXCLUDED)


def _is_whole(way: osmium.osm.Way) -> bool:
    return all(node.location.valid() for node in way.nodes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki.osm.pbf", "moscow.osm.gz"])
def test_its_length_is_that_of_osmnx(name: str, tmp_path: Path) -> None:
    file = real_data("osm") / name
    ours = way_network(read_extract(file), is_walk_network).length.sum()
    walked = tmp_path / "walked.osm"
    with osmium.BackReferenceWriter(str(walked), ref_src=str(file), remove_tags=False) as writer:
        for way in osmium.FileProcessor(str(file)).with_locations():
            if isinstance(way, osmium.osm.Way) and _is_theirs(way.tags) and _is_whole(way):
                writer.add_way(way)
    graph = osmnx.graph_from_xml(walked, bidirectional=True, simplify=False, retain_all=True)
    theirs = osmnx.convert.to_undirected(graph).size(weight="length")
    assert len(EXCLUDED) > 5
    assert ours == pytest.approx(theirs, rel=0.02)
