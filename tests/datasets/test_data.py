import json
from pathlib import Path

import pytest
from made_graph import building, episode_line, write_graph
from real_data import real_data
from typer.testing import CliRunner, Result

from virl.cli.data import data_app
from virl.errors import BadInput, CannotWrite, UnknownName
from virl.platform.providers.graph.city import MARKS, find_data
from virl.platform.providers.graph.data_files import GraphFault
from virl.platform.providers.graph.install import DATA_SETS, MANIFEST, changed_files, find_files, install
from virl.resources import cache_home, data_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A user's copy of both data sets, tiny."""
    touchdown, r2r = tmp_path / "copy" / "touchdown", tmp_path / "copy" / "r2r"
    write_graph(touchdown / "graph")
    (touchdown / "map2seq_unseen").mkdir()
    (touchdown / "map2seq_unseen" / "dev.jsonl").write_text(episode_line() + "\n")
    (touchdown / "map2seq_unseen" / "landmarks_dev.json").write_text("{}")
    (touchdown / "notes.doc").write_text("no part of it")
    (r2r / "connectivity").mkdir(parents=True)
    (r2r / "connectivity" / "house_connectivity.json").write_text(json.dumps(building()))
    route = {"path_id": 1, "scan": "house", "heading": 0.0, "path": ["home", "east"], "instructions": ["Go."]}
    (r2r / "R2R_val_unseen.json").write_text(json.dumps([route]))
    return tmp_path / "copy"


def virl_data(*arguments: str | Path) -> Result:
    return CliRunner().invoke(data_app, [str(argument) for argument in arguments])


def listed(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_a_copy_is_checked_copied_and_listed(home: Path, copy: Path) -> None:
    done = virl_data("touchdown", "--from", copy / "touchdown")
    assert done.exit_code == 0
    assert "4 files verified and copied" in done.stdout
    assert "licence: Touchdown: CC BY 4.0" in done.stdout
    assert "https://github.com/raphael-sch/VELMA" in done.stdout
    assert listed(home / "touchdown") == [
        MANIFEST,
        "graph/links.txt",
        "graph/nodes.txt",
        "map2seq_unseen/dev.jsonl",
        "map2seq_unseen/landmarks_dev.json",
    ]
    assert find_data("touchdown") == home / "touchdown"
    assert virl_data("r2r", "--from", copy / "r2r").exit_code == 0
    assert find_data("r2r") == home / "r2r"
    assert [line.rstrip() for line in virl_data("list").stdout.splitlines()[1:]] == [
        f"touchdown  {home / 'touchdown'}: 4 files, checksums match",
        f"r2r        {home / 'r2r'}: 2 files, checksums match",
    ]


def test_the_list_tells_what_is_missing_or_has_changed(home: Path, copy: Path) -> None:
    virl_data("touchdown", "--from", copy / "touchdown")
    (home / "touchdown" / "graph" / "nodes.txt").write_text("other")
    (home / "touchdown" / "graph" / "links.txt").unlink()
    (home / "r2r").mkdir()
    _, first, second = virl_data("list").stdout.splitlines()
    assert first.rstrip().endswith("2 of 4 files have changed: graph/links.txt, graph/nodes.txt")
    assert "no checksums" in second
    (home / "r2r").rmdir()
    assert "`virl data r2r --from DIR`" in virl_data("list").stdout.splitlines()[2]
    (home / "touchdown" / MANIFEST).write_text("{")
    done = virl_data("list")
    assert done.exit_code == 2
    assert "the checksums cannot be read" in done.stderr


def test_other_data_is_overwritten_only_by_force(home: Path, copy: Path) -> None:
    install("touchdown", copy / "touchdown", home)
    episodes = home / "touchdown" / "map2seq_unseen" / "dev.jsonl"
    old = episodes.read_text()
    (copy / "touchdown" / "map2seq_unseen" / "dev.jsonl").write_text(episode_line(id=8) + "\n")
    done = virl_data("touchdown", "--from", copy / "touchdown")
    assert done.exit_code == 2
    assert "such as map2seq_unseen/dev.jsonl: use --force to overwrite" in done.stderr
    assert episodes.read_text() == old
    assert virl_data("touchdown", "--from", copy / "touchdown", "--force").exit_code == 0
    assert '"id": 8' in episodes.read_text()


def test_a_second_copy_adds_to_the_first(home: Path, copy: Path) -> None:
    install("touchdown", copy / "touchdown", home)
    (copy / "touchdown" / "map2seq_unseen" / "dev.jsonl").unlink()
    (copy / "touchdown" / "map2seq_unseen" / "test.jsonl").write_text(episode_line() + "\n")
    manifest = install("touchdown", copy / "touchdown", home)
    assert set(manifest.files) >= {"map2seq_unseen/dev.jsonl", "map2seq_unseen/test.jsonl"}
    assert changed_files(home / "touchdown", manifest) == []
    install("touchdown", home / "touchdown", home)  # onto itself


def test_faults_of_all_files_are_listed_and_nothing_is_copied(home: Path, copy: Path) -> None:
    with (copy / "touchdown" / "graph" / "links.txt").open("a") as file:
        file.write("a,1,q\n")
    (copy / "touchdown" / "map2seq_unseen" / "dev.jsonl").write_text("{}\n")
    (copy / "touchdown" / "map2seq_unseen" / "landmarks_dev.json").write_text("{")
    with pytest.raises(GraphFault) as caught:
        install("touchdown", copy / "touchdown", home)
    assert [fault.file.name for fault in caught.value.faults] == [
        "links.txt",
        "dev.jsonl",
        "landmarks_dev.json",
    ]
    (copy / "r2r" / "connectivity" / "house_connectivity.json").write_text("[")
    (copy / "r2r" / "R2R_val_unseen.json").write_text("[{}]")
    with pytest.raises(GraphFault) as caught:
        install("r2r", copy / "r2r", home)
    assert len(caught.value.faults) == 2
    assert not home.exists()


def test_clones_of_the_public_repositories_are_understood(tmp_path: Path, copy: Path) -> None:
    clone = tmp_path / "VELMA"
    for scenario in ("map2seq_seen", "map2seq_unseen", "touchdown_unseen"):
        write_graph(clone / "datasets" / scenario / "graph")
        (clone / "datasets" / scenario / "data").mkdir()
        (clone / "datasets" / scenario / "data" / "dev.json").write_text(episode_line() + "\n")
    files = find_files("touchdown", clone)
    assert set(files) == {
        "graph/nodes.txt",
        "graph/links.txt",
        "map2seq_seen/dev.jsonl",
        "map2seq_unseen/dev.jsonl",
        "touchdown_unseen/dev.jsonl",
    }
    assert files["graph/nodes.txt"] == clone / "datasets" / "map2seq_unseen" / "graph" / "nodes.txt"
    simulator = tmp_path / "simulator"
    (simulator / "tasks" / "R2R").mkdir(parents=True)
    (copy / "r2r" / "connectivity").rename(simulator / "connectivity")
    (copy / "r2r").rename(simulator / "tasks" / "R2R" / "data")
    assert set(find_files("r2r", simulator)) == {
        "connectivity/house_connectivity.json",
        "R2R_val_unseen.json",
    }


def test_what_is_no_data_is_refused(home: Path, tmp_path: Path, copy: Path) -> None:
    with pytest.raises(BadInput, match="no r2r data in"):
        find_files("r2r", tmp_path)
    with pytest.raises(UnknownName, match="unknown data set 'moon'"):
        find_files("moon", tmp_path)
    (copy / "touchdown" / "graph" / "links.txt").unlink()
    with pytest.raises(BadInput, match=r"graph/links\.txt is missing"):
        install("touchdown", copy / "touchdown", home)
    home.write_text("a file where the folder should be")
    with pytest.raises(CannotWrite, match=r"cannot write .*VIRL_DATA"):
        install("r2r", copy / "r2r", home)


def test_data_is_found_in_its_own_folder_or_beside_others(home: Path, copy: Path) -> None:
    assert set(MARKS) == set(DATA_SETS)
    assert find_data("touchdown", copy) == copy / "touchdown"
    assert find_data("touchdown", copy / "touchdown") == copy / "touchdown"
    with pytest.raises(
        BadInput, match=f"no touchdown data in {home}: install it with `virl data touchdown --from DIR`"
    ):
        find_data("touchdown")
    with pytest.raises(BadInput, match=r"no r2r data in .*connectivity is missing"):
        find_data("r2r", copy / "touchdown")
    with pytest.raises(UnknownName, match="choose one of: r2r, touchdown"):
        find_data("moon")


def test_without_settings_the_users_folders_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRL_DATA", raising=False)
    monkeypatch.delenv("VIRL_CACHE", raising=False)
    assert data_home().name == "virl"
    assert cache_home().name == "virl"
    assert data_home() != cache_home()


@pytest.fixture
def published() -> dict[str, Path]:
    """The real data sets, found before `home` points elsewhere."""
    return {name: real_data(name) for name in DATA_SETS}


@pytest.mark.slow
def test_the_published_data_passes_its_checks(published: dict[str, Path], home: Path) -> None:
    for name, folder in published.items():
        manifest = install(name, folder, home)
        assert changed_files(home / name, manifest) == []
    assert len(manifest.files) == 14
