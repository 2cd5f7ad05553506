"""The graph of served drives on a town whose rules were found elsewhere; what faults and kills leave."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.spatial import cKDTree
from servers.options import UploadOptions
from servers.panoramax.app import make_app
from servers.panoramax.items import picture_id
from servers.uploads.uploads import Uploads

from tests.platform.providers.open.conftest import write_city
from virl.errors import ProviderError
from virl.geo.globe import LocalFrame
from virl.platform.city.city import City
from virl.platform.city.graph import NavigationGraph, whole_graph
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity, served_app
from virl.serve.faults import Faults

AS_PEOPLE_DRIVE = UploadOptions(seed=7, width=512)


@pytest.fixture(scope="module")
def other() -> City:
    """A town on which no rule was tuned."""
    return open_city("virlbury")


@pytest.fixture(scope="module")
def server(other: City) -> Iterator[ServedCity]:
    with served_app(partial(make_app, other, AS_PEOPLE_DRIVE)) as server:
        yield server


@pytest.fixture(scope="module")
def city(server: ServedCity, other: City, tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    folder = tmp_path_factory.mktemp("drives")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("VIRL_DATA", str(folder / "data"))
        city = open_city(
            write_city(folder / "served.yaml", panoramax_url=server.url, reach_m=1000, center=[*other.center])
        )
        yield city
        city.close()


@pytest.fixture(scope="module")
def graphs(other: City, city: City) -> tuple[NavigationGraph, NavigationGraph, np.ndarray]:
    """The graph of the town, the one that was made, and the node of the town that each panorama shows."""
    town, made = whole_graph(other), whole_graph(city)
    shows = {picture_id(one): one.pano_id for one in Uploads(other, AS_PEOPLE_DRIVE).all}
    return town, made, np.array([town.number(shows[name]) for name in made.ids])


@pytest.mark.slow
def test_links_are_those_of_the_town(
    graphs: tuple[NavigationGraph, NavigationGraph, np.ndarray],
) -> None:
    town, made, shown = graphs
    known, row = np.unique(shown, return_inverse=True)
    true = town.distances_from(known)
    source = np.repeat(np.arange(len(made)), made.degree)
    right = true[row[source], shown[made.target]] <= np.maximum(1.5 * made.length, made.length + 8)
    assert right.mean() >= 0.95, f"precision {right.mean():.3f}"
    stands, away = _stands(town, made)
    ends = np.stack([np.repeat(np.arange(len(town)), town.degree), town.target], axis=1)
    seen = ends[(away[ends] <= 12).all(axis=1)]
    assert len(seen) >= 0.95 * len(ends)
    far = made.distances_from(range(len(made)))
    walked = far[stands[seen[:, 0]], stands[seen[:, 1]]]
    assert (walked <= 30).mean() >= 0.95, f"recall {(walked <= 30).mean():.3f}"


@pytest.mark.slow
def test_random_walks_arrive(graphs: tuple[NavigationGraph, NavigationGraph, np.ndarray]) -> None:
    town, made, _ = graphs
    stands, away = _stands(town, made)
    rng, arrived, tried = Random(0), 0, 0
    while tried < 200:
        start, goal = rng.randrange(len(town)), rng.randrange(len(town))
        shortest = float(town.distances_from([start])[0, goal])
        if not 100 < shortest < 800 or max(away[[start, goal]]) > 10:
            continue
        tried += 1
        arrived += made.distances_from([int(stands[start])])[0, stands[goal]] <= 1.5 * shortest + 15
    assert arrived >= 190


def _stands(town: NavigationGraph, made: NavigationGraph) -> tuple[np.ndarray, np.ndarray]:
    """The panorama that was made nearest to each of the town's, and how far it is."""
    frame = LocalFrame(town.position(0))
    true, found = (np.stack(frame.to_metres(graph.lat, graph.lng), axis=1) for graph in (town, made))
    away, stands = cKDTree(found).query(true)
    return stands, away


@pytest.mark.slow
def test_authors_and_licences_are_named(city: City) -> None:
    assert city.streetview.nearest(city.center, 500) is not None
    for name in ("Ada Driver", "Dana Pedals", "CC-BY-SA-4.0", "etalab-2.0", "Panoramax"):
        assert name in city.notice


@pytest.mark.slow
def test_faults_and_kills_lose_nothing_and_nothing_is_fetched_twice(
    other: City, city: City, data: Path, tmp_path: Path
) -> None:
    options = UploadOptions(seed=7, width=512, faults=Faults({"429": 0.2, "503": 0.3}), retry_after_s=0)
    with served_app(partial(make_app, other, options)) as server:
        name = write_city(
            tmp_path / "served.yaml", panoramax_url=server.url, reach_m=1000, center=[*other.center]
        )
        for _ in range(50):
            killed = open_city(name)
            try:
                ids = killed.street_map.panorama_ids() if killed.street_map else ()
                break
            except ProviderError:
                continue
            finally:
                killed.close()
        stats = server.stats()
    assert city.street_map is not None
    assert set(ids) == set(city.street_map.panorama_ids())
    assert stats["faults"]
    assert stats["repeated"] == {}


@pytest.mark.slow
def test_a_licence_that_changes_leaves_new_pictures_out_and_kept_ones_as_they_were_granted(
    other: City, data: Path, tmp_path: Path
) -> None:
    options = UploadOptions(seed=7, width=512, relicensed=0.5)
    with served_app(partial(make_app, other, options)) as server:
        name = write_city(tmp_path / "served.yaml", panoramax_url=server.url, center=[*other.center])
        first = open_city(name)
        ids = set(first.street_map.panorama_ids()) if first.street_map else set()
        seen = first.streetview.nearest(first.center, 200.0)
        assert seen is not None
        assert first.streetview.view(seen.id, Camera(0.0, width=64, height=64)).pixels.any()
        first.close()
        granted = {file: file.read_bytes() for file in data.rglob("credit.json")}
        shutil.rmtree(data / "open" / "panoramax" / "lists")
        again = open_city(name)
        left = set(again.street_map.panorama_ids()) if again.street_map else set()
        again.close()
    assert 0.2 * len(ids) < len(left & ids) < 0.9 * len(ids)
    assert len(granted) == 1
    assert all(file.read_bytes() == kept and b"licence" in kept for file, kept in granted.items())
