"""The places of a city, all held in memory."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.places import Place
from virl.platform.city.streetview import Image


class Shops:
    """A provider of places; see `virl.platform.city.places.Places`."""

    def __init__(self, shops: Iterable[Place]) -> None:
        self._shops = {shop.id: shop for shop in shops}

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Shops within `radius` metres, nearest first, without their reviews.

        Raises:
            BadInput: the radius is out of its range.
        """
        if not 0 < radius <= 50_000:
            raise BadInput(f"radius {radius:g} is outside (0, 50000] metres")
        away = {shop.id: distance(position, shop.position) for shop in self._shops.values()}
        near = [shop for shop in self._shops.values() if away[shop.id] <= radius]
        wanted = [shop for shop in near if not types or set(types) & set(shop.types)]
        return [replace(shop, reviews=()) for shop in sorted(wanted, key=lambda shop: away[shop.id])]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Shops of which the name holds a word of the query."""
        words = query.lower().split()
        held = [shop for shop in self._shops.values() if any(word in shop.name.lower() for word in words)]
        return [replace(shop, reviews=()) for shop in held]

    def details(self, place_id: str) -> Place:
        """A shop with its reviews.

        Raises:
            NotFound: no shop has this id.
        """
        if place_id not in self._shops:
            raise NotFound(f"no place has the id {place_id!r}")
        return self._shops[place_id]

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """No photos.

        Raises:
            NotFound: no shop has this id.
        """
        self.details(place_id)
        return []

    def find(self, address: str) -> LatLng:
        """The position of a shop's address or name.

        Raises:
            NotFound: nothing matches.
        """
        for shop in self._shops.values():
            if address.lower() in {shop.name.lower(), shop.address.lower()}:
                return shop.position
        raise NotFound(f"no position of {address!r}: give the name or the address of a shop")
