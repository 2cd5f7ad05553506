import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graph import episode_line, write_graph
from real_data import real_data

from virl.errors import NoStreetView
from virl.platform.city.graph import InstructionEpisode, build_graph
from virl.platform.providers.graph.data_files import MAX_WORDS, GraphFault, episode_faults, snapped_heading
from virl.platform.providers.graph.touchdown import (
    load_touchdown,
    read_episode_file,
    read_episodes,
    read_touchdown,
)


def write(folder: Path, *lines: str) -> Path:
    file = folder / "dev.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def test_both_formats_are_read(tmp_path: Path) -> None:
    touchdown = episode_line(route_id=31, start_heading=370.5, city="nyc").replace('"id"', '"other"')
    file = write(tmp_path, episode_line(navigation_text="Go ☕ past the café."), touchdown)
    first, second = read_episodes(file)
    assert first == InstructionEpisode("7", "Go ☕ past the café.", ("a", "b", "d"), 0.0)
    assert (second.id, second.heading, second.start, second.target) == ("31", 10.5, "a", "d")


def test_good_episodes_are_kept_and_the_others_named(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        episode_line(),
        "{",
        "[]",
        episode_line(id=8, route_panoids=[]),
        episode_line(id=9, start_heading="north"),
        episode_line(id=10, start_heading=float("nan")),
        episode_line(id=11, navigation_text=None, route_panoids=["a", 4]),
        episode_line(id=12).replace("start_heading", "heading"),
        episode_line(id=13).replace('"id"', '"number"'),
        episode_line(id=True),
        episode_line(id="x", navigation_text=""),
        episode_line(),
    )
    found = read_episode_file(file)
    assert [episode.id for episode in found.episodes] == ["7", "x"]
    assert [fault.line for fault in found.faults] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    texts = [fault.text for fault in found.faults]
    fields = [
        "JSON",
        "object",
        "route_panoids",
        "start_heading",
        "start_heading",
        "navigation_text",
        "start_heading",
    ]
    for text, field in zip(texts, fields, strict=False):
        assert field in text
    assert "route_panoids.1" in texts[5]
    assert texts[6] == "start_heading: Field required"
    assert texts[-1] == "episode '7' is repeated in the file"
    with pytest.raises(GraphFault, match=r"dev\.jsonl, line 2: .*JSON") as caught:
        read_episodes(file)
    assert caught.value.faults == found.faults


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, episode_line(), episode_line(id=8))
    file.write_text(file.read_text()[:-20])
    found = read_episode_file(file)
    assert [episode.id for episode in found.episodes] == ["7"]
    assert {fault.line for fault in found.faults} == {2}
    with pytest.raises(GraphFault, match="no such file"):
        read_episode_file(tmp_path / "none.jsonl")


@given(st.text())
def test_no_line_of_text_crashes_the_reader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("text") / "dev.jsonl"
    file.write_bytes((text + "\n").encode("utf-8", "surrogatepass"))
    try:
        found = read_episode_file(file)
    except GraphFault:
        return
    assert not found.episodes
    assert found.faults


def test_an_episode_is_held_against_the_graph(tmp_path: Path) -> None:
    graph = read_touchdown(write_graph(tmp_path))

    def why(instruction: str = "Go on. 🚕 Stop.\n", path: tuple[str, ...] = ("a", "b", "d")) -> list[str]:
        return episode_faults(graph, InstructionEpisode("1", instruction, path, 0.0))

    assert why() == []
    assert why(path=("a",)) == []
    assert why(path=("x", "b", "y")) == [
        "the panorama 'x' is not in the graph",
        "the panorama 'y' is not in the graph",
    ]
    assert why(path=("a", "c", "b", "b")) == [
        "its path leads from a to c, where no link is",
        "its path leads from b to b, where no link is",
    ]
    for empty in ("", " \n", "🚕 ... !"):
        assert why(empty) == ["the instruction holds no word"]
    assert why("word " * MAX_WORDS) == []
    assert why("word " * 10_000) == ["the instruction has 10,000 words: at most 1,000 are read"]
    assert why("Go\x00 on\x1b.") == ["the instruction holds control characters: U+0000, U+001B"]


def test_the_start_heading_snaps_to_the_nearest_link(tmp_path: Path) -> None:
    graph = read_touchdown(write_graph(tmp_path))

    def snapped(node: str, heading: float) -> float:
        return snapped_heading(graph, InstructionEpisode("1", "Go.", (node,), heading))

    assert snapped("b", 350.0) == 0.0
    assert snapped("b", 80.0) == 90.0
    assert snapped("b", 45.0) == 0.0  # halfway: the first link of the file
    assert snapped("b", 135.0) == 90.0
    assert snapped("d", 89.0) == 270.0
    with pytest.raises(NoStreetView, match="'x'"):
        snapped("x", 0.0)
    alone = build_graph(["a"], [0.0], [0.0], [], [])
    assert snapped_heading(alone, InstructionEpisode("1", "Go.", ("a",), 12.0)) == 12.0


@pytest.mark.slow
def test_published_episodes_have_no_faults(tmp_path: Path) -> None:
    data = real_data("touchdown")
    graph = load_touchdown(data / "graph")
    for name, count in (("touchdown_unseen", 800), ("map2seq_seen", 634), ("map2seq_unseen", 800)):
        episodes = read_episodes(data / name / "dev.jsonl")
        assert len(episodes) == count
        assert [episode.id for episode in episodes if episode_faults(graph, episode)] == []
        if name.startswith("map2seq"):
            assert all(snapped_heading(graph, episode) == episode.heading for episode in episodes)
    gold = (data / "expected" / "gold_touchdown_unseen_dev.jsonl").read_text().splitlines()
    starts = {str(walk["id"]): walk["states"][0] for walk in map(json.loads, gold)}
    for episode in read_episodes(data / "touchdown_unseen" / "dev.jsonl"):
        assert [episode.start, snapped_heading(graph, episode)] == starts[episode.id]
