"""A town as an extract has it, for street view from elsewhere: places, addresses, routes and ways."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from tzfpy import get_tz

from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.osm.addresses import TwinAddresses
from virl.osm.box import BUSY_KEYS, MAX_RADIUS_M, ExtractPart, region_around
from virl.osm.cache import load_twin, twin_key
from virl.osm.extract import OsmExtract, check_name, cut_box, is_country
from virl.osm.extract_file import asked_box
from virl.osm.maps import TwinMaps
from virl.osm.names import other_names, types_called
from virl.osm.plan import Twin, in_season
from virl.osm.towns import busiest_town
from virl.osm.ways import only_ways
from virl.platform.city.graph import GraphMaps, NavigationGraph
from virl.platform.city.maps import Maps
from virl.platform.city.places import Places
from virl.platform.city.streetview import Image
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.places import OfflinePlaces
from virl.towns.plan.town_plan import Shop

LICENCE = "Open Database License 1.0 (ODbL), https://opendatacommons.org/licenses/odbl/1-0/"
"""Name and URL, in one string, of the licence of OpenStreetMap's data."""
COPYRIGHT = "https://www.openstreetmap.org/copyright"
"""URL of OpenStreetMap's copyright page."""


def credit(date: str) -> str:
    """Return the notice that credits OpenStreetMap, with the data's date unless `date` is empty."""
    return f"© OpenStreetMap contributors{f', data of {date}' if date else ''}"


SETTLEMENTS = frozenset({"city", "town", "village"})
"""Values of the tag `place` for settlements that stand by themselves, unlike suburbs."""


@dataclass(frozen=True, slots=True)
class MappedTown:
    """The map of a town, read from an extract by `mapped_town`."""

    places: Places
    """Search of the mapped places, which have no pictures, ratings and reviews."""
    ways: tuple[tuple[LatLng, ...], ...]
    """Streets that people walk, each as the positions of its line from junction to junction."""
    life: tuple[LatLng, ...]
    """Positions of named shops and amenities."""
    attribution: str
    """Names to credit for the map data, as shown to users."""
    time_zone: str | None
    """IANA name of the time zone; `None` where it is not known."""
    _extract: OsmExtract
    """Extract reduced to its ways, without its other objects."""
    addresses: TwinAddresses
    """Index of all mapped addresses, streets and names."""

    def maps(self, panoramas: NavigationGraph) -> Maps:
        """Return maps with routes on the mapped ways and between panoramas, and with the mapped addresses."""
        return TwinMaps(self._extract, self.addresses, GraphMaps(panoramas))


def mapped_town(choice: ExtractPart, day: date | None = None) -> MappedTown:
    """Return the map of the town in a chosen extract or part, for the week of `day`, by default of today.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    twin = read_twin(choice, day)
    shops = tuple(replace(shop, frontage=NO_FRONTAGE) for shop in twin.plan.shops)
    also, addresses = names_of(twin, shops)
    frame = twin.plan.layout.frame
    ways = tuple(
        tuple(map(LatLng, *(part.tolist() for part in frame.to_degrees(*np.asarray(street.line).T))))
        for street in twin.streets.streets
    )
    return MappedTown(
        places=OfflinePlaces(shops, _no_photo, also, types_called),
        ways=ways,
        life=life_of(twin),
        attribution=credit(twin.extract.date),
        time_zone=get_tz(frame.origin.lng, frame.origin.lat) or None,
        _extract=only_ways(twin.extract),
        addresses=addresses,
    )


def life_of(twin: Twin) -> tuple[LatLng, ...]:
    """Return the positions of the named shops and amenities of a twin."""
    return tuple(
        shop.place.position
        for tags, shop in zip(twin.pois.tags, twin.plan.shops, strict=True)
        if "name" in tags and not tags.keys().isdisjoint(BUSY_KEYS)
    )


def read_twin(choice: ExtractPart, day: date | None = None) -> Twin:
    """Return the twin of a chosen extract or part, with opening hours in the week of `day`, by default today.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    return in_season(load_twin(choice.file, part_of(choice), choice.names, day), day)


def key_of_twin(choice: ExtractPart, day: date | None = None) -> str:
    """Return the cache key of the chosen twin with its invented life; empty if the file cannot be read."""
    key = twin_key(choice.file, part_of(choice), choice.names, day)
    return f"{key} {choice.life} {choice.seed} {choice.title}" if key else ""


def part_of(choice: ExtractPart) -> Region | None:
    """Return the region of an extract to read: as chosen, as cut, or its busiest town; `None` for all.

    Raises:
        BadInput: the extract is missing or cannot be read.
    """
    path = choice.file
    check_name(path)
    part = choice.part or asked_box(path) or cut_box(path)
    if part or not is_country(path):
        return part
    town = busiest_town(path)
    return region_around(town.position, choice.radius) if town else None


def choice_of(choice: ExtractPart, extract: OsmExtract) -> str:
    """Return the sentence that says how to choose another town of the file; empty if there is no other.

    `extract` is what was read of the chosen file.
    """
    path = choice.file
    if choice.part or asked_box(path) or cut_box(path):
        return ""
    town = busiest_town(path) if is_country(path) else None
    west, south, east, north = extract.outline.bounds
    settled = sum(tags.get("place") in SETTLEMENTS for tags in extract.points.tags)
    if town is None and (settled < 2 or max(east - west, north - south) < 2 * MAX_RADIUS_M):
        return ""
    return (
        f"{path.name} holds more than one town, and this is the busiest{f', {town.name}' if town else ''}: "
        f"choose another one with --around LAT,LNG, `virl cities --from {path}` lists them"
    )


def names_of(twin: Twin, shops: Sequence[Shop]) -> tuple[dict[str, tuple[str, ...]], TwinAddresses]:
    """Return (other names of each place by its id, index of addresses and of the names of `shops`).

    Of two places with one name the first is found by it.
    """
    also = {name: other_names(tags) for name, tags in zip(twin.pois.ids, twin.pois.tags, strict=True)}
    # Reversed: of several with a name the first is what stays.
    named = {other: shop.place.position for shop in reversed(shops) for other in also[shop.place.id]} | {
        shop.place.name: shop.place.position for shop in reversed(shops)
    }
    return also, TwinAddresses(twin.extract, twin.streets, named)


def _no_photo(shop: Shop) -> Image:
    """Raise `AssertionError`: no photo of a place without a front is ever drawn."""
    raise AssertionError(f"{shop.place.id} has no front")
