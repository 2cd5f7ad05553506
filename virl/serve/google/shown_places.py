"""A city's places as the server shows them: some changed, closed or hardly known, or with finer types."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from hashlib import blake2b

from virl.geo.globe import LatLng
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Image
from virl.serve.google.options import Oddities
from virl.serve.google.place_types import TYPES


@dataclass(frozen=True, slots=True)
class ShownPlaces:
    """The places of a city, each changed before it is shown.

    Args:
        places: of the city.
        change: gives what is shown of a place.
        adds_types: whether places are shown with further types: they are then chosen by those, too.
    """

    places: Places
    change: Callable[[Place], Place]
    adds_types: bool = False

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return nearby places as `Places.nearby`; they are chosen by the types that they are shown with."""
        asked = () if self.adds_types else types
        found = [self.change(place) for place in self.places.nearby(position, radius, asked, whole=whole)]
        return [place for place in found if not types or set(types).intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Search for places, as `Places.search`."""
        return [self.change(place) for place in self.places.search(query, near)]

    def details(self, place_id: str) -> Place:
        """Return the details of a place, as `Places.details`."""
        return self.change(self.places.details(place_id))

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return photos of a place, as `Places.photos`."""
        return self.places.photos(place_id, limit)


def odd_places(places: Places, odd: Oddities) -> ShownPlaces:
    """Show a share of places as closed for good, and a share without hours, prices, ratings or reviews.

    Args:
        places: of the city.
        odd: which of them.
    """

    def change(place: Place) -> Place:
        if odd.has("bare", place.id):
            place = replace(
                place, hours=(), price_level=None, rating=None, review_count=0, reviews=(), facts=()
            )
        return replace(place, is_open=False) if odd.has("closed", place.id) else place

    return ShownPlaces(places, change)


def fine_places(places: Places) -> ShownPlaces:
    """Show the places of a made town with a finer type before those that they have."""
    return ShownPlaces(places, _with_fine_type, adds_types=True)


def _with_fine_type(place: Place) -> Place:
    """Return a place with a finer type first: one that its name tells, else one drawn by its id."""
    known = TYPES.fine.get(place.types[0], ()) if place.types else ()
    if not known:
        return place
    words = set(place.name.casefold().split())
    told = [kind for kind in known if words.intersection(kind.split("_")[:1])]
    drawn = blake2b(place.id.encode(), digest_size=4).digest()
    kind = told[0] if told else known[int.from_bytes(drawn, "big") % len(known)]
    return replace(place, types=(kind, *place.types))
