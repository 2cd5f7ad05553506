"""Places (New): nearby search, text search, details."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fastapi import Response

from virl.errors import BadInput, NotFound
from virl.geo import LatLng, distance
from virl.platform.city import City
from virl.platform.places import Place
from virl.serve.google.masks import MaskTree, masked, parse_mask
from virl.serve.google.pages import Page, Pages
from virl.serve.google.place_json import KNOWN, PRICES, PlaceWriter
from virl.serve.google.reading import lat_lng, message_in, number, texts_in
from virl.serve.google.wire import Ask, GoogleStatus, Json, Refused, answer, invalid

PAGE = 20  # places of a nearby search, and of a page of a text search, at most
MOST = 60  # places of a text search over all its pages
MAX_TYPES = 50  # in each list of types of a nearby search
MAX_RADIUS_M = 50_000.0
PAGING = frozenset({"pageToken", "pageSize", "maxResultCount"})


@dataclass(frozen=True, slots=True)
class NewPlaces:
    """Handlers of `/v1/places...`."""

    city: City
    writer: PlaceWriter
    pages: Pages

    def nearby(self, ask: Ask) -> Response:
        """`places:searchNearby`."""
        tree = parse_mask(ask.fields, KNOWN, "places")
        center, radius = _circle(message_in(ask.body, "locationRestriction"), "locationRestriction")
        ranking = _one_of(ask.body, "rankPreference", ("POPULARITY", "DISTANCE"))
        most = _count(ask.body, "maxResultCount")
        types = {name: set(texts_in(ask.body, name, MAX_TYPES)) for name in _TYPE_LISTS}
        found = [place for place in self.city.places.nearby(center, radius) if _has_types(place, types)]
        if ranking == "POPULARITY":
            found.sort(key=lambda place: -place.review_count)
        return self._list(Page(found[:most], None), tree)

    def text(self, ask: Ask) -> Response:
        """`places:searchText`."""
        tree = parse_mask(ask.fields, KNOWN, "places")
        size = _count(ask.body, "pageSize" if "pageSize" in ask.body else "maxResultCount")
        query = json.dumps({name: ask.body[name] for name in sorted(ask.body) if name not in PAGING})
        token = ask.body.get("pageToken")
        if token:
            return self._list(self.pages.next(str(token), size, query), tree)
        return self._list(self.pages.first(query, self._search(ask.body)[:MOST], size), tree)

    def details(self, ask: Ask) -> Response:
        """`places/{place}`."""
        tree = parse_mask(ask.fields, KNOWN)
        try:
            place = self.city.places.details(ask.path["place"])
        except NotFound:
            message = f'The Place ID "{ask.path["place"]}" is no longer valid or was not found.'
            raise Refused(GoogleStatus.NOT_FOUND, message) from None
        return answer(masked(self.writer.write(place, tree), tree))

    def _list(self, page: Page, tree: MaskTree) -> Response:
        content: Json = {}
        wanted = tree.get("places")
        if wanted is not None and page.places:
            content["places"] = [masked(self.writer.write(place, wanted), wanted) for place in page.places]
        if page.next_token and "nextPageToken" in tree:
            content["nextPageToken"] = page.next_token
        return answer(content)

    def _search(self, body: Json) -> Sequence[Place]:
        query = body.get("textQuery")
        if not isinstance(query, str) or not query.strip():
            raise invalid("Empty text_query.")
        bias, within = message_in(body, "locationBias"), message_in(body, "locationRestriction")
        if bias and within:
            raise invalid("locationBias and locationRestriction cannot both be set.")
        near = (
            _middle(bias, "locationBias")
            if bias
            else _middle(within, "locationRestriction")
            if within
            else None
        )
        try:
            found = self.city.places.search(query, near)
        except BadInput:
            return []
        kept = [place for place in found if _passes(place, body) and (not within or _inside(place, within))]
        if _one_of(body, "rankPreference", ("RELEVANCE", "DISTANCE")) == "DISTANCE" and near is not None:
            kept.sort(key=lambda place: distance(near, place.position))
        return kept


_TYPE_LISTS = ("includedTypes", "excludedTypes", "includedPrimaryTypes", "excludedPrimaryTypes")


def _has_types(place: Place, types: dict[str, set[str]]) -> bool:
    included, excluded, primary, not_primary = (types[name] for name in _TYPE_LISTS)
    mine, first = set(place.types), set(place.types[:1])
    return (
        (not included or bool(included & mine))
        and not excluded & mine
        and (not primary or bool(primary & first))
        and not not_primary & first
    )


def _passes(place: Place, body: Json) -> bool:
    kind = body.get("includedType")
    lowest = number(str(body.get("minRating", 0)), "min_rating", 0, 5)
    prices = texts_in(body, "priceLevels", len(PRICES))
    is_priced = not prices or (
        place.price_level is not None and f"PRICE_LEVEL_{PRICES[place.price_level]}" in prices
    )
    is_kind = not kind or not body.get("strictTypeFiltering") or kind in place.types
    return is_kind and is_priced and (place.rating or 0.0) >= lowest


def _circle(area: Json, name: str) -> tuple[LatLng, float]:
    circle = message_in(area, "circle")
    if not circle:
        raise invalid(f"{name}.circle is a required field.")
    center = lat_lng(circle.get("center"), f"{name}.circle.center")
    radius = number(str(circle.get("radius", 0)), f"{name}.circle.radius", 0, MAX_RADIUS_M)
    if radius == 0:
        raise invalid(f"{name}.circle.radius must be greater than 0.")
    return center, radius


def _corners(area: Json, name: str) -> tuple[LatLng, LatLng]:
    box = message_in(area, "rectangle")
    return lat_lng(box.get("low"), f"{name}.rectangle.low"), lat_lng(
        box.get("high"), f"{name}.rectangle.high"
    )


def _middle(area: Json, name: str) -> LatLng:
    if "circle" in area and name == "locationBias":
        circle = message_in(area, "circle")
        return lat_lng(circle.get("center"), f"{name}.circle.center")
    low, high = _corners(area, name)
    return LatLng((low.lat + high.lat) / 2, (low.lng + high.lng) / 2)


def _inside(place: Place, area: Json) -> bool:
    low, high = _corners(area, "locationRestriction")
    return low.lat <= place.position.lat <= high.lat and low.lng <= place.position.lng <= high.lng


def _count(body: Json, name: str) -> int:
    given = body.get(name, 0)
    return int(number(str(given), name, 0, PAGE)) or PAGE


def _one_of(body: Json, name: str, known: Collection[str]) -> str:
    first = next(iter(known))
    given = body.get(name, first)
    if not isinstance(given, str) or given not in known:
        raise invalid(f"Invalid value at '{name}': there is {', '.join(known)}.")
    return given
