"""Files of extracts before they are read: their unpacked size, order, date and box."""

import bz2
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from io import BufferedIOBase
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO

import osmium

from virl.errors import BadInput
from virl.geo.region import Region
from virl.osm.box import Box

_BROKEN = (OSError, EOFError, ValueError, zlib.error)
"""Errors raised for a file that is cut off or damaged."""
MOST_TIMES = 60
"""Largest allowed ratio of unpacked to packed size of a file; chosen: XML of real towns has 9 to 20."""
FREE_BYTES = 20_000_000
"""Unpacked size in bytes up to which no file is refused; chosen: villages repeat themselves when packed."""

_XML_SUFFIXES = frozenset({".osm", ".gz", ".bz2"})
"""Suffixes of files that are XML once unpacked."""
_PIECE = 1_000_000
"""Number of bytes that are unpacked at a time."""
RAW, _RAW_SIZE = 1, 2
"""Numbers of a blob's fields with plain data and with unpacked size: OpenStreetMap wiki, "PBF Format"."""
DATA_SIZE = 3
"""Number of the field with a blob's size in bytes in the blob's header."""
_LENGTH_DELIMITED, _VARINT = 2, 0
"""Wire types of a field that holds bytes after their length, and of one that holds an integer."""


def check_unpacked(path: Path) -> None:
    """Raise `BadInput` for a file that unpacks to more than `MOST_TIMES` its size, and over `FREE_BYTES`.

    Raises:
        BadInput: it does.
    """
    state = path.stat()
    _check(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _check(path: Path, size: int, changed: int) -> None:
    """Raise as `check_unpacked` does; remembered by `size` in bytes and time of change in nanoseconds."""
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
    """Yield the unpacked sizes in bytes of a packed file's blobs or pieces; a broken one ends early."""
    try:
        if path.name.endswith(".pbf"):
            with path.open("rb") as file:
                while head := file.read(4):
                    fields = dict(fields_of(file, int.from_bytes(head, "big")))
                    blob = dict(fields_of(file, fields.get(DATA_SIZE, 0)))
                    # A blob tells its size, so that none has to be unpacked.
                    yield blob.get(_RAW_SIZE, blob.get(RAW, 0))
        elif path.suffix in {".gz", ".bz2"}:
            with _open_unpacked(path) as unpacked:
                while piece := unpacked.read(_PIECE):
                    yield len(piece)
    except _BROKEN:
        return


def _open_unpacked(path: Path) -> BufferedIOBase:
    """Open a file, unpacked if its name ends in `.gz` or `.bz2`, to read its bytes."""
    if path.suffix == ".gz":
        return gzip.open(path)
    return bz2.open(path) if path.suffix == ".bz2" else path.open("rb")


def fields_of(file: BinaryIO, length: int) -> Iterator[tuple[int, int]]:
    """Yield (field number, its integer or the length of its bytes) of the next `length` bytes of a PBF file.

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
    """Return the next variable-length integer of a file; raise `EOFError` or `ValueError` without one."""
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            raise EOFError
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
    raise ValueError("no number")


TRUSTED_FROM_MB = 20
"""Size in megabytes from which a file that claims to be sorted is believed; chosen."""
MOST_MB = 100
"""Largest size in megabytes of an unsorted file that is accepted, since it is sorted in memory; chosen."""
NEGATIVE = 1 << 60
"""Offset of negative numbers in a sorted copy: -n becomes NEGATIVE + n."""

_KINDS = {"Node": 0, "Way": 1, "Relation": 2}
"""Rank of each kind of object in a sorted file, by osmium's class name: nodes come first."""
_DELETED = re.compile(rb"<(node|way|relation)\s[^>]*?\baction\s*=\s*[\"']delete[\"'][^>]*>")
"""Pattern of the XML start tag of an object that the editor JOSM has marked for deletion."""
_ID = re.compile(rb"\bid\s*=\s*[\"'](-?\d+)")
"""Pattern of the attribute with an object's number, its id, in its XML start tag."""

Object = osmium.osm.Node | osmium.osm.Way | osmium.osm.Relation
"""Object of a file that osmium reads."""
_Rank = tuple[int, datetime, int]
"""(version, time of change, number of tags) of an object: the greatest is the newest."""
_Made = osmium.osm.mutable.Node | osmium.osm.mutable.Way | osmium.osm.mutable.Relation
"""Copy of an object, to be written."""


def in_order(path: Path, folder: Path) -> Path:
    """Return a file's path if it is sorted, one version per object, else that of such a copy in `folder`.

    It may be a file that overpass-turbo or JOSM wrote.

    Raises:
        BadInput: the file is not sorted, and too large to be sorted here.
    """
    deleted = _deleted_by_editor(path)
    if not deleted and _is_in_order(path):
        return path
    if path.stat().st_size > MOST_MB * 1e6:
        raise BadInput(f"{path}: its objects are not sorted: sort them first, as with `osmium sort`")
    copy = folder / "sorted.osm.pbf"
    with osmium.SimpleWriter(str(copy), header=read_header(path)) as writer:
        writing = _VersionWriter(writer, deleted)
        reader = osmium.MergeInputReader()
        reader.add_file(str(path))
        # Not simplified: among copies of an object `_VersionWriter` chooses, by time and number of tags too.
        reader.apply(writing, simplify=False)
        writing.finish()
    return copy


def shown_number(number: int) -> int:
    """Return an object's number as in its file: a sorted copy has `NEGATIVE` + n for a negative -n."""
    return NEGATIVE - number if number >= NEGATIVE else number


def _is_in_order(path: Path) -> bool:
    """Return whether a file is sorted by kind and number, without negative numbers and deleted objects."""
    header = read_header(path)
    is_trusted = header.get("sorting", "") == "Type_then_ID" and not header.has_multiple_object_versions
    if is_trusted and path.stat().st_size > TRUSTED_FROM_MB * 1e6:
        return True
    last = (0, 0)
    for one in osmium.FileProcessor(str(path)):
        now = _KINDS[type(one).__name__], one.id
        is_gone = isinstance(one, Object) and (one.deleted or not one.visible)
        # osmium joins ways to nodes in one pass: what is used has to come before what uses it.
        if now <= last or one.id <= 0 or is_gone:
            return False
        last = now
    return True


def read_header(path: Path) -> osmium.io.Header:
    """Return the header of an OpenStreetMap file, with its box and date if it has them."""
    with osmium.io.Reader(str(path), osmium.osm.osm_entity_bits.NOTHING) as reader:
        return reader.header()


def _deleted_by_editor(path: Path) -> set[tuple[str, int]]:
    """Return (kind such as "Node", number) of the objects of a file that JOSM has marked for deletion."""
    if path.suffix not in _XML_SUFFIXES or path.stat().st_size > MOST_MB * 1e6:
        return set()
    try:
        with _open_unpacked(path) as file:
            text = file.read()
    except _BROKEN:
        return set()  # osmium says what is wrong with the file
    # JOSM marks in `action` what is deleted, an attribute that osmium does not tell.
    found = set()
    for match in _DELETED.finditer(text) if b"delete" in text else ():
        if number := _ID.search(match[0]):
            found.add((match[1].decode().title(), int(number[1])))
    return found


class _VersionWriter:
    """A writer that takes an extract's objects in sorted order and writes the newest version of each."""

    def __init__(self, writer: osmium.SimpleWriter, deleted: set[tuple[str, int]]) -> None:
        """Use osmium's writer of the copy, and leave out deleted objects, (kind such as "Node", number)."""
        self._writer, self._deleted = writer, deleted
        self._held: tuple[tuple[str, int], _Rank, _Made | None] | None = None
        self._negative: list[tuple[int, _Made]] = []

    def node(self, one: osmium.osm.Node) -> None:
        """Pass on a node, to be written if it is the newest version."""
        self._take("Node", one, lambda: osmium.osm.mutable.Node(location=one.location))

    def way(self, one: osmium.osm.Way) -> None:
        """Pass on a way, to be written if it is the newest version."""
        refs = [_positive(node.ref) for node in one.nodes]
        self._take("Way", one, lambda: osmium.osm.mutable.Way(nodes=refs))

    def relation(self, one: osmium.osm.Relation) -> None:
        """Pass on a relation, to be written if it is the newest version."""
        members = [(member.type, _positive(member.ref), member.role) for member in one.members]
        self._take("Relation", one, lambda: osmium.osm.mutable.Relation(members=members))

    def finish(self) -> None:
        """Write the object that is still held back, and those with negative numbers."""
        self._write_held()
        self._write_negative()

    def _take(self, kind: str, one: Object, made_of: Callable[[], _Made]) -> None:
        """Hold an object's copy, made by `made_of`, until the next one shows which version is the newest."""
        name, tags = (kind, one.id), dict(one.tags)
        # overpass-turbo writes nodes a second time as bare skeletons: the one with tags counts.
        rank = (one.version, one.timestamp, len(tags))
        if self._held and self._held[0] == name:
            if self._held[1] >= rank:
                return
            self._held = None
        self._write_held()
        # Negative numbers become the largest, so that they end their kind in a sorted file.
        if self._held and self._held[0][0] != kind:
            self._write_negative()
        made = None
        if not one.deleted and one.visible and name not in self._deleted:
            made = made_of()
            made.id, made.tags, made.version, made.timestamp = _positive(one.id), tags, *rank[:2]
        self._held = name, rank, made

    def _write_held(self) -> None:
        """Write the object held back, if any; one with a negative number waits for the end of its kind."""
        if self._held and (made := self._held[2]):
            name, rank, _ = self._held
            if name[1] < 0:
                self._negative.append((_positive(name[1]), made))
            else:
                self._writer.add(made)
            self._held = name, rank, None

    def _write_negative(self) -> None:
        """Write the objects with negative numbers that wait, sorted by their new numbers."""
        for _, made in sorted(self._negative, key=itemgetter(0)):
            self._writer.add(made)
        self._negative.clear()


def _positive(number: int) -> int:
    """Return an object's number; a negative one -n becomes `NEGATIVE` + n."""
    return NEGATIVE - number if number < 0 else number


_HEAD = 2000
"""Number of bytes read from the start of an Overpass file, where the server writes its notes."""
_DATE = re.compile(rb'<meta osm_base="(\d{4}-\d\d-\d\d)')
"""Pattern of the date of the data at the start of an Overpass file."""
_BOUNDS = re.compile(
    rb'<bounds minlat="(-?[\d.]+)" minlon="(-?[\d.]+)" maxlat="(-?[\d.]+)" maxlon="(-?[\d.]+)"\s*/>'
)
"""Pattern of the box (south, west, north, east in degrees) at the start of an Overpass file."""


def data_date(path: Path) -> str:
    """Return the date of an Overpass file's data, such as `2026-11-22`; empty for other files."""
    found = _DATE.search(_head(path))
    return found[1].decode("ascii") if found else ""


def asked_box(path: Path) -> Region | None:
    """Return the box that an Overpass file was asked for; `None` for other files.

    Streets reach beyond that box, for they are given whole.
    """
    head = _head(path)
    found = _BOUNDS.search(head) if _DATE.search(head) else None
    if not found:
        return None
    try:
        return Box(*map(float, found.groups())).region
    except (ValueError, BadInput):
        return None  # larger than any region, or no box: the file is read whole


def _head(path: Path) -> bytes:
    """Return the first `_HEAD` bytes, unpacked, of an XML file; empty for other and damaged files."""
    if path.suffix not in _XML_SUFFIXES:
        return b""
    try:
        with _open_unpacked(path) as file:
            return file.read(_HEAD)
    except _BROKEN:
        return b""
