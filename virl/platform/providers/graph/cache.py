"""Graphs kept as plain arrays, so that a large one is read and checked once."""

import hashlib
import logging
import zipfile
from pathlib import Path

import numpy as np

from virl.errors import BadInput, CannotWrite
from virl.files import replacing
from virl.platform.graph import NavigationGraph, build_graph
from virl.platform.providers.graph.touchdown import GRAPH_FILES, read_touchdown
from virl.resources import cache_home

SCHEMA = 1
"""Version of the cache files; one of another version is made anew."""

# What NumPy and zipfile raise for files that are damaged or are no archives.
_UNUSABLE = (
    OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, zipfile.BadZipFile, BadInput,
)  # fmt: skip

_log = logging.getLogger(__name__)


def load_touchdown(folder: Path, cache: Path | None = None) -> NavigationGraph:
    """The graph of `read_touchdown`, from a cache file where the files have not changed since.

    The cache file is named for the folder and holds the SHA-256 of the files' contents. One that cannot be
    used is named in a warning and made anew; where none can be written, a warning says so.

    Args:
        folder: holds `nodes.txt` and `links.txt`.
        cache: the folder of cache files; by default `graphs` in `cache_home()`.

    Raises:
        GraphFault: the files have faults.
    """
    digest = _digest(folder)
    if digest is None:
        return read_touchdown(folder)
    name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    file = (cache or cache_home() / "graphs") / f"touchdown-{name}.npz"
    graph = _load(file, digest)
    if graph is None:
        graph = read_touchdown(folder)
        _store(file, graph, digest)
    return graph


def _digest(folder: Path) -> str | None:
    """SHA-256 of the files that make a graph; `None` where one cannot be read."""
    sha = hashlib.sha256()
    try:
        for name in GRAPH_FILES:
            content = (folder / name).read_bytes()
            sha.update(len(content).to_bytes(8, "big"))
            sha.update(content)
    except OSError:
        return None
    return sha.hexdigest()


def _load(file: Path, digest: str) -> NavigationGraph | None:
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept:
            if int(kept["schema"]) != SCHEMA or str(kept["digest"]) != digest:
                return None
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
    except FileNotFoundError:
        return None
    except _UNUSABLE as fault:
        _log.warning("%s: not a usable graph (%s): building it again", file, type(fault).__name__)
        return None


def _store(file: Path, graph: NavigationGraph, digest: str) -> None:
    names = ("lat", "lng", "first", "target", "heading", "length", "yaw", "height")
    arrays = {name: np.asarray(getattr(graph, name)) for name in names}
    ids = np.frombuffer("\n".join(graph.ids).encode(), np.uint8)
    try:
        with replacing(file, "go on") as part:
            np.savez(part, allow_pickle=False, schema=SCHEMA, digest=digest, ids=ids, **arrays)
    except CannotWrite as fault:
        _log.warning("%s: the graph could not be cached (%s): it is built again next time", file, fault)
