"""The objects that the lines of a memory add up to: the same live and after reading them again."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import ceil, cos, degrees, floor, pi, radians

import numpy as np

from virl.geo.globe import MEAN_RADIUS_M, LatLng, distances
from virl.platform.perception.memory.objects import MemoryObject, Seen
from virl.platform.perception.memory.records import Added, Joined

CELL_M = 50.0  # chosen: about the radius of most questions
"""Metres of a cell's side in the index of positions."""
_ROW_DEG = degrees(CELL_M / MEAN_RADIUS_M)
_Cell = tuple[int, int]


class State:
    """All objects, found by id, by panorama and by position."""

    def __init__(self) -> None:
        self.objects: dict[str, MemoryObject] = {}
        self.sightings = 0
        self._grids: defaultdict[str, PositionIndex] = defaultdict(PositionIndex)
        self._seen_from: defaultdict[str, set[str]] = defaultdict(set)

    def objects_near(self, label: str, position: LatLng, radius: float) -> list[MemoryObject]:
        """Return the objects of one label within a radius, nearest first.

        Args:
            label: of the objects.
            position: to search around.
            radius: metres.
        """
        if label not in self._grids:
            return []
        return [self.objects[name] for name in self._grids[label].ids_near(position, radius)]

    def seen_from(self, label: str, pano_id: str) -> list[MemoryObject]:
        """Return the objects of one label with a view from one panorama, by id."""
        found = (self.objects[name] for name in sorted(self._seen_from.get(pano_id, ())))
        return [thing for thing in found if thing.label == label]

    def fault(self, record: Added | Joined) -> str:
        """Return why a record cannot follow those applied; empty if it can."""
        if isinstance(record, Joined):
            missing = [name for name in (record.object_id, record.gone_id) if name not in self.objects]
            return f"joins {missing[0]}, which is not there" if missing else ""
        if len(record.verdicts) != len(record.sightings):
            return f"has {len(record.verdicts)} verdicts for {len(record.sightings)} sightings"
        if [seen.number for seen in record.sightings] != [
            self.sightings + i for i in range(len(record.sightings))
        ]:
            return f"has sightings out of order: {self.sightings} should come next"
        fresh = {verdict.object_id for verdict in record.verdicts if verdict.new}
        for verdict in record.verdicts:
            if verdict.object_id not in record.estimates:
                return f"has no estimate for {verdict.object_id}"
            if (verdict.object_id in self.objects) == (verdict.object_id in fresh):
                return f"has {verdict.object_id} as {'new' if verdict.new else 'known'}, which it is not"
        return ""

    def take(self, record: Added | Joined) -> None:
        """Apply a record that has no fault."""
        if isinstance(record, Joined):
            kept, gone = self.objects[record.object_id], self.objects[record.gone_id]
            views = tuple(sorted(kept.views + gone.views, key=lambda seen: seen.number))
            self._forget(gone)
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

    def _forget(self, thing: MemoryObject) -> None:
        """Remove an object from all indexes."""
        del self.objects[thing.id]
        self._grids[thing.label].remove(thing.id)
        for pano_id in thing.panoramas:
            self._seen_from[pano_id].discard(thing.id)


class PositionIndex:
    """An index of ids by their positions."""

    def __init__(self) -> None:
        self._cells: defaultdict[_Cell, set[str]] = defaultdict(set)
        self._positions: dict[str, LatLng] = {}

    def put(self, name: str, position: LatLng) -> None:
        """Add an id, or move it."""
        self.remove(name)
        self._positions[name] = position
        self._cells[_cell(position)].add(name)

    def remove(self, name: str) -> None:
        """Remove an id, if it is there."""
        if name in self._positions:
            self._cells[_cell(self._positions.pop(name))].discard(name)

    def ids_near(self, position: LatLng, radius: float) -> list[str]:
        """Return the ids within `radius` metres, nearest first, equally near ones by id."""
        names = [name for cell in _cells_within(position, radius) for name in self._cells.get(cell, ())]
        if not names:
            return []
        lat, lng = np.array([self._positions[name] for name in names]).T
        away = distances(position.lat, position.lng, lat, lng)
        return [name for metres, name in sorted(zip(away.tolist(), names, strict=True)) if metres <= radius]


def _cell(position: LatLng) -> _Cell:
    """Return the row and the column of the cell of a position."""
    row = floor(position.lat / _ROW_DEG)
    return row, _column(row, position.lng)


def _columns(row: int) -> int:
    """Return the number of cells once around the Earth."""
    circle = 2 * pi * MEAN_RADIUS_M * cos(radians(min(abs((row + 0.5) * _ROW_DEG), 90.0)))
    return max(1, floor(circle / CELL_M))


def _column(row: int, lng: float) -> int:
    """Return the column of a longitude, degrees, in a row of cells."""
    columns = _columns(row)
    return floor((lng + 180.0) / 360.0 * columns) % columns


def _cells_within(position: LatLng, radius: float) -> Iterator[_Cell]:
    """Yield the cells within `radius` metres of a position, and some more."""
    reach = degrees(radius / MEAN_RADIUS_M) * 1.01  # the sphere here, the ellipsoid in `distances`
    for row in range(floor((position.lat - reach) / _ROW_DEG), floor((position.lat + reach) / _ROW_DEG) + 1):
        columns, middle = _columns(row), _column(row, position.lng)
        aside = ceil(radius * 1.01 / CELL_M) + 2
        if 2 * aside + 1 >= columns:
            yield from ((row, column) for column in range(columns))
        else:
            yield from ((row, column % columns) for column in range(middle - aside, middle + aside + 1))
