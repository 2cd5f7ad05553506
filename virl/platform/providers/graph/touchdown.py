"""The street network of Touchdown and Map2seq, the episodes on it, and arrays of a network read before.

A line of `nodes.txt` is `id,yaw,lat,lng` or `id,yaw,lat,lng,partition`; one of `links.txt` is
`source id,heading,target id`. Angles are degrees clockwise from north.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from virl.files.json_reading import misfits
from virl.files.stores import Arrays, ArrayStore
from virl.geo.globe import Floats, Ints
from virl.platform.city.graph import InstructionEpisode, NavigationGraph, build_graph
from virl.platform.providers.graph.data_files import (
    EpisodeFile,
    FileFault,
    Table,
    keep_distinct,
    raise_faults,
    read_lines,
    read_table,
    repeats,
    sort_faults,
)

Dataset = Literal["touchdown", "map2seq"]
GRAPH_FILES = ("nodes.txt", "links.txt")
"""Names of the two files of a street graph."""


def read_touchdown(folder: Path) -> NavigationGraph:
    """Return the graph in `nodes.txt` and `links.txt` of a folder, checked.

    The links of a node keep their order in the file. `load_touchdown` does the same from a cache.

    Raises:
        GraphFault: the files have faults; all of them are listed.
    """
    nodes, links = read_table(folder / "nodes.txt", (5, 4)), read_table(folder / "links.txt", (3,))
    ids = nodes.columns[0]
    yaw = nodes.numbers(1, "yaw", 0, 360, end=False)
    lat = nodes.numbers(2, "latitude", -90, 90, end=True)
    lng = nodes.numbers(3, "longitude", -180, 180, end=True)
    number = _number_nodes(nodes)
    heading = links.numbers(1, "heading", 0, 360, end=False)
    source, target = (_link_ends(links, column, number, nodes.broken) for column in (0, 2))
    _check_links(links, source, target, heading)
    raise_faults([*sort_faults(nodes.faults), *sort_faults(links.faults)])
    return build_graph(ids, lat, lng, source, target, heading, yaw=yaw)


def read_episodes(file: Path) -> list[InstructionEpisode]:
    """Return the episodes of a file of Touchdown or Map2seq, one JSON object a line.

    Raises:
        GraphFault: a line has a fault; all of them are listed.
    """
    found = read_episode_file(file)
    raise_faults(found.faults)
    return list(found.episodes)


def read_episode_file(file: Path) -> EpisodeFile:
    """Return the good episodes of a file of Touchdown or Map2seq, and the faults of the others.

    Raises:
        GraphFault: the file is missing, empty or no text.
    """
    lines, faults = read_lines(file)
    found: list[tuple[int, InstructionEpisode]] = []
    for number, text in enumerate(lines, 1):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as fault:
            faults.append(FileFault(file, number, "; ".join(misfits(fault))))
        else:
            heading = line.start_heading % 360.0
            episode = InstructionEpisode(str(line.id), line.navigation_text, line.route_panoids, heading)
            found.append((number, episode))
    return keep_distinct(file, found, faults)


def _number_nodes(nodes: Table) -> dict[str, int]:
    """Return the number of each node by its id; empty and repeated ids become faults."""
    ids = nodes.columns[0]
    number: dict[str, int] = dict(zip(ids, range(len(ids)), strict=True))
    empty = [row for row, node in enumerate(ids) if not node]
    nodes.add_faults(empty, ["the node has no id"] * len(empty))
    if len(number) < len(ids):
        first: dict[str, int] = {}
        twice = [row for row, node in enumerate(ids) if first.setdefault(node, row) != row]
        nodes.add_faults(
            twice,
            (f"the node {ids[row]!r} is already in line {nodes.lines[first[ids[row]]]}" for row in twice),
        )
    return number


def _link_ends(links: Table, column: int, number: Mapping[str, int], broken: list[str]) -> Ints:
    """Return the node numbers in a column of links, -1 if unknown: a fault unless the node is in `broken`.

    A node whose own line is `broken` has a fault already, so links to it get none.
    """
    cells = links.columns[column]
    nodes = np.array([number.get(cell, -1) for cell in cells], np.int64)
    named = set(broken)
    rows = [row for row in np.flatnonzero(nodes < 0).tolist() if cells[row] not in named]
    verb = "starts at" if column == 0 else "leads to"
    links.add_faults(rows, (f"the link {verb} {cells[row]!r}, which is no node" for row in rows))
    return nodes


def _check_links(links: Table, source: Ints, target: Ints, heading: Floats) -> None:
    """Add faults for links from a node to itself, and for two links of a node with one target or heading."""
    starts, headings, ends = links.columns
    itself = np.flatnonzero((source == target) & (source >= 0)).tolist()
    links.add_faults(itself, (f"the link leads from {starts[row]!r} to itself" for row in itself))
    for key, cells, how in ((target, ends, "to"), (heading, headings, "at heading")):
        # Unknown ends (-1) and unread headings (nan) have a fault of their own already.
        known = np.flatnonzero((source >= 0) & (key >= 0))
        later, earlier = (known[rows].tolist() for rows in repeats(source[known], key[known]))
        links.add_faults(
            later,
            (
                f"{starts[row]!r} has a link {how} {cells[row]!r} in line {links.lines[other]} already"
                for row, other in zip(later, earlier, strict=True)
            ),
        )


class _Line(BaseModel):
    """One episode, a line of a file, as far as its fields are read."""

    model_config = ConfigDict(strict=True, frozen=True)

    id: int | str = Field(validation_alias=AliasChoices("route_id", "id"))
    """Id of the episode: `route_id` in Touchdown, `id` in Map2seq."""
    navigation_text: str
    """Instruction."""
    route_panoids: tuple[str, ...] = Field(min_length=1)
    """Ids of the panoramas of the gold path."""
    start_heading: FiniteFloat
    """Heading at the start, degrees clockwise from north."""


SCHEMA = 2
"""Version of the cache files; a file of another version is made again."""
_ARRAYS = ("lat", "lng", "first", "target", "heading", "length", "yaw", "height")
"""Names of the graph's arrays in a cache file."""


def load_touchdown(folder: Path) -> NavigationGraph:
    """Return the graph in `nodes.txt` and `links.txt` of a folder, from a cache file where there is one.

    A cache file is named by the digest of the files' contents.

    Raises:
        GraphFault: the files have faults.
    """
    sha = hashlib.sha256()
    try:
        for name in GRAPH_FILES:
            content = (folder / name).read_bytes()
            # The length keeps apart two files whose bytes together are the same, cut elsewhere.
            sha.update(len(content).to_bytes(8, "big"))
            sha.update(content)
    except OSError:  # which the reader reports
        return read_touchdown(folder)
    return _GRAPHS.get(f"{SCHEMA} {sha.hexdigest()}", lambda: read_touchdown(folder))


def _from_arrays(kept: Arrays) -> NavigationGraph:
    """Return the graph in the arrays of a cache file."""
    ids = kept["ids"].tobytes().decode().split("\n")
    return build_graph(
        ids,
        kept["lat"],
        kept["lng"],
        np.repeat(np.arange(len(ids)), np.diff(kept["first"])),
        kept["target"],
        kept["heading"],
        kept["length"],
        yaw=kept["yaw"],
        height=kept["height"],
    )


def _to_arrays(graph: NavigationGraph) -> Arrays:
    """Return a graph as the arrays of a cache file, by name."""
    ids = np.frombuffer("\n".join(graph.ids).encode(), np.uint8)
    return {"ids": ids, **{name: np.asarray(getattr(graph, name)) for name in _ARRAYS}}


_GRAPHS = ArrayStore("graphs", "graph", 12, _to_arrays, _from_arrays)
"""Cache files of the last 12 graphs (number chosen)."""
