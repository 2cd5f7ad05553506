"""A packed OpenStreetMap extract that unpacks to very many nodes."""

import struct
import zlib


def _varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _blob(kind: bytes, data: bytes) -> bytes:
    packed = _varint(2 << 3) + _varint(len(data)) + _field(3, zlib.compress(data))
    head = _field(1, kind) + _varint(3 << 3) + _varint(len(packed))
    return struct.pack(">I", len(head)) + head + packed


def bomb_pbf(blobs: int, nodes: int = 300_000) -> bytes:
    """A packed extract of blobs with so many nodes each, all at one place."""
    dense = _field(1, b"\x02" * nodes) + _field(8, bytes(nodes)) + _field(9, bytes(nodes))
    block = _field(1, _field(1, b"")) + _field(2, _field(2, dense))
    header = _blob(b"OSMHeader", _field(4, b"OsmSchema-V0.6") + _field(4, b"DenseNodes"))
    return header + _blob(b"OSMData", block) * blobs
