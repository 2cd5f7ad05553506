"""All that a city holds, at once: for pages and exports. No agent may ask it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from shapely import LineString, Point, Polygon, STRtree

from virl.geo import LatLng, LocalFrame
from virl.platform.left_out import Omission
from virl.platform.places import Place


@dataclass(frozen=True, slots=True)
class MappedStreet:
    """One stretch of street between two junctions (or a junction and a dead end)."""

    id: str
    """Id of the way it is a part of, such as `w34` of OpenStreetMap; several stretches may share one."""
    name: str
    """Empty for a street without a name."""
    kind: str
    """OpenStreetMap's value of `highway`; empty where it is not known."""
    line: Sequence[LatLng]
    """Centre line."""


@dataclass(frozen=True, slots=True)
class House:
    """A building, or a piece of one: a part that is mapped by itself, or what a passage leaves."""

    id: str
    outline: Polygon
    """WGS84 degrees, x is the longitude; with its courtyards."""
    height: float
    """Metres."""
    is_height_known: bool
    """False where the height is that of the neighbours, or usual for the kind of house."""
    base: float = 0.0
    """Metres from the ground to where it begins: above 0 for what juts out, and for rooms over a passage."""


@dataclass(frozen=True, slots=True)
class GroundArea:
    """A park or water."""

    kind: Literal["park", "water"]
    outline: Polygon
    """WGS84 degrees, x is the longitude."""


@dataclass(frozen=True, slots=True)
class CityStatistics:
    """The counts of a city's contents, and of what was left out; `None` where nobody counted."""

    area_m2: float
    """Area of the part that the city covers."""
    street_m: float
    """Metres of its streets."""
    houses: int
    places_by_type: Mapping[str, int]
    """Places by their first type, the most frequent first."""
    places_with_sign: int
    """Places that have a sign of their own."""
    furniture: Mapping[str, int]
    """Things by kind, the most frequent first, without those of `filled`."""
    places_on_directory: int = 0
    """Places without a sign of their own whose name stands on the directory of a building."""
    filled: Mapping[str, int] = field(default_factory=dict)
    """Things by kind that no map has: they come from a seed, such as parked cars and trees of a forest."""
    mapped_m: float | None = None
    """Metres of the mapped ways on which panoramas may stand."""
    dropped_m: Mapping[str, float] = field(default_factory=dict)
    """Metres of mapped ways that were left out, by the reason."""
    water_m2: float | None = None
    """Square metres of that area that are water."""
    houses_in_water: int | None = None
    """Houses in water whose tags allow it, such as boathouses and houses on piers."""
    drawn_m: Mapping[str, float] = field(default_factory=dict)
    """Metres of streets that are bridges, which are drawn level with the ground, or passages."""
    parts: int | None = None
    """Mapped parts of buildings that are drawn."""
    heights_unread: Mapping[str, int] = field(default_factory=dict)
    """Tags of heights and levels that cannot be read or are absurd, such as `height=1e9`, and how often."""
    looks_unread: Mapping[str, int] = field(default_factory=dict)
    """Tags of colours and materials that cannot be read, and how many houses have each."""
    houses_with_height: int | None = None
    """Houses whose height or levels are mapped."""
    hours_read: int | None = None
    """Places whose opening hours were read."""
    hours_unread: int | None = None
    """Places with opening hours that cannot be read."""
    unread: Sequence[tuple[str, str]] = ()
    """The name of each of them, and its opening hours as they are mapped; sorted."""
    incomplete: int | None = None
    """Mapped objects without some of their nodes, or with broken rings; all or a part of each is left out."""
    left_out: Sequence[Omission] = ()
    """Objects, hours and heights that cannot be used, by kind, with id and reason of the first of each."""
    unmapped: Mapping[str, int] = field(default_factory=dict)
    """Tags of places that have no type of their own, such as `shop=toys`, the most frequent first."""

    @property
    def places(self) -> int:
        """The number of places."""
        return sum(self.places_by_type.values())


class Inventory(Protocol):
    """The contents of a city; only a provider that holds it all has one."""

    def streets(self) -> Sequence[MappedStreet]:
        """Return all streets."""
        ...

    def houses(self) -> Sequence[House]:
        """Return all buildings."""
        ...

    def areas(self) -> Sequence[GroundArea]:
        """Return all parks and waters."""
        ...

    def places(self) -> Sequence[Place]:
        """Return all places, with their hours, sorted by id."""
        ...

    def ids_with_sign(self) -> frozenset[str]:
        """Return the ids of the places that have a sign of their own."""
        ...

    def ids_on_directory(self) -> frozenset[str]:
        """Return the ids of the places whose name stands on the directory of a building."""
        ...

    def statistics(self) -> CityStatistics:
        """Return the counts of the city's contents."""
        ...


def street_finder(inventory: Inventory) -> Callable[[LatLng], str]:
    """Return a function that names the street nearest to a position; empty where no street has a name."""
    named = [street for street in inventory.streets() if street.name and len(street.line) > 1]
    if not named:
        return lambda _: ""
    frame = LocalFrame(named[0].line[0])
    lines = (
        frame.to_metres([lat for lat, _ in street.line], [lng for _, lng in street.line]) for street in named
    )
    tree = STRtree([LineString(np.column_stack(line)) for line in lines])
    return lambda position: named[int(tree.nearest(Point(frame.point(position))))].name
