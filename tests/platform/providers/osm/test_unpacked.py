"""Extracts that unpack to far more than their files are large."""

import bz2
import gzip
import struct
import zlib
from pathlib import Path

import pytest

from virl.errors import BadInput
from virl.platform.providers.osm.extract import check_readable
from virl.platform.providers.osm.unpacked import FREE_BYTES, check_unpacked

XML = b'<?xml version="1.0"?>\n<osm version="0.6">' + b" " * (FREE_BYTES + 1) + b"</osm>"


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob(kind: bytes, data: bytes) -> bytes:
    packed = varint(2 << 3) + varint(len(data)) + field(3, zlib.compress(data))
    head = field(1, kind) + varint(3 << 3) + varint(len(packed))
    return struct.pack(">I", len(head)) + head + packed


def pbf(blobs: int) -> bytes:
    """A file of blobs with 300,000 nodes each, all at one place."""
    nodes = 300_000
    dense = field(1, b"\x02" * nodes) + field(8, bytes(nodes)) + field(9, bytes(nodes))
    block = field(1, field(1, b"")) + field(2, field(2, dense))
    header = blob(b"OSMHeader", field(4, b"OsmSchema-V0.6") + field(4, b"DenseNodes"))
    return header + blob(b"OSMData", block) * blobs


@pytest.mark.parametrize(
    ("name", "data"),
    [("bomb.osm.gz", gzip.compress(XML)), ("bomb.osm.bz2", bz2.compress(XML)), ("bomb.osm.pbf", pbf(24))],
    ids=["gz", "bz2", "pbf"],
)
def test_an_extract_that_unpacks_to_far_more_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(BadInput, match="unpacks to more than 60 times its size"):
        check_readable(path, None)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.osm.gz", gzip.compress(XML[:5000])),
        ("b.osm.pbf", pbf(2)),
        ("c.osm.pbf", b"\0\0\0\x09junk"),
        ("d.osm", XML),
    ],
    ids=["small", "pbf", "damaged", "plain"],
)
def test_what_is_small_damaged_or_not_packed_is_left_to_its_reader(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    check_unpacked(path)
