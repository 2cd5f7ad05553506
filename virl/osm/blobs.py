"""Copies the blobs of a PBF file that hold something of a part.

A blob holds some 8,000 objects of one kind, sorted by number, and is copied as it is. For that each node
gets a code of the sides of the part beyond which it lies, each way those beyond which all its nodes lie.
Fields have the numbers of the OpenStreetMap wiki, "PBF Format". All positions in a block are clamped to
it, so that a damaged one gives other numbers and never reads beyond its end.
"""

import zlib
from collections.abc import Container, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import osmium
from numpy.typing import NDArray

from virl.geo.globe import Ints
from virl.osm.box import Box
from virl.osm.cut import is_area_relation
from virl.osm.extract_file import DATA_SIZE, RAW, fields_of
from virl.towns.render.kernel import inline_kernel, kernel, part

NODES, WAYS, RELATIONS, OTHER = 2, 3, 4, 0
"""Kinds of objects in a block of a PBF file, as its field numbers; 0 (`OTHER`) for other blocks."""
_ZLIB = 3
"""Number of the field with a blob's data packed by zlib."""
_LARGEST = 32 << 20
"""Largest number of bytes that a blob may unpack to, by the PBF format."""
_BESIDE = 200
"""Margin in nanodegrees around a box within which nodes count as inside, as osmium rounds; chosen."""
_NONE = np.empty(0, np.int64)
"""Empty array of object numbers."""
UNREADABLE = (EOFError, ValueError, LookupError, zlib.error)
"""Errors raised for a file that is damaged, or packed in another way than by zlib."""
Bytes = NDArray[np.uint8]
"""Bytes of an unpacked blob, shape (n,)."""


class _Blob(NamedTuple):
    """A blob of a PBF file: where it lies in the file, and which objects it holds."""

    start: int
    """Position of the blob's first byte in the file."""
    end: int
    """Position behind the blob's last byte in the file."""
    kind: int
    """`NODES`, `WAYS` or `RELATIONS`: the kind of all its objects."""
    first: int
    """OpenStreetMap number (id) of the blob's first object."""
    last: int
    """OpenStreetMap number (id) of the blob's last object."""
    touches: bool
    """True for a blob with an object that may touch the area that is cut out."""


def thin(path: Path, box: Box, out: Path) -> set[int] | None:
    """Write a PBF file's blobs near a box; return ids of ways that may touch it, `None` if it is unreadable.

    Args:
        path: the file.
        box: of the part.
        out: the file to write; the numbers of all nodes lie beside it meanwhile.

    Returns:
        `None` for a file that is damaged, not sorted, or written in another way than by osmium.
    """
    sides = np.array([[round(degrees * 1e9) for degrees in each.degrees] for each in box.parts])
    sides += np.array([-_BESIDE, -_BESIDE, _BESIDE, _BESIDE])
    try:
        with path.open("rb") as file:
            selection = _BlobSelection(file, sides, out.parent)
            return selection.write(out) if selection.read() else None
    except UNREADABLE:
        return None  # osmium says what is wrong with the file


def newest_second(path: Path) -> int:
    """Return the time of the newest object of a PBF file in seconds since 1970; 0 if none has a time.

    Raises:
        EOFError, ValueError, LookupError, zlib.error: the file is one of `UNREADABLE`.
    """
    with path.open("rb") as file:
        return max(newest_in(data) for _, _, data in _unpacked(file, 0, None))


class _BlobSelection:
    """A selection of the blobs of a PBF file that a part needs, as far as the file was read."""

    def __init__(self, file: BinaryIO, sides: Ints, folder: Path) -> None:
        """Begin with no blobs; `sides`: boxes (south, west, north, east), nanodegrees, `folder`: scratch.

        The numbers and codes of all nodes, 9 bytes each, are written to files in `folder`.
        """
        self._file, self._sides, self._folder = file, sides, folder
        self._head = 0
        self._blobs: list[_Blob] = []
        self._ways, self._nodes = [_NONE], [_NONE]
        self._known = _NONE, np.empty(0, np.uint8)

    def read(self) -> bool:
        """Return whether a file's blobs are sorted and of one kind each; note those before a fault."""
        names = self._folder / "numbers", self._folder / "codes"
        with names[0].open("wb") as numbers, names[1].open("wb") as codes:
            for start, end, data in _unpacked(self._file, 0, None):
                if not self._head:
                    self._head = end
                    continue
                kind = kind_of(data)
                if kind == NODES:
                    ids, marks = read_nodes(data, self._sides)
                    numbers.write(ids.tobytes())
                    codes.write(marks.tobytes())
                    touches = any(not (marks & (15 << 4 * box)).all() for box in range(len(self._sides)))
                elif kind == WAYS:
                    # In a sorted file all nodes have been read when the first way comes.
                    if not len(self._known[0]):
                        numbers.flush()
                        codes.flush()
                        self._known = _map_numbers(names[0], np.int64), _map_numbers(names[1], np.uint8)
                    ids, touches = self._read_ways(data, _NONE)
                elif kind == RELATIONS:
                    ids, touches = read_numbers(data), True
                else:
                    return False
                last = self._blobs[-1] if self._blobs else _Blob(0, 0, NODES, 0, 0, touches=False)
                is_next = kind > last.kind or (kind == last.kind and len(ids) and ids[0] > last.last)
                if not is_next or ids[0] < 1 or not (np.diff(ids) > 0).all():
                    return False
                self._blobs.append(_Blob(start, end, kind, int(ids[0]), int(ids[-1]), touches))
        return True

    def _read_ways(self, data: Bytes, wanted: Ints) -> tuple[Ints, bool]:
        """Note ways near the part or in sorted `wanted`; return (ids of all ways, True if any was noted)."""
        ids, near, nodes = read_ways(data, *self._known, len(self._sides), wanted)
        self._ways.append(ids[near != 0])
        self._nodes.append(nodes)
        return ids, bool(near.any())

    def write(self, out: Path) -> set[int]:
        """Write the blobs that the part needs to a file; return the numbers of ways that may touch the part.

        Needed are all relations, and what may touch the part or belongs to an area that does.
        """
        self._copy(out, [blob for blob in self._blobs if blob.kind == RELATIONS])
        # Relations come last in a file, and tell only then which ways belong to an area near the part.
        near = set(np.concatenate(self._ways).tolist())
        members = _area_ways(out, near)
        for blob in self._blobs:
            if blob.kind == WAYS and _has_any(blob, members):
                [(_, _, data)] = _unpacked(self._file, blob.start, 1)
                self._read_ways(data, members)
        nodes = np.unique(np.concatenate(self._nodes))
        held = {NODES: nodes, WAYS: members, RELATIONS: _NONE}
        self._copy(out, [blob for blob in self._blobs if blob.touches or _has_any(blob, held[blob.kind])])
        return near

    def _copy(self, out: Path, blobs: Iterable[_Blob]) -> None:
        """Write the file's header and the bytes of `blobs` to the new file `out`."""
        with out.open("wb") as copy:
            for start, end in ((0, self._head), *((blob.start, blob.end) for blob in blobs)):
                self._file.seek(start)
                copy.write(self._file.read(end - start))


def _area_ways(relations: Path, touching: Container[int]) -> Ints:
    """Return the sorted numbers of all ways in a file's area relations that have a way in `touching`."""
    found = set[int]()
    wanted = osmium.filter.TagFilter(("type", "multipolygon"), ("type", "boundary"))
    for one in osmium.FileProcessor(str(relations), osmium.osm.RELATION).with_filter(wanted):
        if isinstance(one, osmium.osm.Relation) and is_area_relation(dict(one.tags)):
            ways = [member.ref for member in one.members if member.type == "w"]
            if any(way in touching for way in ways):
                found.update(ways)
    return np.array(sorted(found), np.int64)


def _has_any(blob: _Blob, numbers: Ints) -> bool:
    """Return whether any of the sorted `numbers` lies between a blob's first and last object number."""
    return bool(np.searchsorted(numbers, blob.first) < np.searchsorted(numbers, blob.last, "right"))


def _map_numbers(path: Path, kind: type) -> NDArray[Any]:
    """Return the numbers of NumPy type `kind` in a binary file as an array that is read when used."""
    # The numbers of all nodes of a country take gigabytes, more than memory may have.
    return np.asarray(np.memmap(path, kind, "r"))


def _unpacked(file: BinaryIO, start: int, most: int | None) -> Iterator[tuple[int, int, Bytes]]:
    """Yield (start, end, unpacked bytes) of up to `most` blobs, `None` for all, from position `start` on."""
    for _ in range(most) if most else count():
        file.seek(start)
        if not (head := file.read(4)):
            return
        size = dict(fields_of(file, int.from_bytes(head, "big")))[DATA_SIZE]
        data = None
        for name, length in fields_of(file, size):
            if name in (RAW, _ZLIB):
                file.seek(-length, 1)
                data = file.read(length)
                data = data if name == RAW else zlib.decompressobj().decompress(data, _LARGEST)
        if data is None:
            raise LookupError("neither plain nor packed by zlib")
        end = file.tell()
        yield start, end, np.frombuffer(data, np.uint8)
        start = end


@inline_kernel
def _varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return (variable-length integer at position `at` of some bytes, position behind it, at most `end`)."""
    value = shift = 0
    while at < end:
        byte: int = np.int64(data[at])  # type: ignore[assignment] # with a sign, as all numbers here
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128 or shift > 63:
            break
    return value, at


@inline_kernel
def _from_zigzag(value: int) -> int:
    """Return the signed number that a zigzag-encoded one stands for."""
    return (value >> 1) ^ -(value & 1)


@part
def _field(data: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return (number of the field at byte `at` of a message, position of its value, position behind that)."""
    key, at = _varint(data, at, end)
    if key & 7 == 0:
        return key >> 3, at, _varint(data, at, end)[1]
    size = 8 if key & 7 == 1 else 4
    if key & 7 == 2:
        size, at = _varint(data, at, end)
    if size < 0 or size > end - at:
        size = end - at
    return key >> 3, at, at + size


@kernel
def kind_of(data: Bytes) -> int:
    """Return the kind of all objects in a block; `OTHER` for several, none, or nodes not packed densely."""
    kind, at, size = -1, 0, len(data)
    while at < size:
        name, start, at = _field(data, at, size)
        while name == 2 and start < at:
            inside, _, start = _field(data, start, at)
            if kind not in (-1, inside):
                return OTHER
            kind = inside
    return kind if NODES <= kind <= RELATIONS else OTHER


@part
def _scale(data: Bytes) -> tuple[int, int, int]:
    """Return (step of coordinates, latitude offset, longitude offset) of a block, all in nanodegrees."""
    step, lat, lng, at, size = 100, 0, 0, 0, len(data)
    while at < size:
        name, start, at = _field(data, at, size)
        if name == 17:
            step = _varint(data, start, at)[0]
        elif name == 19:
            lat = _varint(data, start, at)[0]
        elif name == 20:
            lng = _varint(data, start, at)[0]
    return step, lat, lng


@kernel
def read_nodes(data: Bytes, sides: Ints) -> tuple[Ints, Bytes]:
    """Return (node ids of a block, bit codes of the box sides beyond which each lies), for 1 or 2 boxes.

    `sides` are (south, west, north, east) of the boxes, nanodegrees, shape (boxes, 4). A code has four bits a
    box, the last box lowest: 1, 2, 4 and 8 for a node beyond its south, west, north and east side.
    """
    step, lat_from, lng_from = _scale(data)
    total, at, size = 0, 0, len(data)
    most = size // 3  # each has three numbers
    ids, codes = np.empty(most, np.int64), np.zeros(most, np.uint8)
    at = 0
    while at < size:
        name, start, at = _field(data, at, size)
        while name == 2 and start < at:
            _, dense, start = _field(data, start, at)
            one = lat_at = lng_at = one_end = lat_end = lng_end = 0
            while dense < start:
                inside, begin, dense = _field(data, dense, start)
                if inside == 1:
                    one, one_end = begin, dense
                elif inside == 8:
                    lat_at, lat_end = begin, dense
                elif inside == 9:
                    lng_at, lng_end = begin, dense
            number = lat = lng = 0
            while one < one_end and total < most:
                delta, one = _varint(data, one, one_end)
                number += _from_zigzag(delta)
                delta, lat_at = _varint(data, lat_at, lat_end)
                lat += _from_zigzag(delta)
                delta, lng_at = _varint(data, lng_at, lng_end)
                lng += _from_zigzag(delta)
                north, east, code = lat_from + step * lat, lng_from + step * lng, 0
                for box in range(len(sides)):
                    code = code << 4 | (
                        (north < sides[box, 0])
                        | (east < sides[box, 1]) << 1
                        | (north > sides[box, 2]) << 2
                        | (east > sides[box, 3]) << 3
                    )
                ids[total], codes[total] = number, code
                total += 1
    return ids[:total].copy(), codes[:total].copy()


@part
def _find(numbers: Ints, number: int, near: int) -> int:
    """Return the first index in sorted `numbers` of one >= `number`, else their length; `near` is a guess."""
    low, high, step = near, near, 1
    while low > 0 and numbers[low - 1] >= number:
        low, high, step = max(low - step, 0), low, step * 2
    step = 1
    while high < len(numbers) and numbers[high] < number:
        low, high, step = high + 1, min(high + step, len(numbers)), step * 2
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def read_ways(data: Bytes, nodes: Ints, codes: Bytes, boxes: int, wanted: Ints) -> tuple[Ints, Bytes, Ints]:
    """Return (ids of a block's ways, 1 for each that is wanted or may touch a box, node ids of those ways).

    A way does not touch a box if all its nodes lie beyond one side of it.

    Args:
        data: the block.
        nodes: sorted numbers of all nodes that the file has.
        codes: code of each node, as from `read_nodes`.
        boxes: number of boxes, 1 or 2.
        wanted: sorted numbers of ways that are wanted wherever they lie.
    """
    size = len(data)
    ids, touches, refs = np.empty(size, np.int64), np.zeros(size, np.uint8), np.empty(size, np.int64)
    total = held = at = near = near_way = 0
    while at < size:
        name, start, at = _field(data, at, size)
        while name == 2 and start < at:
            _, way, start = _field(data, start, at)
            number, ref_at, ref_end = 0, 0, 0
            while way < start:
                inside, begin, way = _field(data, way, start)
                if inside == 1:
                    number = _varint(data, begin, way)[0]
                elif inside == 8:
                    ref_at, ref_end = begin, way
            beyond, ref, first = 255, 0, held
            while ref_at < ref_end:
                delta, ref_at = _varint(data, ref_at, ref_end)
                ref += _from_zigzag(delta)
                refs[held] = ref
                held += 1
                near = _find(nodes, ref, near)
                if near < len(nodes) and nodes[near] == ref:
                    beyond &= codes[near]
            near_way = _find(wanted, number, near_way)
            is_wanted = near_way < len(wanted) and wanted[near_way] == number
            is_near = not beyond & 15 or (boxes > 1 and not beyond >> 4)
            ids[total], touches[total] = number, is_wanted or is_near
            if not touches[total]:
                held = first
            total += 1
    return ids[:total].copy(), touches[:total].copy(), refs[:held].copy()


@kernel
def read_numbers(data: Bytes) -> Ints:
    """Return the numbers of the ways or relations of a block."""
    size = len(data)
    ids = np.empty(size, np.int64)
    total = at = 0
    while at < size:
        name, start, at = _field(data, at, size)
        while name == 2 and start < at:
            _, one, start = _field(data, start, at)
            while one < start:
                inside, begin, one = _field(data, one, start)
                if inside == 1:
                    ids[total] = _varint(data, begin, one)[0]
                    total += 1
    return ids[:total].copy()


@kernel
def newest_in(data: Bytes) -> int:
    """Return the time of the newest object of a block in seconds since 1970; 0 if none has a time."""
    step, newest, at, size = 1000, 0, 0, len(data)
    while at < size:
        name, start, at = _field(data, at, size)
        if name == 18:
            step = _varint(data, start, at)[0]
        while name == 2 and start < at:
            kind, one, start = _field(data, start, at)
            while one < start:
                inside, info, one = _field(data, one, start)
                while inside == (5 if kind == NODES else 4) and info < one:
                    what, begin, info = _field(data, info, one)
                    newest = max(newest, _newest(data, begin, info, kind == NODES) if what == 2 else 0)
    return newest * step // 1000


@part
def _newest(data: Bytes, at: int, end: int, is_packed: bool) -> int:
    """Return the greatest time in bytes `at` to `end`: one time, or differences of many if `is_packed`."""
    number = newest = 0
    while at < end:
        delta, at = _varint(data, at, end)
        number = number + _from_zigzag(delta) if is_packed else delta
        newest = max(newest, number)
    return newest
