"""What a town offers by sorts of place, learnt with few searches.

A provider may tell only the nearest places of a circle. So a wide circle around the start is asked once: for
all sorts, then for those that were not among the answers, until nothing is missing. Rare sorts are known for
the whole day then; of the common ones only those near a position are asked when they are needed.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from virl.geo import LatLng, distance
from virl.platform.place_types import sort_of
from virl.platform.places import Place, Places, complete_to, nearby_in_full

WIDE = 2.0  # times the reach: of the circle around the start; chosen, so that a day seldom leaves it
ROUNDS = 6  # searches of a circle at most; chosen
ANY_M = 1.0  # to which radius an answer has to be whole where the nearest places will do: one request


@dataclass(frozen=True, slots=True)
class _Stock:
    """What is known of a circle."""

    middle: LatLng
    radius: float
    places: Sequence[Place]
    whole: frozenset[str]
    """Sorts of which none is missing."""

    def holds(self, position: LatLng, radius: float) -> bool:
        """Whether another circle lies within."""
        return distance(self.middle, position) + radius <= self.radius


@dataclass(slots=True)
class Supply:
    """Places of some sorts within reach of a position, nearest first.

    Args:
        places: who is asked.
        home: the middle of the circle that is asked first.
        reach: metres.
        sorts: place types; a place counts as one of them (`sort_of`).
    """

    places: Places
    home: LatLng
    reach: float
    sorts: Sequence[str]
    _stocks: list[_Stock] = field(default_factory=list)

    def around(self, here: LatLng, apart: Collection[str]) -> list[Place]:
        """Places within reach without those apart: of each sort at least one, if there is one."""
        stock = self._stock(here)
        found = self._within(stock.places, here, apart)
        missing = set(self.sorts) - {sort_of(place.types) for place in found}
        unsure = sorted(missing - stock.whole if stock.holds(here, self.reach) else missing)
        if unsure:
            found = self._within([*found, *self._search(here, self.reach, unsure).places], here, apart)
        return found

    def of_sort(self, sort: str, here: LatLng, apart: Collection[str], count: int) -> list[Place]:
        """The nearest places within reach that count as a sort, without those apart."""
        stock = self._stock(here)
        if sort in stock.whole and stock.holds(here, self.reach):
            return self._counted(stock.places, sort, here, apart, count)
        told = nearby_in_full(self.places, here, self.reach, (sort,), whole=ANY_M)
        found = self._counted(told, sort, here, apart, count)
        if len(found) < count and complete_to(told) < self.reach:
            told = nearby_in_full(self.places, here, self.reach, (sort,))
            found = self._counted(told, sort, here, apart, count)
        return found

    def _counted(
        self, places: Iterable[Place], sort: str, here: LatLng, apart: Collection[str], count: int
    ) -> list[Place]:
        near = self._within(places, here, apart)
        return [place for place in near if sort_of(place.types) == sort][:count]

    def _within(self, places: Iterable[Place], here: LatLng, apart: Collection[str]) -> list[Place]:
        """Places that have not closed, each once, nearest first."""
        near = {
            place.id: place
            for place in places
            if place.id not in apart
            and place.is_open
            and place.types
            and distance(here, place.position) <= self.reach
        }
        return sorted(near.values(), key=lambda place: (distance(here, place.position), place.id))

    def _stock(self, here: LatLng) -> _Stock:
        """The stock around home, or another one where that does not hold what is within reach."""
        if not self._stocks:
            self._stocks.append(self._search(self.home, WIDE * self.reach, self.sorts))
        stock = next((one for one in self._stocks if one.holds(here, self.reach)), None)
        if stock is None:
            stock = self._search(here, self.reach, self.sorts)
            self._stocks.append(stock)
        return stock

    def _search(self, middle: LatLng, radius: float, sorts: Sequence[str]) -> _Stock:
        """Ask for sorts until none is missing; what was answered is not asked for again."""
        places: list[Place] = []
        left = list(sorts)
        for _ in range(ROUNDS):
            told = nearby_in_full(self.places, middle, radius, left, whole=ANY_M)
            places += told
            if complete_to(told) >= radius:
                return _Stock(middle, radius, places, frozenset(left))
            seen = {sort_of(place.types) for place in told}
            asked, left = left, [sort for sort in left if sort not in seen]
            if not left or left == asked:
                break
        return _Stock(middle, radius, places, frozenset())
