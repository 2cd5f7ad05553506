"""The legacy Places API: nearby search, text search, find place, details."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import Response

from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.serve.google.legacy_json import legacy_place
from virl.serve.google.options import Oddities
from virl.serve.google.pictures import Albums, legacy_photos_json
from virl.serve.google.place_json import found_place, named_places
from virl.serve.google.protojson import FIELDS
from virl.serve.google.shown_places import TownClock
from virl.serve.google.wire import Ask, Json, Page, Pages, answer, invalid, number, optional_number, position

PAGE, MOST = 20, 60  # places a page, and over all pages
MAX_RADIUS_M = 50_000.0
FIND_DEFAULT = "place_id"  # the field that Find Place gives when none is asked for


@dataclass(frozen=True, slots=True)
class LegacyPlaces:
    """Handlers of `/maps/api/place/...`.

    Args:
        city: what is served.
        albums: photos of places.
        pages: page tokens, valid after a delay.
        max_reviews: reviews shown of a place; `None` for all.
        odd: which places are gone.
        clock: of the town.
    """

    city: City
    albums: Albums
    pages: Pages
    max_reviews: int | None
    odd: Oddities
    clock: TownClock

    def nearby(self, ask: Ask) -> Response:
        """Answer `nearbysearch`: by prominence within a radius, or by distance."""
        if token := ask.query.get("pagetoken"):
            return self._answer_page(self.pages.next_page(token, PAGE), "vicinity")
        center = position(ask.query.get("location", ""))
        by_distance = ask.query.get("rankby", "prominence") == "distance"
        if by_distance and "radius" in ask.query:
            raise invalid("Invalid request. With rankby=distance give no radius.")
        if not by_distance and not ask.query.get("radius"):
            raise invalid("Invalid request. Missing the 'radius' parameter.")
        radius = min(optional_number(ask.query, "radius", 0, 1e9, MAX_RADIUS_M), MAX_RADIUS_M)
        kind = ask.query.get("type", "")
        near = self.city.places.nearby(center, radius, [kind] if kind else []) if radius else []
        found = self._open(self._with_words(near, ask.query), ask.query)
        if not by_distance:
            found.sort(key=lambda place: -place.review_count)
        return self._answer_page(self.pages.first(_query_key(ask), found[:MOST], PAGE), "vicinity")

    def text(self, ask: Ask) -> Response:
        """Answer `textsearch`.

        Raises:
            Refused: the query is missing.
        """
        if token := ask.query.get("pagetoken"):
            return self._answer_page(self.pages.next_page(token, PAGE), "formatted_address")
        kind = ask.query.get("type", "")
        words = ask.query.get("query", "") or kind.replace("_", " ")
        if not words.strip():
            raise invalid("Invalid request. Missing the 'query' parameter.")
        near = position(ask.query["location"]) if ask.query.get("location") else None
        found = [place for place in named_places(self.city, words, near) if not kind or kind in place.types]
        kept = self._open([place for place in found if _is_priced(place, ask.query)], ask.query)
        return self._answer_page(self.pages.first(_query_key(ask), kept[:MOST], PAGE), "formatted_address")

    def find(self, ask: Ask) -> Response:
        """Answer `findplacefromtext`."""
        words = ask.query.get("input", "")
        if not words.strip() or ask.query.get("inputtype") not in {"textquery", "phonenumber"}:
            raise invalid("Invalid request. Missing or invalid 'input' or 'inputtype' parameter.")
        names = _names(ask.query.get("fields") or FIND_DEFAULT)
        is_text = ask.query["inputtype"] == "textquery"
        found = named_places(self.city, words, _bias(ask.query.get("locationbias", ""))) if is_text else []
        candidates = [_select_fields(self._write(place, "formatted_address"), names) for place in found[:1]]
        return answer({"candidates": candidates, "status": "OK" if candidates else "ZERO_RESULTS"})

    def details(self, ask: Ask) -> Response:
        """Answer `details`; without `fields` all of them."""
        place_id = ask.query.get("place_id") or ask.query.get("placeid")
        if not place_id:
            raise invalid("Invalid request. Missing the 'place_id' parameter.")
        names = _names(ask.query["fields"]) if ask.query.get("fields") else set()
        gone = "The provided Place ID is no longer valid. Please refresh cached Place IDs."
        place = found_place(self.city, place_id, self.odd, gone)
        whole = self._write(place, "formatted_address") | {"vicinity": place.address}
        result = _select_fields(whole, names) if names else whole
        return answer({"html_attributions": self._notices, "result": result, "status": "OK"})

    def _answer_page(self, page: Page, address: str) -> Response:
        """Return a page of places as a response."""
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
        """Return a place as JSON."""
        photos = legacy_photos_json(place.id, self.albums.sizes(place.id))
        return legacy_place(place, address, photos, self.max_reviews, self.clock, self.city.title)

    def _open(self, places: list[Place], query: Mapping[str, str]) -> list[Place]:
        """Return the places that are open now where only such are asked for, else all."""
        if query.get("opennow", "false") == "false":
            return places
        return [place for place in places if self.clock.is_open(self.city.places.details(place.id))]

    @property
    def _notices(self) -> list[str]:
        """The notices that a page with the places has to show: names to credit, and what is invented."""
        return [self.city.notice] if self.city.notice else []

    def _with_words(self, places: Sequence[Place], query: Mapping[str, str]) -> list[Place]:
        """Return the places that a keyword or name finds and that have the wanted price."""
        kept = [place for place in places if _is_priced(place, query)]
        words = " ".join(query[name] for name in ("keyword", "name") if query.get(name))
        if not words:
            return kept
        known = {place.id for place in named_places(self.city, words, None)}
        return [place for place in kept if place.id in known]


_DETAILS_ONLY = frozenset(
    {
        *("address_components", "current_opening_hours", "reviews", "url", "utc_offset", "website"),
        *("formatted_phone_number", "international_phone_number", "serves_vegetarian_food"),
        "wheelchair_accessible_entrance",
    }
)


def _query_key(ask: Ask) -> str:
    """Return a request's parameters, without its key, as a text to know it by."""
    return json.dumps(sorted((name, value) for name, value in ask.query.items() if name != "key"))


def _is_priced(place: Place, query: Mapping[str, str]) -> bool:
    """Return whether the price is as wanted; bounds other than digits are ignored, such as `None`."""
    low, high = (query.get(name, "") for name in ("minprice", "maxprice"))
    if not low.isdecimal() and not high.isdecimal():
        return True
    if place.price_level is None:
        return False
    is_dear = not low.isdecimal() or place.price_level >= int(low)
    return is_dear and (not high.isdecimal() or place.price_level <= int(high))


_IN_REPLIES = {
    "type": "types",
    "photo": "photos",
    "review": "reviews",
    "address_component": "address_components",
}
"""Fields that are asked for by a singular name, as Google's own client library does."""


def _names(text: str) -> set[str]:
    """Return the top fields of a list such as `name,geometry/location`, as replies name them."""
    names = {path.partition("/")[0] for path in text.split(",")}
    unknown = names - FIELDS.legacy_place
    if unknown:
        raise invalid(f"Error while parsing 'fields' parameter: Unsupported field name '{min(unknown)}'.")
    return {_IN_REPLIES.get(name, name) for name in names}


def _select_fields(place: Json, names: set[str]) -> Json:
    """Return the fields of a place that are among the names."""
    return {name: value for name, value in place.items() if name in names}


def _bias(text: str) -> LatLng | None:
    """Return the middle of a bias such as `point:1,2`, `circle:500@1,2` or `rectangle:1,2|3,4`."""
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
