"""A city's places as a server shows them: with finer types."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import blake2b

from virl.geo import LatLng
from virl.platform.places import Place, Places
from virl.platform.streetview import Image
from virl.serve.google.place_types import TYPES


@dataclass(frozen=True, slots=True)
class FinePlaces:
    """The places of a made town with a finer type before those that they have."""

    places: Places

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """As `Places.nearby`; places are chosen by all their types."""
        found = [_finer(place) for place in self.places.nearby(position, radius, whole=whole)]
        return [place for place in found if not types or set(types).intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """As `Places.search`."""
        return [_finer(place) for place in self.places.search(query, near)]

    def details(self, place_id: str) -> Place:
        """As `Places.details`."""
        return _finer(self.places.details(place_id))

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """As `Places.photos`."""
        return self.places.photos(place_id, limit)


def _finer(place: Place) -> Place:
    known = TYPES.fine.get(place.types[0], ()) if place.types else ()
    if not known:
        return place
    words = set(place.name.casefold().split())
    told = [kind for kind in known if words.intersection(kind.split("_")[:1])]
    drawn = blake2b(place.id.encode(), digest_size=4).digest()
    kind = told[0] if told else known[int.from_bytes(drawn, "big") % len(known)]
    return replace(place, types=(kind, *place.types))
