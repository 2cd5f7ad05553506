import logging
import threading
from pathlib import Path

import numpy as np
import pytest
from made_graph import LINKS, write_graph
from real_data import real_data

from virl.platform.city.graph import NavigationGraph
from virl.platform.providers.graph import cache
from virl.platform.providers.graph.cache import load_touchdown
from virl.platform.providers.graph.faults import GraphFault
from virl.platform.providers.graph.touchdown import read_touchdown

ARRAYS = ("lat", "lng", "first", "target", "heading", "length", "yaw", "height")


def assert_same(one: NavigationGraph, other: NavigationGraph) -> None:
    assert one.ids == other.ids
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache files."""
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphs"


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were read, rather than their cache files."""
    read: list[Path] = []

    def count(folder: Path) -> NavigationGraph:
        read.append(folder)
        return read_touchdown(folder)

    monkeypatch.setattr(cache, "read_touchdown", count)
    return read


def test_the_second_load_comes_from_the_cache(tmp_path: Path, untouched: list[Path]) -> None:
    folder = write_graph(tmp_path / "graph")
    first, second = load_touchdown(folder), load_touchdown(folder)
    assert untouched == [folder]
    assert_same(first, second)
    assert second.shortest_path(0, 3)[0] == [0, 1, 3]


def test_a_changed_source_is_read_again(tmp_path: Path, untouched: list[Path], kept: Path) -> None:
    folder = write_graph(tmp_path / "graph")
    load_touchdown(folder)
    write_graph(folder, links=(*LINKS[:3], "a,5,b", *LINKS[4:]))
    changed = load_touchdown(folder)
    assert changed.heading[changed.links(0)].tolist() == [5.0]
    assert_same(changed, load_touchdown(folder))
    assert len(untouched) == 2
    assert {file.suffix for file in kept.iterdir()} == {".npz"}


@pytest.mark.parametrize("how", ["cut", "text", "array", "empty", "pickle"])
def test_a_corrupt_cache_is_named_and_made_anew(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture, kept: Path
) -> None:
    folder = write_graph(tmp_path / "graph")
    good = load_touchdown(folder)
    file = only_file(kept)
    whole = file.read_bytes()
    if how == "array":
        np.save(file.with_suffix(".npy"), np.zeros(3))
        file.with_suffix(".npy").replace(file)
    elif how == "pickle":
        held = dict(np.load(file, allow_pickle=False))
        with file.open("wb") as opened:
            np.savez(opened, **(held | {"lat": np.array([{}], object)}))
    else:
        file.write_bytes({"cut": whole[: len(whole) // 2], "text": b"no archive", "empty": b""}[how])
    with caplog.at_level(logging.WARNING):
        again = load_touchdown(folder)
    assert f"{file}: not a usable graph" in caplog.text
    assert_same(good, again)
    caplog.clear()
    load_touchdown(folder)
    assert not caplog.records


def test_a_cache_of_another_version_is_made_anew(
    tmp_path: Path, untouched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_graph(tmp_path / "graph")
    with monkeypatch.context() as earlier:
        earlier.setattr(cache, "SCHEMA", cache.SCHEMA - 1)
        load_touchdown(folder)
    load_touchdown(folder)
    load_touchdown(folder)
    assert len(untouched) == 2


def test_many_at_once_do_no_harm(tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: Path) -> None:
    folder = write_graph(tmp_path / "graph")
    found: list[NavigationGraph] = []
    threads = [
        threading.Thread(target=lambda: found.extend(load_touchdown(folder) for _ in range(10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    for graph in found:
        assert_same(graph, found[0])
    assert not caplog.records
    assert only_file(kept).suffix == ".npz"


def test_a_folder_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: Path
) -> None:
    kept.parent.mkdir()
    kept.write_text("a file where the folder should be")
    assert len(load_touchdown(write_graph(tmp_path / "graph"))) == 4
    assert "could not be cached" in caplog.text


def test_faults_are_reported_and_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    folder = write_graph(tmp_path / "graph", links=("a,1,q",))
    with pytest.raises(GraphFault, match="'q', which is no node"):
        load_touchdown(folder)
    with pytest.raises(GraphFault, match="no such file"):
        load_touchdown(tmp_path / "nowhere")
    assert not kept.exists()


def test_what_an_earlier_version_kept_is_no_obstacle(
    tmp_path: Path, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept.mkdir(parents=True)
    (kept / "touchdown-0123456789abcdef.npz").write_bytes(b"of an earlier version")
    folder = write_graph(tmp_path / "graph")
    assert_same(load_touchdown(folder), load_touchdown(folder))
    assert not caplog.records


@pytest.mark.slow
def test_manhattan_from_the_cache_is_the_same(tmp_path: Path) -> None:
    folder = real_data("touchdown") / "graph"
    assert_same(load_touchdown(folder), load_touchdown(folder))
