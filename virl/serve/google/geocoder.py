"""What an address stands for, as Google's geocoder would say it."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from virl.errors import BadInput, NotFound
from virl.geo import LatLng, destination, distance
from virl.platform.city import City
from virl.platform.maps import ReverseMaps
from virl.platform.places import Place
from virl.serve.google.options import Oddities
from virl.serve.google.place_json import address_parts

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
    """Whether it is not all of what was asked for."""

    @property
    def precision(self) -> str:
        """Google's `location_type`."""
        if self.kind == "locality":
            return "APPROXIMATE"
        return "GEOMETRIC_CENTER" if self.kind in {"route", "intersection"} else "ROOFTOP"


@dataclass(frozen=True, slots=True)
class Geocoder:
    """Looks up addresses.

    Args:
        city: what is served.
        odd: which addresses are answered oddly.
    """

    city: City
    odd: Oddities

    def find(self, text: str) -> list[Geocoded]:
        """What an address may stand for, the best first; nothing if it stands for nothing."""
        head, *rest = [part.strip() for part in text.split(",") if part.strip()] or [""]
        if self.odd.has("far", text):
            return [self._elsewhere(head)]
        if self.odd.has("vague", text):
            return [self._vague(text)]
        title = self.city.title
        if head.casefold() == title.casefold():
            return [Geocoded(self.city.center, title, "locality")]
        found = self._known(text, head)
        if found is None:
            return []
        is_partial = found.is_partial or not _all_said(rest, found.address, title)
        first = Geocoded(found.position, found.address, found.kind, found.place, is_partial)
        return [first, *self._namesakes(head, first)]

    def _known(self, text: str, head: str) -> Geocoded | None:
        """What the city's maps know of an address, or of its street alone."""
        try:
            return self._described(self.city.maps.geocode(text), head)
        except NotFound:
            street = " ".join(name for name, types in address_parts(head) if "route" in types)
        if street == head:
            return None
        try:
            position = self.city.maps.geocode(street)
        except NotFound:
            return None
        return Geocoded(position, f"{street}, {self.city.title}", "route", is_partial=True)

    def _described(self, position: LatLng, head: str) -> Geocoded:
        here = self.city.places.nearby(position, SAME_M)
        named = next((place for place in here if place.name.casefold() == head.casefold()), None)
        if named is not None:
            return Geocoded(position, named.address or named.name, "establishment", named)
        if not _numbered(head):
            crossing = re.search(r"&|\band\b|\bat\b", head, re.IGNORECASE)
            kind = "intersection" if crossing else "route"
            return Geocoded(position, f"{head}, {self.city.title}", kind)
        if here and here[0].address:
            return Geocoded(position, here[0].address, "street_address", here[0])
        maps = self.city.maps
        door = maps.address_at(position, SAME_M) if isinstance(maps, ReverseMaps) else None
        return Geocoded(position, door.text if door else f"{head}, {self.city.title}", "street_address")

    def _namesakes(self, name: str, first: Geocoded) -> list[Geocoded]:
        """Other places of the same name; a city that costs money is not asked for them."""
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

    def _elsewhere(self, head: str) -> Geocoded:
        """A thing of the same name in another country."""
        center = self.city.center
        where = LatLng(center.lat, (center.lng + FAR_DEG + 180) % 360 - 180)
        return Geocoded(where, f"{head}, Farville", "street_address" if _numbered(head) else "route")

    def _vague(self, text: str) -> Geocoded:
        """Some street of the town, whatever was asked for."""
        heading = int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") * 360 / 65536
        where = destination(self.city.center, heading, VAGUE_M)
        return Geocoded(where, f"Main Street, {self.city.title}", "route", is_partial=True)


def address_id(address: str) -> str:
    """The place id of an address."""
    return _ID + base64.urlsafe_b64encode(address.encode()).decode().rstrip("=")


def address_of(place_id: str) -> str | None:
    """The address that such an id holds, or `None` if it is no such id."""
    if not place_id.startswith(_ID):
        return None
    text = place_id.removeprefix(_ID)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except ValueError:
        return None


def _numbered(head: str) -> bool:
    return any("street_number" in types for _, types in address_parts(head))


def _all_said(rest: Sequence[str], address: str, title: str) -> bool:
    """Whether what follows an address is of this town."""
    known = {part.strip().casefold() for part in (*address.split(","), title)}
    return all(part.casefold() in known for part in rest)
