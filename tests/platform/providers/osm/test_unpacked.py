"""Extracts that unpack to far more than their files are large."""

import bz2
import gzip
from pathlib import Path

import pytest
from packed_bomb import bomb_pbf

from virl.errors import BadInput
from virl.platform.providers.osm.extract import check_readable
from virl.platform.providers.osm.unpacked import FREE_BYTES, check_unpacked

XML = b'<?xml version="1.0"?>\n<osm version="0.6">' + b" " * (FREE_BYTES + 1) + b"</osm>"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bomb.osm.gz", gzip.compress(XML)),
        ("bomb.osm.bz2", bz2.compress(XML)),
        ("bomb.osm.pbf", bomb_pbf(24)),
    ],
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
        ("b.osm.pbf", bomb_pbf(2)),
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
