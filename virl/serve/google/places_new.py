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
from virl.serve.google.place_json import KNOWN, PRICES, PlaceWriter, found_place, named_places
from virl.serve.google.protojson import MaskTree, apply_mask, parse_mask
from virl.serve.google.shown_places import check_types, primary_type, types_of
from virl.serve.google.wire import (
    Ask,
    Circle,
    Json,
    Page,
    Pages,
    Rectangle,
    answer,
    area_in,
    circle_in,
    invalid,
    lat_lng,
    message_in,
    number,
    texts_in,
)

PAGE = 20  # places of a nearby search, and of a page of a text search, at most
MOST = 60  # places of a text search over all its pages
MAX_TYPES = 50  # in each list of types of a nearby search
PAGING = frozenset({"pageToken", "pageSize", "maxResultCount"})


@dataclass(frozen=True, slots=True)
class NewPlaces:
    """Handlers of `/v1/places...`."""

    city: City
    writer: PlaceWriter
    pages: Pages
    odd: Oddities

    def nearby(self, ask: Ask) -> Response:
        """Answer `places:searchNearby`."""
        tree = parse_mask(ask.fields, KNOWN, "places")
        circle = circle_in(message_in(ask.body, "locationRestriction"), "locationRestriction")
        ranking = _one_of(ask.body, "rankPreference", ("POPULARITY", "DISTANCE"))
        most = _results_asked(ask.body, "maxResultCount")
        types = {name: set(texts_in(ask.body, name, MAX_TYPES)) for name in _TYPE_LISTS}
        for wanted, unwanted in (_TYPE_LISTS[:2], _TYPE_LISTS[2:]):
            if conflicting := sorted(types[wanted] & types[unwanted]):
                raise invalid(f"Conflicting types in {wanted} and {unwanted}: {', '.join(conflicting)}.")
        check_types(set().union(*types.values()))
        near = self.city.places.nearby(circle.middle, circle.radius)
        found = [place for place in near if _has_types(place, types)] if any(types.values()) else near
        if ranking == "POPULARITY":
            found.sort(key=lambda place: -place.review_count)
        return self._answer_page(Page(found[:most], None), tree)

    def text(self, ask: Ask) -> Response:
        """Answer `places:searchText`."""
        tree = parse_mask(ask.fields, KNOWN, "places")
        size = _results_asked(ask.body, "pageSize" if "pageSize" in ask.body else "maxResultCount")
        query = json.dumps({name: ask.body[name] for name in sorted(ask.body) if name not in PAGING})
        token = ask.body.get("pageToken")
        if token:
            return self._answer_page(self.pages.next_page(str(token), size, query), tree)
        return self._answer_page(self.pages.first(query, self._search(ask.body)[:MOST], size), tree)

    def details(self, ask: Ask) -> Response:
        """Answer `places/{place}`."""
        tree = parse_mask(ask.fields, KNOWN)
        gone = f'The Place ID "{ask.path["place"]}" is no longer valid or was not found.'
        place = found_place(self.city, ask.path["place"], self.odd, gone)
        return answer(apply_mask(self.writer.write(place, tree), tree))

    def _answer_page(self, page: Page, tree: MaskTree) -> Response:
        """Return a page of places as a response, with the fields of the mask."""
        content: Json = {}
        wanted = tree.get("places")
        if wanted is not None and page.places:
            content["places"] = [
                apply_mask(self.writer.write(place, wanted), wanted) for place in page.places
            ]
        if page.next_token and "nextPageToken" in tree:
            content["nextPageToken"] = page.next_token
        return answer(content)

    def _search(self, body: Json) -> Sequence[Place]:
        """Return the places that a text search finds, filtered and sorted as its body asks."""
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
        found: Sequence[Place] | None = self._of_type(query, body, within) if within else None
        if found is None:
            found = named_places(self.city, query, near)
        kept = [
            place
            for place in found
            if _passes(place, body) and (within is None or within.holds(place.position))
        ]
        if body.get("openNow"):
            kept = [place for place in kept if self.writer.clock.is_open(self.writer.with_details(place))]
        if _one_of(body, "rankPreference", ("RELEVANCE", "DISTANCE")) == "DISTANCE" and near is not None:
            kept.sort(key=lambda place: distance(near, place.position))
        return kept

    def _of_type(self, query: str, body: Json, area: Circle | Rectangle) -> list[Place] | None:
        """Return all places of an area where a text names no more than the type that is asked for."""
        kind = str(body.get("includedType"))
        if not body.get("strictTypeFiltering") or query.strip().lower() != kind.replace("_", " "):
            return None
        near = self.city.places.nearby(area.middle, max(area.reach, 1.0))
        return [place for place in near if kind in types_of(place)]


_TYPE_LISTS = ("includedTypes", "excludedTypes", "includedPrimaryTypes", "excludedPrimaryTypes")


def _has_types(place: Place, types: dict[str, set[str]]) -> bool:
    """Return whether a place's types are as the lists of included and excluded types ask."""
    included, excluded, primary, not_primary = (types[name] for name in _TYPE_LISTS)
    mine, first = set(types_of(place)), {primary_type(place)}
    return (
        (not included or bool(included & mine))
        and not excluded & mine
        and (not primary or bool(primary & first))
        and not not_primary & first
    )


def _passes(place: Place, body: Json) -> bool:
    """Return whether a place has the type, price and rating that a body asks for."""
    kind = body.get("includedType")
    lowest = number(str(body.get("minRating", 0)), "min_rating", 0, 5)
    prices = texts_in(body, "priceLevels", len(PRICES))
    is_priced = not prices or (
        place.price_level is not None and f"PRICE_LEVEL_{PRICES[place.price_level]}" in prices
    )
    is_kind = not kind or not body.get("strictTypeFiltering") or kind in types_of(place)
    return is_kind and is_priced and (place.rating or 0.0) >= lowest


def _results_asked(body: Json, name: str) -> int:
    """Return the number of results asked for; a page's if none."""
    given = body.get(name, 0)
    return int(number(str(given), name, 0, PAGE)) or PAGE


def _one_of(body: Json, name: str, known: Collection[str]) -> str:
    """Return the value that the body chooses among the known ones; the first if it chooses none of them."""
    given = str(body.get(name))
    return given if given in known else next(iter(known))


MOST_PREDICTED, MAX_PRIMARY = 5, 5  # predictions, and primary types that may be asked for
REACH_M = 50_000.0  # places farther from the middle of the bias, or of the city, are not looked at
SUGGESTED = frozenset({"suggestions"})


@dataclass(frozen=True, slots=True)
class Autocomplete:
    """The handler of `/v1/places:autocomplete`."""

    city: City

    def predict(self, ask: Ask) -> Response:
        """Return places of which each typed word begins a word of the name or the address, nearest first.

        Raises:
            Refused: the input is empty.
        """
        tree = parse_mask(ask.fields or "*", SUGGESTED)
        typed = str(ask.body.get("input", "")).strip()
        if not typed:
            raise invalid("Invalid argument: input must not be empty.")
        primary = set(texts_in(ask.body, "includedPrimaryTypes", MAX_PRIMARY))
        check_types(primary, also_wide=True)
        bias, within = (area_in(ask.body, name) for name in ("locationBias", "locationRestriction"))
        area = within or bias
        middle = area.middle if area else self.city.center
        origin = message_in(ask.body, "origin")
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
    """Return whether each word typed begins a word of the text."""
    words = text.casefold().replace(",", " ").split()
    return all(any(word.startswith(part) for word in words) for part in typed.casefold().split())


def _prediction(place: Place, typed: str, start: LatLng | None) -> Json:
    """Return a place as a suggestion for what was typed, with its metres from `start`, if any."""
    whole = ", ".join(part for part in (place.name, place.address) if part)
    format_ = {"mainText": _text(place.name, typed)}
    if place.address:
        format_["secondaryText"] = {"text": place.address}
    far = {} if start is None else {"distanceMeters": round(distance(start, place.position))}
    return {
        "place": f"places/{place.id}",
        "placeId": place.id,
        "text": _text(whole, typed),
        "structuredFormat": format_,
        "types": types_of(place),
        **far,
    }


def _text(text: str, typed: str) -> Json:
    """Return a text with where it matches what was typed."""
    low = text.casefold()
    starts = [0, *(end for end, (before, _) in enumerate(pairwise(text), 1) if before in " ,")]
    matches = [
        {"startOffset": start, "endOffset": start + len(part)}
        for part in typed.casefold().split()
        for start in starts
        if low.startswith(part, start)
    ]
    return {"text": text, "matches": sorted(matches, key=lambda match: match["startOffset"])}
