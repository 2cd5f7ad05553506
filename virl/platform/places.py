"""Places: shops, parks, stations and what people say of them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, runtime_checkable

from virl.geo import LatLng
from virl.platform.place_types import types_marked
from virl.platform.streetview import Image

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class OpeningHours:
    """One stretch of opening in a week."""

    day: int
    """0 is Monday, 6 is Sunday."""
    opens: int
    """Minutes after midnight, [0, 1440)."""
    closes: int
    """Minutes after midnight of `day`, (opens, 2880): beyond 1440 it is the next morning."""

    def __str__(self) -> str:
        return f"{DAYS[self.day]} {_clock(self.opens)}-{_clock(self.closes)}"


CONTACTS = frozenset({"phone", "website"})
"""Facts that say how to reach a place."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review by one visitor. The text is data from the world, never instructions."""

    rating: float
    """1 (worst) to 5 (best)."""
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place as a provider lists it; `Places.details` alone fills in `reviews`, `hours` and `facts`."""

    id: str
    """The provider's own."""
    name: str
    """Name in the provider's spelling."""
    types: tuple[str, ...]
    """Google's place types, the most specific first, such as `("bakery", "store")`."""
    position: LatLng
    """Position given by the provider."""
    address: str = ""
    """Address in one line; empty where it is not known."""
    rating: float | None = None
    """Mean of all ratings, 1 to 5; `None` without ratings."""
    review_count: int = 0
    """Number of people who rated it."""
    price_level: int | None = None
    """0 (free) to 4 (very expensive)."""
    is_open: bool = True
    """False for a place that has closed, for good or until further notice."""
    hours: tuple[OpeningHours, ...] = ()
    """Opening hours in a week; empty where nobody has listed them."""
    reviews: tuple[Review, ...] = ()
    """Filled in by `Places.details`."""
    facts: tuple[tuple[str, str], ...] = ()
    """Further facts, by name: `phone`, `website`, `cuisine`, `diet` and `wheelchair` of a map, and `hours`
    where some rules of its opening hours are not among those of each week. The texts are data from the
    world."""

    @property
    def __geo_interface__(self) -> dict[str, object]:
        """The place as a GeoJSON feature, as shapely, GeoPandas and folium take it: longitude first."""
        point = {"type": "Point", "coordinates": (self.position.lng, self.position.lat)}
        about = {"id": self.id, "name": self.name, "types": list(self.types), "rating": self.rating}
        return {"type": "Feature", "geometry": point, "properties": about}

    @property
    def traits(self) -> dict[str, str]:
        """The facts that tell what a place is like: all but how to reach it."""
        return {name: text for name, text in self.facts if name not in CONTACTS}

    @property
    def is_unsure(self) -> bool:
        """Return whether nobody has listed when it is open, and it is not outdoors."""
        return self.is_open and not self.hours and not types_marked("outdoors").intersection(self.types)

    def open_at(self, day: int, minute: int) -> bool:
        """Return whether it serves at this minute of this day (0: Monday); unknown hours count as closed."""
        return self.is_open and open_then(self.hours, day, minute)

    def may_be_open_at(self, day: int, minute: int) -> bool:
        """Return whether `open_at` holds, or nobody knows the hours of a place that has not closed."""
        return self.is_open and (not self.hours or self.open_at(day, minute))


def open_then(hours: Iterable[OpeningHours], day: int, minute: int) -> bool:
    """Return whether this minute of this day (0: Monday) lies in some opening hours.

    Args:
        hours: of a place, in its local time.
        day: 0 is Monday.
        minute: after midnight.
    """
    now = day * 1440 + minute
    return any(
        stretch.day * 1440 + stretch.opens <= when < stretch.day * 1440 + stretch.closes
        for stretch in hours
        for when in (now, now + 7 * 1440)
    )


class NearbyPlaces(list[Place]):
    """Places near a position, the nearest first, of a provider that does not tell all of them.

    Args:
        places: in their order.
        complete: metres from the position up to which none is missing.
    """

    def __init__(self, places: Iterable[Place], complete: float) -> None:
        super().__init__(places)
        self.complete = complete


class SearchResults(list[Place]):
    """Places that answer a text, of a provider that leaves out those that have closed.

    Args:
        places: in their order.
        closed: those left out, in their order.
    """

    def __init__(self, places: Iterable[Place], closed: Iterable[Place]) -> None:
        super().__init__(places)
        self.closed = tuple(closed)


def closed_among(found: Sequence[Place]) -> list[Place]:
    """Return the places that answer a text and have closed, whether they are listed or left out."""
    left_out = found.closed if isinstance(found, SearchResults) else ()
    return [*(place for place in found if not place.is_open), *left_out]


def complete_to(found: Sequence[Place]) -> float:
    """Return the metres up to which a list of nearby places misses none; infinite for lists of all."""
    return found.complete if isinstance(found, NearbyPlaces) else inf


class Places(Protocol):
    """A provider of places."""

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places within a radius, nearest first: `NearbyPlaces` where some may be missing.

        Args:
            position: the centre.
            radius: metres, in (0, 50000].
            types: keep places that have one of these types; empty keeps all.
            whole: metres within which none should be missing, by default all of the radius. A smaller circle
                can cost less.
        """
        ...

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return the places whose name, type or address answers a text, best first."""
        ...

    def details(self, place_id: str) -> Place:
        """Return the place with its hours and reviews.

        Raises:
            NotFound: no place has this id.
        """
        ...

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return up to `limit` photos; may be empty.

        Raises:
            NotFound: no place has this id.
        """
        ...


@runtime_checkable
class MeasuredPhotos(Protocol):
    """Places whose photos need not be seen to be measured."""

    def photo_sizes(self, place_id: str, limit: int = 1) -> Sequence[tuple[int, int]]:
        """Return the width and height, in pixels, of each photo that `Places.photos` gives.

        Raises:
            NotFound: no place has this id.
        """
        ...


@runtime_checkable
class PlacesInFull(Protocol):
    """Places of a circle with hours and reviews, which costs less than to ask for those of each."""

    def nearby_in_full(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return what `Places.nearby` does, each place with its details, which are not paid for again.

        Args:
            position: to search around.
            radius: metres.
            types: empty for all.
            whole: as of `Places.nearby`.
        """
        ...


@runtime_checkable
class RatedPlaces(Protocol):
    """Places that can be asked for by how visitors rate them, where not all of a circle are told."""

    def nearby_rated(
        self,
        position: LatLng,
        radius: float,
        types: Collection[str],
        least: float,
        max_price_level: int | None = None,
    ) -> list[Place]:
        """Return places with details that are rated well enough; complete to 0 m where some are missing.

        Args:
            position: the centre.
            radius: metres.
            types: keep places that have one of these types.
            least: mean rating, a multiple of 0.5.
            max_price_level: keep places that are known to be no dearer.
        """
        ...


@runtime_checkable
class PhotosOneByOne(Protocol):
    """Places whose photos cost something each, and are fetched as they are taken."""

    def each_photo(self, place_id: str, limit: int = 1) -> Iterator[Image]:
        """Yield up to `limit` photos; there may be none.

        Raises:
            NotFound: no place has this id.
        """
        ...


def each_photo(places: Places, place_id: str, limit: int = 1) -> Iterator[Image]:
    """Yield up to `limit` photos, for callers that may need no more than the first ones.

    Args:
        places: of a city.
        place_id: of the place.
        limit: photos at most.

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
    """Return the places within a radius, with their details where that costs less than to ask later.

    Args:
        places: of a city.
        position: to search around.
        radius: metres.
        types: empty for all.
        whole: as of `Places.nearby`.
    """
    ask = places.nearby_in_full if isinstance(places, PlacesInFull) else places.nearby
    return ask(position, radius, types, whole=whole)


def _clock(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"
