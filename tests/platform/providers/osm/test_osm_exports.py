"""Cities as graphs and tables: networkx, OSMnx and GeoPandas take them."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import geopandas as gpd
import networkx as nx
import osmnx
import pyogrio
import pytest
from made_graph import write_graph
from real_data import real_data
from written_extract import FRAME, NAMED, dated_town

import virl
from virl.errors import BadInput, ModelUnavailable
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.maps import walked_route
from virl.platform.providers import open_city
from virl.platform.providers.graph.city import open_graph_city


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> City:
    return open_city(str(dated_town(tmp_path_factory.mktemp("osm") / "two-streets.osm.pbf")))


@pytest.fixture(scope="module")
def virlton() -> City:
    return open_city("virlton")


@pytest.fixture(params=["town", "virlton"])
def city(request: pytest.FixtureRequest) -> City:
    found: City = request.getfixturevalue(request.param)
    return found


def routes_agree(city: City, graph: nx.MultiDiGraph, count: int) -> None:
    """Shortest paths of OSMnx are as long as the city's routes, between panoramas spread over its list."""
    ends = list(graph)[:: max(1, len(graph) // count)]
    for start, end in pairwise(ends):
        path = osmnx.routing.shortest_path(graph, start, end, weight="length")
        if path is None:
            continue
        metres = nx.path_weight(graph, path, weight="length")
        stops = [city.streetview.panorama(graph.nodes[node]["pano_id"]).position for node in (start, end)]
        assert metres == pytest.approx(walked_route(city.maps, stops).distance, abs=0.01)


@pytest.mark.slow
def test_osmnx_takes_a_city_as_a_graph(city: City, tmp_path: Path) -> None:
    graph = virl.to_networkx(city)
    assert [told["pano_id"] for _, told in graph.nodes(data=True)] == list(city.street_map.panorama_ids())
    assert graph.graph["attribution"] == city.attribution
    routes_agree(city, graph, 12)
    stats = osmnx.stats.basic_stats(graph)
    assert stats["n"] == len(graph)
    assert stats["street_length_total"] == pytest.approx(stats["edge_length_total"] / 2)
    nodes, edges = osmnx.convert.graph_to_gdfs(graph)
    assert nodes.crs == edges.crs == "epsg:4326"
    again = osmnx.convert.graph_from_gdfs(nodes, edges)
    assert nx.utils.graphs_equal(nx.MultiDiGraph(again.edges), nx.MultiDiGraph(graph.edges))
    osmnx.save_graphml(graph, tmp_path / "town.graphml")
    read = osmnx.load_graphml(tmp_path / "town.graphml")
    assert read.graph["attribution"] == city.attribution
    assert osmnx.stats.basic_stats(read) == stats
    projected = osmnx.projection.project_graph(graph)
    somewhere = next(iter(projected.nodes(data=True)))
    assert osmnx.distance.nearest_nodes(projected, somewhere[1]["x"], somewhere[1]["y"]) == somewhere[0]


def test_a_link_knows_its_street(town: City) -> None:
    graph = virl.to_networkx(town)
    found = {(told.get("name"), told["highway"], told["osmid"]) for *_, told in graph.edges(data=True)}
    assert found == {("Main Street", "residential", 1), (None, "service", 2)}
    ends = {graph.nodes[node]["street_count"] for node in graph}
    assert ends == {1, 2, 3}
    assert not any(told["oneway"] for *_, told in graph.edges(data=True))
    undirected = osmnx.convert.to_undirected(graph)
    assert undirected.number_of_edges() * 2 == graph.number_of_edges()
    for start, end, told in graph.edges(data=True):
        stops = [LatLng(graph.nodes[node]["y"], graph.nodes[node]["x"]) for node in (start, end)]
        assert told["length"] == pytest.approx(distance(*stops), abs=0.01)


@pytest.mark.slow
def test_osmnx_knows_how_long_every_edge_takes(city: City) -> None:
    graph = osmnx.routing.add_edge_speeds(virl.to_networkx(city), fallback=5)
    timed = osmnx.routing.add_edge_travel_times(graph)
    assert all(told["travel_time"] > 0 for *_, told in timed.edges(data=True))


def test_a_graph_data_set_is_a_graph_whose_links_may_lead_one_way(tmp_path: Path) -> None:
    nodes = ("a,0,40.0,-74.0", "b,0,40.0001,-74.0", "c,0,40.0002,-74.0")
    write_graph(tmp_path / "graph", nodes, ("a,0,b", "b,180,a", "b,0,c"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
        city = open_graph_city("corner", "Corner", tmp_path)
    graph = virl.to_networkx(city)
    oneway = {(start, end): told["oneway"] for start, end, told in graph.edges(data=True)}
    assert oneway == {(0, 1): False, (1, 0): False, (1, 2): True}
    assert graph.edges[0, 1, 0]["osmid"] == graph.edges[1, 0, 0]["osmid"] == -2
    assert set(virl.to_geodataframes(city)) == {"streets", "panoramas"}


@pytest.mark.slow
def test_tables_hold_what_the_town_holds(town: City) -> None:
    frames = virl.to_geodataframes(town)
    assert set(frames) == {"streets", "panoramas", "houses", "places", "furniture"}
    assert all(frame.crs == "epsg:4326" for frame in frames.values())
    assert all(frame.attrs["attribution"] == NAMED for frame in frames.values())
    assert set(frames["streets"]["highway"]) == {"residential", "service"}
    assert frames["houses"].set_index("height_known").loc[True, "height"] == 9
    metric = {name: frame.to_crs(frame.estimate_utm_crs()) for name, frame in frames.items()}
    assert metric["houses"].area.tolist() == pytest.approx([880, 880], rel=0.003)
    assert metric["streets"].length.sum() == pytest.approx(550, rel=0.003)
    places = frames["places"].set_index("name")
    assert places.loc["Blue Spoon", "type"] == "restaurant"
    assert places.loc["Blue Spoon", "hours"].startswith("mon 10:00-22:00")
    assert places["has_sign"].to_dict() == {"Blue Spoon": True, "Odds & Ends": True, "The Green": False}
    assert not places["on_directory"].any()
    mapped = frames["furniture"][frames["furniture"]["is_mapped"]]
    assert mapped["kind"].tolist() == ["trash bin"]
    [bin_] = town.truth.things(["trash bin"])
    x, y = FRAME.point(bin_.position)
    assert (x, y) == pytest.approx((70, 5), abs=0.01)


@pytest.mark.parametrize("to", ["town.gpkg", "layers"])
def test_tables_are_written_and_read_again(town: City, tmp_path: Path, to: str) -> None:
    frames = virl.to_geodataframes(town)
    virl.save_geodataframes(frames, tmp_path / to)
    for name, frame in frames.items():
        source = {"filename": tmp_path / to, "layer": name}
        if to == "layers":
            source = {"filename": tmp_path / to / f"{name}.geojson"}
        again = gpd.read_file(**source)
        assert again.crs == "epsg:4326"
        assert again["geometry"].geom_equals_exact(frame["geometry"], 1e-7).all()
        assert list(again.columns) == list(frame.columns)
        if to == "town.gpkg":
            told = pyogrio.read_info(tmp_path / to, layer=name)["layer_metadata"]
            assert told["DESCRIPTION"] == NAMED
        else:
            assert NAMED in source["filename"].read_text(encoding="utf-8")


def test_a_city_on_the_network_is_refused(town: City) -> None:
    tokyo = replace(town, title="Tokyo", street_map=None)
    for made in (virl.to_networkx, virl.to_geodataframes):
        with pytest.raises(
            BadInput, match="virl reads Tokyo panorama by panorama, so it has no street graph"
        ):
            made(tokyo)


def test_a_missing_package_is_named(town: City, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(ModelUnavailable, match=r"needs geopandas: pip install 'virl\[geo\]'"):
        virl.to_geodataframes(town)


def test_virl_itself_is_light() -> None:
    code = "import sys, virl; virl.to_networkx, virl.to_geodataframes; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {"networkx", "geopandas", "pandas", "osmnx"}.isdisjoint(loaded.split())
    with pytest.raises(AttributeError, match="no attribute 'to_networx'"):
        virl.to_networx  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki.osm.pbf", "moscow.osm.gz"])
def test_osmnx_takes_a_real_town(name: str, tmp_path: Path) -> None:
    city = open_city(str(real_data("osm") / name))
    graph = virl.to_networkx(city)
    routes_agree(city, graph, 40)
    assert osmnx.stats.basic_stats(graph)["n"] == len(city.street_map.panorama_ids())
    named = [told for *_, told in graph.edges(data=True) if told["osmid"] > 0]
    assert len(named) > 0.97 * graph.number_of_edges()
    frames = virl.to_geodataframes(city)
    virl.save_geodataframes(frames, tmp_path / "town.gpkg")
    assert len(gpd.read_file(tmp_path / "town.gpkg", layer="houses")) == len(city.inventory.houses())
