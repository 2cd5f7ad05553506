"""The places of a made city, as a provider lists them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from virl.errors import BadInput, NotFound
from virl.geo.globe import Floats, LatLng, distances
from virl.platform.city.places import Place
from virl.platform.city.streetview import Image
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.plan.town_plan import PHOTO_SIZE, Shop
from virl.towns.wordsearch import WordIndex

MAX_RADIUS_M = 50_000.0
"""Largest radius of a nearby search in metres, as Google's."""
FOUND = 60
"""Most places of a text search: three pages of Google's legacy one."""


class OfflinePlaces:
    """Places of a town's plan; those that have closed are listed as not open.

    Args:
        shops: who lives in the city.
        photograph: takes a picture of a shop's front.
        also: what else places are called, by their ids: they are found by these names too.
        types_called: the place types that a query names in other languages than English; it is told whether
            no place holds a word of the query.
    """

    def __init__(
        self,
        shops: Sequence[Shop],
        photograph: Callable[[Shop], Image],
        also: Mapping[str, Sequence[str]] = MappingProxyType({}),
        types_called: Callable[[str, bool], Collection[str]] = lambda *_: (),
    ) -> None:
        self._shops = {shop.place.id: shop for shop in shops}
        self._listed = [replace(shop.place, hours=(), reviews=(), facts=()) for shop in shops]
        self._lat = np.array([place.position.lat for place in self._listed])
        self._lng = np.array([place.position.lng for place in self._listed])
        self._photograph = photograph
        self._also = also
        self._types_called = types_called

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places within `radius` metres, nearest first; see `Places.nearby`.

        Raises:
            BadInput: the radius is out of its range.
        """
        del whole  # none is ever missing
        if not 0 < radius <= MAX_RADIUS_M:
            raise BadInput(f"radius {radius:g} m: must be above 0, up to {MAX_RADIUS_M:.0f}")
        wanted = set(types)
        away = self._metres_to(position)
        order = np.argsort(away, kind="stable")
        near = (self._listed[index] for index in order[: np.count_nonzero(away <= radius)])
        return [place for place in near if not wanted or wanted.intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return places whose name, signs, types or address hold a query's words, best first, at most 60.

        Of places that hold the same words, the nearest come first where `near` is given or the query says it,
        as in "pharmacy near Oak Street"; else those that hold them in their name and main type.

        Raises:
            BadInput: the query holds no word.
        """
        what, _, where = query.partition(" near ")
        if where and what.strip() and near is None and (around := self.search(where)):
            return self.search(what, around[0].position)
        held, weighted = self._answers(query)
        order = np.lexsort((self._metres_to(near) if near else -weighted, -held))
        return [self._listed[index] for index in order[: np.count_nonzero(held)][:FOUND]]

    def details(self, place_id: str) -> Place:
        """Return the place with its hours, reviews and facts.

        Raises:
            NotFound: no place has this id.
        """
        return self._shop(place_id).place

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return up to `limit` photos: one of each place with a front, none of a park.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
        """
        shop = self._shop(place_id)
        if limit < 0:
            raise BadInput(f"limit {limit}: must be 0 photos or more")
        return [self._photograph(shop)] if limit and shop.frontage != NO_FRONTAGE else []

    def photo_sizes(self, place_id: str, limit: int = 1) -> list[tuple[int, int]]:
        """Return (width, height) in pixels of each photo of `photos`, without drawing them.

        Raises:
            NotFound: no place has this id.
        """
        return [PHOTO_SIZE] if limit and self._shop(place_id).frontage != NO_FRONTAGE else []

    def _answers(self, query: str) -> tuple[Floats, Floats]:
        """Return the scores of `WordIndex.answers` of all places; types named in a query count in full."""
        held, weighted = self._words.answers(query)
        if types := set(self._types_called(query, not held.any())):
            called = np.array([not types.isdisjoint(place.types) for place in self._listed], bool)
            held[called] = held.max(initial=1.0)
            weighted[called] = np.maximum(weighted[called], 1.0)
        return held, weighted

    @cached_property
    def _words(self) -> WordIndex:
        """The index of words, built on the first search in a tenth of a second."""
        return WordIndex(
            [_searchable(shop, self._also.get(shop.place.id, ())) for shop in self._shops.values()]
        )

    def _shop(self, place_id: str) -> Shop:
        """Return the shop of a place id."""
        try:
            return self._shops[place_id]
        except KeyError:
            raise NotFound(
                f"no place has the id {place_id!r}: use one from a nearby or text search"
            ) from None

    def _metres_to(self, position: LatLng) -> Floats:
        """Return the metres from a position to each place, shape (places,)."""
        return distances(position.lat, position.lng, self._lat, self._lng)


def _searchable(shop: Shop, also: Sequence[str]) -> dict[str, float]:
    """Return the weight of each text by which a place is found."""
    place = shop.place
    texts = {place.address: 1.0, " ".join(place.types).replace("_", " "): 2.0}
    texts |= {text: 2.0 for sign in shop.signs for text in (sign.text, sign.tagline)}
    texts |= dict.fromkeys(also, 2.5)
    return texts | {place.name: 2.5, place.types[0].replace("_", " "): 3.0}
