"""Places (New): nearby search, text search, details, and predictions while somebody types."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fastapi import Response

from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.serve.google.options import Oddities
from virl.serve.google.place_json import KNOWN, PRICES, PlaceWriter, find_place, search_places
from virl.serve.google.protojson import MaskTree, apply_mask, parse_mask
from virl.serve.google.shown_places import check_types, primary_type, types_of
from virl.serve.google.wire import (
    ApiRequest,
    Json,
    Page,
    Pages,
    answer,
    area_in,
    circle_in,
    invalid,
    lat_lng,
    message_in,
    number,
    texts_in,
)

PAGE = 20  # most places of a nearby search, and on a page of a text search
MOST = 60  # places of a text search over all its pages
MAX_TYPES = 50  # in each list of types of a nearby search
PAGING = frozenset({"pageToken", "pageSize", "maxResultCount"})


@dataclass(frozen=True, slots=True)
class NewPlaces:
    """Handlers of Places (New), `/v1/places...`, but for autocomplete."""

    city: City
    writer: PlaceWriter
    pages: Pages
    odd: Oddities

    def nearby(self, request: ApiRequest) -> Response:
        """Answer `places:searchNearby`: places in a circle, those with most reviews or the nearest first."""
        tree = parse_mask(request.fields, KNOWN, "places")
        circle = circle_in(message_in(request.body, "locationRestriction"), "locationRestriction")
        ranking = _choice_in(request.body, "rankPreference", ("POPULARITY", "DISTANCE"))
        most = _requested_count(request.body, "maxResultCount")
        types = {name: set(texts_in(request.body, name, MAX_TYPES)) for name in _TYPE_LISTS}
        for included, excluded in (_TYPE_LISTS[:2], _TYPE_LISTS[2:]):
            if conflicting := sorted(types[included] & types[excluded]):
                raise invalid(f"Conflicting types in {included} and {excluded}: {', '.join(conflicting)}.")
        check_types(set().union(*types.values()))
        near = self.city.places.nearby(circle.middle, circle.radius)
        found = [place for place in near if _has_types(place, types)] if any(types.values()) else near
        if ranking == "POPULARITY":
            # The sort is stable: places with as many reviews stay nearest first.
            found.sort(key=lambda place: -place.review_count)
        return self._answer_page(Page(found[:most], None), tree)

    def text(self, request: ApiRequest) -> Response:
        """Answer `places:searchText` with a page of places that match a text."""
        tree = parse_mask(request.fields, KNOWN, "places")
        size = _requested_count(request.body, "pageSize" if "pageSize" in request.body else "maxResultCount")
        query = json.dumps({name: request.body[name] for name in sorted(request.body) if name not in PAGING})
        token = request.body.get("pageToken")
        if token:
            return self._answer_page(self.pages.next_page(str(token), size, query), tree)
        return self._answer_page(self.pages.first(query, self._search(request.body)[:MOST], size), tree)

    def details(self, request: ApiRequest) -> Response:
        """Answer `places/{place}` with the fields of one place that the mask asks for."""
        tree = parse_mask(request.fields, KNOWN)
        message = f'The Place ID "{request.path["place"]}" is no longer valid or was not found.'
        place = find_place(self.city, request.path["place"], self.odd, message)
        return answer(apply_mask(self.writer.write(place, tree), tree))

    def _answer_page(self, page: Page, tree: MaskTree) -> Response:
        """Return the response for a page of places, cut to the fields of the mask `tree`."""
        content: Json = {}
        fields = tree.get("places")
        if fields is not None and page.places:
            content["places"] = [
                apply_mask(self.writer.write(place, fields), fields) for place in page.places
            ]
        if page.next_token and "nextPageToken" in tree:
            content["nextPageToken"] = page.next_token
        return answer(content)

    def _search(self, body: Json) -> Sequence[Place]:
        """Return the places that a text search's body asks for, filtered, best or nearest first."""
        query = body.get("textQuery")
        if not isinstance(query, str) or not query.strip():
            raise invalid("Empty text_query.")
        if body.get("includedType"):
            check_types([body["includedType"]])
        bias, within = area_in(body, "locationBias"), area_in(body, "locationRestriction")
        if bias and within:
            raise invalid("locationBias and locationRestriction cannot both be set.")
        area = bias or within
        near = area.middle if area else None
        found: Sequence[Place]
        kind = str(body.get("includedType"))
        if within and body.get("strictTypeFiltering") and query.strip().lower() == kind.replace("_", " "):
            # A text that only names the type asks for all places of that type.
            nearby = self.city.places.nearby(within.middle, max(within.reach, 1.0))
            found = [place for place in nearby if kind in types_of(place)]
        else:
            found = search_places(self.city, query, near)
        kept = [
            place
            for place in found
            if _passes(place, body) and (within is None or within.holds(place.position))
        ]
        if body.get("openNow"):
            is_open, details = self.writer.clock.is_open, self.city.places.details
            kept = [place for place in kept if is_open(details(place.id))]
        if _choice_in(body, "rankPreference", ("RELEVANCE", "DISTANCE")) == "DISTANCE" and near is not None:
            kept.sort(key=lambda place: distance(near, place.position))
        return kept


_TYPE_LISTS = ("includedTypes", "excludedTypes", "includedPrimaryTypes", "excludedPrimaryTypes")


def _has_types(place: Place, types: dict[str, set[str]]) -> bool:
    """Return whether a place's types fit a search's sets of types by field, such as `excludedTypes`."""
    included, excluded, primary, not_primary = (types[name] for name in _TYPE_LISTS)
    mine, first = set(types_of(place)), {primary_type(place)}
    return (
        (not included or bool(included & mine))
        and not excluded & mine
        and (not primary or bool(primary & first))
        and not not_primary & first
    )


def _passes(place: Place, body: Json) -> bool:
    """Return whether a place has the price level, rating and, if strict, the type that a body asks for."""
    kind = body.get("includedType")
    lowest = number(str(body.get("minRating", 0)), "min_rating", 0, 5)
    prices = texts_in(body, "priceLevels", len(PRICES))
    is_priced = not prices or (
        place.price_level is not None and f"PRICE_LEVEL_{PRICES[place.price_level]}" in prices
    )
    is_kind = not kind or not body.get("strictTypeFiltering") or kind in types_of(place)
    return is_kind and is_priced and (place.rating or 0.0) >= lowest


def _requested_count(body: Json, name: str) -> int:
    """Return the number of results in field `name` of a body, 1 to 20; 20 if it is 0 or left out."""
    return int(number(str(body.get(name, 0)), name, 0, PAGE)) or PAGE


def _choice_in(body: Json, name: str, known: Collection[str]) -> str:
    """Return the value of field `name` of a body if it is one of `known`; else the first of `known`."""
    given = str(body.get(name))
    return given if given in known else next(iter(known))


MOST_PREDICTED, MAX_PRIMARY = 5, 5  # predictions, and primary types that may be asked for
REACH_M = 50_000.0  # places farther from the middle of the area, or of the city, are left out
SUGGESTED = frozenset({"suggestions"})


@dataclass(frozen=True, slots=True)
class Autocomplete:
    """The handler of `/v1/places:autocomplete`."""

    city: City

    def predict(self, request: ApiRequest) -> Response:
        """Return up to 5 places, nearest first, in whose name or address words begin with those typed.

        Raises:
            Refused: the input is empty.
        """
        tree = parse_mask(request.fields or "*", SUGGESTED)
        typed = str(request.body.get("input", "")).strip()
        if not typed:
            raise invalid("Invalid argument: input must not be empty.")
        primary = set(texts_in(request.body, "includedPrimaryTypes", MAX_PRIMARY))
        check_types(primary, also_wide=True)
        bias, within = (area_in(request.body, name) for name in ("locationBias", "locationRestriction"))
        area = within or bias
        middle = area.middle if area else self.city.center
        origin = message_in(request.body, "origin")
        start = lat_lng(origin, "origin") if origin else None
        found = [
            place
            for place in self.city.places.nearby(middle, REACH_M)
            if _begins_words(typed, f"{place.name} {place.address}")
            and (not primary or primary_type(place) in primary)
            and (within is None or within.holds(place.position))
        ]
        suggestions = [
            {"placePrediction": _prediction(place, typed, start)} for place in found[:MOST_PREDICTED]
        ]
        return answer(apply_mask({"suggestions": suggestions}, tree) if suggestions else {})


def _begins_words(typed: str, text: str) -> bool:
    """Return whether each word typed begins a word of the text, whatever the case."""
    words = text.casefold().replace(",", " ").split()
    return all(any(word.startswith(part) for word in words) for part in typed.casefold().split())


def _prediction(place: Place, typed: str, start: LatLng | None) -> Json:
    """Return a place as a prediction in JSON, with its distance in metres from `start`, if given."""
    whole = ", ".join(part for part in (place.name, place.address) if part)
    format_ = {"mainText": _matched_text(place.name, typed)}
    if place.address:
        format_["secondaryText"] = {"text": place.address}
    distance_json = {} if start is None else {"distanceMeters": round(distance(start, place.position))}
    return {
        "place": f"places/{place.id}",
        "placeId": place.id,
        "text": _matched_text(whole, typed),
        "structuredFormat": format_,
        "types": types_of(place),
        **distance_json,
    }


def _matched_text(text: str, typed: str) -> Json:
    """Return a text as JSON with the (start, end) offsets at which its words begin with the words typed."""
    low = text.casefold()
    starts = [0, *(end for end, (before, _) in enumerate(pairwise(text), 1) if before in " ,")]
    matches = [
        {"startOffset": start, "endOffset": start + len(part)}
        for part in typed.casefold().split()
        for start in starts
        if low.startswith(part, start)
    ]
    return {"text": text, "matches": sorted(matches, key=lambda match: match["startOffset"])}
