"""Arrays in `.npz` files that say what they are: kind, schema version and model; nothing is unpickled.

Such a file is written whole or not at all, and the checksums of its archive tell when it was damaged.
"""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.files.writing import replace_file

Arrays = dict[str, NDArray[Any]]

MOST_UNPACKED = 100
"""Most times that the arrays may be larger than their file; chosen: virl writes them uncompressed."""

_DAMAGE = (ValueError, TypeError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile)
"""Errors of NumPy and zipfile for damaged files (tried on thousands with bytes changed or cut off)."""


def write_arrays(file: Path, kind: str, version: int, model: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file with their kind, version and model; readers see the old file or the new one.

    Args:
        file: to write.
        kind: name of the format.
        version: of the format.
        model: that the arrays come from.
        arrays: by name.

    Raises:
        CannotWrite: it cannot be written; what was there before still is.
    """
    labels: Arrays = {"kind": np.array(kind), "version": np.array(version), "model": np.array(model)}
    with replace_file(file, "go on") as stream:
        np.savez(stream, allow_pickle=False, **labels, **arrays)


def read_arrays(
    file: Path, kind: str, version: int, model: str | None, names: Sequence[str]
) -> tuple[Arrays, str]:
    """Read the arrays of a file and the model that they come from.

    Args:
        file: to read.
        kind: name of the format.
        version: of the format.
        model: that they have to come from; `None` for any.
        names: of the arrays.

    Raises:
        BadInput: the file is missing, broken, of another kind or version, or from another model.
    """
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            unpacked = sum(part.file_size for part in stored.zip.infolist()) if stored.zip else 0
            if unpacked > MOST_UNPACKED * max(file.stat().st_size, 1):
                raise ValueError(f"it unpacks to more than {MOST_UNPACKED} times its size")
            arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError:
        raise BadInput(f"{file}: no such file") from None
    except (*_DAMAGE, OSError) as fault:
        raise BadInput(f"{file}: not a readable .npz file without objects: {fault}") from None
    missing = {"kind", "version", "model", *names} - arrays.keys()
    if missing:
        raise BadInput(f"{file}: contains no {', '.join(sorted(missing))}: not a file of kind {kind}")
    if str(arrays["kind"]) != kind or str(arrays["version"]) != str(version):
        raise BadInput(
            f"{file}: is {arrays['kind']} version {arrays['version']}, not {kind} version {version}: "
            "write it again"
        )
    made_by = str(arrays["model"])
    if model is not None and made_by != model:
        raise BadInput(f"{file}: was made with {made_by}, not {model}: make it again with {model}")
    return arrays, made_by
