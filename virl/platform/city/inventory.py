"""An inventory of all that a city holds, for pages and exports. No agent may ask it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from shapely import LineString, Point, Polygon, STRtree

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.left_out import Omission
from virl.platform.city.places import Place


@dataclass(frozen=True, slots=True)
class MappedStreet:
    """One stretch of street between two junctions (or a junction and a dead end)."""

    id: str
    """Id of the mapped way that the stretch belongs to, such as `w34`; several stretches may share one."""
    name: str
    """Name of the street; empty where it has none."""
    kind: str
    """OpenStreetMap's value of `highway`; empty where it is not known."""
    line: Sequence[LatLng]
    """Positions along the centre line of the street."""


@dataclass(frozen=True, slots=True)
class House:
    """A building, or a piece of one such as a separately mapped part or one side of a passage through it."""

    id: str
    """Id of the mapped building, which several pieces may share."""
    outline: Polygon
    """Outline with its courtyards, WGS84 degrees; x is the longitude."""
    height: float
    """Height of the top above the ground, metres."""
    is_height_known: bool
    """True where the height is mapped; False where it is guessed from the neighbours or the kind."""
    base: float = 0.0
    """Height of the lowest floor above the ground, metres: above 0 for parts over open ground."""


@dataclass(frozen=True, slots=True)
class GroundArea:
    """The outline of a park, of water or of a paved square."""

    kind: Literal["park", "water", "square"]
    outline: Polygon
    """Outline, WGS84 degrees; x is the longitude."""
    name: str = ""
    """Name of a square; parks are places, which have their names."""


@dataclass(frozen=True, slots=True)
class CityStatistics:
    """The counts of a city's contents, and of what was left out; `None` for a count that was not made."""

    area_m2: float
    """Area in square metres of the ground that the city covers."""
    street_m: float
    """Length of all streets in metres."""
    houses: int
    """Number of buildings, each once."""
    places_by_type: Mapping[str, int]
    """Number of places by their first type, the most frequent first."""
    places_with_sign: int
    """Number of places with a sign of their own."""
    furniture: Mapping[str, int]
    """Number of mapped things by kind, the most frequent first; those of `filled` are not counted."""
    places_on_directory: int = 0
    """Number of places without a sign of their own, named on the directory of a building."""
    filled: Mapping[str, int] = field(default_factory=dict)
    """Number of things by kind that no map has but a seed gives, such as parked cars."""
    mapped_m: float | None = None
    """Metres of mapped ways on which panoramas may stand; `None` for a city that is not made from a map."""
    dropped_m: Mapping[str, float] = field(default_factory=dict)
    """Metres of mapped ways that were left out, by reason."""
    water_m2: float | None = None
    """Area in square metres of water within the city; `None` if not measured."""
    houses_in_water: int | None = None
    """Number of houses in water whose tags allow it, such as boathouses; `None` if not counted."""
    drawn_m: Mapping[str, float] = field(default_factory=dict)
    """Metres of bridges and of passages through houses, which are drawn unlike reality; by kind in words."""
    parts: int | None = None
    """Number of mapped parts of buildings that are drawn; `None` if not counted."""
    heights_unread: Mapping[str, int] = field(default_factory=dict)
    """Number of times that each tag of a height or levels cannot be used, such as `height=1e9`."""
    looks_unread: Mapping[str, int] = field(default_factory=dict)
    """Number of houses for each tag of a colour or material that cannot be read."""
    houses_with_height: int | None = None
    """Number of houses whose height or levels are mapped; `None` if not counted."""
    hours_read: int | None = None
    """Number of places whose opening hours were read; `None` if not counted."""
    hours_unread: int | None = None
    """Number of places with opening hours that cannot be read; `None` if not counted."""
    unread: Sequence[tuple[str, str]] = ()
    """Name and mapped opening hours of each place whose hours cannot be read; sorted."""
    incomplete: int | None = None
    """Number of mapped objects left out, wholly or partly, as parts are missing; `None` if not counted."""
    left_out: Sequence[Omission] = ()
    """Objects, opening hours and heights that cannot be used: their number by source, with first reasons."""
    unmapped: Mapping[str, int] = field(default_factory=dict)
    """Number of mapped places by their tag without a place type, such as `shop=toys`, most frequent first."""

    @property
    def places(self) -> int:
        """Number of places, whatever their type."""
        return sum(self.places_by_type.values())


class Inventory(Protocol):
    """A list of all that a city holds, where all is known at once."""

    def streets(self) -> Sequence[MappedStreet]:
        """Return all streets."""
        ...

    def houses(self) -> Sequence[House]:
        """Return all buildings."""
        ...

    def areas(self) -> Sequence[GroundArea]:
        """Return all parks, waters and squares."""
        ...

    def places(self) -> Sequence[Place]:
        """Return all places, with their hours, sorted by id."""
        ...

    def ids_with_sign(self) -> frozenset[str]:
        """Return the ids of the places that have a sign of their own."""
        ...

    def ids_on_directory(self) -> frozenset[str]:
        """Return the ids of the places without a sign of their own, named on the directory of a building."""
        ...

    def statistics(self) -> CityStatistics:
        """Return the counts of the city's contents."""
        ...


def street_finder(inventory: Inventory) -> Callable[[LatLng], str]:
    """Return a function from a position to the name of the nearest named street; `""` if there is none."""
    named = [street for street in inventory.streets() if street.name and len(street.line) > 1]
    if not named:
        return lambda _: ""
    frame = LocalFrame(named[0].line[0])
    lines = (
        frame.to_metres([lat for lat, _ in street.line], [lng for _, lng in street.line]) for street in named
    )
    tree = STRtree([LineString(np.column_stack(line)) for line in lines])
    return lambda position: named[int(tree.nearest(Point(frame.point(position))))].name
