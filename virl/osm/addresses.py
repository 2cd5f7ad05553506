"""Finding addresses of a twin: mapped house numbers, streets, crossings, and places by name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.osm.extract import OsmExtract, OsmObjects, Tags
from virl.osm.names import other_names
from virl.osm.streets import TwinStreets
from virl.platform.city.maps import Address
from virl.towns.places import StreetIndex, plain

_NUMBER = "addr:housenumber"
"""Key of the tag with a house number."""


@dataclass(frozen=True, slots=True)
class Door:
    """A mapped house number with its street and position."""

    street: str
    """Name of the street; empty where it is not mapped."""
    number: str
    """House number, such as `5 b`."""
    city: str
    """Name of the town in the address; empty where it is not mapped."""
    x: float
    """Metres east of the origin of the extract's frame."""
    y: float
    """Metres north of the origin of the extract's frame."""

    @property
    def address_text(self) -> str:
        """Street and house number in one text, such as `Rauhankatu 5`."""
        return f"{self.street} {self.number}"


class TwinAddresses:
    """An index from an address, a crossing such as "Kaivokatu & Keskuskatu" or a name to its position."""

    def __init__(self, extract: OsmExtract, streets: TwinStreets, named: Mapping[str, LatLng]) -> None:
        """Collect an extract's house numbers and streets; `named` are positions of places by name."""
        self._frame = extract.frame
        self._named = {plain(name): position for name, position in named.items() if plain(name)}
        self._doors = _doors_by_address(extract)
        names = (
            {plain(each) for each in (street.name, *other_names(extract.lines.tags[way]))} - {""}
            for street, way in zip(streets.streets, streets.way.tolist(), strict=True)
        )
        self._streets = StreetIndex(
            extract.frame, streets.streets, streets.junctions, streets.panoramas, names
        )

    def find(self, address: str) -> LatLng:
        """Return the position of an address, crossing, street or place name, else of its first known part.

        Raises:
            NotFound: nothing matches.
        """
        parts = address.split(",")
        around = {plain(part) for part in parts}
        # The whole first: a name may have a comma.
        for part in (address, *parts):
            found = self._named.get(plain(part)) or self._address(plain(part), around)
            if found is not None:
                return found
        hint = "give a street or latitude and longitude"
        if self._doors:
            hint = f"write it as in {next(iter(self._doors.values()))[0].address_text!r}"
        raise NotFound(f"no address or place matches {address!r}: {hint}")

    def nearest(self, position: LatLng, radius: float) -> Address | None:
        """Return the mapped address nearest to a position within `radius` metres; `None` if there is none."""
        every, tree = self._door_index
        if not every:
            return None
        metres, index = tree.query(self._frame.point(position))
        if metres > radius:
            return None
        door = every[int(index)]
        text = ", ".join(part for part in (door.address_text, door.city) if part)
        return Address(text, self._frame.position(door.x, door.y))

    @cached_property
    def _door_index(self) -> tuple[list[Door], cKDTree]:
        """All house numbers, and a search tree of their positions in metres."""
        every = list(dict.fromkeys(door for doors in self._doors.values() for door in doors))
        return every, cKDTree(np.array([(door.x, door.y) for door in every]).reshape(-1, 2))

    def _address(self, text: str, around: set[str]) -> LatLng | None:
        """Return an address part's position, preferably in one of the towns `around`; `None` if unknown."""
        first, _, rest = text.partition(" ")
        number_last = f"{rest} {first}" if first[:1].isdigit() and rest else text
        writings = (text, *_shorter_writings(number_last))
        doors = next((found for one in writings if (found := self._doors.get(one))), None)
        if doors:
            door = next((door for door in doors if plain(door.city) in around), doors[0])
            return self._frame.position(door.x, door.y)
        return self._streets.find(text)


_HOUSE = re.compile(r"(.*?\D) (\d+)(?: ?([^\W\d_]))?(?: \d+)?$")
"""Pattern of an address with a house number, its letter and its flat."""


def _shorter_writings(text: str) -> Iterator[str]:
    """Yield an address such as `rauhankatu 5 b 12` as it is, then without its flat, then without letter."""
    yield text
    if not (house := _HOUSE.match(text)):
        return
    street, digits, letter = house.groups()
    if letter:
        yield from (f"{street} {digits} {letter}", f"{street} {digits}{letter}", f"{street} {digits}")


def doors_of(objects: Iterable[OsmObjects]) -> Iterator[tuple[Tags, Door]]:
    """Yield (tags, house number) of every object with a mapped address, once for each of its numbers."""
    for kind in objects:
        mapped = [number for number, tags in enumerate(kind.tags) if _street_of(tags) and tags.get(_NUMBER)]
        middles = shapely.get_coordinates(shapely.point_on_surface(kind.shapes[mapped])).tolist()
        for one, (x, y) in zip(mapped, middles, strict=True):
            tags = kind.tags[one]
            for number in tags[_NUMBER].replace(";", ",").split(","):
                yield tags, Door(_street_of(tags), number.strip(), tags.get("addr:city", ""), x, y)


def _street_of(tags: Tags) -> str:
    """Return the name of the street or hamlet in an object's address; empty for none."""
    return tags.get("addr:street") or tags.get("addr:place", "")


def _doors_by_address(extract: OsmExtract) -> dict[str, list[Door]]:
    """Return house numbers by plain address, such as `rauhankatu 5`, under all names of each street."""
    doors = list(doors_of([extract.points, extract.areas]))
    found: dict[str, list[Door]] = {}
    for tags, door in doors:
        in_languages = (value for key, value in tags.items() if key.startswith("addr:street:"))
        for name in {door.street, *in_languages}:
            found.setdefault(plain(f"{name} {door.number}"), []).append(door)
    others: dict[str, set[str]] = {}
    for tags in extract.lines.tags:
        if "highway" in tags and "name" in tags:
            others.setdefault(tags["name"], set()).update(other_names(tags))
    also: dict[str, list[Door]] = {}
    for _, door in doors:
        for name in others.get(door.street, ()):
            also.setdefault(plain(f"{name} {door.number}"), []).append(door)
    # A door that is mapped with this very name comes before one by another name of its street.
    return also | found
