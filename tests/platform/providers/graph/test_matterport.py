import json
import logging
from pathlib import Path

import numpy as np
import pytest
from made_graph import building
from real_data import real_data

from virl.platform.providers.graph.data_files import GraphFault, episode_faults
from virl.platform.providers.graph.matterport import (
    FRAME,
    read_matterport,
    read_r2r_episodes,
    read_r2r_file,
    scan_names,
)

Entries = list[dict[str, object]]


def write(folder: Path, entries: object) -> Path:
    (folder / "house_connectivity.json").write_text(json.dumps(entries))
    return folder


def faults(folder: Path) -> list[str]:
    with pytest.raises(GraphFault) as caught:
        read_matterport(folder, "house")
    return [fault.text for fault in caught.value.faults]


def route(**fields: object) -> dict[str, object]:
    made: dict[str, object] = {
        "path_id": 12,
        "scan": "house",
        "heading": np.pi / 2,
        "path": ["home", "east"],
        "instructions": ["Go east.", "Leave the stairs behind you."],
        "distance": 3.0,
    }
    return made | fields


def test_links_join_what_is_included_and_unobstructed(tmp_path: Path) -> None:
    graph = read_matterport(write(tmp_path, building()), "house")
    assert scan_names(tmp_path) == ["house"]
    assert graph.ids == ("home", "east", "stairs")
    home = graph.links(0)
    assert graph.target[home].tolist() == [1, 2]
    assert graph.heading[home].tolist() == [90.0, 0.0]
    assert graph.length[home].tolist() == [3.0, 5.0]  # 4 m along the floor and 3 m up
    assert graph.heading[graph.links(1)].tolist() == [270.0]
    assert graph.height.tolist() == [1.0, 1.0, 4.0]
    assert np.isnan(graph.yaw).all()
    assert FRAME.point(graph.position(1)) == pytest.approx((3.0, 0.0))
    assert FRAME.point(graph.position(2)) == pytest.approx((0.0, 4.0))


def test_every_fault_is_listed(tmp_path: Path) -> None:
    entries = building()
    entries[0] |= {"pose": [0.0] * 15, "included": "yes"}
    entries[1] |= {"image_id": ""}
    pose = "pose: List should have at least 16 items after validation, not 15"
    assert faults(write(tmp_path, entries)) == [
        f"entry 0: {pose}; included: Input should be a valid boolean",
        "entry 1: image_id: String should have at least 1 character",
    ]
    entries = building()
    entries[1] |= {"image_id": "home", "unobstructed": [True]}
    entries[2] |= {"unobstructed": [True, False, True, False]}
    assert faults(write(tmp_path, entries)) == [
        "entry 1 ('home'): entry 0 has the same image_id",
        "entry 1 ('home'): unobstructed has 1 values, not 4",
        "entry 2 ('stairs'): unobstructed leads from the viewpoint to itself",
    ]
    nobody = [entry | {"included": False} for entry in building()]
    assert faults(write(tmp_path, nobody)) == ["no viewpoint is included"]
    assert faults(write(tmp_path, {})) == ["should be a JSON list of at least one entry"]


def test_a_file_cut_short_is_named_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, building()) / "house_connectivity.json"
    file.write_text(json.dumps(building(), indent=1)[:-4])
    with pytest.raises(GraphFault, match=r"house_connectivity\.json, line \d\d+: not valid JSON at column"):
        read_matterport(tmp_path, "house")
    with pytest.raises(GraphFault, match="no such file"):
        read_matterport(tmp_path, "castle")


def test_a_way_open_in_one_direction_is_kept_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    entries = building()
    entries[1] |= {"unobstructed": [False] * 4}
    with caplog.at_level(logging.WARNING):
        graph = read_matterport(write(tmp_path, entries), "house")
    assert "1 ways are unobstructed in one direction only" in caplog.text
    assert graph.degree.tolist() == [2, 0, 1]


def test_an_episode_for_each_instruction(tmp_path: Path) -> None:
    file = tmp_path / "R2R.json"
    file.write_text(json.dumps([route(), route(path_id="13", heading=-0.1, instructions=["Wait."])]))
    first, second, third = read_r2r_episodes(file)
    assert (first.id, second.id, third.id) == ("12_0", "12_1", "13_0")
    assert second.instruction == "Leave the stairs behind you."
    assert first.heading == pytest.approx(90.0)
    assert third.heading == pytest.approx(360 - np.degrees(0.1))
    assert first.scan == "house"
    assert episode_faults(read_matterport(write(tmp_path, building()), "house"), first) == []


def test_routes_with_faults_are_named(tmp_path: Path) -> None:
    file = tmp_path / "R2R.json"
    file.write_text(json.dumps([route(path=[]), route(), 5, route(heading=None), route(path_id=2)]))
    found = read_r2r_file(file)
    assert [episode.id for episode in found.episodes] == ["12_0", "12_1", "2_0", "2_1"]
    assert [fault.text.split(":")[0] for fault in found.faults] == ["entry 0", "entry 2", "entry 3"]
    with pytest.raises(GraphFault, match="entry 0: path: List should have at least 1 item"):
        read_r2r_episodes(file)


@pytest.mark.slow
def test_published_distances_and_errors_are_reproduced() -> None:
    data = real_data("r2r")
    graphs = {
        scan: read_matterport(data / "connectivity", scan) for scan in scan_names(data / "connectivity")
    }
    assert len(graphs) == 11
    published = {item["path_id"]: item for item in json.loads((data / "R2R_val_unseen.json").read_text())}

    def metres(scan: str, start: str, end: str) -> float:
        graph = graphs[scan]
        return float(graph.distances_from([graph.number(start)])[0, graph.number(end)])

    off = [
        abs(metres(item["scan"], item["path"][0], item["path"][-1]) - item["distance"])
        for item in published.values()
    ]
    assert np.median(off) < 0.005  # given in centimetres
    assert np.mean(np.array(off) < 0.01) > 0.95

    for item in json.loads((data / "expected" / "trajectory_metrics.json").read_text()):
        goal = published[item["path_id"]]["path"][-1]
        error = metres(item["scan"], item["trajectory"][-1], goal)
        assert error == pytest.approx(item["metrics"]["nav_error"], abs=1e-9)

    episodes = read_r2r_episodes(data / "R2R_val_unseen.json")
    assert len(episodes) == 3 * len(published)
    assert not any(episode_faults(graphs[episode.scan], episode) for episode in episodes)
