"""Cuts parts out of extracts: of a large PBF file, only the blobs with something of the part are decoded."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import osmium

from virl.extras import missing_packages
from virl.geo.region import Region
from virl.osm.box import box_around
from virl.osm.cut import check_room, cut
from virl.osm.extract_file import Object, in_order

FAST_FROM_MB = 4
"""Size in megabytes of a PBF file from which compiled code reads it first; chosen: less takes a second."""


def cut_part(path: Path, region: Region, part: Path, date: str = "") -> None:
    """Write an extract's objects in a region's box, with the data's date, to the file `part`: a faster `cut`.

    Args:
        path: the file to read.
        region: the part to keep.
        part: the file to write; copies lie beside it meanwhile.
        date: of the data as 2022-07-24, for the new file's header; empty if unknown.

    Raises:
        BadInput: there is no room, or the file is not sorted and too large to be sorted here.
    """
    check_room(path, part.parent)
    near = None
    if is_fast(path):
        from virl.osm.blobs import thin  # noqa: PLC0415 - its compiled code takes half a second to load

        thinned = part.with_name("thin.osm.pbf")
        near = thin(path, box_around(region), thinned)
    cut(in_order(path, part.parent) if near is None else thinned, region, part, date, near)


def newest_day(path: Path) -> str:
    """Return the day `YYYY-MM-DD` of the newest object of an extract; empty if none has a time."""
    newest = None
    if is_fast(path):
        from virl.osm.blobs import UNREADABLE, newest_second  # noqa: PLC0415 - as above

        with suppress(*UNREADABLE):  # osmium reads such a file, or says what is wrong with it
            newest = newest_second(path)
    if newest is None:
        every = (one.timestamp for one in osmium.FileProcessor(str(path)) if isinstance(one, Object))
        newest = int(max((one.timestamp() for one in every), default=0))
    return f"{datetime.fromtimestamp(newest, UTC):%Y-%m-%d}" if newest > 0 else ""


def is_fast(path: Path) -> bool:
    """Return whether compiled code reads a file first: a large PBF file, with numba installed."""
    is_large = path.name.endswith(".pbf") and path.stat().st_size >= FAST_FROM_MB * 1e6
    return is_large and not missing_packages(("numba",))
