"""What the checker asks of the world, answered by a city."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from virl.errors import NoRoute, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.maps import TransitMaps
from virl.platform.city.names import is_shortened, name_ratio
from virl.platform.city.places import Place
from virl.routines.day.checker import DayEntry, Site
from virl.routines.day.settings import Mode

ALIKE = 85.0  # of 100: least likeness of two names of one place; chosen
AROUND_M = 50_000.0  # a sort of place that is not within this is not there at all; the widest search


@dataclass(frozen=True)
class CityFacts:
    """Facts of a city. What is named by its sort is the nearest of that sort: the charitable reading."""

    city: City
    known: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of ways that need not be asked for again."""
    _sites: dict[tuple[str, LatLng], Site | None] = field(default_factory=dict)

    def site(self, entry: DayEntry, near: LatLng) -> Site | None:
        """Find the place of an entry: by id, else by name, else the nearest of that sort, else an address."""
        if entry.place_id:
            try:
                return _site_of(self.city.places.details(entry.place_id))
            except NotFound:
                return None
        key = (entry.place.casefold().strip(), near)
        if key not in self._sites:
            self._sites[key] = self._find(key[0], near)
        return self._sites[key]

    def seconds(self, here: LatLng, there: LatLng, mode: Mode, weekday: int, minute: int) -> float:
        """Return the seconds of a way; infinite where no way leads."""
        if (here, there, mode) in self.known:
            return self.known[here, there, mode]
        maps = self.city.maps
        try:
            if mode != "transit":
                return float(maps.travel_times([here], [there], mode)[0, 0])
            if isinstance(maps, TransitMaps):
                return maps.journey(here, there, weekday, minute).duration
        except NoRoute:
            pass
        return float("inf")

    def _look_up_details(self, place: Place) -> Site | None:
        """Return the details of a listed place; `None` if the directory no longer knows its id."""
        try:
            return _site_of(self.city.places.details(place.id))
        except NotFound:
            return None

    def _find(self, name: str, near: LatLng) -> Site | None:
        """Return the site that a name means: a place of that sort or name, or an address; None if none."""
        sort = name.replace(" ", "_")
        for place in sorted(self._places_of_sort(sort, near), key=lambda one: distance(near, one.position)):
            if site := self._look_up_details(place):
                return site
        for place in self.city.places.search(name, near) if any(map(str.isalnum, name)) else []:
            is_meant = name_ratio(place.name, name) >= ALIKE or is_shortened(place.name, name)
            if is_meant and (site := self._look_up_details(place)):
                return site
        try:
            return Site(self.city.maps.geocode(name))
        except NotFound:
            return None

    def _places_of_sort(self, sort: str, near: LatLng) -> list[Place]:
        """Return the open places of a sort around a position; none if the sort is no word."""
        if not sort.replace("_", "").isalpha():
            return []
        return [one for one in self.city.places.nearby(near, AROUND_M, (sort,)) if one.is_open]


def _site_of(place: Place) -> Site:
    return Site(place.position, place)
