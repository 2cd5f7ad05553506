"""Finding addresses of a twin: mapped house numbers, streets, crossings, and places by name."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import shapely

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.providers.offline.addresses import plain
from virl.platform.providers.osm.extract import OsmExtract, OsmObjects, Tags
from virl.platform.providers.osm.streets import TwinStreets

Doors = dict[str, tuple[str, tuple[float, float]]]
"""Addresses as they are compared, each as it is written, and where it is in metres."""


class TwinAddresses:
    """Looks up "Mannerheimintie 5", "5 Mannerheimintie", "Kaivokatu & Keskuskatu" or a place's name.

    Args:
        extract: what is mapped.
        streets: of the twin.
        named: positions of places by name; these are looked up first.
    """

    def __init__(self, extract: OsmExtract, streets: TwinStreets, named: Mapping[str, LatLng]) -> None:
        self._frame = extract.frame
        self._streets = streets
        self._named = {plain(name): position for name, position in named.items() if plain(name)}
        self._doors = doors_of([extract.points, extract.areas])
        self._stretches: dict[str, list[int]] = {}
        for street in streets.streets:
            if plain(street.name):
                self._stretches.setdefault(plain(street.name), []).append(street.id)

    def find(self, address: str) -> LatLng:
        """The position of an address; of its parts between commas, the first that is known counts.

        Raises:
            NotFound: nothing matches.
        """
        for part in (address, *address.split(",")):
            found = self._named.get(plain(part)) or self._address(plain(part))
            if found is not None:
                return found
        example = next(iter(self._doors.values()), None)
        hint = f"write it as in {example[0]!r}" if example else "give a street or latitude and longitude"
        raise NotFound(f"no address or place matches {address!r}: {hint}")

    def _address(self, text: str) -> LatLng | None:
        door = self._doors.get(text) or self._doors.get(_number_last(text))
        if door:
            return self._frame.position(*door[1])
        names = text.split(" & ")
        if len(names) == 2 and all(name in self._stretches for name in names):
            return self._crossing(*names)
        return self._middle(text) if text in self._stretches else None

    def _crossing(self, one: str, other: str) -> LatLng | None:
        ends = [
            {end for number in self._stretches[name] for end in self._ends(number)} for name in (one, other)
        ]
        shared = min(ends[0] & ends[1], default=None)
        return None if shared is None else self._frame.position(*self._streets.junctions[shared].tolist())

    def _ends(self, street: int) -> tuple[int, int]:
        return self._streets.streets[street].start, self._streets.streets[street].end

    def _middle(self, name: str) -> LatLng:
        """The panorama halfway along all stretches of a street."""
        panoramas = self._streets.panoramas
        mine = np.flatnonzero(np.isin(panoramas.street, self._stretches[name]))
        if not len(mine):
            line = self._streets.streets[self._stretches[name][0]].line
            return self._frame.position(*line[len(line) // 2].tolist())
        xy = panoramas.xy[mine]
        nearest = np.argmin(np.linalg.norm(xy - xy.mean(axis=0), axis=1))
        return self._frame.position(*xy[nearest].tolist())


def _number_last(text: str) -> str:
    """A text that begins with a house number, with the number behind the street."""
    first, _, rest = text.partition(" ")
    return f"{rest} {first}" if first[:1].isdigit() and rest else text


def doors_of(objects: Iterable[OsmObjects], wanted: Callable[[Tags], bool] | None = None) -> Doors:
    """Every mapped address of wanted objects (`None` for all): as compared, as written, and where it is."""
    doors: Doors = {}
    for kind in objects:
        for tags, shape in zip(kind.tags, kind.shapes, strict=True):
            street = tags.get("addr:street") or tags.get("addr:place")
            numbers = tags.get("addr:housenumber")
            if not street or not numbers or (wanted and not wanted(tags)):
                continue
            middle = shapely.point_on_surface(shape)
            for number in numbers.replace(";", ",").split(","):
                written = f"{street} {number.strip()}"
                doors.setdefault(plain(written), (written, (middle.x, middle.y)))
    return doors
