"""The legacy Places API: nearby search, text search, find place, details."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Response

from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.serve.google.legacy_json import legacy_place
from virl.serve.google.options import Oddities
from virl.serve.google.pictures import PlacePhotos, legacy_photos_json
from virl.serve.google.place_json import find_place, search_places
from virl.serve.google.protojson import FIELDS
from virl.serve.google.shown_places import TownClock
from virl.serve.google.wire import (
    MAX_RADIUS_M,
    ApiRequest,
    Json,
    Page,
    Pages,
    answer,
    invalid,
    number,
    optional_number,
    position,
)

PAGE, MOST = 20, 60  # places a page, and over all pages
FIND_DEFAULT = "place_id"  # the field that Find Place gives when none is asked for


@dataclass(frozen=True, slots=True)
class LegacyPlaces:
    """Handlers of the legacy Places API, `/maps/api/place/...`."""

    city: City
    photos: PlacePhotos
    pages: Pages
    """Pages of results, by tokens that become valid after a delay."""
    max_reviews: int | None
    """Most reviews shown of a place; `None` for all."""
    odd: Oddities
    """Shares of place ids that are stale."""
    clock: TownClock

    def nearby(self, request: ApiRequest) -> Response:
        """Answer `nearbysearch` with a page of places within a radius, most reviewed or nearest first."""
        if token := request.query.get("pagetoken"):
            return self._answer_page(self.pages.next_page(token, PAGE), "vicinity")
        center = position(request.query.get("location", ""))
        by_distance = request.query.get("rankby", "prominence") == "distance"
        if by_distance and "radius" in request.query:
            raise invalid("Invalid request. With rankby=distance give no radius.")
        if not by_distance and not request.query.get("radius"):
            raise invalid("Invalid request. Missing the 'radius' parameter.")
        radius = min(optional_number(request.query, "radius", 0, 1e9, MAX_RADIUS_M), MAX_RADIUS_M)
        kind = request.query.get("type", "")
        near = self.city.places.nearby(center, radius, [kind] if kind else []) if radius else []
        words = " ".join(request.query[name] for name in ("keyword", "name") if request.query.get(name))
        named = {place.id for place in search_places(self.city, words, None)} if words else set()
        found = self._filter([one for one in near if not words or one.id in named], request.query)
        if not by_distance:
            found.sort(key=lambda place: -place.review_count)
        return self._answer_page(self.pages.first(_query_key(request), found[:MOST], PAGE), "vicinity")

    def text(self, request: ApiRequest) -> Response:
        """Answer `textsearch` with a page of places that match a text.

        Raises:
            Refused: the query is missing.
        """
        if token := request.query.get("pagetoken"):
            return self._answer_page(self.pages.next_page(token, PAGE), "formatted_address")
        kind = request.query.get("type", "")
        words = request.query.get("query", "") or kind.replace("_", " ")
        if not words.strip():
            raise invalid("Invalid request. Missing the 'query' parameter.")
        near = position(request.query["location"]) if request.query.get("location") else None
        found = [place for place in search_places(self.city, words, near) if not kind or kind in place.types]
        kept = self._filter(found, request.query)
        return self._answer_page(
            self.pages.first(_query_key(request), kept[:MOST], PAGE), "formatted_address"
        )

    def find(self, request: ApiRequest) -> Response:
        """Answer `findplacefromtext` with the best match of a text; with no candidate for phone numbers."""
        words = request.query.get("input", "")
        if not words.strip() or request.query.get("inputtype") not in {"textquery", "phonenumber"}:
            raise invalid("Invalid request. Missing or invalid 'input' or 'inputtype' parameter.")
        names = _requested_fields(request.query.get("fields") or FIND_DEFAULT)
        is_text = request.query["inputtype"] == "textquery"
        found = (
            search_places(self.city, words, _bias_middle(request.query.get("locationbias", "")))
            if is_text
            else []
        )
        candidates = [_select_fields(self._write(place, "formatted_address"), names) for place in found[:1]]
        return answer({"candidates": candidates, "status": "OK" if candidates else "ZERO_RESULTS"})

    def details(self, request: ApiRequest) -> Response:
        """Answer `details` with the fields of one place that `fields` names; if left out, with all."""
        place_id = request.query.get("place_id") or request.query.get("placeid")
        if not place_id:
            raise invalid("Invalid request. Missing the 'place_id' parameter.")
        names = _requested_fields(request.query["fields"]) if request.query.get("fields") else set()
        message = "The provided Place ID is no longer valid. Please refresh cached Place IDs."
        place = find_place(self.city, place_id, self.odd, message)
        whole = self._write(place, "formatted_address") | {"vicinity": place.address}
        result = _select_fields(whole, names) if names else whole
        return answer({"html_attributions": self._notices, "result": result, "status": "OK"})

    def _answer_page(self, page: Page, address: str) -> Response:
        """Return the response for a page of places; `address` names the field of their address."""
        written = [self._write(place, address) for place in page.places]
        results = [{name: place[name] for name in place if name not in _DETAILS_ONLY} for place in written]
        content: Json = {
            "html_attributions": self._notices,
            "results": results,
            "status": "OK" if results else "ZERO_RESULTS",
        }
        if page.next_token:
            content["next_page_token"] = page.next_token
        return answer(content)

    def _write(self, place: Place, address: str) -> Json:
        """Return a place as JSON of the legacy API; `address` names the field that holds its address."""
        photos = legacy_photos_json(place.id, self.photos.sizes(place.id))
        return legacy_place(place, address, photos, self.max_reviews, self.clock, self.city.title)

    def _filter(self, places: list[Place], query: Mapping[str, str]) -> list[Place]:
        """Return the places in the query's price range that, if it has `opennow`, are open now."""
        priced = [place for place in places if _has_price(place, query)]
        if query.get("opennow", "false") == "false":
            return priced
        return [place for place in priced if self.clock.is_open(self.city.places.details(place.id))]

    @property
    def _notices(self) -> list[str]:
        """Notices that have to be shown with the places, such as credits; may be empty."""
        return [self.city.notice] if self.city.notice else []


_DETAILS_ONLY = frozenset(
    {
        *("address_components", "current_opening_hours", "reviews", "url", "utc_offset", "website"),
        *("formatted_phone_number", "international_phone_number", "serves_vegetarian_food"),
        "wheelchair_accessible_entrance",
    }
)
"""Names of fields that only `details` gives."""


def _query_key(request: ApiRequest) -> str:
    """Return a request's parameters without its key as one text, which identifies its list of results."""
    return json.dumps(sorted((name, value) for name, value in request.query.items() if name != "key"))


def _has_price(place: Place, query: Mapping[str, str]) -> bool:
    """Return whether a place's price level is in the query's bounds; a bound that is no number is ignored."""
    low, high = (query.get(name, "") for name in ("minprice", "maxprice"))
    if not low.isdecimal() and not high.isdecimal():
        return True
    if place.price_level is None:
        return False
    is_in_low = not low.isdecimal() or place.price_level >= int(low)
    return is_in_low and (not high.isdecimal() or place.price_level <= int(high))


_IN_REPLIES = {
    "type": "types",
    "photo": "photos",
    "review": "reviews",
    "address_component": "address_components",
}
"""Plural names of fields in replies, such as "photos", by the singular ones that requests may use."""


def _requested_fields(text: str) -> set[str]:
    """Return the top-level reply fields in a list such as "name,geometry/location"; refuse unknown names."""
    names = {path.partition("/")[0] for path in text.split(",")}
    unknown = names - FIELDS.legacy_place
    if unknown:
        raise invalid(f"Error while parsing 'fields' parameter: Unsupported field name '{min(unknown)}'.")
    return {_IN_REPLIES.get(name, name) for name in names}


def _select_fields(place: Json, names: set[str]) -> Json:
    """Return a place's JSON with only the named fields."""
    return {name: value for name, value in place.items() if name in names}


def _bias_middle(text: str) -> LatLng | None:
    """Return the middle of "point:1,2", "circle:500@1,2" or "rectangle:1,2|3,4"; else `None`."""
    kind, _, rest = text.partition(":")
    if kind == "point":
        return position(rest, "locationbias")
    if kind == "circle":
        radius, _, center = rest.partition("@")
        number(radius, "locationbias", 0, 1e8)
        return position(center, "locationbias")
    if kind == "rectangle":
        low, high = (position(corner, "locationbias") for corner in (rest + "|").split("|")[:2])
        return LatLng((low.lat + high.lat) / 2, (low.lng + high.lng) / 2)
    return None
