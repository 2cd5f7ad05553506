"""A city's places with some that have closed, and some of which hardly anything is known."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from virl.geo import LatLng
from virl.platform.places import Place, Places
from virl.platform.streetview import Image
from virl.serve.google.options import Oddities


@dataclass(frozen=True, slots=True)
class OddPlaces:
    """Places of which a share has closed for good, and a share has no hours, prices, ratings or reviews.

    Args:
        places: of the city.
        odd: which of them.
    """

    places: Places
    odd: Oddities

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """As `Places.nearby`."""
        return [self._seen(place) for place in self.places.nearby(position, radius, types, whole=whole)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """As `Places.search`."""
        return [self._seen(place) for place in self.places.search(query, near)]

    def details(self, place_id: str) -> Place:
        """As `Places.details`."""
        return self._seen(self.places.details(place_id))

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """As `Places.photos`."""
        return self.places.photos(place_id, limit)

    def _seen(self, place: Place) -> Place:
        if self.odd.has("bare", place.id):
            place = replace(
                place, hours=(), price_level=None, rating=None, review_count=0, reviews=(), facts=()
            )
        return replace(place, is_open=False) if self.odd.has("closed", place.id) else place
