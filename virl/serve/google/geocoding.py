"""Geocoding: addresses to positions, and back."""

import hashlib
from dataclasses import dataclass

from fastapi import Response

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.maps import ReverseMaps
from virl.platform.places import Place
from virl.serve.google.legacy_json import around, components, point
from virl.serve.google.place_json import types_of
from virl.serve.google.reading import position, position_in
from virl.serve.google.wire import Ask, Json, answer, invalid

REVERSE_M = 100.0  # a position farther than this from every address has none; chosen
SAME_M = 1.0  # a place this near to an address stands there; chosen


@dataclass(frozen=True, slots=True)
class Geocoding:
    """The handler of `/maps/api/geocode/json`."""

    city: City

    def geocode(self, ask: Ask) -> Response:
        """The position of an address, the address of a position, or both of a place."""
        if address := ask.query.get("address"):
            result = self._forward(address)
        elif lat_lng := ask.query.get("latlng"):
            result = self._reverse(position(lat_lng, "latlng"))
        elif place_id := ask.query.get("place_id"):
            result = self._place(place_id)
        else:
            raise invalid(
                "Invalid request. Missing the 'address', 'components', 'latlng' or 'place_id' parameter."
            )
        results = [] if result is None else [result]
        return answer({"results": results, "status": "OK" if results else "ZERO_RESULTS"})

    def _forward(self, address: str) -> Json | None:
        found = position_in(address)
        if found is not None:
            return self._reverse(found)
        try:
            found = self.city.maps.geocode(address)
        except NotFound:
            return None
        here = self.city.places.nearby(found, SAME_M)
        return _result(here[0].address if here else address, found, here[0] if here else None)

    def _reverse(self, wanted: LatLng) -> Json | None:
        maps = self.city.maps
        if isinstance(maps, ReverseMaps) and (door := maps.address_at(wanted, REVERSE_M)):
            here = [place for place in self.city.places.nearby(door.position, SAME_M) if place.address]
            return _result(door.text, door.position, here[0] if here else None)
        near = self.city.places.nearby(wanted, REVERSE_M)
        return _result(near[0].address, near[0].position, near[0]) if near else None

    def _place(self, place_id: str) -> Json | None:
        try:
            place = self.city.places.details(place_id)
        except NotFound:
            return None
        return _result(place.address, place.position, place)


def _result(address: str, where: LatLng, place: Place | None) -> Json:
    made_up = f"address-{hashlib.blake2b(address.encode(), digest_size=8).hexdigest()}"
    return {
        "address_components": components(address),
        "formatted_address": address,
        "geometry": {"location": point(where), "location_type": "ROOFTOP", "viewport": around(where)},
        "place_id": made_up if place is None else place.id,
        "types": ["street_address"] if place is None else types_of(place),
    }
