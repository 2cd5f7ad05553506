"""Searches by sight: what is asked, what is closed to a walker, who reaches what, how it is scored."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, get_args

import numpy as np
import pytest
from made_life import made_agent, made_character
from rich.console import Console
from servers.options import UploadOptions
from servers.panoramax.app import make_app

from benchmarks.sight.closed import CLOSED, WalkedStreetView, closed_city
from benchmarks.sight.definition import BENCHMARK, SPLITS, Options
from benchmarks.sight.episodes import (
    LEAST_DECISIONS,
    MOST_DECISIONS,
    SAME_M,
    Known,
    Search,
    SearchRequest,
    same_places,
    searches,
)
from benchmarks.sight.score import measure_walk, score, show
from benchmarks.sight.targets import REACHED_M, Among, Kind, load_wishes, targets
from virl.agent.tool import TOOLS, tool_names
from virl.bench.episode import Record
from virl.bench.report.runs import gather
from virl.bench.resources import Resources
from virl.bench.run import run_benchmark
from virl.errors import BadInput, NoStreetView, NotFound, UnknownName, VirlError
from virl.geo.globe import distance
from virl.platform.city.city import City
from virl.platform.city.graph import NavigationGraph, build_graph, whole_graph
from virl.platform.city.place_types import types_marked
from virl.platform.city.streetview import Camera
from virl.platform.movers.base import LinksMover
from virl.platform.providers.cities import open_city
from virl.serve.city_server import served_app
from virl.tools.body import Body
from virl.tools.use import use


def asked(kind: Kind, count: int, *, among: Among = "all", seed: int = 1) -> SearchRequest:
    return SearchRequest(kind, among, "train", count, seed, least_m=300.0, most_m=2000.0)


@pytest.fixture(scope="module")
def town() -> City:
    return open_city("virlton")


@pytest.fixture(scope="module")
def graph(town: City) -> NavigationGraph:
    return whole_graph(town)


@pytest.fixture
def body(town: City, tmp_path: Path) -> Iterator[Body]:
    """What moves an agent that has walked nowhere yet, in the city as a walker may know it."""
    start = town.streetview.nearest(town.center)
    assert start is not None
    seen = WalkedStreetView(town.streetview, start.id)
    agent = made_agent(town, tmp_path / "run", made_character(clock="wed 12:30"))
    seen.stand(agent.start.id)
    yield Body(replace(agent, city=closed_city(town, seen), mover=LinksMover(seen)))
    agent.run._journal.close()


ASKED = {
    "nearby_places": {"radius_m": 500},
    "search_places": {"query": "restaurant"},
    "place_details": {"place_id": "place-0001"},
    "photos": {"place_id": "place-0001"},
    "geocode": {"address": "91 Station Street"},
    "route": {"address": "91 Station Street"},
    "travel_times": {"addresses": ["91 Station Street"]},
    "relocate": {"address": "91 Station Street"},
}
SEEN = {
    "look_closer": {"direction": "front"},
    "turn": {"direction": "left"},
    "detect": {"labels": ["restaurant"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(tool_names()) - {"consult", "take_note", "ask_about_view"}))
def test_no_tool_tells_where_a_place_is(body: Body, town: City, name: str) -> None:
    asked = TOOLS.find(name).arguments
    given = ASKED.get(name, SEEN.get(name, {}))
    try:
        told = use(body, name, asked.model_validate(given)).text
    except VirlError as fault:
        told = str(fault)
    for place in town.places.nearby(town.center, 5000.0):
        assert place.id not in told
        for number in (f"{place.position.lat:.5f}", f"{place.position.lng:.5f}"):
            assert number not in told
    if name in ASKED:
        assert CLOSED in told


def test_all_that_knows_places_is_closed(town: City) -> None:
    start = town.streetview.nearest(town.center)
    assert start is not None
    city = closed_city(town, WalkedStreetView(town.streetview, start.id))
    for ask in (
        lambda: city.places.nearby(city.center, 500.0),
        lambda: city.places.search("bar"),
        lambda: city.places.details("place-0001"),
        lambda: city.places.photos("place-0001"),
        lambda: city.maps.geocode("91 Station Street"),
        lambda: city.maps.route([city.center, city.center]),
        lambda: city.maps.travel_times([city.center], [city.center]),
        lambda: city.streetview.nearest(city.center),
    ):
        with pytest.raises(NotFound, match="closed in this benchmark"):
            ask()
    for part in ("truth", "listings", "street_map", "inventory", "region"):
        assert getattr(city, part) is None
    assert city.capabilities.panorama_page is None


def test_a_walker_sees_where_it_stood_and_knows_the_next_panoramas_alone(town: City) -> None:
    start = town.streetview.nearest(town.center)
    assert start is not None
    beside = start.links[0].pano_id
    behind = next(link.pano_id for link in town.streetview.panorama(beside).links if link.pano_id != start.id)
    seen = WalkedStreetView(town.streetview, start.id)
    assert seen.view(start.id, Camera(0.0, width=32, height=32)).pano_id == start.id
    assert seen.panorama(beside).id == beside
    with pytest.raises(NoStreetView, match="nobody stood"):
        seen.view(beside, Camera(0.0, width=32, height=32))
    with pytest.raises(NoStreetView, match="was not reached"):
        seen.panorama(behind)
    seen.stand(beside)
    assert seen.panorama(behind).id == behind


@pytest.mark.slow
@pytest.mark.parametrize("kind", get_args(Kind))
def test_searches_begin_far_away_can_be_solved_and_are_all_different(
    town: City, graph: NavigationGraph, kind: Kind
) -> None:
    found = searches(Known(town, graph), graph, asked(kind, 4))
    assert found == searches(Known(town, graph), graph, asked(kind, 4))
    assert len(found) == 4
    assert len({search.told if kind == "wish" else search.place_ids for search in found}) == 4
    for search in found:
        assert 300.0 <= search.metres <= 2000.0
        assert search.start not in search.reached
        assert 1 <= search.decisions <= search.max_decisions
        assert search.turns < search.decisions
        assert LEAST_DECISIONS <= search.max_decisions <= MOST_DECISIONS
        assert search.difficulty in {"easy", "middle", "hard"}
        here = [graph.position(graph.number(pano_id)) for pano_id in search.reached]
        right = [town.places.details(place_id).position for place_id in search.place_ids]
        assert all(min(distance(one, place) for place in right) <= REACHED_M for one in here)


@pytest.mark.parametrize(
    ("decisions", "turns", "seen_from", "difficulty"),
    [
        (7, 2, 12, "easy"),
        (8, 2, 12, "easy"),
        (8, 3, 12, "middle"),
        (12, 2, 11, "middle"),
        (12, 3, 11, "hard"),
        (12, 5, 3, "hard"),
    ],
)
def test_distance_turns_and_visibility_make_a_search_hard(
    decisions: int, turns: int, seen_from: int, difficulty: str
) -> None:
    search = Search(
        kind="name",
        told="",
        place_ids=("p",),
        place_name="",
        start="s",
        heading=0.0,
        reached=tuple(map(str, range(seen_from))),
        metres=500.0,
        decisions=decisions,
        turns=turns,
        max_decisions=30,
        max_moves=400,
    )
    assert search.difficulty == difficulty


@pytest.mark.slow
def test_a_look_is_told_of_one_place_alone(town: City) -> None:
    told = [one.told for one in targets(town, "looks", "all", "train", Random(0))]
    assert len(told) > 10
    assert len(set(told)) == len(told)
    names = [one.places[0].name for one in targets(town, "looks", "all", "train", Random(0))]
    assert not any(name in one for name, one in zip(names, told, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", get_args(Kind))
def test_landmarks_are_asked_for_in_every_way(town: City, graph: NavigationGraph, kind: Kind) -> None:
    found = searches(Known(town, graph), graph, asked(kind, 4, among="landmarks"))
    assert found
    for search in found:
        kinds = [town.places.details(place_id).types[0] for place_id in search.place_ids]
        assert types_marked("landmark").intersection(kinds)
        assert kind == "wish" or types_marked("landmark").issuperset(kinds)


def test_wishes_of_the_splits_are_worded_apart() -> None:
    wishes = load_wishes()
    assert {wish.split for wish in wishes} == set(SPLITS)
    assert len({wish.told for wish in wishes}) == len(wishes)


def test_a_city_without_truth_is_refused(town: City, graph: NavigationGraph) -> None:
    start = town.streetview.nearest(town.center)
    assert start is not None
    closed = closed_city(town, WalkedStreetView(town.streetview, start.id))
    with pytest.raises(BadInput, match=r"no ground truth.*--set truth=TOWN"):
        searches(Known(closed, graph), graph, asked("name", 1))


def test_pictures_of_a_town_are_found_again_where_they_were_taken(graph: NavigationGraph) -> None:
    shift = 3.0 / 111_320
    kept = range(0, len(graph.ids), 2)
    number = {node: index for index, node in enumerate(kept)}
    links = [
        (number[node], number[int(other)])
        for node in kept
        for other in graph.target[graph.links(node)]
        if int(other) in number
    ]
    ends = np.array(links, np.int64).reshape(-1, 2)
    pictures = build_graph(
        [f"taken-{node}" for node in kept],
        graph.lat[list(kept)] + shift,
        graph.lng[list(kept)],
        ends[:, 0],
        ends[:, 1],
    )
    far = [node for node in range(1, 400, 2) if pictures.nearest(graph.position(node))[1] > SAME_M]
    ids = [graph.ids[node] for node in (8, 4, 4, *far)]
    assert same_places(ids, graph, pictures) == ["taken-4", "taken-8"]
    assert far


@pytest.mark.slow
def test_a_city_of_open_pictures_is_searched_by_the_truth_of_the_town_they_show(
    town: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    uploads = UploadOptions(width=1024, seed=2)
    told = "title: Pictures\nabout: Of Virlton\nprovider: open\ncenter: [41.25, -38.75]\npolygon:\n"
    corners = ((41.2465, -38.7555), (41.2465, -38.7445), (41.2535, -38.7445), (41.2535, -38.7555))
    file = tmp_path / "pictures.yaml"
    with served_app(partial(make_app, town, uploads)) as server:
        lines = "".join(f"  - [{lat}, {lng}]\n" for lat, lng in corners)
        file.write_text(f"{told}{lines}panoramax_url: {server.url}\n")
        options = Options(
            split="train", cities=(str(file),), truth="virlton", count=1, models=("oracle", "greedy")
        )
        run_benchmark("sight", options, tmp_path / "run", Console(quiet=True))
        records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
        with closing(open_city(str(file))) as city:
            ids = {panorama.id for panorama in (city.streetview.nearest(city.center, 300.0),) if panorama}
    assert ids
    assert len(records) == 8
    assert {record.status for record in records} == {"done"}
    assert all(record.data["success"] for record in records if record.model == "oracle")
    walked = {step["pano_id"] for record in records for step in record.data["walked"]}
    assert not any(pano_id.startswith("vt-") for pano_id in walked)


def test_wrong_options_are_told() -> None:
    with closing(Resources()) as resources:
        with pytest.raises(UnknownName, match=r"walker 'irsi': did you mean 'iris'"):
            BENCHMARK.episodes(Options(models=("irsi",)), resources)
        with pytest.raises(BadInput, match="a person who plays"):
            BENCHMARK.prepare(Options(models=("human",)), resources)
    with pytest.raises(ValueError, match="least_m must be below most_m"):
        Options(least_m=500, most_m=400)


@pytest.mark.slow
def test_baselines_know_what_they_know(tmp_path: Path) -> None:
    options = Options(split="train", count=2, models=("oracle", "greedy", "random", "forward"), seed=3)
    run_benchmark("sight", options, tmp_path / "run", Console(quiet=True))
    records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    assert {record.status for record in records} == {"done"}
    of = {name: [one for one in records if one.model == name] for name in options.models}
    for record in of["oracle"]:
        values = measure_walk(record.data, Search.model_validate(record.data["search"]))
        assert values["success"] == values["accuracy"] == 1.0
        assert values["spl"] == pytest.approx(1.0, abs=0.01)
        assert values["backtracks"] == 0.0
    rates = {name: sum(one.data["success"] for one in own) / len(own) for name, own in of.items()}
    assert rates["oracle"] == 1.0
    assert rates["greedy"] >= max(rates["random"], rates["forward"])
    notes = score(of["random"], options).notes
    assert notes == ["random: stops where it is told that the target is in sight; it need not see it"]
    assert "stops by itself" in dict(show(of["random"][0]).facts)
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.slow
def test_iris_reads_her_way_to_a_place_near_by(tmp_path: Path) -> None:
    options = Options(
        split="train", count=3, kinds=("name",), models=("iris",), least_m=50, most_m=120, seed=1
    )
    run_benchmark("sight", options, tmp_path / "run", Console(quiet=True))
    records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    assert sum(record.data["success"] for record in records) >= 2
    for record in records:
        if record.data["success"]:
            assert "shows what is looked for" in record.data["walked"][-1]["decided"]
            assert record.data["views"] > 4


@pytest.mark.slow
@pytest.mark.parametrize("walker", ["plain", "verbalized"])
def test_the_published_prompts_run_with_the_rules(tmp_path: Path, walker: str) -> None:
    options = Options(split="train", count=1, kinds=("picture",), models=(walker,), least_m=60, most_m=150)
    run_benchmark("sight", options, tmp_path / "run", Console(quiet=True))
    [record] = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    assert record.status == "done"
    assert record.cost["requests"] == record.data["decisions"]


def walk(ids: str, left: list[float], *, ends: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {
            "pano_id": name,
            "lat": 41.25,
            "lng": -38.75,
            "moved": 0.0 if index == 0 else 10.0,
            "left": metres,
            "choices": 3,
            "next": None if index == len(ids) - 1 else ids[index + 1],
            "stopped": False,
            "decided": "by chance",
        }
        for index, (name, metres) in enumerate(zip(ids, left, strict=True))
    ]
    steps[-1]["stopped"] = ends
    search = Search(
        kind="name",
        told="Find it.",
        place_ids=("p",),
        place_name="It",
        start=ids[0],
        heading=0.0,
        reached=("z",),
        metres=20.0,
        decisions=2,
        turns=0,
        max_decisions=30,
        max_moves=420,
    )
    return {
        "search": search.model_dump(mode="json"),
        "walked": steps,
        "decisions": len(ids) - 1,
        "views": 8,
        "success": ends and ids[-1] == "z",
        "told": False,
        "target": [41.25, -38.75],
    }


def test_a_walk_is_measured_by_hand() -> None:
    data = walk("abaz", [20.0, 30.0, 20.0, 0.0], ends=True)
    values = measure_walk(data, Search.model_validate(data["search"]))
    assert values == {
        "success": 1.0, "spl": pytest.approx(20 / 30), "progress": 1.0, "decisions": 3.0, "backtracks": 1.0,
        "views": 8.0, "accuracy": pytest.approx(2 / 3), "middle": 1.0,
    }  # fmt: skip
    lost = walk("abc", [20.0, 30.0, 40.0], ends=True)
    values = measure_walk(lost, Search.model_validate(lost["search"]))
    assert (values["success"], values["spl"], values["progress"], values["accuracy"]) == (0.0, 0.0, -1.0, 0.0)


def test_a_search_is_shown() -> None:
    data = walk("abz", [20.0, 10.0, 0.0], ends=True)
    record = Record("iris/virlton/name-000", "name-000", "virlton", "iris", "done", data)
    shown = show(record)
    assert shown.outcome == "reached: by chance"
    assert dict(shown.facts)["shortest way"] == "20 m, 2 decisions, 0 turns"
    assert [one.label for one in shown.points] == ["It"]
    assert len(shown.decisions) == 2
    assert score([record], Options()).tallies["success"][0].group == "name"
