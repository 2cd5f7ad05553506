"""The legacy Places API."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import googlemaps

from virl.errors import ProviderError
from virl.geo import LatLng, distance
from virl.platform.places import Place, Review
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.http import GoogleHttp
from virl.platform.providers.google.options import PAGE_WAIT_S
from virl.platform.providers.google.places import NearbyResult, no_place, opening_hours
from virl.platform.providers.google.vocabulary import asked_legacy_types, normal_types
from virl.platform.providers.http.bodies import picture, reading
from virl.platform.streetview import Image

SERVICE = "Places API"
PAGES = 3  # of 20 places each
PAGE_TRIES = 3  # chosen
NEAR_M = 5_000  # chosen: a part of a town; Google takes up to 50 km
PHOTO_WIDTH = 1024  # pixels; chosen

_DETAILED = [
    "place_id",
    "name",
    "type",
    "geometry/location",
    "formatted_address",
    "business_status",
    "rating",
    "user_ratings_total",
    "price_level",
    "opening_hours",
    "reviews",
]
_NOT_OPEN = ("CLOSED_PERMANENTLY", "FUTURE_OPENING")


class LegacyPlaces:
    """The legacy Places API.

    Args:
        http: the way to Google.
        language: of names and reviews; `None` leaves it to Google.
        pages: most pages of a text search that are asked for, 1 to 3.
        page_wait: seconds before a further page is asked for.
    """

    def __init__(
        self,
        http: GoogleHttp,
        language: str | None = None,
        *,
        pages: int = PAGES,
        page_wait: float = PAGE_WAIT_S,
    ) -> None:
        self._client = GoogleClient(http)
        self._language = language
        self._text_pages = pages
        self._page_wait = page_wait

    def within(self, center: LatLng, radius: float, types: Collection[str]) -> NearbyResult:
        """Up to 60 places of a circle, and 60 of each type where types are asked; a request for each 20.

        With a type the nearest come first; without one Google ranks by prominence, and a full list says
        nothing of what is missing.
        """
        if not types:
            options = {"location": center, "radius": max(round(radius), 1)}
            places = list(self._pages(googlemaps.Client.places_nearby, options))
            return NearbyResult(places, radius if len(places) < PAGES * 20 else 0.0)
        all_found, complete = [], radius
        for kind in asked_legacy_types(types):
            options = {"location": center, "rank_by": "distance", "type": kind}
            found = list(self._pages(googlemaps.Client.places_nearby, options, center, radius))
            all_found += found
            farthest = max((distance(center, place.position) for place in found), default=0.0)
            if len(found) >= PAGES * 20:
                complete = min(complete, farthest)
        return NearbyResult(all_found, complete)

    def matching(self, query: str, near: LatLng) -> list[Place]:
        """Places that answer a text, best first; one request for each 20."""
        options = {"query": query, "location": near, "radius": NEAR_M}
        return list(self._pages(googlemaps.Client.places, options, most=self._text_pages))

    def place(self, place_id: str) -> Place:
        """A place with hours and reviews; one request.

        Raises:
            NotFound: no place has this id.
        """
        reply = self._details(place_id, _DETAILED)
        with reading(SERVICE):
            return read_place(reply["result"])

    def pictures(self, place_id: str, limit: int) -> list[Image]:
        """Photos of a place; one request for their names, and one for each.

        Raises:
            NotFound: no place has this id.
        """
        reply = self._details(place_id, ["place_id", "photo"])
        with reading(SERVICE):
            names = [str(photo["photo_reference"]) for photo in reply["result"].get("photos", ())][:limit]
        fetch = googlemaps.Client.places_photo
        files = (b"".join(self._client.ask(fetch, name, max_width=PHOTO_WIDTH)) for name in names)
        return [picture(data, SERVICE) for data in files]

    def _details(self, place_id: str, fields: list[str]) -> dict[str, Any]:
        try:
            reply = self._client.ask(
                googlemaps.Client.place, place_id, fields=fields, language=self._language
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
    ) -> Iterator[Place]:
        """The places of all pages, or of those up to the first that lies beyond a radius as a whole."""
        reply = self._client.ask(search, language=self._language, **options)
        for page in range(most):
            with reading(SERVICE):
                places = [read_place(one) for one in reply["results"]]
            yield from places
            token = reply.get("next_page_token")
            if not token or page == most - 1:
                return
            if center and all(distance(center, place.position) > radius for place in places):
                return
            reply = self._further(search, options, token)

    def _further(self, search: Callable[..., Any], options: Mapping[str, Any], token: str) -> Any:
        """A further page. Until it is ready Google says that the request is invalid."""
        known = {name: options[name] for name in ("query", "location") if name in options}
        for left in reversed(range(PAGE_TRIES)):
            time.sleep(self._page_wait)
            try:
                return self._client.ask(search, page_token=token, **known)
            except ProviderError as fault:
                if fault.code != "INVALID_REQUEST" or not left:
                    raise
        raise AssertionError("the last try returns or raises")


def read_place(reply: Mapping[str, Any]) -> Place:
    """Read a place of a reply. What was not asked for stays empty."""
    where, rating, price = reply["geometry"]["location"], reply.get("rating"), reply.get("price_level")
    return Place(
        id=str(reply["place_id"]),
        name=str(reply["name"]),
        types=normal_types(reply.get("types", ())),
        position=LatLng(float(where["lat"]), float(where["lng"])),
        address=str(reply.get("formatted_address") or reply.get("vicinity", "")),
        rating=float(rating) if rating else None,
        review_count=int(reply.get("user_ratings_total", 0)),
        price_level=None if price is None else int(price),
        is_open=reply.get("business_status") not in _NOT_OPEN and not reply.get("permanently_closed"),
        hours=opening_hours(
            (int(period["open"]["day"]), _minute(period["open"]), _closing(period.get("close")))
            for period in reply.get("opening_hours", {}).get("periods", ())
        ),
        reviews=tuple(
            Review(float(one["rating"]), str(one.get("text", "")), str(one.get("author_name", "")))
            for one in reply.get("reviews", ())
        ),
    )


def _minute(point: Mapping[str, Any]) -> int:
    clock = str(point["time"])
    return int(clock[:2]) * 60 + int(clock[2:])


def _closing(point: Mapping[str, Any] | None) -> tuple[int, int] | None:
    return (int(point["day"]), _minute(point)) if point else None
