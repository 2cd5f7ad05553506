import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graph import LINKS, NODES, write_graph
from real_data import real_data

from virl.platform.providers.graph.data_files import SHOWN, GraphFault, read_table, repeats
from virl.platform.providers.graph.touchdown import read_touchdown


def faults(folder: Path) -> list[tuple[str, int, str]]:
    with pytest.raises(GraphFault) as caught:
        read_touchdown(folder)
    return [(fault.file.name, fault.line, fault.text) for fault in caught.value.faults]


def partition_of(folder: Path) -> list[str]:
    """Return the part of the city of each node; none where the file has no such column."""
    nodes = read_table(folder / "nodes.txt", (5, 4))
    assert nodes.faults == []
    return nodes.columns[4] if len(nodes.columns) == 5 else []


def test_reads_nodes_and_links_in_the_order_of_the_files(tmp_path: Path) -> None:
    graph = read_touchdown(write_graph(tmp_path))
    assert graph.ids == ("a", "b", "c", "d")
    corner = graph.links(graph.number("b"))
    assert [graph.ids[node] for node in graph.target[corner]] == ["c", "d", "a"]
    assert graph.heading[corner].tolist() == [0.0, 90.0, 180.0]
    assert graph.length[corner][0] == pytest.approx(11.1, abs=0.05)
    assert graph.yaw.tolist() == [10.0, 10.0, 10.0, 100.0]
    assert graph.position(3) == (40.7001, -73.9999)
    assert partition_of(tmp_path) == ["seen", "seen", "seen", "unseen"]


def test_nodes_may_come_without_a_partition_and_with_windows_line_breaks(tmp_path: Path) -> None:
    write_graph(tmp_path, tuple(line.rsplit(",", 1)[0] for line in NODES))
    for name in ("nodes.txt", "links.txt"):
        text = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(text.replace(b"\n", b"\r\n"))
    assert len(read_touchdown(tmp_path)) == 4
    assert partition_of(tmp_path) == []


def test_every_fault_is_listed_with_its_line(tmp_path: Path) -> None:
    nodes = (
        *NODES,
        "e,x,40,-74,seen",
        "b,360,91,-181,seen",
        "f,1,40",
        "g,nan,1_0,inf,seen",
        ",0,40,-74,seen",
    )
    links = (*LINKS, "a,1,b", "b,90,a", "a,2,a", "z,3,a", "d,-1,q", "a,3", "f,10,a", "c,ten,a")
    write_graph(tmp_path, nodes, links)
    with (tmp_path / "links.txt").open("a") as file:
        file.write("d,55,a")
    assert faults(tmp_path) == [
        ("nodes.txt", 5, "the yaw 'x' is no number"),
        ("nodes.txt", 6, "the yaw '360' is outside [0, 360)"),
        ("nodes.txt", 6, "the latitude '91' is outside [-90, 90]"),
        ("nodes.txt", 6, "the longitude '-181' is outside [-180, 180]"),
        ("nodes.txt", 6, "the node 'b' is already in line 2"),
        ("nodes.txt", 7, "3 fields instead of 5"),
        ("nodes.txt", 8, "the yaw 'nan' is no number"),
        ("nodes.txt", 8, "the latitude '1_0' is no number"),
        ("nodes.txt", 8, "the longitude 'inf' is no number"),
        ("nodes.txt", 9, "the node has no id"),
        ("links.txt", 7, "'a' has a link to 'b' in line 4 already"),
        ("links.txt", 8, "'b' has a link to 'a' in line 3 already"),
        ("links.txt", 8, "'b' has a link at heading '90' in line 2 already"),
        ("links.txt", 9, "the link leads from 'a' to itself"),
        ("links.txt", 10, "the link starts at 'z', which is no node"),
        ("links.txt", 11, "the heading '-1' is outside [0, 360)"),
        ("links.txt", 11, "the link leads to 'q', which is no node"),
        ("links.txt", 12, "2 fields instead of 3"),
        ("links.txt", 14, "the heading 'ten' is no number"),
        ("links.txt", 15, "the last line has no line break: the file was cut short"),
    ]


def test_the_message_is_one_line_and_says_how_many_more(tmp_path: Path) -> None:
    write_graph(tmp_path, links=tuple(f"a,{heading},z{heading}" for heading in range(50)))
    with pytest.raises(GraphFault) as caught:
        read_touchdown(tmp_path)
    assert len(caught.value.faults) == 50
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'links.txt'}, line 1: the link leads to 'z0'")
    assert message.count("; ") == SHOWN
    assert message.endswith("; and 30 more faults")
    assert "\n" not in message


@pytest.mark.parametrize("name", ["nodes.txt", "links.txt"])
def test_missing_empty_and_binary_files_are_named(tmp_path: Path, name: str) -> None:
    write_graph(tmp_path)
    (tmp_path / name).write_bytes(b"a,1\n\xff\xfe\n")
    assert faults(tmp_path) == [(name, 2, "not UTF-8 text")]
    (tmp_path / name).write_bytes(b"")
    assert faults(tmp_path) == [(name, 0, "the file is empty")]
    (tmp_path / name).unlink()
    assert faults(tmp_path) == [(name, 0, "no such file")]


@pytest.mark.slow
@given(st.data())
def test_a_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = write_graph(tmp_path_factory.mktemp("cut"))
    name = data.draw(st.sampled_from(["nodes.txt", "links.txt"]))
    text = (folder / name).read_text()
    ends = {0} | {index + 1 for index, letter in enumerate(text) if letter == "\n"}
    length = data.draw(st.integers(1, len(text) - 1).filter(lambda end: end not in ends))
    (folder / name).write_text(text[:length])
    last = text[:length].count("\n") + 1
    assert (name, last, "the last line has no line break: the file was cut short") in faults(folder)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_repeats_are_found_with_the_row_before(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array([pair[side] for pair in pairs], int) for side in (0, 1))
    later, earlier = repeats(first, second)
    assert later.tolist() == [row for row, pair in enumerate(pairs) if pair in pairs[:row]]
    before = [max(index for index in range(row) if pairs[index] == pairs[row]) for row in later]
    assert earlier.tolist() == before


def test_manhattan_has_no_fault_and_loads_fast() -> None:
    folder = real_data("touchdown") / "graph"
    start = time.process_time()
    graph = read_touchdown(folder)
    assert time.process_time() - start < 1.0  # 0.2 s where nothing else runs; the goal is 0.5 s
    assert len(graph) == 29_641
    assert len(graph.target) == 61_319
    assert np.bincount(graph.degree).tolist() == [0, 214, 28_056, 496, 870, 5]
    partition = partition_of(folder)
    assert (partition.count("seen"), partition.count("unseen")) == (20_638, 9_003)
