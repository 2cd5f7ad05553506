"""Geocoding: positions of addresses, and addresses of positions, as Google's geocoder gives them."""

import base64
import re
from dataclasses import dataclass
from hashlib import blake2b

from fastapi import Response

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.city import City
from virl.platform.city.maps import ReverseMaps
from virl.platform.city.places import Place
from virl.serve.google.legacy_json import bounds, components, legacy_types, plus_codes, point, viewport
from virl.serve.google.options import Oddities
from virl.serve.google.place_json import address_parts
from virl.serve.google.wire import ApiRequest, Json, answer, invalid, position, position_in

SAME_M = 1.0  # a place this near to an address stands there; chosen
MOST = 10  # results for one name; chosen
FAR_DEG = 35.0  # degrees of longitude from the town to its made-up namesake; chosen
VAGUE_M = 1000.0  # metres from the town's centre to a made-up vague result; chosen
_ID = "Ei"  # begins Google's ids of addresses too, which hold the address as these do


@dataclass(frozen=True, slots=True)
class GeocodingResult:
    """One result of geocoding: a position, its address and type, and the place there; `None` for none."""

    position: LatLng
    address: str
    kind: str
    """First type: `street_address`, `route`, `intersection`, `locality` or `establishment`."""
    place: Place | None = None
    is_partial: bool = False
    """True if the result matches only a part of the address that was asked for."""

    @property
    def precision(self) -> str:
        """Google's `location_type`: `ROOFTOP`, `GEOMETRIC_CENTER` or `APPROXIMATE`."""
        if self.kind == "locality":
            return "APPROXIMATE"
        return "GEOMETRIC_CENTER" if self.kind in {"route", "intersection"} else "ROOFTOP"


def address_id(address: str) -> str:
    """Return a made-up place id that encodes an address."""
    return _ID + base64.urlsafe_b64encode(address.encode()).decode().rstrip("=")


def address_of(place_id: str) -> str | None:
    """Return the address that a place id made by `address_id` encodes; `None` for any other id."""
    if not place_id.startswith(_ID):
        return None
    text = place_id.removeprefix(_ID)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except ValueError:
        return None


def _has_number(head: str) -> bool:
    """Return whether the first part of an address, such as "97 Cross Avenue", has a house number."""
    return any("street_number" in types for _, types in address_parts(head))


REVERSE_M = 100.0  # a position farther than this from every address has none; chosen
FILTERS = frozenset({"route", "locality", "administrative_area", "postal_code", "country"})
TYPES = {"locality": ["locality", "political"]}


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of a route: its position, and the address or text that named it."""

    text: str
    position: LatLng


def resolve_stop(city: City, text: str, place_id: str = "") -> Stop:
    """Return the stop of a place id or, if that is empty, of a text with a position "lat,lng" or an address.

    Args:
        city: the city that is served.
        text: a position or an address.
        place_id: the id of a place or an address.

    Raises:
        NotFound: there is no such place, or no such address.
    """
    if place_id and not (text := address_of(place_id) or ""):
        place = city.places.details(place_id)
        return Stop(place.address, place.position)
    return Stop(text, position_in(text) or city.maps.geocode(text))


@dataclass(frozen=True, slots=True)
class Geocoding:
    """The handler of `/maps/api/geocode/json`, for addresses, positions and place ids."""

    city: City
    odd: Oddities
    """Shares of addresses that get, on purpose, a wrong result that is `far` or `vague`."""
    country: str = ""
    """Code of the country that the town is in, such as "US"; empty if unknown."""

    def geocode(self, request: ApiRequest) -> Response:
        """Return results as JSON for `address`, `latlng`, `place_id`, or the filter `components` alone."""
        filters = {}
        for part in filter(None, request.query.get("components", "").split("|")):
            name, _, value = part.partition(":")
            if name not in FILTERS or not value:
                raise invalid("Invalid request. Invalid 'components' parameter.")
            filters[name] = value
        of_position: Json = {}
        if address := request.query.get("address"):
            where = position_in(address)
            found = self._find(address) if where is None else self._reverse(where)
        elif lat_lng := request.query.get("latlng"):
            target = position(lat_lng, "latlng")
            found, of_position = self._reverse(target), {"plus_code": plus_codes(target, self.city.title)}
        elif place_id := request.query.get("place_id"):
            found = self._find_by_id(place_id)
        elif filters:
            names = [filters[name] for name in ("route", "locality") if name in filters]
            found = self._find(", ".join(names)) if names else []
        else:
            raise invalid(
                "Invalid request. Missing the 'address', 'components', 'latlng' or 'place_id' parameter."
            )
        results = [self._result(one) for one in found if self._fits(one, filters)]
        return answer(of_position | {"results": results, "status": "OK" if results else "ZERO_RESULTS"})

    def _reverse(self, target: LatLng) -> list[GeocodingResult]:
        """Return the address nearest to a position within 100 m, else the nearest place there; or []."""
        maps = self.city.maps
        if isinstance(maps, ReverseMaps) and (address := maps.address_at(target, REVERSE_M)):
            here = [place for place in self.city.places.nearby(address.position, SAME_M) if place.address]
            return [
                GeocodingResult(address.position, address.text, "street_address", here[0] if here else None)
            ]
        near = self.city.places.nearby(target, REVERSE_M)
        return [GeocodingResult(near[0].position, near[0].address, "establishment", near[0])] if near else []

    def _find_by_id(self, place_id: str) -> list[GeocodingResult]:
        """Return the one result for the id of a place or an address; empty if the id is unknown."""
        try:
            place = self.city.places.details(place_id)
        except NotFound:
            address = address_of(place_id)
            return self._find(address)[:1] if address else []
        return [GeocodingResult(place.position, place.address, "establishment", place)]

    def _fits(self, result: GeocodingResult, filters: dict[str, str]) -> bool:
        """Return whether a result lies in the country, town and street that `filters` gives by name."""
        # A town of unknown country fits every country that is asked for.
        country = filters.get("country", "")
        if self.country and country and country.casefold() != self.country.casefold():
            return False
        address = result.address.casefold()
        return all(filters[name].casefold() in address for name in ("route", "locality") if name in filters)

    def _result(self, found: GeocodingResult) -> Json:
        """Return one result as JSON of the legacy Geocoding API."""
        place = found.place
        parts = components(found.address)
        if found.kind == "locality":
            parts = [part | {"types": TYPES["locality"]} for part in parts]
        if self.country:
            parts.append(
                {"long_name": self.country, "short_name": self.country, "types": ["country", "political"]}
            )
        area = viewport(found.position)
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

    def _find(self, text: str) -> list[GeocodingResult]:
        """Return the results for an address or name, the best first; empty if nothing is found."""
        head, *rest = [part.strip() for part in text.split(",") if part.strip()] or [""]
        if self.odd.has("far", text):
            center = self.city.center
            away = LatLng(center.lat, (center.lng + FAR_DEG + 180) % 360 - 180)
            kind = "street_address" if _has_number(head) else "route"
            return [GeocodingResult(away, f"{head}, Farville", kind)]
        if self.odd.has("vague", text):
            # Drawn from the text: the same question gets the same answer, at any time and in any order.
            heading = int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") * 360 / 65536
            away = destination(self.city.center, heading, VAGUE_M)
            return [GeocodingResult(away, f"Main Street, {self.city.title}", "route", is_partial=True)]
        title = self.city.title
        if head.casefold() == title.casefold():
            return [GeocodingResult(self.city.center, title, "locality")]
        # A street is found without its number; the result then says that it is partial.
        found = self._look_up(text, head)
        if found is None:
            return []
        # Parts of the text that the address lacks make a partial result, but for the town's own name.
        known = {part.strip().casefold() for part in (*found.address.split(","), title)}
        is_partial = found.is_partial or any(part.casefold() not in known for part in rest)
        first = GeocodingResult(found.position, found.address, found.kind, found.place, is_partial)
        return [first, *self._namesakes(head, first)]

    def _look_up(self, text: str, head: str) -> GeocodingResult | None:
        """Return the result for address `text`, else for the street in its first part `head`; else `None`."""
        try:
            return self._describe(self.city.maps.geocode(text), head)
        except NotFound:
            street = " ".join(name for name, types in address_parts(head) if "route" in types)
        if street == head:
            return None
        try:
            position = self.city.maps.geocode(street)
        except NotFound:
            return None
        return GeocodingResult(position, f"{street}, {self.city.title}", "route", is_partial=True)

    def _describe(self, position: LatLng, head: str) -> GeocodingResult:
        """Return the result at the position of what `head` names: a place, street, crossing or address."""
        # The maps know positions only; the place that stands there tells whose address it is.
        here = self.city.places.nearby(position, SAME_M)
        named = next((place for place in here if place.name.casefold() == head.casefold()), None)
        if named is not None:
            return GeocodingResult(position, named.address or named.name, "establishment", named)
        if not _has_number(head):
            crossing = re.search(r"&|\band\b|\bat\b", head, re.IGNORECASE)
            kind = "intersection" if crossing else "route"
            return GeocodingResult(position, f"{head}, {self.city.title}", kind)
        if here and here[0].address:
            return GeocodingResult(position, here[0].address, "street_address", here[0])
        maps = self.city.maps
        address = maps.address_at(position, SAME_M) if isinstance(maps, ReverseMaps) else None
        return GeocodingResult(
            position, address.text if address else f"{head}, {self.city.title}", "street_address"
        )

    def _namesakes(self, name: str, first: GeocodingResult) -> list[GeocodingResult]:
        """Return at most 9 more places called `name` than `first`; none where requests cost money."""
        if first.kind != "establishment" or self.city.ledger is not None:
            return []
        try:
            places = self.city.places.search(name, first.position)
        except BadInput:
            return []
        others = [
            place
            for place in places
            if place.name.casefold() == name.casefold() and distance(place.position, first.position) > SAME_M
        ]
        return [
            GeocodingResult(place.position, place.address or place.name, "establishment", place)
            for place in others[: MOST - 1]
        ]
