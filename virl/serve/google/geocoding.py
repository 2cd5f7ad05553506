"""Geocoding: addresses to positions, and back."""

from dataclasses import dataclass

from fastapi import Response

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.maps import ReverseMaps
from virl.serve.google.geocoder import SAME_M, Geocoded, Geocoder, address_id, address_of
from virl.serve.google.legacy_json import around, bounds, components, legacy_types, plus_codes, point
from virl.serve.google.reading import position, position_in
from virl.serve.google.wire import Ask, Json, answer, invalid

REVERSE_M = 100.0  # a position farther than this from every address has none; chosen
FILTERS = frozenset({"route", "locality", "administrative_area", "postal_code", "country"})
TYPES = {"locality": ["locality", "political"]}


@dataclass(frozen=True, slots=True)
class Geocoding:
    """The handler of `/maps/api/geocode/json`.

    Args:
        city: what is served.
        geocoder: looks up addresses.
        country: code of the country that the town is in; empty for none.
    """

    city: City
    geocoder: Geocoder
    country: str = ""

    def geocode(self, ask: Ask) -> Response:
        """The position of an address, the address of a position, or both of a place."""
        filters = _filters(ask.query.get("components", ""))
        of_position: Json = {}
        if address := ask.query.get("address"):
            found = self._forward(address)
        elif lat_lng := ask.query.get("latlng"):
            wanted = position(lat_lng, "latlng")
            found, of_position = self._reverse(wanted), {"plus_code": plus_codes(wanted, self.city.title)}
        elif place_id := ask.query.get("place_id"):
            found = self._place(place_id)
        elif filters:
            names = [filters[name] for name in ("route", "locality") if name in filters]
            found = self.geocoder.find(", ".join(names)) if names else []
        else:
            raise invalid(
                "Invalid request. Missing the 'address', 'components', 'latlng' or 'place_id' parameter."
            )
        results = [self._result(one) for one in found if self._fits(one, filters)]
        return answer(of_position | {"results": results, "status": "OK" if results else "ZERO_RESULTS"})

    def _forward(self, address: str) -> list[Geocoded]:
        where = position_in(address)
        return self.geocoder.find(address) if where is None else self._reverse(where)

    def _reverse(self, wanted: LatLng) -> list[Geocoded]:
        maps = self.city.maps
        if isinstance(maps, ReverseMaps) and (door := maps.address_at(wanted, REVERSE_M)):
            here = [place for place in self.city.places.nearby(door.position, SAME_M) if place.address]
            return [Geocoded(door.position, door.text, "street_address", here[0] if here else None)]
        near = self.city.places.nearby(wanted, REVERSE_M)
        return [Geocoded(near[0].position, near[0].address, "establishment", near[0])] if near else []

    def _place(self, place_id: str) -> list[Geocoded]:
        try:
            place = self.city.places.details(place_id)
        except NotFound:
            address = address_of(place_id)
            return self.geocoder.find(address)[:1] if address else []
        return [Geocoded(place.position, place.address, "establishment", place)]

    def _fits(self, found: Geocoded, filters: dict[str, str]) -> bool:
        """Whether a result is in the country, town and street that are asked for."""
        country = filters.get("country", "")
        if self.country and country and country.casefold() != self.country.casefold():
            return False
        said = found.address.casefold()
        return all(filters[name].casefold() in said for name in ("route", "locality") if name in filters)

    def _result(self, found: Geocoded) -> Json:
        place = found.place
        parts = components(found.address)
        if found.kind == "locality":
            parts = [part | {"types": TYPES["locality"]} for part in parts]
        if self.country:
            parts.append(
                {"long_name": self.country, "short_name": self.country, "types": ["country", "political"]}
            )
        area = around(found.position)
        if found.kind == "locality" and self.city.region is not None:
            area = bounds(self.city.region.corners)
        partial = {"partial_match": True} if found.is_partial else {}
        is_spot = found.precision == "ROOFTOP"
        types = TYPES.get(found.kind, [found.kind]) if place is None else legacy_types(place)
        return {
            "address_components": parts,
            "formatted_address": found.address,
            "geometry": {
                "location": point(found.position),
                "location_type": found.precision,
                "viewport": area,
            },
            **partial,
            "place_id": address_id(found.address) if place is None else place.id,
            **({"plus_code": plus_codes(found.position, self.city.title)} if is_spot else {}),
            "types": types,
        }


def _filters(text: str) -> dict[str, str]:
    """Components such as `country:US|locality:Springfield`."""
    filters = {}
    for part in filter(None, text.split("|")):
        name, _, value = part.partition(":")
        if name not in FILTERS or not value:
            raise invalid("Invalid request. Invalid 'components' parameter.")
        filters[name] = value
    return filters
