"""`memory.jsonl`: an append-only file of records, and the objects that they add up to.

Its lines are described in `docs/reference/run-folder.md`. The objects are the same live and after the file
was read again, which works after any interruption.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import cos, floor, radians, sin
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from virl.errors import VirlError
from virl.files.json_reading import JsonRecord, misfits
from virl.files.writing import JsonLines
from virl.geo.globe import MEAN_RADIUS_M, LatLng, distances
from virl.platform.perception.memory.objects import Estimate, MemoryObject, Seen, Verdict
from virl.platform.perception.memory.settings import MemorySettings

FORMAT = 1
"""Version of the format of a memory's files; another version is refused."""


class Begun(JsonRecord):
    """The first record of a memory's file."""

    kind: Literal["memory"] = "memory"
    seq: Literal[0] = 0
    """Number of the record in the file."""
    format: int = FORMAT
    """Version of the file's format."""
    settings: MemorySettings
    """Settings that the memory was begun with."""


class Added(JsonRecord):
    """The sightings of one look around, their verdicts, and the new positions of their objects."""

    kind: Literal["added"] = "added"
    seq: int
    """Number of the record in the file, from 0."""
    name: str = ""
    """Name that the caller gave to the look around; may be empty."""
    sightings: tuple[Seen, ...]
    """Sightings of the look around, sorted by number."""
    verdicts: tuple[Verdict, ...]
    """Verdicts on the sightings, in their order."""
    estimates: dict[str, Estimate]
    """New estimated positions of the objects that were seen, by object id."""


class Joined(JsonRecord):
    """A record that two objects turned out to be one."""

    kind: Literal["joined"] = "joined"
    seq: int
    """Number of the record in the file, from 0."""
    object_id: str
    """Id of the object that stays after the joining."""
    gone_id: str
    """Id of the object whose views the other takes over."""
    reason: str
    """Reason for the joining, in words."""
    estimate: Estimate
    """Position of the object that stays, by all views."""


Record = Begun | Added | Joined
"""Record of a memory's file."""
RECORD: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])
"""Parser of records, by their `kind`."""


LOG = "memory.jsonl"
"""Name of the file of records in a memory's folder."""
_MEND = "; restore it from a copy, or start anew"
"""End of an error text: the remedy for a damaged file."""
_log = logging.getLogger(__name__)


class MemoryBroken(VirlError):
    """The error of a visual memory whose files cannot be read or continued."""


class Log:
    """A file of one memory's records."""

    def __init__(self, path: Path) -> None:
        """Use the file at a path, which `append` makes if it is not there."""
        self.path = path
        self._lines = JsonLines(path, "go on")

    @property
    def next_seq(self) -> int:
        """Number of the next record in the file."""
        return self._lines.count

    def read(self) -> Iterator[tuple[int, Record]]:
        """Yield (position in the file of the byte where the record's line starts, record) for all records.

        A last line that was cut off, as a kill leaves it, is left out with a warning, and overwritten by
        the next record.

        Raises:
            MemoryBroken: the file cannot be read, or a line is damaged, out of order or of another format.
        """
        for record in self._lines.read(self._record, mend=_MEND, broken=MemoryBroken):
            yield self._lines.size, record
        if self._lines.torn:
            where = f"{self.path}, line {self.next_seq + 1}"
            _log.warning("%s: was cut off and is dropped; all before it is kept", where)

    def read_one(self, start: int) -> Record:
        """Return the record whose line starts at the byte with position `start`.

        Raises:
            MemoryBroken: as `read`.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return RECORD.validate_json(file.readline())
        except (OSError, ValidationError) as fault:
            raise MemoryBroken(
                f"{self.path}, byte {start}: cannot be read: restore it from a copy"
            ) from fault

    def append(self, record: Record) -> int:
        """Write a record to the end of the file, and return the position of the byte where its line starts.

        Raises:
            CannotWrite: the disk refuses, or another process has written to the file; it stays as it was.
        """
        start = self._lines.size
        self._lines.append(record.model_dump_json())
        return start

    def line_error(self, seq: int, fault: str) -> MemoryBroken:
        """Return the error for the line of the record with the number `seq`, with its fault in words."""
        return MemoryBroken(f"{self.path}, line {seq + 1}: {fault}{_MEND}")

    def _record(self, line: bytes) -> Record:
        """Return the record of a line; raise `ValueError` unless it is the next one and of this format."""
        try:
            data = from_json(line)
        except ValueError as fault:
            raise ValueError("is not JSON") from fault
        if self.next_seq == 0 and isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise ValueError(f"is of format {data['format']!r}, but this virl reads {FORMAT}")
        try:
            record = RECORD.validate_json(line)
        except (ValidationError, VirlError) as fault:
            first = misfits(fault)[0] if isinstance(fault, ValidationError) else str(fault)
            raise ValueError(f"is no record of a memory ({first})") from fault
        if record.seq != self.next_seq or isinstance(record, Begun) != (self.next_seq == 0):
            raise ValueError(f"is record {record.seq} ({record.kind}), out of order")
        return record


CELL_M = 50.0
"""Side in metres of a cell in the index of positions; chosen: about the radius of most questions."""
_CELLS_M = 400.0
"""Largest radius in metres of a search by cells; chosen: farther, cells outnumber the objects of a town."""
_Cell = tuple[int, int, int]
"""Cube of space with sides of `CELL_M`, as its number along each axis from the middle of the Earth."""


class State:
    """All objects of a memory, found by id, by panorama and by position."""

    def __init__(self) -> None:
        self.objects: dict[str, MemoryObject] = {}
        """Objects by id, in the order of their first sightings."""
        self.sightings = 0
        """Number of sightings so far."""
        self._grids: defaultdict[str, PositionIndex] = defaultdict(PositionIndex)
        self._seen_from: defaultdict[str, set[str]] = defaultdict(set)
        self._joined: dict[str, str] = {}

    def find(self, object_id: str) -> MemoryObject | None:
        """Return the object with an id, or the one that it was joined to; `None` if there was never one."""
        while object_id in self._joined:
            object_id = self._joined[object_id]
        return self.objects.get(object_id)

    def objects_near(self, label: str, position: LatLng, radius: float) -> list[MemoryObject]:
        """Return the objects of one label within `radius` metres of a position, nearest first.

        Args:
            label: of the objects.
            position: centre of the search.
            radius: metres.
        """
        if label not in self._grids:
            return []
        return [self.objects[name] for name in self._grids[label].ids_near(position, radius)]

    def seen_from(self, label: str, pano_id: str) -> list[MemoryObject]:
        """Return the objects of one label that were seen from one panorama, sorted by id."""
        found = (self.objects[name] for name in sorted(self._seen_from.get(pano_id, ())))
        return [thing for thing in found if thing.label == label]

    def fault(self, record: Added | Joined) -> str:
        """Return in words why a record cannot follow those applied so far; empty if it can."""
        if isinstance(record, Joined):
            missing = [name for name in (record.object_id, record.gone_id) if name not in self.objects]
            return f"joins {missing[0]}, which is not there" if missing else ""
        if len(record.verdicts) != len(record.sightings):
            return f"has {len(record.verdicts)} verdicts for {len(record.sightings)} sightings"
        expected = range(self.sightings, self.sightings + len(record.sightings))
        if [seen.number for seen in record.sightings] != list(expected):
            return f"has sightings out of order: {self.sightings} should come next"
        fresh = {verdict.object_id for verdict in record.verdicts if verdict.new}
        for verdict in record.verdicts:
            if verdict.object_id not in record.estimates:
                return f"has no estimate for {verdict.object_id}"
            if (verdict.object_id in self.objects) == (verdict.object_id in fresh):
                return f"has {verdict.object_id} as {'new' if verdict.new else 'known'}, which it is not"
        return ""

    def apply(self, record: Added | Joined) -> None:
        """Apply a record without a fault: add its sightings to objects, or join two objects."""
        if isinstance(record, Joined):
            kept, gone = self.objects[record.object_id], self.objects[record.gone_id]
            views = tuple(sorted(kept.views + gone.views, key=lambda seen: seen.number))
            del self.objects[gone.id]
            self._joined[gone.id] = kept.id
            self._grids[gone.label].remove(gone.id)
            for pano_id in gone.panoramas:
                self._seen_from[pano_id].discard(gone.id)
            # Put again under its own id, which moves it and adds the panoramas of the other one.
            self._put(replace(kept, estimate=record.estimate, views=views))
            return
        more: defaultdict[str, list[Seen]] = defaultdict(list)
        for seen, verdict in zip(record.sightings, record.verdicts, strict=True):
            more[verdict.object_id].append(seen)
        for name, fresh in more.items():
            known = self.objects[name].views if name in self.objects else ()
            self._put(MemoryObject(name, fresh[0].label, record.estimates[name], (*known, *fresh)))
        self.sightings += len(record.sightings)

    def _put(self, thing: MemoryObject) -> None:
        """Add an object, or its new version, to all indexes."""
        self.objects[thing.id] = thing
        self._grids[thing.label].put(thing.id, thing.estimate.position)
        for pano_id in thing.panoramas:
            self._seen_from[pano_id].add(thing.id)


class PositionIndex:
    """An index that finds ids by their positions on Earth."""

    def __init__(self) -> None:
        self._cells: defaultdict[_Cell, set[str]] = defaultdict(set)
        self._positions: dict[str, LatLng] = {}

    def put(self, name: str, position: LatLng) -> None:
        """Add the id `name` at a position, or move it there."""
        self.remove(name)
        self._positions[name] = position
        self._cells[_cell(position)].add(name)

    def remove(self, name: str) -> None:
        """Remove the id `name`, if the index has it."""
        if name in self._positions:
            self._cells[_cell(self._positions.pop(name))].discard(name)

    def ids_near(self, position: LatLng, radius: float) -> list[str]:
        """Return the ids within `radius` metres of a position, nearest first, equally near ones by id."""
        names = list(self._positions)
        if radius <= _CELLS_M:
            names = [name for cell in _cells_within(position, radius) for name in self._cells.get(cell, ())]
        if not names:
            return []
        lat, lng = np.array([self._positions[name] for name in names]).T
        away = distances(position.lat, position.lng, lat, lng)
        return [name for metres, name in sorted(zip(away.tolist(), names, strict=True)) if metres <= radius]


def _cell(position: LatLng) -> _Cell:
    """Return the cell that a position is in."""
    return next(_cells_within(position, 0.0))


def _cells_within(position: LatLng, radius: float) -> Iterator[_Cell]:
    """Yield all cells that reach within `radius` metres of a position, and perhaps some farther ones."""
    lat, lng = radians(position.lat), radians(position.lng)
    reach = 1.01 * radius  # a sphere here, the ellipsoid in `distances`
    middle = (MEAN_RADIUS_M * axis for axis in (cos(lat) * cos(lng), cos(lat) * sin(lng), sin(lat)))
    ends = ((floor((metres - reach) / CELL_M), floor((metres + reach) / CELL_M)) for metres in middle)
    yield from product(*(range(low, high + 1) for low, high in ends))
