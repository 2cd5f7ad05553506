"""Google's places, whichever generation of the API is asked: what both have in common."""

from collections.abc import Collection, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from pydantic import ValidationInfo

from virl.errors import BadInput, NotFound
from virl.geo import LatLng, distance
from virl.platform.names import spelt
from virl.platform.places import NearbyPlaces, OpeningHours, Place, SearchResults
from virl.platform.providers.google.city_file import NEARBY_REQUESTS
from virl.platform.providers.google.nearby import Kinds, NearbyApi, NearbyResult, places_around
from virl.platform.providers.google.vocabulary import asked_types, known_as
from virl.platform.streetview import Image

MAX_RADIUS_M = 50_000.0  # limit of Google's nearby search
SAME_M = (
    25.0  # two entries of one name this near to each other are one place; chosen, V-IRL's matching radius
)
DAY = 1440
PAGES = 3  # of a search, 20 places each
PHOTO_SIDE = 1024  # pixels a photo is wide or high at most; chosen
NOT_OPEN = ("CLOSED_PERMANENTLY", "CLOSED_TEMPORARILY", "FUTURE_OPENING")
MOST_LISTED = 200
"""Places, photos, opening periods or reviews that one reply may list; chosen: ten times what Google says."""
MOST_RATED = 3
"""Types that a search for well rated places asks for in turn; chosen: as many as a wish names."""
MOST_RATINGS = 1_000_000_000
"""Most ratings that a place may have; chosen."""


class PlacesApi(NearbyApi, Protocol):
    """One generation of Google's Places; types are of the one vocabulary."""

    def search_text(self, query: str, near: LatLng) -> list[Place]:
        """Return the places that answer a text, best first."""
        ...

    def place(self, place_id: str) -> Place:
        """Return a place with hours and reviews.

        Raises:
            NotFound: no place has this id.
        """
        ...

    def pictures(self, place_id: str, limit: int) -> Iterator[Image]:
        """Yield the photos of a place; each is asked for when it is taken.

        Raises:
            NotFound: no place has this id.
        """
        ...


class FullPlacesApi(PlacesApi, Protocol):
    """The generation that tells hours and reviews of all places of a search."""

    def nearby_rated(
        self, center: LatLng, radius: float, kind: str, least: float, max_price_level: int | None
    ) -> NearbyResult:
        """Return places of one of Google's types around a circle, in full: those that are rated at least so.

        Args:
            center: the middle.
            radius: metres.
            kind: one of Google's types.
            least: mean rating, a multiple of 0.5.
            max_price_level: those known to be no dearer.
        """
        ...


ApiT_co = TypeVar("ApiT_co", bound=PlacesApi, covariant=True)


class GooglePlaces(Generic[ApiT_co]):
    """Places of Google Maps: those closed for good are left out, double entries are merged.

    Args:
        api: whom to ask.
        home: where a search looks that names no position; Google would take the caller's own.
        keep_closed: list places closed for good as well, as not open.
        nearby_requests: how many requests `nearby` may make for one question. Of a circle at most 20 places
            are told (60 by the legacy API); where there are more, parts of it are asked.
    """

    def __init__(
        self,
        api: ApiT_co,
        home: LatLng,
        *,
        keep_closed: bool = False,
        nearby_requests: int = NEARBY_REQUESTS,
    ) -> None:
        self._api = api
        self._home = home
        self._keep_closed = keep_closed
        self._nearby_requests = nearby_requests
        self._told: dict[str, Place] = {}

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places within a radius, nearest first; a type that Google does not know costs nothing.

        Raises:
            BadInput: the radius is out of its range.
        """
        return self._search_nearby(position, radius, Kinds(frozenset(types)), whole)

    def _search_nearby(
        self, position: LatLng, radius: float, kinds: Kinds, whole: float | None
    ) -> NearbyPlaces:
        if not 0 < radius <= MAX_RADIUS_M:
            raise BadInput(f"radius {radius:g} m: must be above 0, up to {MAX_RADIUS_M:.0f}")
        found = places_around(
            self._api,
            position,
            radius,
            kinds,
            need=min(radius, radius if whole is None else whole),
            requests=self._nearby_requests,
        )
        near = [
            place for place in self._drop_closed(found.places) if distance(position, place.position) <= radius
        ]
        near.sort(key=lambda place: distance(position, place.position))
        only = known_as(kinds.only)
        kept = (place for place in near if not only or only.intersection(place.types))
        return NearbyPlaces(kept, found.complete)

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return the places that answer a text, best first, at most 60; `near` is a preference and no border.

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
        """Return the place with its hours, and up to five reviews.

        Raises:
            NotFound: no place has this id.
        """
        return self._told.get(place_id) or self._api.place(place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return up to `limit` photos, at most ten; each is a paid request.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
        """
        return list(self.each_photo(place_id, limit))

    def each_photo(self, place_id: str, limit: int = 1) -> Iterator[Image]:
        """Yield the photos one by one: one that is not taken is not paid for.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
        """
        if limit < 0:
            raise BadInput(f"limit {limit}: must be 0 photos or more")
        return self._api.pictures(place_id, limit)

    def _drop_closed(self, found: Iterable[Place]) -> list[Place]:
        return merge_places(place for place in found if place.is_open or self._keep_closed)


class GooglePlacesInFull(GooglePlaces[FullPlacesApi]):
    """Places of the generation that tells hours and reviews of all places of a search for a little more.

    Details of a place that was told in full are not asked for again.
    """

    def nearby_in_full(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places within a radius, each as `details` returns it.

        Raises:
            BadInput: the radius is out of its range.
        """
        found = self._search_nearby(position, radius, Kinds(frozenset(types), in_full=True), whole)
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
        """Return places rated well enough, by a text search for each type; none for too many types."""
        kinds = asked_types(types)
        if not 0 < len(kinds) <= MOST_RATED:
            return NearbyPlaces((), 0.0)
        parts = [self._api.nearby_rated(position, radius, kind, least, max_price_level) for kind in kinds]
        near = [
            place
            for place in self._drop_closed(place for part in parts for place in part.places)
            if distance(position, place.position) <= radius
            and not known_as(types).isdisjoint(place.types)
            and (max_price_level is None or _is_at_most(place.price_level, max_price_level))
        ]
        near.sort(key=lambda place: (distance(position, place.position), place.id))
        self._told |= {place.id: place for place in near}
        return NearbyPlaces(near, min(part.complete for part in parts))


def _is_at_most(level: int | None, highest: int) -> bool:
    return level is not None and level <= highest


def merge_places(places: Iterable[Place]) -> list[Place]:
    """Return places in their order without double entries: of one id, or of one name at nearly one position.

    Of two entries for one place that with more reviews stays, where the first was.
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
"""Day (0 is Sunday, as Google counts) and minute of an opening, and those of its closing, `None` for a place
that never closes. Days are in [0, 6], minutes in [0, 1500)."""
_ALWAYS: Period = (0, 0, None)  # the only period of a place that never closes


class PeriodBody(Protocol):
    """A period of either generation."""

    @property
    def stretch(self) -> Period:
        """Its opening and closing."""
        ...


PeriodT = TypeVar("PeriodT", bound=PeriodBody)


def report_endless(periods: tuple[PeriodT, ...], info: ValidationInfo) -> tuple[PeriodT, ...]:
    """Return all periods of a reply; those without a closing are reported to the validation context."""
    stretches = [one.stretch for one in periods]
    if info.context and stretches != [_ALWAYS] and any(closing is None for *_, closing in stretches):
        info.context("periods: an opening has no closing", stretches)
    return periods


def opening_hours(periods: Iterable[Period]) -> tuple[OpeningHours, ...]:
    """Return Google's opening periods as stretches of the days they begin on, from Monday on.

    A period without a closing is left out, but for the only one of a place that never closes.
    """
    told = list(periods)
    if told == [_ALWAYS]:
        return tuple(OpeningHours(day, 0, DAY) for day in range(7))
    stretches: list[OpeningHours] = []
    for day, minute, closing in told:
        if closing is None:
            continue
        opens = (day + 6) % 7 * DAY + minute
        closes = (closing[0] + 6) % 7 * DAY + closing[1]
        closes += 7 * DAY * (closes <= opens)
        while opens < closes:
            start = opens // DAY * DAY
            ends = closes if closes - start <= 2 * DAY else start + DAY
            stretches.append(OpeningHours(start // DAY % 7, opens - start, ends - start))
            opens = ends
    return tuple(sorted(stretches, key=lambda stretch: (stretch.day, stretch.opens)))
