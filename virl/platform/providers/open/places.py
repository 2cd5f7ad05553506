"""Places of a source that is asked for one square of the map after another; squares are kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Protocol

from virl.errors import BadInput
from virl.geo.globe import LatLng, distance
from virl.osm.box import Box
from virl.osm.names import types_called
from virl.platform.city.places import NearbyPlaces, Place
from virl.platform.city.streetview import Image
from virl.platform.providers.open.cells import Cell, cells_around, cells_of
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.places import MAX_RADIUS_M, OfflinePlaces
from virl.towns.plan.town_plan import Shop

SEARCHED_M = 1500.0
"""Radius in metres around a position in which a text is searched; chosen: a walk of 20 minutes."""
ZOOM = 14
"""Zoom level of the squares asked for places; chosen: 1.6 km wide at 48 degrees, thousands of places."""
MOST_TILES = 25
"""Largest number of squares of one question; chosen: 8 km across, 25 requests at one a second."""
_INDEXES = 8
"""Number of sets of squares whose index is kept in memory; chosen: a walk crosses few."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place with all that its source knows, its other names included."""

    place: Place
    also: tuple[str, ...] = ()
    """Other names of the place, under which it is found too."""


class PlaceSource(Protocol):
    """A source of the places in a box, and of a place by its id."""

    def places_within(self, box: Box) -> Sequence[FoundPlace]:
        """Return the places in a box, each once.

        Raises:
            ProviderError: the source does not answer.
        """
        ...

    def find_one(self, place_id: str) -> FoundPlace:
        """Return the place with this id; raise `NotFound` without one.

        Raises:
            NotFound: there is none.
            ProviderError: the source does not answer.
        """
        ...


class TiledPlaces:
    """Places by a source that is asked square by square. Safe for several threads.

    The same question has the same answer, whatever was asked before: places of other squares are left out.
    """

    def __init__(self, source: PlaceSource, district: Box) -> None:
        """Make places of a source; a text is searched for in `district` where no position is named."""
        self._source = source
        self._district = district
        self._of_tile: dict[Cell, Sequence[FoundPlace]] = {}
        self._asking = RLock()
        self._index = lru_cache(maxsize=_INDEXES)(self._make_index)

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return places within `radius` or a smaller `whole` metres (25 squares at most), nearest first."""
        if not 0 < radius <= MAX_RADIUS_M:
            raise BadInput(f"radius {radius:g} m: must be above 0, up to {MAX_RADIUS_M:.0f}")
        reach = radius if whole is None else min(radius, whole)
        tiles = _cells_around(position, reach)
        asked = tiles[:MOST_TILES]
        if len(tiles) > MOST_TILES:
            # The nearest squares are asked: none is missing up to the first that is not.
            reach = tiles[MOST_TILES].metres_to(position)
        found = self._index(frozenset(asked)).nearby(position, reach, types)
        return found if reach >= radius else NearbyPlaces(found, reach)

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return places whose name, type or address has the words of a query, best first, at most 60.

        They are those within `SEARCHED_M` of `near`, or else of the district.

        Raises:
            BadInput: the query holds no word.
            ProviderError: the source does not answer.
        """
        if near is None:
            middle = self._district.middle
            tiles = sorted(
                cells_of(self._district, ZOOM), key=lambda cell: (distance(middle, cell.box.middle), cell)
            )[:MOST_TILES]
            return self._index(frozenset(tiles)).search(query)
        found = self._index(frozenset(_cells_around(near, SEARCHED_M))).search(query, near)
        return [place for place in found if distance(near, place.position) <= SEARCHED_M]

    def details(self, place_id: str) -> Place:
        """Return the place with this id, with its hours and facts."""
        with self._asking:
            every = (found.place for tile in self._of_tile.values() for found in tile)
            known = next((place for place in every if place.id == place_id), None)
        return known or self._source.find_one(place_id).place

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return an empty list, as maps have no photos; raise `NotFound` for an unknown id.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
            ProviderError: the source does not answer.
        """
        self.details(place_id)
        if limit < 0:
            raise BadInput(f"limit {limit}: must be 0 photos or more")
        return []

    def _make_index(self, tiles: frozenset[Cell]) -> OfflinePlaces:
        """Return a searchable index of the places in squares; squares that are not known yet are asked."""
        with self._asking:
            for tile in sorted(tiles):
                if tile not in self._of_tile:
                    self._of_tile[tile] = self._source.places_within(tile.box)
            every = {found.place.id: found for tile in sorted(tiles) for found in self._of_tile[tile]}
        shops = [Shop(one.place, NO_FRONTAGE, (), {}, 0) for one in every.values()]
        also = {one.place.id: one.also for one in every.values()}

        def no_photo(shop: Shop) -> Image:
            """Raise an error, as no photo of these places is ever drawn."""
            raise AssertionError(f"{shop.place.id} has no front")

        return OfflinePlaces(shops, no_photo, also, types_called)


def _cells_around(position: LatLng, radius: float) -> list[Cell]:
    """Return the squares that a circle of `radius` metres touches, the nearest first."""
    touched = [(cell.metres_to(position), cell) for cell in cells_around(position, radius, ZOOM)]
    return [cell for away, cell in sorted(touched) if away <= radius]
