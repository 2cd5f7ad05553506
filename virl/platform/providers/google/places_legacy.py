"""Client of the legacy Places API."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import googlemaps
from pydantic import Field

from virl.errors import ProviderError
from virl.geo.globe import LatLng, distance
from virl.platform.city.places import Place, Review
from virl.platform.city.streetview import Image
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.maps import GeometryBody
from virl.platform.providers.google.nearby import NearbyResult, PlaceKinds
from virl.platform.providers.google.places import (
    MOST_LISTED,
    MOST_RATINGS,
    NOT_OPEN,
    PAGES,
    PHOTO_SIDE,
    HoursBody,
    WeekPoint,
    asked_legacy_types,
    no_place,
    normal_types,
)
from virl.platform.providers.http.replies import Notes, OrUnknown, ReplyBody, picture, read_body

SERVICE = "Places API"
PAGE_TRIES = 3
"""Number of tries to get a further page; chosen."""
NEAR_M = 5_000
"""Radius in metres around a position where a text search looks first; chosen: a part of a town."""

_DETAILED = (
    "place_id,name,type,geometry/location,formatted_address,business_status,rating,user_ratings_total,"
    "price_level,opening_hours,reviews"
)
"""Names of the fields that are asked for with a place's details."""


class LegacyPlaces:
    """A client of the legacy Places API."""

    def __init__(self, http: GoogleHttp, options: GoogleOptions | None = None) -> None:
        """Make the client; the options say its language, and how many pages it asks for after what pause."""
        options = options or GoogleOptions()
        self._client = GoogleClient(http)
        self._http = http
        self._language = options.language
        self._text_pages = options.search_pages
        self._page_wait = options.page_wait

    tells_nearest = False
    """False, as replies about all types list prominent places first."""

    def halves(self, kinds: PlaceKinds) -> tuple[PlaceKinds, ...]:
        """Return no parts: each type is asked for by itself anyway."""
        del kinds
        return ()

    def places_within(self, center: LatLng, radius: float, kinds: PlaceKinds) -> NearbyResult:
        """Return up to 60 places within `radius` metres or, if types are given, the nearest 60 of each type.

        With a type the nearest come first; without one Google ranks by prominence, and a full list says
        nothing of what is missing.
        """
        if not kinds.only:
            options = {"location": center, "radius": max(round(radius), 1)}
            listed = list(self._pages(googlemaps.Client.places_nearby, options))
            return NearbyResult(list(filter(None, listed)), radius if len(listed) < PAGES * 20 else 0.0)
        all_found, complete = list[Place](), radius
        for kind in asked_legacy_types(kinds.only):
            options = {"location": center, "rank_by": "distance", "type": kind}
            listed = list(self._pages(googlemaps.Client.places_nearby, options, center, radius))
            found = list(filter(None, listed))
            all_found += found
            farthest = max((distance(center, place.position) for place in found), default=0.0)
            if len(listed) >= PAGES * 20:
                complete = min(complete, farthest)
        return NearbyResult(all_found, complete)

    def search_text(self, query: str, near: LatLng) -> list[Place]:
        """Return the places that answer a text, best first; one request for each 20."""
        options = {"query": query, "location": near, "radius": NEAR_M}
        return list(filter(None, self._pages(googlemaps.Client.places, options, most=self._text_pages)))

    def place(self, place_id: str) -> Place:
        """Return a place with hours and reviews; one request."""
        return read_place(self._details(place_id, _DETAILED)["result"], self._http.notes(SERVICE))

    def pictures(self, place_id: str, limit: int) -> Iterator[Image]:
        """Yield up to `limit` photos of a place; one request for their names, one for each that is taken."""
        reply = self._details(place_id, "place_id,photo")
        photos = read_body(_LegacyAlbum, reply["result"], SERVICE, self._http.notes(SERVICE)).photos[:limit]
        fetch = googlemaps.Client.places_photo
        names = (photo.photo_reference for photo in photos)
        size = {"max_width": PHOTO_SIDE, "max_height": PHOTO_SIDE}
        files = (b"".join(self._client.ask(fetch, name, **size)) for name in names)
        return (picture(data, SERVICE) for data in files)

    def _details(self, place_id: str, fields: str) -> dict[str, Any]:
        """Return a reply with comma-separated `fields` of a place; raise `NotFound` for an unknown id."""
        try:
            reply = self._client.ask(
                googlemaps.Client.place, place_id, fields=fields.split(","), language=self._language
            )
        except ProviderError as fault:
            if fault.code != "INVALID_REQUEST":
                raise
            reply = None
        if not reply or "result" not in reply:
            raise no_place(place_id)
        return dict(reply)

    def _pages(
        self,
        search: Callable[..., Any],
        options: Mapping[str, Any],
        center: LatLng | None = None,
        radius: float = 0.0,
        most: int = PAGES,
    ) -> Iterator[Place | None]:
        """Yield places (`None`: unreadable) of up to `most` pages, until all of a page lie beyond `radius`.

        With a centre, no page is asked for after one of which all places lie beyond `radius` metres.
        """
        reply = self._client.ask(search, language=self._language, **options)
        for page in range(most):
            found = read_body(_LegacyFound, reply, SERVICE, self._http.notes(SERVICE))
            listed = [one.place if one else None for one in found.results]
            yield from listed
            if not found.next_page_token or page == most - 1:
                return
            if center and all(distance(center, place.position) > radius for place in listed if place):
                return
            reply = self._fetch_page(search, options, found.next_page_token)

    def _fetch_page(self, search: Callable[..., Any], options: Mapping[str, Any], token: str) -> Any:
        """Return a further page of a search, tried again while Google says that it is not ready."""
        known = {name: options[name] for name in ("query", "location") if name in options}
        for left in reversed(range(PAGE_TRIES)):
            time.sleep(self._page_wait)
            try:
                return self._client.ask(search, page_token=token, **known)
            except ProviderError as fault:
                if fault.code != "INVALID_REQUEST" or not left:
                    raise
        raise AssertionError("the last try returns or raises")


def read_place(reply: object, notes: Notes | None = None) -> Place:
    """Return the place in a reply, given as plain data; fields that were not asked for stay empty.

    Raises:
        ProviderError: a required field is missing or wrong.
    """
    return read_body(_LegacyPlace, reply, SERVICE, notes).place


class _LegacyPoint(WeekPoint):
    """A time of the week at which a place opens or closes."""

    day: int = Field(ge=0, le=6)
    time: str = Field(pattern="^([01][0-9]|2[0-4])[0-5][0-9]$")

    @property
    def of_week(self) -> tuple[int, int]:
        """Time as (day, 0 for Sunday; minutes after midnight)."""
        return self.day, int(self.time[:2]) * 60 + int(self.time[2:])


class _LegacyReview(ReplyBody):
    """A review of a place: stars, text and author."""

    rating: float = Field(ge=0, le=5)
    text: str = ""
    author_name: str = ""


class _LegacyPlace(ReplyBody):
    """A place of a reply of the legacy API."""

    place_id: str = Field(min_length=1)
    name: str
    types: tuple[str, ...] = Field((), max_length=MOST_LISTED)
    geometry: GeometryBody
    formatted_address: str = ""
    vicinity: str = ""
    rating: float | None = Field(None, ge=0, le=5)
    user_ratings_total: int = Field(0, ge=0, le=MOST_RATINGS)
    price_level: int | None = Field(None, ge=0, le=4)
    business_status: str | None = None
    permanently_closed: bool = False
    opening_hours: HoursBody[_LegacyPoint] = HoursBody()
    reviews: tuple[_LegacyReview, ...] = Field((), max_length=MOST_LISTED)

    @property
    def place(self) -> Place:
        """This place of a reply as a `Place`."""
        return Place(
            id=self.place_id,
            name=self.name,
            types=normal_types(self.types),
            position=self.geometry.location.position,
            address=self.formatted_address or self.vicinity,
            rating=self.rating or None,
            review_count=self.user_ratings_total,
            price_level=self.price_level,
            is_open=self.business_status not in NOT_OPEN and not self.permanently_closed,
            hours=self.opening_hours.hours,
            reviews=tuple(Review(one.rating, one.text, one.author_name) for one in self.reviews),
        )


class _LegacyFound(ReplyBody):
    """The reply of a nearby or text search."""

    results: tuple[Annotated[_LegacyPlace | None, OrUnknown], ...] = Field(max_length=MOST_LISTED)
    """Places found; `None` for one that cannot be read."""
    next_page_token: str = ""


class _LegacyPhoto(ReplyBody):
    """A reference to a photo."""

    photo_reference: str = Field(min_length=1)


class _LegacyAlbum(ReplyBody):
    """References to the photos of a place."""

    photos: tuple[_LegacyPhoto, ...] = Field((), max_length=MOST_LISTED)
