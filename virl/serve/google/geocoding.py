"""Geocoding: addresses to positions as Google's geocoder would say it, and back."""

import base64
import re
from collections.abc import Sequence
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
from virl.serve.google.wire import Ask, Json, answer, invalid, position, position_in

SAME_M = 1.0  # a place this near to an address stands there; chosen
MOST = 10  # results of one name; chosen
FAR_DEG = 35.0  # of longitude, from the town to a thing of the same name elsewhere; chosen
VAGUE_M = 1000.0  # from the town's centre to what a vague answer finds; chosen
_ID = "Ei"  # begins Google's ids of addresses too, which hold the address as these do


@dataclass(frozen=True, slots=True)
class Geocoded:
    """One result."""

    position: LatLng
    address: str
    kind: str
    """The first type: `street_address`, `route`, `intersection`, `locality` or `establishment`."""
    place: Place | None = None
    is_partial: bool = False
    """True if it is not all of what was asked for."""

    @property
    def precision(self) -> str:
        """Google's `location_type`."""
        if self.kind == "locality":
            return "APPROXIMATE"
        return "GEOMETRIC_CENTER" if self.kind in {"route", "intersection"} else "ROOFTOP"


@dataclass(frozen=True, slots=True)
class Geocoder:
    """A finder of addresses.

    Args:
        city: what is served.
        odd: which addresses are answered oddly.
    """

    city: City
    odd: Oddities

    def find(self, text: str) -> list[Geocoded]:
        """Return the things that an address may stand for, the best first; empty if there are none."""
        head, *rest = [part.strip() for part in text.split(",") if part.strip()] or [""]
        if self.odd.has("far", text):
            return [self._foreign_namesake(head)]
        if self.odd.has("vague", text):
            return [self._vague(text)]
        title = self.city.title
        if head.casefold() == title.casefold():
            return [Geocoded(self.city.center, title, "locality")]
        # A street is found without its number; the result then says that it is partial.
        found = self._look_up(text, head)
        if found is None:
            return []
        is_partial = found.is_partial or not _all_said(rest, found.address, title)
        first = Geocoded(found.position, found.address, found.kind, found.place, is_partial)
        return [first, *self._namesakes(head, first)]

    def _look_up(self, text: str, head: str) -> Geocoded | None:
        """Return the thing that the city's maps know by an address or its street alone; `None` if none."""
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
        return Geocoded(position, f"{street}, {self.city.title}", "route", is_partial=True)

    def _describe(self, position: LatLng, head: str) -> Geocoded:
        """Return what stands at a position: a place of this name, a street, a crossing or an address."""
        # The maps know positions only; the place that stands there tells whose address it is.
        here = self.city.places.nearby(position, SAME_M)
        named = next((place for place in here if place.name.casefold() == head.casefold()), None)
        if named is not None:
            return Geocoded(position, named.address or named.name, "establishment", named)
        if not _has_number(head):
            crossing = re.search(r"&|\band\b|\bat\b", head, re.IGNORECASE)
            kind = "intersection" if crossing else "route"
            return Geocoded(position, f"{head}, {self.city.title}", kind)
        if here and here[0].address:
            return Geocoded(position, here[0].address, "street_address", here[0])
        maps = self.city.maps
        door = maps.address_at(position, SAME_M) if isinstance(maps, ReverseMaps) else None
        return Geocoded(position, door.text if door else f"{head}, {self.city.title}", "street_address")

    def _namesakes(self, name: str, first: Geocoded) -> list[Geocoded]:
        """Return the other places of the same name; a city that costs money is not asked for them."""
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
            Geocoded(place.position, place.address or place.name, "establishment", place)
            for place in others[: MOST - 1]
        ]

    def _foreign_namesake(self, head: str) -> Geocoded:
        """Return a thing of the same name in another country."""
        center = self.city.center
        where = LatLng(center.lat, (center.lng + FAR_DEG + 180) % 360 - 180)
        return Geocoded(where, f"{head}, Farville", "street_address" if _has_number(head) else "route")

    def _vague(self, text: str) -> Geocoded:
        """Return some street of the town, whatever was asked for."""
        # Drawn from the text: the same question gets the same answer, at any time and in any order.
        heading = int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") * 360 / 65536
        where = destination(self.city.center, heading, VAGUE_M)
        return Geocoded(where, f"Main Street, {self.city.title}", "route", is_partial=True)


def address_id(address: str) -> str:
    """Return the place id of an address."""
    return _ID + base64.urlsafe_b64encode(address.encode()).decode().rstrip("=")


def address_of(place_id: str) -> str | None:
    """Return the address that such an id holds, or `None` if it is no such id."""
    if not place_id.startswith(_ID):
        return None
    text = place_id.removeprefix(_ID)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except ValueError:
        return None


def _has_number(head: str) -> bool:
    """Return whether the head of an address has a house number."""
    return any("street_number" in types for _, types in address_parts(head))


def _all_said(rest: Sequence[str], address: str, title: str) -> bool:
    """Return whether what follows an address is of this town."""
    known = {part.strip().casefold() for part in (*address.split(","), title)}
    return all(part.casefold() in known for part in rest)


REVERSE_M = 100.0  # a position farther than this from every address has none; chosen
FILTERS = frozenset({"route", "locality", "administrative_area", "postal_code", "country"})
TYPES = {"locality": ["locality", "political"]}


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of a way, as it was named."""

    text: str
    position: LatLng


def stop_of(city: City, text: str, place_id: str = "") -> Stop:
    """Return the stop that an id names, or without one a position or an address.

    Args:
        city: that is served.
        text: position or address.
        place_id: empty for none.

    Raises:
        NotFound: there is no such place, or no such address.
    """
    if place_id and not (text := address_of(place_id) or ""):
        place = city.places.details(place_id)
        return Stop(place.address, place.position)
    return Stop(text, position_in(text) or city.maps.geocode(text))


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
        """Return the position of an address, the address of a position, or both of a place."""
        filters = _filters(ask.query.get("components", ""))
        of_position: Json = {}
        if address := ask.query.get("address"):
            where = position_in(address)
            found = self.geocoder.find(address) if where is None else self._reverse(where)
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

    def _reverse(self, wanted: LatLng) -> list[Geocoded]:
        """Return the address nearest to a position, else the nearest place; empty if neither is near."""
        maps = self.city.maps
        if isinstance(maps, ReverseMaps) and (door := maps.address_at(wanted, REVERSE_M)):
            here = [place for place in self.city.places.nearby(door.position, SAME_M) if place.address]
            return [Geocoded(door.position, door.text, "street_address", here[0] if here else None)]
        near = self.city.places.nearby(wanted, REVERSE_M)
        return [Geocoded(near[0].position, near[0].address, "establishment", near[0])] if near else []

    def _place(self, place_id: str) -> list[Geocoded]:
        """Return the result for a place id, or for one that stands for an address."""
        try:
            place = self.city.places.details(place_id)
        except NotFound:
            address = address_of(place_id)
            return self.geocoder.find(address)[:1] if address else []
        return [Geocoded(place.position, place.address, "establishment", place)]

    def _fits(self, found: Geocoded, filters: dict[str, str]) -> bool:
        """Return whether a result is in the country, town and street that are asked for."""
        # A town of unknown country fits every country that is asked for.
        country = filters.get("country", "")
        if self.country and country and country.casefold() != self.country.casefold():
            return False
        said = found.address.casefold()
        return all(filters[name].casefold() in said for name in ("route", "locality") if name in filters)

    def _result(self, found: Geocoded) -> Json:
        """Return a result as the legacy API writes it."""
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


def _filters(text: str) -> dict[str, str]:
    """Return the filters of a text such as `country:US|locality:Springfield`."""
    filters = {}
    for part in filter(None, text.split("|")):
        name, _, value = part.partition(":")
        if name not in FILTERS or not value:
            raise invalid("Invalid request. Invalid 'components' parameter.")
        filters[name] = value
    return filters
