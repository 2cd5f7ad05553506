"""Extracts that unpack to far more than their files are large."""

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from packed_bomb import bomb_pbf

from virl.errors import BadInput
from virl.osm.extract import check_extract, cut_box, is_country, read_extract
from virl.osm.towns import towns_in
from virl.osm.unpacked import FREE_BYTES, check_unpacked

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
    reads: tuple[Callable[[Path], object], ...] = (read_extract, check_extract, cut_box, is_country, towns_in)
    for read in reads:
        with pytest.raises(BadInput, match="unpacks to more than 60 times its size"):
            read(path)


def test_a_file_that_has_changed_is_checked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.osm.gz"
    path.write_bytes(gzip.compress(XML[:5000]))
    check_unpacked(path)
    path.write_bytes(gzip.compress(XML))
    with pytest.raises(BadInput):
        check_unpacked(path)


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
