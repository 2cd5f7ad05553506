"""VLN and the instruction navigators with every mover, on a small town behind Google's formats."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from headless import needs_chromium
from made_high_street import SHOPS, made_city
from served_google import MARKER_KEY, google_http
from test_vln_benchmark import MadeResources, path, record, route, value

from benchmarks.vln.definition import BENCHMARK, Options, RoutesWorld, parse_walker, run
from benchmarks.vln.score import score
from virl.bench.episode import Episode, EpisodeResult
from virl.datasets.collect.dataset import RouteRow
from virl.errors import BadInput
from virl.mind.rules import RuleMind
from virl.platform.city.city import City
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.movers.graph_around import graph_around
from virl.platform.movers.open_mover import open_mover
from virl.platform.navigators.follower.navigator import Follower
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.sources import GraphObservations
from virl.platform.navigators.velma.navigator import VelmaNavigator
from virl.platform.providers.google.city import open_google
from virl.serve.google.options import ServeOptions, parse_oddities
from virl.serve.google.server import serve_city

__all__ = ["route"]

THIN = ServeOptions(lossless=True, odd=parse_oddities("unlinked:0.3"))
MOVERS = ["links", "grid", "hybrid", pytest.param("web", marks=[pytest.mark.browser, needs_chromium])]


@contextmanager
def over_http(monkeypatch: pytest.MonkeyPatch, serve: ServeOptions | None = None) -> Iterator[City]:
    city, _ = made_city()
    with serve_city(city, serve or ServeOptions(lossless=True)) as server, google_http(server.url) as http:
        monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
        yield open_google("made", "Made", city.center, None, http)


def walk(city: City, route: RouteRow, mover: str | None) -> EpisodeResult:
    resources = MadeResources()
    resources.given = RuleMind()
    asked = Options.model_validate({"cities": ["made"], "models": ["oracle"], "mover": mover})
    world = RoutesWorld(asked, {"made": city}, {"oracle": parse_walker("oracle")}, resources)
    payload = json.loads(json.dumps({"route": route.model_dump(mode="json")}))
    return run(Episode(route.id, "made", "oracle", payload), world)


@pytest.mark.slow
@pytest.mark.parametrize("mover", MOVERS)
def test_a_route_is_walked_with_any_mover(
    route: RouteRow, monkeypatch: pytest.MonkeyPatch, mover: str
) -> None:
    with over_http(monkeypatch) as city:
        result = walk(city, route, mover)
    assert result.data["mover"] == mover
    assert result.data["ending"] == "stopped"
    scores = score([record(result)], Options())
    assert value(scores, "success") == 1.0
    if mover != "grid":  # which may cut a corner
        assert tuple(path(result)) == route.pano_ids
        assert {value(scores, metric.key) for metric in BENCHMARK.metrics} == {1.0}


@pytest.mark.slow
def test_the_mover_that_fits_is_taken_where_none_is_named(
    route: RouteRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with over_http(monkeypatch, THIN) as city:
        assert walk(city, route, None).data["mover"] == "hybrid"
    with over_http(monkeypatch, ServeOptions(denied=("map-tiles",))) as city:
        assert walk(city, route, None).data["mover"] == "grid"
        with pytest.raises(BadInput, match="mover 'links' needs the Map Tiles API"):
            walk(city, route, "links")


@pytest.mark.slow
@pytest.mark.parametrize("mover", MOVERS)
def test_navigators_of_graphs_walk_what_a_mover_reaches(monkeypatch: pytest.MonkeyPatch, mover: str) -> None:
    own = made_city()[0].streetview
    with over_http(monkeypatch) as city, open_mover(mover, city.streetview) as opened:
        graph = graph_around(city.streetview, opened, "c", 35.0)
        assert set(graph.ids) == {
            *("c", "w1", "w2", "n1", "n2", "s1", "s2", "e1", "e2", "e3"),
        }
        for number, pano_id in enumerate(graph.ids):
            ends = {graph.ids[end] for end in graph.target[graph.links(number)]}
            true = {link.pano_id for link in own.panorama(pano_id).links} & set(graph.ids)
            assert true <= ends if mover == "grid" else true == ends
        start = WalkState(graph.number("w2"), 90.0)
        moves = list(Follower(graph, max_actions=12).walk("Go straight and stop at the third light.", start))
        assert 1 <= len(moves) <= 12
        assert all(move.state.node < len(graph) for move in moves)
        for navigator in (
            VelmaNavigator(graph, RuleMind(), max_actions=8),
            NavGptNavigator(graph, RuleMind(), GraphObservations(graph), max_steps=5),
        ):
            assert list(navigator.walk("Walk past the bank and turn left.", start))


@pytest.mark.slow
def test_a_graph_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHOPS
    with over_http(monkeypatch) as city, open_mover("links", city.streetview) as mover:
        assert len(graph_around(city.streetview, mover, "c", 1000.0)) == 17
        assert len(graph_around(city.streetview, mover, "c", 1000.0, most=5)) == 5
        alone = graph_around(city.streetview, mover, "c", 5.0)
        assert alone.ids == ("c",)
        assert len(alone.target) == 0
