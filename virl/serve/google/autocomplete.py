"""Places (New): predictions while somebody types."""

from dataclasses import dataclass
from itertools import pairwise

from fastapi import Response

from virl.geo import LatLng, distance
from virl.platform.city import City
from virl.platform.places import Place
from virl.serve.google.areas import area_in
from virl.serve.google.masks import masked, parse_mask
from virl.serve.google.place_types import check_types, primary_type, types_of
from virl.serve.google.reading import lat_lng, message_in, texts_in
from virl.serve.google.wire import Ask, Json, answer, invalid

MOST, MAX_TYPES = 5, 5  # predictions, and primary types that may be asked for
REACH_M = 50_000.0  # places farther from the middle of the bias, or of the city, are not looked at
KNOWN = frozenset({"suggestions"})


@dataclass(frozen=True, slots=True)
class Autocomplete:
    """The handler of `/v1/places:autocomplete`."""

    city: City

    def predict(self, ask: Ask) -> Response:
        """Places of which each typed word begins a word of the name or the address, the nearest first."""
        tree = parse_mask(ask.fields or "*", KNOWN)
        typed = str(ask.body.get("input", "")).strip()
        if not typed:
            raise invalid("Invalid argument: input must not be empty.")
        primary = set(texts_in(ask.body, "includedPrimaryTypes", MAX_TYPES))
        check_types(primary, also_wide=True)
        bias, within = (area_in(ask.body, name) for name in ("locationBias", "locationRestriction"))
        area = within or bias
        middle = area.middle if area else self.city.center
        origin = message_in(ask.body, "origin")
        start = lat_lng(origin, "origin") if origin else None
        found = [
            place
            for place in self.city.places.nearby(middle, REACH_M)
            if _begins(typed, f"{place.name} {place.address}")
            and (not primary or primary_type(place) in primary)
            and (within is None or within.holds(place.position))
        ]
        suggestions = [{"placePrediction": _prediction(place, typed, start)} for place in found[:MOST]]
        return answer(masked({"suggestions": suggestions}, tree) if suggestions else {})


def _begins(typed: str, text: str) -> bool:
    words = text.casefold().replace(",", " ").split()
    return all(any(word.startswith(part) for word in words) for part in typed.casefold().split())


def _prediction(place: Place, typed: str, start: LatLng | None) -> Json:
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
    """A text with where it matches what was typed."""
    low = text.casefold()
    starts = [0, *(end for end, (before, _) in enumerate(pairwise(text), 1) if before in " ,")]
    matches = [
        {"startOffset": start, "endOffset": start + len(part)}
        for part in typed.casefold().split()
        for start in starts
        if low.startswith(part, start)
    ]
    return {"text": text, "matches": sorted(matches, key=lambda match: match["startOffset"])}
