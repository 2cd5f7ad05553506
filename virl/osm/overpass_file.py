"""What a file of an Overpass server says of itself: the date of its data, and the box asked for."""

import bz2
import gzip
import re
from pathlib import Path

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.geo.region import Region

_HEAD = 2000
"""Bytes that are read of a file; the server writes its notes first."""
_DATE = re.compile(rb'<meta osm_base="(\d{4}-\d\d-\d\d)')
_BOUNDS = re.compile(
    rb'<bounds minlat="(-?[\d.]+)" minlon="(-?[\d.]+)" maxlat="(-?[\d.]+)" maxlon="(-?[\d.]+)"\s*/>'
)


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
        south, west, north, east = map(float, found.groups())
        return Region((LatLng(south, west), LatLng(south, east), LatLng(north, east), LatLng(north, west)))
    except (ValueError, BadInput):
        return None  # larger than any region, or no box: the file is read whole


def _head(path: Path) -> bytes:
    """Return the first bytes of an XML file; empty for other files."""
    if path.suffix not in {".osm", ".gz", ".bz2"}:
        return b""
    try:
        with path.open("rb") as file:
            if path.suffix == ".gz":
                return gzip.GzipFile(fileobj=file).read(_HEAD)
            return bz2.BZ2File(file).read(_HEAD) if path.suffix == ".bz2" else file.read(_HEAD)
    except (OSError, EOFError):
        return b""
