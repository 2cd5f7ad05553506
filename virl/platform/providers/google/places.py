"""Google's places and their types, as far as both generations of the API are alike.

Types have one vocabulary. It is the names that both generations use, which is nearly all; where they differ,
those of the legacy API, which the made city and V-IRL's data use as well. Finer types that only Places (New)
knows, such as `ramen_restaurant`, stay, before the coarse type that they imply.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Generic, Protocol, TypeVar

from pydantic import Field, ValidationInfo, field_validator

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.names import spelt
from virl.platform.city.place_types import by_type, place_table, types_96, types_marked
from virl.platform.city.places import NearbyPlaces, OpeningHours, Place, SearchResults
from virl.platform.city.streetview import Image
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.nearby import NearbyApi, NearbyResult, PlaceKinds, places_around
from virl.platform.providers.http.replies import MUST_FIT, ReplyBody


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The columns of the table of place types that concern Google."""

    dropped: frozenset[str]
    """Google's types that say nothing and are left out of the types of a place."""
    renamed: Mapping[str, str]
    """virl's name of a type, by its name in Places (New)."""
    implied: Mapping[str, str]
    """Place type that all types with an ending such as `_restaurant` have too, by that ending."""
    asked_as: Mapping[str, tuple[str, ...]]
    """Types of Places (New) that are asked for in place of a place type of virl's, by that type."""
    also_asked: Mapping[str, tuple[str, ...]]
    """Types of Places (New) that are asked for in addition to a place type of virl's, by that type."""
    searchable: frozenset[str]
    """Place types that a search of the legacy API accepts."""
    taken: frozenset[str]
    """Place types that a search of Places (New) accepts."""
    half: frozenset[str]
    """Place types that about half of a busy street's places have, by which a search is split in two."""


@cache
def type_table() -> TypeTable:
    """Return Google's columns of the table of place types."""
    return TypeTable(
        dropped=types_marked("says_nothing"),
        renamed=by_type("old"),
        implied={end: name for name, end in by_type("name_ends").items()},
        asked_as=by_type("asked_as"),
        also_asked=by_type("asked_too"),
        searchable=types_96(),
        taken=frozenset(name for name, row in place_table().types.items() if row.google == "A"),
        half=types_marked("busy"),
    )


def normal_types(given: Iterable[str], primary: str | None = None) -> tuple[str, ...]:
    """Return virl's types of a place, the most specific first, made of the types that Google gives it.

    The primary type of Places (New), where there is one, comes first.
    """
    table = type_table()
    names = [primary, *given] if primary else list(given)
    kept = [_normal(name) for name in names if name not in table.dropped]
    implied = [
        parent
        for name in kept
        if name not in table.searchable
        and (parent := next((parent for end, parent in table.implied.items() if name.endswith(end)), None))
    ]
    known = [name for name in kept if name in table.searchable or name in table.asked_as]
    finer = [name for name in kept if name not in known]
    return tuple(dict.fromkeys([*kept[:1], *finer, *known, *implied]))


def asked_types(types: Collection[str]) -> list[str]:
    """Return the types to ask Places (New) for in place of virl's; empty if it knows none of them."""
    table = type_table()
    asked: dict[str, None] = {}
    for name in sorted(types):
        if name in table.asked_as:
            asked |= dict.fromkeys(table.asked_as[name])
        elif name in table.searchable or name in table.taken:
            asked |= dict.fromkeys((name, *table.also_asked.get(name, ())))
    return list(asked)


def asked_legacy_types(types: Collection[str]) -> list[str]:
    """Return the types to ask the legacy API for in place of virl's; empty if it knows none of them."""
    table = type_table()
    asked = (one for name in sorted(types) for one in table.asked_as.get(name, (_normal(name),)))
    return [one for one in dict.fromkeys(asked) if one in table.searchable]


def known_as(types: Collection[str]) -> frozenset[str]:
    """Return types that were asked for, and virl's names of these, to compare with the types of places."""
    return frozenset(types).union(map(_normal, types))


def _normal(name: str) -> str:
    """Return virl's name of a place type of Google's."""
    return type_table().renamed.get(name, name)


MAX_RADIUS_M = 50_000.0
"""Largest radius of Google's nearby search, metres."""
SAME_M = 25.0
"""Distance in metres within which two entries of one name are one place; chosen: V-IRL's matching radius."""
DAY = 1440
"""Number of minutes in a day."""
PAGES = 3
"""Largest number of pages of a text search, of 20 places each."""
PHOTO_SIDE = 1024
"""Largest width and height of a photo in pixels; chosen."""
NOT_OPEN = ("CLOSED_PERMANENTLY", "CLOSED_TEMPORARILY", "FUTURE_OPENING")
"""Values of `businessStatus` of places that are not open."""
MOST_LISTED = 200
"""Largest number of places, photos, periods or reviews read of a reply; chosen: ten times Google's."""
MOST_RATED = 3
"""Largest number of types in a search for well rated places; no search is made for more; chosen."""
MOST_RATINGS = 1_000_000_000
"""Number of ratings of a place above which a reply's number is left out as an error; chosen."""


class PlacesApi(NearbyApi, Protocol):
    """A client of one generation of Google's Places."""

    def search_text(self, query: str, near: LatLng) -> list[Place]:
        """Return the places that fit a text, best first, preferably near a position."""
        ...

    def place(self, place_id: str) -> Place:
        """Return a place with hours and reviews.

        Raises:
            NotFound: no place has this id.
        """
        ...

    def pictures(self, place_id: str, limit: int) -> Iterator[Image]:
        """Yield up to `limit` photos of a place, each fetched when it is taken.

        Raises:
            NotFound: no place has this id.
        """
        ...


class FullPlacesApi(PlacesApi, Protocol):
    """A client of the generation of Places whose searches can return hours and reviews too."""

    def nearby_rated(
        self, center: LatLng, radius: float, kind: str, least: float, max_price_level: int | None
    ) -> NearbyResult:
        """Return a type's places of `least` or more stars in and around a circle, with hours and reviews.

        Args:
            center: middle of the circle.
            radius: radius of the circle in metres.
            kind: place type of Google's.
            least: least mean rating in stars, a multiple of 0.5.
            max_price_level: highest price level, 0 to 4; `None` takes all places.
        """
        ...


ApiT_co = TypeVar("ApiT_co", bound=PlacesApi, covariant=True)


class GooglePlaces(Generic[ApiT_co]):
    """Places by Google Maps, without closed places and double entries.

    Args:
        api: client of one generation of Google's Places.
        home: position around which a search looks that names none; Google would take the caller's own.
        options: whether closed places are listed, and the largest number of requests for one question of
            `nearby`. Of a circle at most 20 places are told (60 by the legacy API); where there are more,
            parts of it are asked.
    """

    def __init__(self, api: ApiT_co, home: LatLng, options: GoogleOptions | None = None) -> None:
        """Make places by a client; a search without a position looks around `home`. Nothing is asked yet."""
        self._api = api
        self._home = home
        self._options = options or GoogleOptions()
        self._told: dict[str, Place] = {}

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return places within `radius` metres, nearest first; all, if possible, up to `whole` metres."""
        return self._search_nearby(position, radius, PlaceKinds(frozenset(types)), whole)

    def _search_nearby(
        self, position: LatLng, radius: float, kinds: PlaceKinds, whole: float | None
    ) -> NearbyPlaces:
        """Return places within `radius` metres, nearest first; all, if possible, up to `whole` metres."""
        if not 0 < radius <= MAX_RADIUS_M:
            raise BadInput(f"radius {radius:g} m: must be above 0, up to {MAX_RADIUS_M:.0f}")
        found = places_around(
            self._api,
            position,
            radius,
            kinds,
            need=min(radius, radius if whole is None else whole),
            requests=self._options.nearby_requests,
        )
        near = [
            place for place in self._drop_closed(found.places) if distance(position, place.position) <= radius
        ]
        near.sort(key=lambda place: distance(position, place.position))
        only = known_as(kinds.only)
        kept = (place for place in near if not only or only.intersection(place.types))
        return NearbyPlaces(kept, found.complete)

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return the places that fit a text, best first, at most 60, preferably near a position.

        Raises:
            BadInput: the query is empty.
        """
        if not query.strip():
            raise BadInput(f"query {query!r}: name what to look for, such as 'noodles'")
        found = list(self._api.search_text(query, near or self._home))
        return SearchResults(
            self._drop_closed(found), merge_places(place for place in found if not place.is_open)
        )

    def details(self, place_id: str) -> Place:
        """Return the place with this id, with its hours and up to five reviews."""
        return self._told.get(place_id) or self._api.place(place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return up to `limit` photos of a place, at most ten; each is a paid request."""
        return list(self.each_photo(place_id, limit))

    def each_photo(self, place_id: str, limit: int = 1) -> Iterator[Image]:
        """Yield up to `limit` photos of a place; each is paid for when it is taken.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
        """
        if limit < 0:
            raise BadInput(f"limit {limit}: must be 0 photos or more")
        return self._api.pictures(place_id, limit)

    def _drop_closed(self, found: Iterable[Place]) -> list[Place]:
        """Return places without double entries, and without closed ones unless they are kept."""
        return merge_places(place for place in found if place.is_open or self._options.keep_closed)


class GooglePlacesInFull(GooglePlaces[FullPlacesApi]):
    """Places by Google Maps whose searches can return hours and reviews for a little more.

    Details of a place that a search returned so are not asked for again.
    """

    def nearby_in_full(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places that `nearby` returns, but with hours and reviews, nearest first."""
        found = self._search_nearby(position, radius, PlaceKinds(frozenset(types), in_full=True), whole)
        self._told |= {place.id: place for place in found}
        return found

    def nearby_rated(
        self,
        position: LatLng,
        radius: float,
        types: Collection[str],
        least: float,
        max_price_level: int | None = None,
    ) -> list[Place]:
        """Return places of `least` or more stars, nearest first; none if no type or over three are known."""
        kinds = asked_types(types)
        if not 0 < len(kinds) <= MOST_RATED:
            return NearbyPlaces((), 0.0)
        parts = [self._api.nearby_rated(position, radius, kind, least, max_price_level) for kind in kinds]
        near = [
            place
            for place in self._drop_closed(place for part in parts for place in part.places)
            if distance(position, place.position) <= radius
            and not known_as(types).isdisjoint(place.types)
            and (
                max_price_level is None
                or (place.price_level is not None and place.price_level <= max_price_level)
            )
        ]
        near.sort(key=lambda place: (distance(position, place.position), place.id))
        self._told |= {place.id: place for place in near}
        return NearbyPlaces(near, min(part.complete for part in parts))


def merge_places(places: Iterable[Place]) -> list[Place]:
    """Return places in their order without double entries: equal ids, or equal names within `SAME_M` metres.

    Of two entries for one place the one with more reviews stays, where the first was.
    """
    kept: list[Place] = []
    ids: set[str] = set()
    by_name: dict[str, list[int]] = {}
    for place in places:
        if place.id in ids:
            continue
        ids.add(place.id)
        alike = by_name.setdefault(spelt(place.name) or place.name, [])
        twin = next((i for i in alike if distance(kept[i].position, place.position) <= SAME_M), None)
        if twin is None:
            alike.append(len(kept))
            kept.append(place)
        elif place.review_count > kept[twin].review_count:
            kept[twin] = place
    return kept


def no_place(place_id: str) -> NotFound:
    """Return the error for an id that no place has."""
    return NotFound(f"no place has the id {place_id!r}: use one from a nearby or text search")


Period = tuple[int, int, tuple[int, int] | None]
"""(day, 0 for Sunday; minute of opening; (day, minute) of closing, `None` if none is given)."""
_ALWAYS: Period = (0, 0, None)
"""Only period of a place that never closes: it opens on Sunday at 0:00 and has no closing."""


class WeekPoint(ReplyBody, ABC):
    """A time of the week, in a reply of either generation, at which a place opens or closes."""

    @property
    @abstractmethod
    def of_week(self) -> tuple[int, int]:
        """Time as (day, 0 for Sunday; minutes after midnight)."""


PointT = TypeVar("PointT", bound=WeekPoint)


class PeriodBody(ReplyBody, Generic[PointT]):
    """A period in which a place is open: opening, and closing unless it never closes."""

    open: PointT
    close: Annotated[PointT | None, MUST_FIT] = None

    @property
    def stretch(self) -> Period:
        """Day (0: Sunday) and minute of opening, and those of closing; no closing if always open."""
        return (*self.open.of_week, self.close.of_week if self.close else None)


class HoursBody(ReplyBody, Generic[PointT]):
    """The opening hours of a place in a reply of either generation."""

    periods: tuple[PeriodBody[PointT], ...] = Field((), max_length=MOST_LISTED)

    @property
    def hours(self) -> tuple[OpeningHours, ...]:
        """These opening hours as `OpeningHours`, from Monday on."""
        return opening_hours(period.stretch for period in self.periods)

    @field_validator("periods")
    @classmethod
    def _report_endless(
        cls, periods: tuple[PeriodBody[PointT], ...], info: ValidationInfo
    ) -> tuple[PeriodBody[PointT], ...]:
        """Return all opening periods unchanged; report to the validation's context if one lacks a closing."""
        stretches = [one.stretch for one in periods]
        if info.context and stretches != [_ALWAYS] and any(closing is None for *_, closing in stretches):
            info.context("periods: an opening has no closing", stretches)
        return periods


def opening_hours(periods: Iterable[Period]) -> tuple[OpeningHours, ...]:
    """Return Google's periods as opening hours, from Monday on.

    A period without a closing is left out, but for the only one of a place that never closes.
    """
    listed = list(periods)
    if listed == [_ALWAYS]:
        return tuple(OpeningHours(day, 0, DAY) for day in range(7))
    stretches: list[OpeningHours] = []
    for day, minute, closing in listed:
        if closing is None:
            continue
        opens = (day + 6) % 7 * DAY + minute
        closes = (closing[0] + 6) % 7 * DAY + closing[1]
        closes += 7 * DAY * (closes <= opens)
        while opens < closes:  # a period that goes on beyond the next day is cut at midnight
            start = opens // DAY * DAY
            ends = closes if closes - start <= 2 * DAY else start + DAY
            stretches.append(OpeningHours(start // DAY % 7, opens - start, ends - start))
            opens = ends
    return tuple(sorted(stretches, key=lambda stretch: (stretch.day, stretch.opens)))
