"""The R2R export is read by the R2R reader, on the same graph, with the same exact instructions."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from virl.datasets.export.r2r import export_r2r
from virl.datasets.export.touchdown import export_touchdown
from virl.errors import BadInput
from virl.geo.globe import distance, signed_turn
from virl.platform.providers.graph.matterport import read_matterport, read_r2r_episodes
from virl.platform.providers.graph.touchdown import read_touchdown

COMMITTED = Path(__file__).parents[2] / "data" / "virlton-small"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_r2r("virlton", tmp_path_factory.mktemp("r2r"), episodes=8)


@pytest.mark.slow
def test_the_graph_is_that_of_the_touchdown_export(exported: Path) -> None:
    building = read_matterport(exported / "connectivity", "virlton")
    streets = read_touchdown(COMMITTED / "graph")
    assert building.ids == streets.ids
    assert building.target.tolist() == streets.target.tolist()
    assert max(abs(signed_turn(building.heading, streets.heading))) <= 0.6
    assert building.length == pytest.approx(streets.length, abs=0.03)


@pytest.mark.slow
def test_paths_are_walks_with_three_instructions_each(exported: Path) -> None:
    building = read_matterport(exported / "connectivity", "virlton")
    found = {split: read_r2r_episodes(exported / f"R2R_{split}.json") for split in ("val_seen", "val_unseen")}
    assert all(len(episodes) == 3 * 8 for episodes in found.values())
    assert not {one.id for one in found["val_seen"]} & {one.id for one in found["val_unseen"]}
    assert not {p for one in found["val_seen"] for p in one.path} & {
        p for one in found["val_unseen"] for p in one.path
    }
    for episode in (*found["val_seen"], *found["val_unseen"]):
        nodes = [building.number(viewpoint) for viewpoint in episode.path]
        links = building.links(nodes[0])
        first = building.target[links].tolist().index(nodes[1])
        assert abs(signed_turn(episode.heading, float(building.heading[links][first]))) <= 0.6
        assert all(b in building.target[building.links(a)] for a, b in pairwise(nodes))
    routes = json.loads((exported / "R2R_val_unseen.json").read_text(encoding="utf-8"))
    for route in routes:
        assert len(set(route["instructions"])) > 1
        steps = pairwise(building.position(building.number(viewpoint)) for viewpoint in route["path"])
        assert route["distance"] == pytest.approx(sum(distance(a, b) for a, b in steps), rel=1e-3)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    export_r2r("virlton", tmp_path, episodes=8)
    for file in exported.rglob("*.json"):
        assert (tmp_path / file.relative_to(exported)).read_bytes() == file.read_bytes()


def test_one_format_does_not_overwrite_the_other(exported: Path) -> None:
    with pytest.raises(BadInput, match="touchdown export"):
        export_touchdown("virlton", exported)
