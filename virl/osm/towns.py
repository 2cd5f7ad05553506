"""The towns in an extract, and how much there is around the middle of each."""

import hashlib
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import osmium
from pydantic import TypeAdapter
from scipy.spatial import cKDTree

from virl.files.stores import ByteStore
from virl.geo.globe import MEAN_RADIUS_M, Floats, LatLng
from virl.osm.box import BUSY_KEYS, RADIUS_M
from virl.osm.extract import check_name, damage_reported
from virl.osm.extract_file import check_unpacked, in_order

KINDS = ("city", "town", "borough", "village", "suburb", "quarter", "neighbourhood")
"""Values of the tag `place` for towns that are listed; hamlets have hardly a shop."""
_BUSIEST = ByteStore("busiest", "busiest town of an extract", 100)
"""Store of the busiest town of each file in the user's cache."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TownListing:
    """A town of an extract, as it is mapped."""

    name: str
    """Local name of the town."""
    kind: str
    """Value of the town's tag `place`, such as `village`."""
    population: int | None
    """Number of inhabitants; `None` where not mapped."""
    position: LatLng
    """Position of the town's node, degrees."""
    places: int
    """Number of named shops and amenities within `RADIUS_M` metres."""


_TOWN = TypeAdapter[TownListing | None](TownListing | None)
"""JSON format of a stored town; `null` for a file without towns."""


def towns_in(path: Path) -> list[TownListing]:
    """Return the towns mapped as nodes in an extract file, those with the most named places around first.

    The file is read as a stream, three times: memory grows with its towns and places.

    Raises:
        BadInput: the file is missing, no extract, or damaged.
    """
    check_name(path)
    check_unpacked(path)
    with damage_reported(path), tempfile.TemporaryDirectory(prefix="virl-osm-") as scratch:
        ordered = in_order(path, Path(scratch))
        towns = list(_towns(ordered))
        places = list(_places(ordered))
    counts = [0] * len(towns)
    if towns and places:
        middles = _on_sphere([at for _, at in towns])
        counts = cKDTree(_on_sphere(places)).query_ball_point(middles, RADIUS_M, return_length=True).tolist()
    found = [
        TownListing(tags["name"], tags["place"], _population(tags), at, count)
        for (tags, at), count in zip(towns, counts, strict=True)
    ]
    return sorted(found, key=lambda town: (-town.places, -(town.population or 0), town.name))


def busiest_town(path: Path) -> TownListing | None:
    """Return the town of an extract file with the most named places around; `None` if none is mapped.

    It is kept in the cache: to read the file of a country takes minutes.

    Raises:
        BadInput: the file is missing, no extract, or damaged.
    """
    check_name(path)
    known = path.stat()
    key = hashlib.sha256(f"{path.resolve()} {known.st_size} {known.st_mtime_ns}".encode()).hexdigest()
    return _BUSIEST.get(
        key,
        lambda file: _TOWN.validate_json(file.read()),
        lambda: _find_busiest(path),
        lambda file, town: file.write(_TOWN.dump_json(town)),
    )


def _find_busiest(path: Path) -> TownListing | None:
    """Return the first of `towns_in`, after a warning that it takes time; `None` if no town is mapped."""
    _log.warning("%s is larger than a town: looking for its busiest one", path)
    return next(iter(towns_in(path)), None)


def _towns(path: Path) -> Iterator[tuple[dict[str, str], LatLng]]:
    """Yield (tags, position) of each named town in a sorted extract file."""
    wanted = osmium.filter.TagFilter(*(("place", kind) for kind in KINDS))
    for one in osmium.FileProcessor(str(path), osmium.osm.NODE).with_filter(wanted):
        if isinstance(one, osmium.osm.Node) and one.tags.get("name") and one.location.valid():
            yield dict(one.tags), LatLng(round(one.location.lat, 6), round(one.location.lon, 6))


def _places(path: Path) -> Iterator[LatLng]:
    """Yield the positions of a sorted file's named shops and amenities; of an area that of its first node."""
    busy = osmium.filter.KeyFilter(*BUSY_KEYS)
    corners = [
        way.nodes[0].ref
        for way in osmium.FileProcessor(str(path), osmium.osm.WAY).with_filter(busy)
        if isinstance(way, osmium.osm.Way) and way.tags.get("name") and len(way.nodes)
    ]
    # The first node of an area has no tags as a rule, so that no one filter finds both.
    for wanted in (osmium.filter.IdFilter(corners), busy):
        for node in osmium.FileProcessor(str(path), osmium.osm.NODE).with_filter(wanted):
            named = wanted is not busy or node.tags.get("name")
            if isinstance(node, osmium.osm.Node) and named and node.location.valid():
                yield LatLng(node.location.lat, node.location.lon)


def _on_sphere(positions: list[LatLng]) -> Floats:
    """Return positions as points in metres from the middle of Earth, shape (n, 3)."""
    lat, lng = np.radians(np.array(positions)).T
    # On a sphere one search tree serves all towns, on both sides of longitude 180 too.
    xyz = np.column_stack((np.cos(lat) * np.cos(lng), np.cos(lat) * np.sin(lng), np.sin(lat)))
    return np.asarray(MEAN_RADIUS_M * xyz, float)


def _population(tags: dict[str, str]) -> int | None:
    """Return the number of inhabitants by a town's tags; `None` for no readable number."""
    digits = tags.get("population", "").replace(" ", "").replace(",", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
