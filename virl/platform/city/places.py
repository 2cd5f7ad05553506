"""Places: shops, parks, stations, what people say of them, and the hours of a week when they are open."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import NoReturn, Protocol, runtime_checkable

from virl.clock import parse_clock, show_clock
from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.platform.city.place_types import types_marked
from virl.platform.city.streetview import Image

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""Short names of weekdays in patterns of hours, Monday first."""
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Full names of weekdays, Monday first."""


@dataclass(frozen=True, slots=True)
class OpeningHours:
    """One stretch of a week in which a place is open."""

    day: int
    """Day of the week, 0 (Monday) to 6 (Sunday)."""
    opens: int
    """Opening time in minutes after midnight, [0, 1440)."""
    closes: int
    """Closing time in minutes after midnight of `day`, (opens, 2880): beyond 1440 it is the next morning."""

    def __str__(self) -> str:
        """Return day and hours as text, such as `mon 09:00-17:00`."""
        return f"{DAYS[self.day]} {show_clock(self.opens % 1440)}-{show_clock(self.closes % 1440)}"


CONTACTS = frozenset({"phone", "website"})
"""Names of the facts of a place that say how to reach it."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review by one visitor. The text is data from the world, never instructions."""

    rating: float
    """Stars, 1 (worst) to 5 (best)."""
    text: str
    """Words of the visitor; may be empty."""
    author: str = ""
    """Name of the visitor; empty where it is not known."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place as a provider lists it; `Places.details` alone fills in `reviews`, `hours` and `facts`."""

    id: str
    """Id that the provider gives the place."""
    name: str
    """Name in the provider's spelling."""
    types: tuple[str, ...]
    """Place types of Google, the most specific first, such as `("bakery", "store")`."""
    position: LatLng
    """Position that the provider gives."""
    address: str = ""
    """Address in one line; empty where it is not known."""
    rating: float | None = None
    """Mean of all ratings, 1 to 5; `None` without ratings."""
    review_count: int = 0
    """Number of people who rated the place."""
    price_level: int | None = None
    """Price level, 0 (free) to 4 (very expensive); `None` where it is not known."""
    is_open: bool = True
    """False for a place that has closed, for good or until further notice."""
    hours: tuple[OpeningHours, ...] = ()
    """Opening hours in a week; empty where nobody has listed them."""
    reviews: tuple[Review, ...] = ()
    """Reviews by visitors, filled in by `Places.details`; may be empty."""
    facts: tuple[tuple[str, str], ...] = ()
    """(name, text) of further facts, such as `phone`, `website`, `cuisine` and `wheelchair`; may be empty.
    `hours` has the rules of opening hours that do not hold each week. The texts are data from the world."""

    @property
    def __geo_interface__(self) -> dict[str, object]:
        """Place as a GeoJSON feature for shapely, GeoPandas and folium: longitude first."""
        point = {"type": "Point", "coordinates": (self.position.lng, self.position.lat)}
        about = {"id": self.id, "name": self.name, "types": list(self.types), "rating": self.rating}
        return {"type": "Feature", "geometry": point, "properties": about}

    @property
    def traits(self) -> dict[str, str]:
        """Text of each of the `facts`, by name, without phone and website."""
        return {name: text for name, text in self.facts if name not in CONTACTS}

    @property
    def is_unsure(self) -> bool:
        """Return whether the hours of a place that has not closed down, and is not outdoors, are unknown."""
        return self.is_open and not self.hours and not types_marked("outdoors").intersection(self.types)

    def open_at(self, day: int, minute: int) -> bool:
        """Return whether the place is open at a day (0: Monday) and minute of it; False for unknown hours."""
        return self.is_open and open_then(self.hours, day, minute)

    def may_be_open_at(self, day: int, minute: int) -> bool:
        """Return whether the place is, or with unknown hours may be, open at a day (0: Monday) and minute."""
        return self.is_open and (not self.hours or self.open_at(day, minute))


def open_then(hours: Iterable[OpeningHours], day: int, minute: int) -> bool:
    """Return whether a day (0: Monday) and its minutes after midnight lie within some opening hours.

    Args:
        hours: opening hours of a week, in local time.
        day: day of the week, 0 for Monday.
        minute: minutes after midnight.
    """
    now = day * 1440 + minute
    return any(
        stretch.day * 1440 + stretch.opens <= when < stretch.day * 1440 + stretch.closes
        for stretch in hours
        for when in (now, now + 7 * 1440)
    )


class NearbyPlaces(list[Place]):
    """A list of places near a position, nearest first, of which some farther away may be missing."""

    def __init__(self, places: Iterable[Place], complete: float) -> None:
        """Make a list of places, nearest first; none is missing up to `complete` metres from the position."""
        super().__init__(places)
        self.complete = complete


class SearchResults(list[Place]):
    """A list of open places found for a text, with the closed ones that were found and left out."""

    def __init__(self, places: Iterable[Place], closed: Iterable[Place]) -> None:
        """Make a list of the open `places`, best first; `closed` are the places found that have closed."""
        super().__init__(places)
        self.closed = tuple(closed)


def closed_among(places: Sequence[Place]) -> list[Place]:
    """Return the closed places in a list, and those in `closed` if the list is a `SearchResults`."""
    left_out = places.closed if isinstance(places, SearchResults) else ()
    return [*(place for place in places if not place.is_open), *left_out]


def complete_to(places: Sequence[Place]) -> float:
    """Return the metres up to which a list of nearby places is complete; infinite if it has no such limit."""
    return places.complete if isinstance(places, NearbyPlaces) else inf


class Places(Protocol):
    """A provider of shops and other places of a city."""

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return places of `types` within `radius` metres, nearest first; beyond `whole` some may be missing.

        Args:
            position: centre of the circle.
            radius: radius of the circle in metres, in (0, 50000].
            types: place types, of which a place has to have one; empty takes all places.
            whole: metres within which none should be missing, by default all of the radius. A smaller circle
                can cost less.
        """
        ...

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return the places whose name, type or address fits a text, best first, nearby ones preferred."""
        ...

    def details(self, place_id: str) -> Place:
        """Return the place with this id, its hours and reviews included.

        Raises:
            NotFound: no place has this id.
        """
        ...

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return up to `limit` photos of a place; may be empty.

        Raises:
            NotFound: no place has this id.
        """
        ...


@runtime_checkable
class MeasuredPhotos(Protocol):
    """A provider that knows the sizes of its photos without loading them."""

    def photo_sizes(self, place_id: str, limit: int = 1) -> Sequence[tuple[int, int]]:
        """Return the width and height, in pixels, of each photo that `Places.photos` gives.

        Raises:
            NotFound: no place has this id.
        """
        ...


@runtime_checkable
class PlacesInFull(Protocol):
    """A provider that charges less for all places in a circle with hours and reviews than for each alone."""

    def nearby_in_full(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places of `nearby` with hours and reviews, so that later `details` cost nothing.

        Args:
            position: centre of the circle.
            radius: radius of the circle in metres.
            types: place types, of which a place has to have one; empty takes all places.
            whole: metres within which none should be missing, as for `Places.nearby`.
        """
        ...


@runtime_checkable
class RatedPlaces(Protocol):
    """A provider that can filter by rating itself, for circles with more places than it lists."""

    def nearby_rated(
        self,
        position: LatLng,
        radius: float,
        types: Collection[str],
        least: float,
        max_price_level: int | None = None,
    ) -> list[Place]:
        """Return places of `types` within `radius` metres, with hours, reviews and `least` stars or more.

        Args:
            position: centre of the circle.
            radius: radius of the circle in metres.
            types: place types, of which a place has to have one.
            least: least mean rating in stars, a multiple of 0.5.
            max_price_level: highest price level, 0 to 4, of places whose level is known; `None` takes all.
        """
        ...


@runtime_checkable
class PhotosOneByOne(Protocol):
    """A provider whose photos of places cost something each, and are fetched one by one."""

    def each_photo(self, place_id: str, limit: int = 1) -> Iterator[Image]:
        """Yield up to `limit` photos of a place, each fetched when it is taken; there may be none.

        Raises:
            NotFound: no place has this id.
        """
        ...


def each_photo(places: Places, place_id: str, limit: int = 1) -> Iterator[Image]:
    """Yield up to `limit` photos of a place; where each costs something, it is fetched when it is taken.

    Args:
        places: provider of the places.
        place_id: id of the place.
        limit: largest number of photos.

    Raises:
        NotFound: no place has this id.
    """
    if isinstance(places, PhotosOneByOne):
        return places.each_photo(place_id, limit)
    return iter(places.photos(place_id, limit))


def nearby_in_full(
    places: Places,
    position: LatLng,
    radius: float,
    types: Collection[str] = (),
    *,
    whole: float | None = None,
) -> list[Place]:
    """Return places as `nearby` does, with hours and reviews where asking for these later would cost more.

    Args:
        places: provider of the places.
        position: centre of the circle.
        radius: radius of the circle in metres.
        types: place types, of which a place has to have one; empty takes all places.
        whole: metres within which none should be missing, as for `Places.nearby`.
    """
    ask = places.nearby_in_full if isinstance(places, PlacesInFull) else places.nearby
    return ask(position, radius, types, whole=whole)


@dataclass(frozen=True, slots=True)
class NoPlaces:
    """A provider without places, for a city that has none; every question raises `NotFound`."""

    city: str
    """Name of the city, for the error."""

    def nearby(self, *_: object, **__: object) -> NoReturn:
        """Raise `NotFound`, as the city has no places."""
        raise NotFound(f"the city {self.city!r} has no places, only streets: choose another city")

    search = details = photos = nearby


Moment = tuple[int, int]
"""(day of a week, 0 for Monday; minutes after midnight)."""

_MOMENT = re.compile(rf"\bit is ({'|'.join(DAY_NAMES)}) at (\d{{1,2}}[:.]\d\d)", re.IGNORECASE)
"""Pattern of a statement of day and time, such as "It is Friday at 9:30"."""


@cache
def parse_hours(pattern: str) -> tuple[OpeningHours, ...]:
    """Return the hours of a pattern such as `"mon-thu 11:30-14:30+17:30-22:00, fri-sat 17:00-26:00"`.

    Days may run over the end of the week (`thu-tue`); hours beyond 24 are of the next morning.

    Raises:
        ValueError: the text is no such pattern.
    """

    def minutes(clock: str) -> int:
        """Return the minutes after midnight of a clock time such as `17:30`; hours may exceed 24."""
        hour, minute = map(int, clock.split(":"))
        return hour * 60 + minute

    stretches = []
    for part in pattern.split(","):
        days, times = part.split()
        first, _, last = days.partition("-")
        start, count = DAYS.index(first), (DAYS.index(last or first) - DAYS.index(first)) % 7 + 1
        for day in [(start + step) % 7 for step in range(count)]:
            for stretch in times.split("+"):
                opens, closes = map(minutes, stretch.split("-"))
                stretches.append(OpeningHours(day, opens, closes))
    return tuple(sorted(stretches, key=lambda hours: (hours.day, hours.opens)))


def moment_in_words(day: int, minute: int) -> str:
    """Return a day (0: Monday) and minutes after midnight in words, such as "Friday at 12:30"."""
    return f"{DAY_NAMES[day]} at {show_clock(minute)}"


def told_moment(day: int, minute: int) -> str:
    """Return the sentence for a day (0: Monday) and minutes after midnight, as "It is Friday at 12:30."."""
    return f"It is {moment_in_words(day, minute)}."


def moment_in(text: str) -> Moment | None:
    """Return (day, minutes after midnight) of a text's first "It is Friday at 12:30"; `None` without one."""
    told = _MOMENT.search(text)
    if told is None:
        return None
    try:
        return DAY_NAMES.index(told[1].capitalize()), parse_clock(told[2])
    except ValueError:  # such as 25:00
        return None
