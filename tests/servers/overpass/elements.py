"""Nodes, ways and relations of a town, and which of them a query selects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import shapely

from servers.overpass.queries import Kind, Out, Query, Select
from virl.geo.globe import LatLng, LocalFrame
from virl.osm.box import Box

Chosen = dict[Kind, set[int]]
_KINDS: tuple[Kind, ...] = ("node", "way", "relation")


@dataclass(frozen=True, slots=True)
class OsmNode:
    """A point."""

    id: int
    lat: float
    lng: float
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OsmWay:
    """A line through nodes."""

    id: int
    nodes: Sequence[int]
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OsmRelation:
    """Objects that belong together."""

    id: int
    members: Sequence[tuple[Kind, int, str]]
    """Kind, id and role of each."""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Elements:
    """All that is mapped in a town. Nodes that a way or relation names may be missing."""

    nodes: Mapping[int, OsmNode]
    ways: Mapping[int, OsmWay]
    relations: Mapping[int, OsmRelation]
    date: str = ""
    """Time of the data, such as `2026-11-22T10:00:00Z`."""

    def answer(self, query: Query) -> Iterator[tuple[Out, Chosen]]:
        """Yield each `out` of a query with the objects that it writes."""
        chosen = _empty()
        for select in query.selects:
            for kind, numbers in self._selected(select).items():
                chosen[kind] |= numbers
        if query.joined:
            parts = self._parts(chosen)
            chosen = {kind: chosen[kind] | parts[kind] for kind in _KINDS}
        yield query.out, chosen
        if query.out_parts:
            yield query.out_parts, self._parts(chosen)

    def path(self, way: int) -> list[OsmNode]:
        """Return the nodes of a way that are there."""
        return [self.nodes[node] for node in self.ways[way].nodes if node in self.nodes]

    def bounds(self, kind: Kind, number: int) -> tuple[float, float, float, float] | None:
        """South, west, north and east of an object; `None` where none of its nodes is there."""
        points = list(self._points(kind, number))
        if not points:
            return None
        lats, lngs = [node.lat for node in points], [node.lng for node in points]
        return min(lats), min(lngs), max(lats), max(lngs)

    def tags(self, kind: Kind, number: int) -> Mapping[str, str]:
        """Return the tags of an object."""
        return self._all(kind)[number].tags

    def _all(self, kind: Kind) -> Mapping[int, OsmNode] | Mapping[int, OsmWay] | Mapping[int, OsmRelation]:
        if kind == "node":
            return self.nodes
        return self.ways if kind == "way" else self.relations

    def _points(self, kind: Kind, number: int) -> Iterator[OsmNode]:
        if kind == "node":
            yield from [self.nodes[number]] if number in self.nodes else []
        elif kind == "way":
            yield from self.path(number) if number in self.ways else []
        else:
            for member, one, _ in self.relations[number].members:
                if member != "relation":
                    yield from self._points(member, one)

    def _parts(self, chosen: Chosen) -> Chosen:
        parts = _empty()
        for relation in chosen["relation"]:
            for kind, number, _ in self.relations[relation].members:
                if number in self._all(kind):
                    parts[kind].add(number)
        for way in {*chosen["way"], *parts["way"]}:
            parts["node"] |= {node.id for node in self.path(way)}
        return parts

    def _selected(self, select: Select) -> Chosen:
        found = _empty()
        for kind in select.kinds:
            every = self._all(kind)
            numbers: Iterable[int] = every if select.ids is None else [n for n in select.ids if n in every]
            where = select.box or (_box_around(*select.around) if select.around else None)
            if where and select.ids is None:
                numbers = self._within(kind, where)
            if select.around:
                numbers = [number for number in numbers if self._is_near(kind, number, *select.around)]
            found[kind] = {n for n in numbers if all(one.holds(every[n].tags) for one in select.filters)}
        return found

    def _within(self, kind: Kind, box: Box) -> list[int]:
        south, west, north, east = box.degrees
        if kind == "node":
            numbers, lats, lngs = self._places
            inside = (south <= lats) & (lats <= north) & (west <= lngs) & (lngs <= east)
            found: list[int] = numbers[inside].tolist()
            return found
        if kind == "way":
            ids, tree = self._lines
            hits: list[int] = ids[tree.query(shapely.box(west, south, east, north), "intersects")].tolist()
            return hits
        nodes, ways = set(self._within("node", box)), set(self._within("way", box))
        inside_of = {"node": nodes, "way": ways, "relation": set[int]()}
        return [
            relation.id
            for relation in self.relations.values()
            if any(number in inside_of[member] for member, number, _ in relation.members)
        ]

    def _is_near(self, kind: Kind, number: int, metres: float, lat: float, lng: float) -> bool:
        frame = LocalFrame(LatLng(lat, lng))
        points = [frame.point(LatLng(node.lat, node.lng)) for node in self._points(kind, number)]
        return bool(points) and float(_shape(points).distance(shapely.Point(0, 0))) <= metres

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        every = list(self.nodes.values())
        return (
            np.array([node.id for node in every], np.int64),
            np.array([node.lat for node in every]),
            np.array([node.lng for node in every]),
        )

    @cached_property
    def _lines(self) -> tuple[np.ndarray, shapely.STRtree]:
        paths = {number: [(node.lng, node.lat) for node in self.path(number)] for number in self.ways}
        lines = {number: path for number, path in paths.items() if path}
        return np.array(list(lines), np.int64), shapely.STRtree([_shape(path) for path in lines.values()])


def _shape(points: Sequence[tuple[float, float]]) -> shapely.LineString | shapely.Point:
    return shapely.LineString(points) if len(points) > 1 else shapely.Point(points[0])


def _empty() -> Chosen:
    return {kind: set() for kind in _KINDS}


def _box_around(metres: float, lat: float, lng: float) -> Box:
    frame = LocalFrame(LatLng(lat, lng))
    low, high = frame.position(-metres, -metres), frame.position(metres, metres)
    return Box(low.lat, low.lng, high.lat, high.lng)
