"""The places in files of Overture Maps: GeoParquet, as its releases and its download tool write them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import shapely

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng
from virl.osm.box import Box
from virl.osm.places import LONGEST, type_table
from virl.platform.city.place_types import types_named
from virl.platform.city.places import Place
from virl.platform.providers.open.places import FoundPlace

OF_EVERY_PLACE = ("point_of_interest", "establishment")
"""Place types that every place has."""


def types_of(categories: Iterable[str]) -> tuple[str, ...]:
    """Return the place types of Overture's categories, the finest first; general ones if none fits."""
    table = types_named("overture")
    named = [kind for category in categories for kind in table.get(category, (category,))]
    found = [wider for kind in named for wider in _wider_types().get(kind, ())]
    return tuple(dict.fromkeys((*found, *OF_EVERY_PLACE)))


@cache
def _wider_types() -> Mapping[str, tuple[str, ...]]:
    """Return, by place type, a tuple of that type and the wider types that it has in OpenStreetMap."""
    found: dict[str, tuple[str, ...]] = {}
    for values in type_table().values():
        for types in values.values():
            for place, kind in enumerate(types):
                found.setdefault(kind, types[place:])
    return found


LEAST_CONFIDENCE = 0.4
"""Least confidence of Overture, [0, 1], of a place that is listed; chosen. 0 means surely gone."""
NEEDED = ("id", "geometry", "bbox", "names")
"""Names of the columns without which a file holds no places."""
WANTED = (
    *(*NEEDED, "taxonomy", "basic_category", "categories", "confidence", "addresses", "phones", "websites"),
    *("brand", "operating_status", "sources"),
)
"""Names of the columns that are read; a file may lack some."""
CLOSED = frozenset({"temporarily_closed", "permanently_closed"})
"""Values of the column `operating_status` of closed places."""
UNKNOWN_LICENCE = "licence not given"
"""Licence named in the credit of a source that gives none."""

_Row = Mapping[str, Any]


class OverturePlaces:
    """A source of places by files of Overture Maps, without hours, ratings, prices and reviews.

    Raises:
        BadInput: there is no such file, or it is not one of Overture's places.
    """

    def __init__(self, files: Path) -> None:
        """Open a GeoParquet file of Overture's type `place`, or a folder of such files."""
        self._files = files
        self._data = _open_files(files)
        self._columns = [name for name in WANTED if name in self._data.schema.names]

    def places_within(self, box: Box) -> Sequence[FoundPlace]:
        """Return the places of a box, each once.

        Raises:
            BadInput: the file is damaged.
        """
        south, west, north, east = box.degrees
        positioned = ((row, _position(row)) for row in self._rows(box, self._columns))
        inside = (row for row, at in positioned if at and south <= at.lat <= north and west <= at.lng <= east)
        return list(_read_places(inside))

    def find_one(self, place_id: str) -> FoundPlace:
        """Return the place with this id, by reading the whole file; raise `NotFound` if no place has it.

        Raises:
            BadInput: the file is damaged.
        """
        found = list(_read_places(self._read(self._columns, ds.field("id") == place_id)))
        if not found:
            raise NotFound(f"no place has the id {place_id!r}: use one from a nearby or text search")
        return found[0]

    def credit(self, box: Box) -> str:
        """Return the credit, in a line, for the sources of the places in a box, with their licences.

        Raises:
            BadInput: the file is damaged.
        """
        licences = {
            (source.get("license") or "").strip() or UNKNOWN_LICENCE
            for row in self._rows(box, [name for name in ("sources",) if name in self._columns])
            for source in row.get("sources") or ()
        }
        return f"Places: Overture Maps Foundation ({', '.join(sorted(licences) or [UNKNOWN_LICENCE])})"

    def _rows(self, box: Box, columns: Sequence[str]) -> Iterator[_Row]:
        """Yield the rows whose bounding box touches a box, with the named columns."""
        # The box of a point is in single precision, rounded outwards, so more is read than lies inside.
        for south, west, north, east in (part.degrees for part in box.parts):
            inside = (
                (ds.field("bbox", "xmax") >= west)
                & (ds.field("bbox", "xmin") <= east)
                & (ds.field("bbox", "ymax") >= south)
                & (ds.field("bbox", "ymin") <= north)
            )
            yield from self._read(columns, inside)

    def _read(self, columns: Sequence[str], condition: ds.Expression) -> Iterator[_Row]:
        """Yield the rows that meet a condition, with some columns."""
        try:
            for batch in self._data.to_batches(columns=list(columns), filter=condition):
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as fault:
            raise BadInput(
                f"{self._files}: cannot be read ({_one_line(fault)}): download it again"
            ) from fault


def _open_files(files: Path) -> ds.Dataset:
    """Return the data set of a file or folder; raise `BadInput` if it does not hold places."""
    if not files.exists():
        raise BadInput(
            f"{files}: no such file: download the places of a box with "
            "`overturemaps download --bbox=WEST,SOUTH,EAST,NORTH -f geoparquet --type=place`"
        )
    try:
        data = ds.dataset(files, format="parquet")
    except (pa.ArrowException, OSError) as fault:
        raise BadInput(f"{files}: is not a Parquet file ({_one_line(fault)}): download it again") from fault
    if missing := [name for name in NEEDED if name not in data.schema.names]:
        raise BadInput(
            f"{files}: contains no places of Overture: the columns {', '.join(missing)} are missing; "
            "download the type `place` as GeoParquet"
        )
    return data


def _one_line(fault: Exception) -> str:
    """Return the text of an error on one line."""
    return " ".join(str(fault).split())[:LONGEST]


def _position(row: _Row) -> LatLng | None:
    """Return the position of a row; `None` if its geometry is no point."""
    try:
        point = shapely.from_wkb(row["geometry"])
    except (shapely.errors.ShapelyError, TypeError):
        return None
    if not isinstance(point, shapely.Point) or point.is_empty:
        return None
    return LatLng(point.y, point.x)


def _read_places(rows: Iterable[_Row]) -> Iterator[FoundPlace]:
    """Yield rows as places, without those that have no name or position, or too little confidence."""
    for row in rows:
        names, position = row["names"] or {}, _position(row)
        name = (names.get("primary") or "").strip()
        confidence = row.get("confidence")
        if not name or position is None or (confidence is not None and confidence < LEAST_CONFIDENCE):
            continue
        common = names.get("common")  # a map column, which may arrive as pairs
        by_language = dict(common) if isinstance(common, list | dict) else {}
        others = {text.strip() for text in by_language.values() if text} - {name, ""}
        taxonomy, older = row.get("taxonomy") or {}, row.get("categories") or {}
        finest = [
            taxonomy.get("primary"),
            *reversed(taxonomy.get("hierarchy") or ()),
            row.get("basic_category"),
        ]
        if not any(finest):
            finest = [older.get("primary"), *(older.get("alternate") or ())]
        [address, *_] = row.get("addresses") or [{}]
        town = " ".join(filter(None, (address.get("postcode"), address.get("locality"))))
        phone, website = (
            " ".join(((row.get(column) or [""])[0] or "").split()) for column in ("phones", "websites")
        )
        brand = ((row.get("brand") or {}).get("names") or {}).get("primary")
        facts = {"phone": phone, "website": website, "brand": (brand or "").strip()}
        place = Place(
            id=row["id"],
            name=name,
            types=types_of(list(dict.fromkeys(category for category in finest if category))),
            position=position,
            address=", ".join(filter(None, (address.get("freeform"), town))),
            is_open=row.get("operating_status") not in CLOSED,
            facts=tuple((fact, text[:LONGEST]) for fact, text in facts.items() if text),
        )
        yield FoundPlace(place, tuple(sorted(others)))
