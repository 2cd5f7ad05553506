"""Bounds of what an extract holds once it is unpacked: a small file may unpack to more than memory holds."""

import bz2
import gzip
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from virl.errors import BadInput

MOST_TIMES = 60
"""Ratio of unpacked to packed size that is allowed; chosen: XML of real towns has 9 to 20."""
FREE_BYTES = 20_000_000
"""Bytes that any file may unpack to; chosen: a village that repeats itself."""

_PIECE = 1_000_000
"""Bytes unpacked at a time."""
_RAW, _RAW_SIZE = 1, 2  # fields of a blob: OpenStreetMap wiki, "PBF Format"
_DATA_SIZE = 3
"""Number of the field in the header of a blob with its size."""
_LENGTH_DELIMITED, _VARINT = 2, 0


def check_unpacked(path: Path) -> None:
    """Check that an extract does not unpack to far more than its file's size.

    Raises:
        BadInput: it does.
    """
    state = path.stat()
    _check(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _check(path: Path, size: int, changed: int) -> None:
    """Check the unpacked size of a file of this size and time of change."""
    del changed  # tells a file from what was there before
    most = max(MOST_TIMES * size, FREE_BYTES)
    total = 0
    for unpacked in _sizes(path):
        total += unpacked
        if total > most:
            raise BadInput(
                f"{path}: unpacks to more than {MOST_TIMES} times its size, as no extract of a town does: "
                "download it again"
            )


def _sizes(path: Path) -> Iterator[int]:
    """Yield the unpacked sizes of an extract's parts in bytes; a damaged file ends early."""
    try:
        if path.name.endswith(".pbf"):
            with path.open("rb") as file:
                yield from _blob_sizes(file)
        elif path.suffix in {".gz", ".bz2"}:
            with gzip.open(path) if path.suffix == ".gz" else bz2.open(path) as unpacked:
                while piece := unpacked.read(_PIECE):
                    yield len(piece)
    except (OSError, EOFError, ValueError):
        return


def _blob_sizes(file: BinaryIO) -> Iterator[int]:
    """Yield the unpacked sizes that the blobs of a PBF file declare, bytes."""
    while head := file.read(4):
        fields = dict(_fields(file, int.from_bytes(head, "big")))
        blob = dict(_fields(file, fields.get(_DATA_SIZE, 0)))
        yield blob.get(_RAW_SIZE, blob.get(_RAW, 0))


def _fields(file: BinaryIO, length: int) -> Iterator[tuple[int, int]]:
    """Yield (number of a field, its value or the length of its bytes) of a message.

    Raises:
        EOFError: the file ends before.
        ValueError: a field is of a kind that these messages do not have.
    """
    end = file.tell() + length
    while file.tell() < end:
        key = _varint(file)
        value = _varint(file)
        if key & 7 == _LENGTH_DELIMITED:
            file.seek(value, 1)
        elif key & 7 != _VARINT:
            raise ValueError("no field of a blob")
        yield key >> 3, value


def _varint(file: BinaryIO) -> int:
    """Return the next variable-length integer of a file."""
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            raise EOFError
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
    raise ValueError("no number")
