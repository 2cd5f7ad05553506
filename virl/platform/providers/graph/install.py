"""Data sets copied from a user's copy to the data folder, checked before, and compared later."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from virl.errors import BadInput, UnknownName
from virl.files.json_reading import JsonFault, read_json
from virl.files.writing import replace_file
from virl.platform.providers.graph.data_files import FileFault, GraphFault, json_fault, raise_faults
from virl.platform.providers.graph.matterport import read_matterport, read_r2r_file
from virl.platform.providers.graph.touchdown import GRAPH_FILES, read_episode_file, read_touchdown
from virl.settings.model import Settings

MANIFEST = "checksums.json"
"""Name of the manifest in a data set's folder."""
_AGAIN = "copy the data again, or set VIRL_DATA to a folder that can be written"
"""Advice in errors about a copy that failed."""
_CONNECTIVITY = "_connectivity.json"
"""Ending of the names of R2R's graph files."""

Tell = Callable[[str], None]
"""A function that is called with the path of each file that is done."""

Files = Mapping[str, Path]
"""Path of the source of each file, by its path in the data folder."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A public data set: description, licence, sources and layout."""

    about: str
    """Description in a sentence."""
    licence: str
    """Licences of the parts of the data, in words."""
    sources: tuple[str, ...]
    """URLs of public repositories that hold the data."""
    layout: tuple[tuple[str, str], ...]
    """(pattern of files, template of their path in the data folder); the first match counts."""


DATA_SETS: Mapping[str, DataSet] = {
    "touchdown": DataSet(
        about="the street graph of Touchdown in lower Manhattan, and the episodes of Touchdown and Map2seq",
        licence="Touchdown: CC BY 4.0; Map2seq: see its repositories; panoramas: StreetLearn's own terms",
        sources=(
            "https://github.com/lil-lab/touchdown",
            "https://github.com/raphael-sch/map2seq_vln",
            "https://github.com/raphael-sch/VELMA",
        ),
        layout=(
            ("graph/*.txt", "graph/{name}"),
            ("datasets/map2seq_unseen/graph/*.txt", "graph/{name}"),
            ("*_seen/*.json*", "{0}/{name}"),
            ("*_unseen/*.json*", "{0}/{name}"),
            ("datasets/*_seen/data/*.json", "{1}/{stem}.jsonl"),
            ("datasets/*_unseen/data/*.json", "{1}/{stem}.jsonl"),
            ("expected/*.json*", "expected/{name}"),
        ),
    ),
    "r2r": DataSet(
        about="the episodes of R2R, and the navigation graphs of its Matterport3D buildings",
        licence="the simulator's repository: MIT; the scans of Matterport3D have terms of their own",
        sources=("https://github.com/peteanderson80/Matterport3DSimulator",),
        layout=(
            (f"connectivity/*{_CONNECTIVITY}", "connectivity/{name}"),
            ("R2R_*.json", "{name}"),
            ("tasks/R2R/data/R2R_*.json", "{name}"),
            ("expected/*.json", "expected/{name}"),
        ),
    ),
}


class FileSum(Settings):
    """The size and digest of a file when it was copied into the data folder."""

    bytes: int
    """Size of the file in bytes."""
    sha256: str
    """SHA-256 of the file as hex digits."""


class Manifest(Settings):
    """The content of `checksums.json` in a data folder: all files that were copied."""

    format: Literal[1] = 1
    """Version of the file's format."""
    files: dict[str, FileSum]
    """Size and digest of each file, by its path in the data folder."""


def find_files(name: str, source: Path) -> Files:
    """Return the files of a data set in a user's folder, by their path in the data folder.

    Raises:
        UnknownName: there is no such data set.
        BadInput: the folder holds none of its files.
    """
    if name not in DATA_SETS:
        raise UnknownName("data set", name, list(DATA_SETS))
    found: dict[str, Path] = {}
    for pattern, target in DATA_SETS[name].layout:
        for file in sorted(source.glob(pattern)):
            path = file.relative_to(source)
            if file.is_file():
                found.setdefault(target.format(*path.parts, name=path.name, stem=path.stem), file)
    if not found:
        raise BadInput(f"no {name} data in {source}: see its layout in docs/reference/graph-data.md")
    return found


def install(
    name: str, source: Path, home: Path, *, force: bool = False, tell: Tell = lambda _: None
) -> Manifest:
    """Check and copy a data set to `home / name`, over other files only with `force`; return its manifest.

    Args:
        name: name of the data set: `"touchdown"` or `"r2r"`.
        source: folder of the copy, laid out as in docs/reference/graph-data.md or as a public repository.
        home: folder of the user's data.
        force: True to overwrite files that differ.
        tell: function that is called with each file's path when it is checked, and again when it is copied.

    Raises:
        GraphFault: the files have faults; all of them are listed, and nothing has been copied.
        BadInput: the folder holds none of its files, or other data would be overwritten.
        CannotWrite: the disk refuses.
    """
    files, folder = find_files(name, source), home / name
    _check(name, files, tell)
    sums = {target: _digest_file(file) for target, file in files.items()}
    present = [target for target in files if (folder / target).exists()]
    same = {target for target in present if _digest_file(folder / target) == sums[target]}
    others = [target for target in present if target not in same]
    if others and not force:
        raise BadInput(
            f"{len(others)} files in {folder} differ, such as {others[0]}: use --force to overwrite them"
        )
    earlier = read_manifest(folder)
    manifest = Manifest(files=dict(sorted({**(earlier.files if earlier else {}), **sums}.items())))
    for target, file in files.items():
        if target not in same:
            with replace_file(folder / target, _AGAIN) as writing, file.open("rb") as reading:
                shutil.copyfileobj(reading, writing)
        tell(target)
    with replace_file(folder / MANIFEST, _AGAIN) as writing:
        writing.write(manifest.model_dump_json(indent=1).encode() + b"\n")
    return manifest


def read_manifest(folder: Path) -> Manifest | None:
    """Return the checksums in a data folder; `None` where it has none.

    Raises:
        BadInput: they cannot be read.
    """
    file = folder / MANIFEST
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValidationError) as fault:
        raise BadInput(
            f"{file}: the checksums cannot be read: remove this file, and install the data again"
        ) from fault


def changed_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return the paths of a manifest's files that are missing in a folder or differ from those copied."""
    return [
        name
        for name, kept in manifest.files.items()
        if not (folder / name).is_file() or _digest_file(folder / name) != kept
    ]


def _check(name: str, files: Files, tell: Tell) -> None:
    """Check that a data set's graphs and episodes can be read; raise `GraphFault` or `BadInput` if not."""
    faults: list[FileFault] = []
    if name == "touchdown":
        if missing := [one for one in GRAPH_FILES if f"graph/{one}" not in files]:
            raise BadInput(f"graph/{missing[0]} is missing in the folder: a street graph needs it")
        # The two files of a street graph are read together, before any that stands alone.
        with _collected(faults):
            read_touchdown(files["graph/nodes.txt"].parent)
    for target, file in files.items():
        with _collected(faults):
            if target.startswith("connectivity/"):
                read_matterport(file.parent, file.name.removesuffix(_CONNECTIVITY))
            elif target.startswith("R2R_"):
                faults += read_r2r_file(file).faults
            elif target.endswith(".jsonl") and not target.startswith("expected/"):
                faults += read_episode_file(file).faults
            elif target.endswith(".json"):
                faults += _json_faults(file)
        tell(target)
    raise_faults(faults)


@contextmanager
def _collected(faults: list[FileFault]) -> Iterator[None]:
    """Add the faults of a `GraphFault` that the block raises to a list, and go on after the block."""
    try:
        yield
    except GraphFault as fault:
        faults += fault.faults


def _json_faults(file: Path) -> list[FileFault]:
    """Return the fault of a file that is not JSON, as a list; an empty list if the file is JSON."""
    try:
        read_json(file.read_bytes())
    except JsonFault as fault:
        return [json_fault(file, fault)]
    return []


def _digest_file(file: Path) -> FileSum:
    """Return the size and SHA-256 of a file."""
    with file.open("rb") as opened:
        return FileSum(bytes=file.stat().st_size, sha256=hashlib.file_digest(opened, "sha256").hexdigest())
