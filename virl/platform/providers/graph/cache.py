"""Graphs kept as plain arrays, so that a large one is read and checked once."""

import hashlib
from pathlib import Path

import numpy as np

from virl.files.stores import Arrays, ArrayStore
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.providers.graph.touchdown import GRAPH_FILES, read_touchdown

SCHEMA = 2
"""Version of the cache files; a file of another version is made anew."""
_ARRAYS = ("lat", "lng", "first", "target", "heading", "length", "yaw", "height")
"""Names of the graph's arrays in a cache file."""


def load_touchdown(folder: Path) -> NavigationGraph:
    """Return the graph in a Touchdown folder, from a cache file where there is one.

    A cache file is named by the digest of the files' contents.

    Args:
        folder: holds `nodes.txt` and `links.txt`.

    Raises:
        GraphFault: the files have faults.
    """
    digest = _digest(folder)
    if digest is None:
        return read_touchdown(folder)
    return _GRAPHS.get(f"{SCHEMA} {digest}", lambda: read_touchdown(folder))


def _digest(folder: Path) -> str | None:
    """Return the SHA-256 of the files that a graph is read from; `None` where one cannot be read."""
    sha = hashlib.sha256()
    try:
        for name in GRAPH_FILES:
            content = (folder / name).read_bytes()
            sha.update(len(content).to_bytes(8, "big"))
            sha.update(content)
    except OSError:
        return None
    return sha.hexdigest()


def _read(kept: Arrays) -> NavigationGraph:
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


def _write(graph: NavigationGraph) -> Arrays:
    """Return a graph as the arrays of a cache file."""
    ids = np.frombuffer("\n".join(graph.ids).encode(), np.uint8)
    return {"ids": ids, **{name: np.asarray(getattr(graph, name)) for name in _ARRAYS}}


_GRAPHS = ArrayStore("graphs", "graph", 12, _write, _read)  # how many: chosen
