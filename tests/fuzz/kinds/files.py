"""Data files: graphs, episodes, regions, landmarks, observations, collected data, caches and recordings."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from made_dataset import panorama_row, place_row, question_row, write_dataset
from made_graph import LINKS, NODES, building, episode_line, write_graph

from fuzz.mutate import Mutator, mutate_bytes, mutate_json, mutate_json_lines, mutate_lines
from fuzz.session import Kind
from virl.datasets.collect.collection import _read_settings
from virl.datasets.collect.dataset import CARD, PANORAMAS, PLACES, QUESTIONS, open_dataset
from virl.datasets.export.files import MANIFEST as EXPORT
from virl.datasets.export.files import refuse_other_files
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.mind.base import Prompt
from virl.mind.cache import ReplyCache
from virl.mind.replies import Text
from virl.money.ledger import Ledger
from virl.platform.navigators.navgpt.sources import read_published
from virl.platform.navigators.survey import SurveyPlan, SurveyStore
from virl.platform.navigators.velma.prompt import read_landmarks
from virl.platform.navigators.velma.vision import read_features, write_features
from virl.platform.providers.graph.data_files import episode_faults
from virl.platform.providers.graph.install import MANIFEST, read_manifest
from virl.platform.providers.graph.matterport import read_matterport, read_r2r_episodes
from virl.platform.providers.graph.touchdown import (
    load_touchdown,
    read_episodes,
    read_touchdown,
)
from virl.platform.providers.http.replies import HttpReply
from virl.platform.providers.http.stored_replies import FILE_NAME, Recording, Replay, RequestName
from virl.platform.providers.http.stored_replies import ReplyCache as HttpReplyCache
from virl.settings.region_file import read_region

HERE = LatLng(40.7, -74.0)
GEOJSON = {
    "type": "Feature",
    "geometry": {
        "type": "Polygon",
        "coordinates": [[[-74.0, 40.7], [-73.99, 40.7], [-73.99, 40.71], [-74.0, 40.7]]],
    },
}


@contextmanager
def file_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; each writes into a folder of its own below the one given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_CACHE", str(folder / "cache"))
        yield [*_graphs(folder), *_maps(folder), *_collected(folder), *_kept(folder)]


def _graphs(home: Path) -> Iterator[Kind]:
    folder = write_graph(home / "graph")
    nodes, links = (("".join(f"{line}\n" for line in lines)).encode() for lines in (NODES, LINKS))
    episodes = "".join(episode_line(id=number) + "\n" for number in range(3)).encode()

    def graph(name: str, good: bytes) -> Callable[[bytes], None]:
        def read(data: bytes) -> None:
            (folder / name).write_bytes(data)
            try:
                found = read_touchdown(folder)
                for one in found.ids:
                    found.links(found.number(one))
                load_touchdown(folder)
            finally:
                (folder / name).write_bytes(good)

        return read

    whole = read_touchdown(folder)

    def walks(data: bytes) -> None:
        for episode in read_episodes(_written(home / "episodes.jsonl", data)):
            episode_faults(whole, episode)

    scans = json.dumps(building()).encode()
    routes = [{"path_id": 1, "scan": "s", "heading": 0.5, "path": ["home", "east"], "instructions": ["Go."]}]

    def scan(data: bytes) -> None:
        read_matterport(_written(home / "scans" / "s_connectivity.json", data).parent, "s")

    yield Kind("graph-nodes", [nodes], graph("nodes.txt", nodes), mutate_lines, 4)
    yield Kind("graph-links", [links], graph("links.txt", links), mutate_lines, 4)
    yield Kind("graph-episodes", [episodes], walks, mutate_json_lines, 4)
    yield Kind("graph-matterport", [scans], scan, mutate_json, 6)
    yield _file(
        "graph-r2r", json.dumps(routes).encode(), home / "R2R_x.json", read_r2r_episodes, mutate_json, 4
    )


def _maps(home: Path) -> Iterator[Kind]:
    outline = b"40.7, -74.0\n40.7, -73.99\n40.71, -73.99\n"
    geojson = json.dumps(GEOJSON, indent=1).encode()
    yield _file(
        "region-text", outline, home / "region.txt", lambda file: read_region(file, HERE), mutate_lines, 4
    )
    yield _file(
        "region-geojson", geojson, home / "region.json", lambda file: read_region(file, HERE), mutate_json, 6
    )
    landmarks = b'{"7": ["a red awning", "the church"], "8": []}'
    yield _file("landmarks", landmarks, home / "landmarks.json", read_landmarks, mutate_json, 3)
    yield from _observations(home / "navgpt")
    plan = SurveyPlan(
        corners=(HERE, LatLng(40.7, -73.9), LatLng(40.8, -73.9)), spacing=9.0, radius=50.0, follow_links=True
    )
    SurveyStore(plan, home / "survey.jsonl")
    survey = (home / "survey.jsonl").read_bytes()
    yield _file("survey", survey, home / "survey.jsonl", lambda f: SurveyStore(plan, f), mutate_json_lines, 3)
    features = home / "features.npz"
    write_features(
        features, "m", [0.0, 90.0], {"p": np.zeros((2, 3), np.float32)}, {"a": np.zeros(3, np.float32)}
    )
    yield _file("features", features.read_bytes(), features, read_features, mutate_bytes, 3)


def _observations(home: Path) -> Iterator[Kind]:
    scans = home / "connectivity"
    _written(scans / "s_connectivity.json", json.dumps(building()).encode())
    graph = read_matterport(scans, "s")
    files = {
        "observations_list_summarized": {one: ["a wall"] * 8 for one in graph.ids},
        "navigable": {one: {} for one in graph.ids},
        "objects_list": {one: [{"door": {"heading": 90.0, "distance": 2.0}}] + [{}] * 7 for one in graph.ids},
        "observations_summarized": dict.fromkeys(graph.ids, "a hall"),
    }
    files["navigable"]["home"] = {"east": {"heading": 1.5, "distance": 3.0}}
    good = {name: json.dumps(content).encode() for name, content in files.items()}
    for name, content in good.items():
        _written(home / name / "s.json", content)
    for name, content in good.items():

        def read(data: bytes, name: str = name, content: bytes = content) -> None:
            file = _written(home / name / "s.json", data)
            try:
                read_published(home, "s", graph)
            finally:
                file.write_bytes(content)

        yield Kind(f"navgpt-{name}", [content], read, mutate_json, 2)


def _collected(home: Path) -> Iterator[Kind]:
    place = place_row("bakery", "bakery store", 5.0, pano_id="p", image=True)
    folder = write_dataset(
        home / "set",
        panoramas=[panorama_row("p", 0.0), panorama_row("q", 10.0)],
        places=[place],
        questions=[question_row(place)],
    )
    for name in (CARD, PANORAMAS, PLACES, QUESTIONS):
        good = (folder / name).read_bytes()

        def read(data: bytes, name: str = name, good: bytes = good) -> None:
            (folder / name).write_bytes(data)
            try:
                open_dataset(folder)
            finally:
                (folder / name).write_bytes(good)

        yield Kind(
            f"collected-{name.split('.')[0]}",
            [good],
            read,
            mutate_json if name == CARD else mutate_json_lines,
            3,
        )
    settings = b'{"places": {"radius": 50.0, "types": ["bar"]}}'
    work = home / "begun"
    file = work / "work" / "settings.json"
    yield _file("collected-settings", settings, file, lambda _: _read_settings(work), mutate_json, 2)


def _kept(home: Path) -> Iterator[Kind]:
    """What virl writes itself and reads again."""
    book = b'{"micro_usd": 5000, "request": "geocode"}\n{"micro_usd": -5000, "request": "geocode"}\n'
    yield _file(
        "book",
        book,
        home / "spending.jsonl",
        lambda file: Ledger(9.0, book=file).spent_usd,
        mutate_json_lines,
        4,
    )
    request = RequestName("geocode", '{"query": {}}')
    Recording(home / "recorded").write(request, HttpReply(200, {}, b"{}"))
    [entry] = (home / "recorded").rglob("*.json")
    replay = Replay(home / "recorded")
    yield _file(
        "recording", entry.read_bytes(), entry, lambda _: replay.read(request, "Geocoding"), mutate_json, 3
    )
    cache, prompt = ReplyCache(home / "replies"), Prompt("x/y", frozenset(), Text, "")
    cache.put("ab" * 32, model="m", prompt=prompt.name, reply={"text": "a"})
    [kept] = (home / "replies").rglob("*.json")
    yield _file(
        "cache-model", kept.read_bytes(), kept, lambda _: cache.get("ab" * 32, Text, {}), mutate_json, 3
    )
    yield _sqlite(home / "sqlite")
    sums = b'{"format": 1, "files": {"graph/nodes.txt": {"bytes": 3, "sha256": "aa"}}}'
    yield _file("checksums", sums, home / MANIFEST, lambda file: read_manifest(file.parent), mutate_json, 2)
    made = home / "exported"
    yield _file(
        "export-manifest",
        b'{"format": "r2r"}',
        made / EXPORT,
        lambda _: refuse_other_files(made, "r2r"),
        mutate_json,
        2,
    )


def _region(file: Path) -> Region:
    return read_region(file, HERE)


def _spent(file: Path) -> float:
    return Ledger(9.0, book=file).spent_usd


def _sqlite(folder: Path) -> Kind:
    folder.mkdir(parents=True)
    first = HttpReplyCache(folder)
    for number in range(5):
        first.put(f"key {number}", b"a reply" * 50, endpoint="geocode", lifetime=1e6)
    first.close()
    file = folder / FILE_NAME

    def read(data: bytes) -> None:
        for left in folder.iterdir():
            left.unlink()
        file.write_bytes(data)
        cache = HttpReplyCache(folder)
        try:
            cache.get("key 1")
            cache.put("key 9", b"more", endpoint="geocode", lifetime=1e6)
        finally:
            cache.close()

    return Kind("cache-http", [file.read_bytes()], read, mutate_bytes, 3)


def _file(
    name: str, good: bytes, file: Path, read: Callable[[Path], object], mutate: Mutator, weight: int
) -> Kind:
    """A kind that is a file, which is written anew for each input."""
    return Kind(name, [good], lambda data: read(_written(file, data)), mutate, weight)


def _written(file: Path, data: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file
