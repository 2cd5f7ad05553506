"""The export has the public layout, its instructions are true, and the same seed gives the same bytes."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from clause_oracle import Surroundings, follow

from virl.datasets.export.files import MANIFEST, exporting, is_finished, refuse_other_files
from virl.datasets.export.touchdown import SPLITS, export_touchdown, exported_touchdown
from virl.errors import BadInput, UnknownName
from virl.geo.globe import bearing, signed_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Camera
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState
from virl.platform.providers import open_city
from virl.platform.providers.graph.touchdown import read_episodes, read_touchdown
from virl.platform.providers.offline.city import kept_plan
from virl.platform.providers.planned import source_of
from virl.towns.plan.town_plan import CityPlan

COMMITTED = Path(__file__).parents[2] / "data" / "virlton-small"
HOW = {"episodes": 30, "seed": 0, "radius": 220.0}  # how the committed export was made


@pytest.fixture(scope="module")
def plan() -> CityPlan:
    return kept_plan(1)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_touchdown("virlton", tmp_path_factory.mktemp("full"), episodes=400, seed=7)


def surroundings(plan: CityPlan, folder: Path) -> Surroundings:
    position = plan.layout.frame.position
    lights = [position(one.x, one.y) for one in plan.layout.furniture if one.kind == "traffic light"]
    places = {shop.place.name: shop.place.position for shop in plan.shops}
    return Surroundings(read_touchdown(folder / "graph"), lights, places)


def records(folder: Path, split: str, file: str = "dev.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / split / file).read_text(encoding="utf-8").splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def clauses_of(folder: Path, split: str) -> dict[str, list[dict[str, Any]]]:
    """What each text says, by the id of its episode."""
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (folder / split / "clauses_dev.json").read_text("utf-8")
    )
    return found


def check_true(folder: Path, plan: CityPlan) -> None:
    around = surroundings(plan, folder)
    for split in SPLITS:
        clauses = clauses_of(folder, split)
        for episode in read_episodes(folder / split / "dev.jsonl"):
            walked = follow(around, episode.start, episode.heading, clauses[episode.id])
            assert tuple(walked) == episode.path, f"{split} {episode.id}: {episode.instruction}"


@pytest.mark.slow
def test_following_the_clauses_gives_the_gold_path(plan: CityPlan) -> None:
    check_true(COMMITTED, plan)


@pytest.mark.slow
def test_following_the_clauses_of_a_full_export_gives_its_gold_paths(full: Path, plan: CityPlan) -> None:
    check_true(full, plan)


@pytest.mark.slow
def test_landmarks_at_the_end_can_be_seen() -> None:
    city = open_city("virlton")
    assert city.truth
    places = {place.name: place for place in city.places.nearby(city.center, 5000)}
    stops = [
        (episode.target, clauses_of(COMMITTED, split)[episode.id][-1]["landmark"]["name"])
        for split in SPLITS
        for episode in read_episodes(COMMITTED / split / "dev.jsonl")
        if "landmark" in clauses_of(COMMITTED, split)[episode.id][-1]
    ]
    assert len(stops) >= 5
    for pano_id, name in stops:
        panorama = city.streetview.panorama(pano_id)
        camera = Camera(bearing(panorama.position, places[name].position), pitch=5)
        seen = city.truth.visible(pano_id, camera)
        assert any(thing.place_id == places[name].id for thing in seen), (pano_id, name)


@pytest.mark.parametrize("rules", [VELMA, TOUCHDOWN], ids=lambda rules: rules.name)
@pytest.mark.parametrize("split", SPLITS)
def test_every_gold_path_can_be_walked_by_actions(split: str, rules: Rules) -> None:
    graph = read_touchdown(COMMITTED / "graph")
    for episode in read_episodes(COMMITTED / split / "dev.jsonl"):
        path = [graph.number(pano_id) for pano_id in episode.path]
        heading = nearest_heading(graph, path[0], episode.heading)
        state = WalkState(path[0], heading)
        for node in path[1:]:
            state = next(reached(graph, rules, state, node))
        assert graph.ids[state.node] == episode.target


def nearest_heading(graph: NavigationGraph, node: int, heading: float) -> float:
    headings: list[float] = graph.heading[graph.links(node)].tolist()
    return min(headings, key=lambda link: abs(signed_turn(heading, link)))


def reached(graph: NavigationGraph, rules: Rules, state: WalkState, node: int) -> Iterator[WalkState]:
    """The states at `node` after a few valid turns one way and one step forward."""
    for turn in (Action.LEFT, Action.RIGHT, Action.TURN_AROUND):
        turned = state
        for _ in range(4):
            moved = rules.step(graph, turned, Action.FORWARD)
            if moved.node == node:
                yield moved
            if rules.validate(graph, turned, turn) is not turn:
                break
            turned = rules.step(graph, turned, turn)


def test_layout_is_the_public_one() -> None:
    nodes = (COMMITTED / "graph/nodes.txt").read_text().splitlines()
    links = (COMMITTED / "graph/links.txt").read_text().splitlines()
    assert all(
        re.fullmatch(r"vt-\d{5},\d{1,3},-?\d+\.\d{6,},-?\d+\.\d{6,},(un)?seen", node) for node in nodes
    )
    assert all(re.fullmatch(r"vt-\d{5},\d{1,3},vt-\d{5}", link) for link in links)
    assert 300 <= len(nodes) <= 400
    assert len({link.rsplit(",", 1)[0] for link in links}) == len(links), "two links share a heading"
    for split in SPLITS:
        key = "route_id" if split.startswith("touchdown") else "id"
        items = records(COMMITTED, split)
        assert [set(item) for item in items] == [
            {key, "route_panoids", "navigation_text", "start_heading"}
        ] * HOW["episodes"]
        assert len({tuple(item["route_panoids"]) for item in items}) == len(items)
        assert all(15 <= len(item["route_panoids"]) <= 50 for item in items)
        assert all(isinstance(item["start_heading"], int) for item in items)
        landmarks = json.loads((COMMITTED / split / "landmarks_dev.json").read_text(encoding="utf-8"))
        for item in items:
            assert all(name in item["navigation_text"] for name in landmarks[str(item[key])])
            assert not re.search(r"[{}]|  | [,.]", item["navigation_text"])


def test_gold_paths_are_walks_within_their_part() -> None:
    graph = read_touchdown(COMMITTED / "graph")
    lines = (COMMITTED / "graph/nodes.txt").read_text().splitlines()
    part = {line.split(",")[0]: line.split(",")[4] for line in lines}
    for split in SPLITS:
        for episode in read_episodes(COMMITTED / split / "dev.jsonl"):
            assert {part[pano_id] for pano_id in episode.path} == {split.partition("_")[2]}
            numbers = [graph.number(pano_id) for pano_id in episode.path]
            assert len(set(numbers)) == len(numbers)
            for a, b in pairwise(numbers):
                assert b in graph.target[graph.links(a)]


def test_map2seq_starts_along_the_path_and_touchdown_anywhere() -> None:
    graph = read_touchdown(COMMITTED / "graph")

    def along(split: str) -> list[bool]:
        episodes = read_episodes(COMMITTED / split / "dev.jsonl")
        return [
            nearest_heading(graph, graph.number(episode.start), episode.heading) == episode.heading
            for episode in episodes
        ]

    assert all(along("map2seq_seen") + along("map2seq_unseen"))
    assert not any(along("touchdown_unseen")[:3])


@pytest.mark.slow
def test_the_committed_export_can_be_made_again(tmp_path: Path) -> None:
    export_touchdown("virlton", tmp_path, episodes=30, seed=0, radius=220.0)
    assert files(tmp_path) == files(COMMITTED)
    assert sum(map(len, files(COMMITTED).values())) < 150_000


@pytest.mark.slow
def test_another_seed_gives_other_episodes_on_the_same_graph(tmp_path: Path) -> None:
    export_touchdown("virlton", tmp_path, episodes=30, seed=1, radius=220.0)
    made, committed = files(tmp_path), files(COMMITTED)
    assert made["graph/links.txt"] == committed["graph/links.txt"]
    assert made["map2seq_unseen/dev.jsonl"] != committed["map2seq_unseen/dev.jsonl"]


def test_manifest_says_what_it_is() -> None:
    manifest = json.loads((COMMITTED / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["city"] == "virlton"
    assert (manifest["seed"], manifest["radius"]) == (HOW["seed"], HOW["radius"])
    assert manifest["virl"]
    assert "not their data" in manifest["about"]


def test_an_export_that_was_cut_off_is_made_again_and_is_not_taken_for_whole(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    with pytest.raises(KeyboardInterrupt), exporting(folder, source_of("virlton"), "touchdown", "any"):
        raise KeyboardInterrupt
    (folder / "graph").mkdir()
    refuse_other_files(folder, "touchdown")
    assert not is_finished(folder)
    with pytest.raises(BadInput, match="something other than a r2r export"):
        refuse_other_files(folder, "r2r")


def test_an_export_that_was_killed_at_its_first_file_is_made_again(tmp_path: Path) -> None:
    # What a kill within `replacing` leaves.
    (tmp_path / f".{MANIFEST}.0a1b2c3d-99-0123abcd.part").write_text("{")
    refuse_other_files(tmp_path, "r2r")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="something other than a r2r export"):
        refuse_other_files(tmp_path, "r2r")


@pytest.mark.slow
def test_the_cached_export_is_made_once(tmp_path: Path) -> None:
    folder = exported_touchdown(tmp_path / "cache", episodes=5)
    made = (folder / MANIFEST).stat().st_mtime_ns
    assert exported_touchdown(tmp_path / "cache", episodes=5) == folder
    assert (folder / MANIFEST).stat().st_mtime_ns == made
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.name]
    assert len(read_episodes(folder / "touchdown_unseen/dev.jsonl")) == 5


@pytest.mark.slow
def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="'atlantis'"):
        export_touchdown("atlantis", tmp_path)
    with pytest.raises(BadInput, match="choose a made city"):
        export_touchdown("manhattan", tmp_path)
    with pytest.raises(BadInput, match="larger --radius"):
        export_touchdown("virlton", tmp_path, radius=20.0)
    with pytest.raises(BadInput, match=r"only \d+ of 5000 episodes fit"):
        export_touchdown("virlton", tmp_path, radius=110.0, episodes=5000)
    assert not list(tmp_path.iterdir())
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadInput, match="choose a new folder"):
        export_touchdown("virlton", tmp_path)


def test_a_folder_in_which_a_killed_export_left_only_a_part_of_a_file_is_free(tmp_path: Path) -> None:
    (tmp_path / f".{MANIFEST}.00000000-1-aa.part").write_text("{")
    refuse_other_files(tmp_path, "touchdown")
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(BadInput, match="something other"):
        refuse_other_files(tmp_path, "touchdown")
