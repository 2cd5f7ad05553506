"""A planner's questions to a city: what is near, the time it takes to get there, opening hours, and prices.

A provider may tell only the nearest places of a circle. So a wide circle around the start is asked once: for
all sorts, then for those that were not among the answers, until nothing is missing. Rare sorts are known for
the whole day then; of the common ones only those near a position are asked when they are needed.

Google's price levels (0 free, 1 inexpensive, 2 moderate, 3 expensive, 4 very expensive) name no amounts.
Those here are chosen: what one person pays in a large town of the United States, tip included.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from virl.clock import whole_minutes
from virl.errors import NoRoute, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.maps import TransitMaps, TravelMode
from virl.platform.city.names import is_shortened, name_ratio
from virl.platform.city.place_types import sort_of
from virl.platform.city.places import Place, Places, complete_to, nearby_in_full
from virl.routines.day.activity import Spot, TravelOption
from virl.routines.day.settings import Day, Mode
from virl.routines.day.wish_rules import day_book

MEAL_USD: Mapping[int, float] = MappingProxyType({0: 0.0, 1: 12.0, 2: 25.0, 3: 50.0, 4: 90.0})
"""US dollars of a meal for one person, by Google's price level; chosen."""
VISIT_USD: Mapping[int, float] = MappingProxyType({0: 0.0, 1: 7.0, 2: 15.0, 3: 35.0, 4: 70.0})
"""US dollars of any other visit by one person, by price level: a ticket, a drink, or a small purchase."""
FREE_SORTS = frozenset(
    {"park", "library", "church", "mosque", "synagogue", "hindu_temple", "place_of_worship"}
)
"""Place types without cost if no price level is given."""
TAXI_USD, TAXI_MINUTE_USD = 4.0, 1.5
"""US dollars of a taxi's base fare, and of each minute: chosen, near American tariffs at 7 m/s."""
BICYCLE_USD = 2.0
"""US dollars of a ride on a hired bicycle; chosen."""
TRANSIT_USD = 3.0
"""US dollars of a journey by public transport, changes included; chosen, near American fares."""
_WIDE = 2.0  # times the reach: of the circle around the start; chosen, so that a day seldom leaves it
_ROUNDS = 6  # searches of a circle at most; chosen
_ANY_M = 1.0  # to which radius an answer has to be whole where the nearest places will do: one request
EATING = ("restaurant", "cafe")
NAMES = 2  # of each sort, told to the mind; chosen
NEAR_ENOUGH = 15  # most places of a sort to which travel times are asked; chosen
ALIKE = 80.0  # of 100: least likeness of a name to what is looked for; chosen
# Minutes that are walked or cycled without a second thought, and by who is weak or in pain; chosen.
COMFORTABLE, WEAK = 20, 10
TOLERABLE = 1.5  # times as long may be walked where nothing else is easy; chosen
LONGEST_WAY = 60  # minutes; chosen
TAXI_SHARE = 0.25  # of what is left, for one ride; chosen


@dataclass(frozen=True, slots=True)
class _Stock:
    """Places found in a circle around a position, by place type."""

    middle: LatLng
    radius: float
    places: Sequence[Place]
    whole: frozenset[str]
    """Place types of which all places in the circle are known."""

    def holds(self, position: LatLng, radius: float) -> bool:
        """Return whether another circle lies within this one."""
        return distance(self.middle, position) + radius <= self.radius


@dataclass(slots=True)
class Supply:
    """Places of some types within reach of the client, asked for as few times as possible.

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

    def places_around(self, here: LatLng, apart: Collection[str]) -> list[Place]:
        """Return the places within reach, without the ids `apart`: at least one of each type found."""
        stock = self._stock(here)
        found = self._open_places(stock.places, here, apart)
        missing = set(self.sorts) - {sort_of(place.types) for place in found}
        unsure = sorted(missing - stock.whole if stock.holds(here, self.reach) else missing)
        if unsure:
            found = self._open_places([*found, *self._search(here, self.reach, unsure).places], here, apart)
        return found

    def of_sort(self, sort: str, here: LatLng, apart: Collection[str], count: int) -> list[Place]:
        """Return at most `count` nearest places of a type within reach, without those of the ids `apart`.

        Args:
            sort: of place.
            here: where the client is.
            apart: ids of places that are left out.
            count: at most.
        """
        stock = self._stock(here)
        if sort in stock.whole and stock.holds(here, self.reach):
            return self._nearest_of_sort(stock.places, sort, here, apart, count)
        # The nearest first, in one request; the whole circle only where they are too few.
        told = nearby_in_full(self.places, here, self.reach, (sort,), whole=_ANY_M)
        found = self._nearest_of_sort(told, sort, here, apart, count)
        if len(found) < count and complete_to(told) < self.reach:
            told = nearby_in_full(self.places, here, self.reach, (sort,))
            found = self._nearest_of_sort(told, sort, here, apart, count)
        return found

    def _nearest_of_sort(
        self, places: Iterable[Place], sort: str, here: LatLng, apart: Collection[str], count: int
    ) -> list[Place]:
        """Return at most `count` open places of a type, nearest first, without those of the ids `apart`."""
        near = self._open_places(places, here, apart)
        return [place for place in near if sort_of(place.types) == sort][:count]

    def _open_places(self, places: Iterable[Place], here: LatLng, apart: Collection[str]) -> list[Place]:
        """Return the places that have not closed for good, each once, nearest first."""
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
        """Return the circle around home if it covers the reach of `here`, else a new one."""
        if not self._stocks:
            self._stocks.append(self._search(self.home, _WIDE * self.reach, self.sorts))
        stock = next((one for one in self._stocks if one.holds(here, self.reach)), None)
        if stock is None:
            stock = self._search(here, self.reach, self.sorts)
            self._stocks.append(stock)
        return stock

    def _search(self, middle: LatLng, radius: float, sorts: Sequence[str]) -> _Stock:
        """Return a circle's places, searched again by type until each type is complete."""
        places: list[Place] = []
        left = list(sorts)
        for _ in range(_ROUNDS):
            told = nearby_in_full(self.places, middle, radius, left, whole=_ANY_M)
            places += told
            if complete_to(told) >= radius:
                return _Stock(middle, radius, places, frozenset(left))
            seen = {sort_of(place.types) for place in told}
            asked, left = left, [sort for sort in left if sort not in seen]
            # The same sorts asked again would give the same answer.
            if not left or left == asked:
                break
        return _Stock(middle, radius, places, frozenset())


@dataclass(frozen=True)
class Town:
    """A city as the planner of a day sees it: places, ways and prices on one weekday."""

    city: City
    day: Day
    weekday: int
    """Day of the week, 0 for Monday."""
    home: LatLng | None = None
    """Start of the day; `None` until the first question, whose position it becomes."""
    _details: dict[str, Place | None] = field(default_factory=dict)
    seconds: dict[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of each way asked for; infinite if none leads there."""
    _supply: list[Supply] = field(default_factory=list)

    @cached_property
    def sorts(self) -> tuple[str, ...]:
        """The place types worth offering to a planner."""
        return tuple(sorted({*day_book().pastimes, *EATING}))

    def offers(self, here: LatLng, apart: Iterable[str]) -> list[dict[str, object]]:
        """Return the place types within reach with counts and some names, without the ids `apart`."""
        left = self._supply_near(here).places_around(here, set(apart))
        counts = Counter(sort for place in left if (sort := sort_of(place.types)) in self.sorts)
        return [
            {
                "sort": sort,
                "count": count,
                "names": [place.name for place in left if sort_of(place.types) == sort][:NAMES],
            }
            for sort, count in sorted(counts.items())
        ]

    def of_sort(self, sort: str, here: LatLng, apart: Iterable[str]) -> list[Place]:
        """Return the places of a type, nearest first, without those of the ids `apart`.

        Args:
            sort: of place.
            here: where the client is.
            apart: ids of places that are left out.
        """
        return self._supply_near(here).of_sort(sort, here, set(apart), NEAR_ENOUGH)

    def find_named(self, name: str, here: LatLng) -> Place | None:
        """Return the place with a name; `None` if there is none."""
        found = self.city.places.search(name, here) if any(map(str.isalnum, name)) else []
        alike = [(name_ratio(place.name, name), place) for place in found[:10]]
        score, best = max(alike, key=lambda one: one[0], default=(0.0, None))
        if score >= ALIKE:
            return best
        return next((place for place in found[:10] if is_shortened(place.name, name)), None)

    def address(self, text: str) -> Spot | None:
        """Return the spot of an address; `None` if there is none."""
        try:
            position = self.city.maps.geocode(text)
        except NotFound:
            return None
        return Spot(lat=float(position.lat), lng=float(position.lng), name=text)

    def details_of(self, place_id: str) -> Place | None:
        """Return a place with its opening hours, looked up once; `None` if it is gone.

        `None` if the directory no longer knows its id.
        """
        if place_id not in self._details:
            try:
                self._details[place_id] = self.city.places.details(place_id)
            except NotFound:
                self._details[place_id] = None
        return self._details[place_id]

    def ride(self, here: LatLng, there: LatLng, minute: int) -> TravelOption | None:
        """Return the journey by public transport begun at a minute of the day; `None` if no ride helps.

        `None` where walking is as quick.
        """
        if not isinstance(self.city.maps, TransitMaps):
            return None
        try:
            found = self.city.maps.journey(here, there, self.weekday, minute)
        except NoRoute:
            return None
        if not found.rides:
            return None
        minutes = whole_minutes(found.duration)
        walked = sum(leg.duration for leg in found.legs if not leg.line)
        return TravelOption(
            "transit", minutes, way_usd("transit", minutes), found.words, minute, whole_minutes(walked)
        )

    def minutes(self, here: LatLng, there: Sequence[LatLng], mode: TravelMode) -> list[float]:
        """Return the minutes to each position, rounded up; infinite if no way leads there.

        Args:
            here: where the ways begin.
            there: where they end.
            mode: of travel.
        """
        if fresh := [one for one in dict.fromkeys(there) if (here, one, mode) not in self.seconds]:
            found = self.city.maps.travel_times([here], fresh, mode)[0]
            ways = ((here, one, mode) for one in fresh)
            self.seconds.update(zip(ways, map(float, found), strict=True))
        known = (self.seconds[here, one, mode] for one in there)
        return [float(whole_minutes(one)) if np.isfinite(one) else float("inf") for one in known]

    def way(
        self, here: LatLng, there: LatLng, *, asked: str, weak: bool, budget_usd: float, minute: int
    ) -> TravelOption | None:
        """Return the best way to a position; `None` if none is short and cheap enough.

        It is as asked if that can be; else on foot if that is comfortable; else by bicycle, public transport
        or taxi if that is easy and cheap; else on foot if that can be borne; else the quickest.

        Args:
            here: from where.
            there: to where.
            asked: a mode, or `"any"`.
            weak: whether the client is tired or in pain.
            budget_usd: what is left.
            minute: when it may be begun, after midnight.
        """
        ways: dict[Mode, TravelOption] = {}
        for mode in self.day.modes:
            way = self._travel_by(mode, here, there, minute)
            if way and way.minutes <= LONGEST_WAY and way.usd <= budget_usd:
                ways[mode] = way
                if mode == asked or (
                    mode == "walking" and asked == "any" and _is_easy(way, budget_usd, weak)
                ):
                    return way
        easy = [way for way in ways.values() if _is_easy(way, budget_usd, weak)]
        if easy:
            return min(easy, key=lambda way: (way.usd, way.minutes))
        walk = ways.get("walking")
        if walk and walk.minutes <= TOLERABLE * (WEAK if weak else COMFORTABLE):
            return walk
        return min(ways.values(), key=lambda way: (way.minutes, way.usd), default=None)

    def _travel_by(self, mode: Mode, here: LatLng, there: LatLng, minute: int) -> TravelOption | None:
        """Return the way by a mode at a minute of the day; `None` if there is none."""
        if mode == "transit":
            return self.ride(here, there, minute)
        minutes = self.minutes(here, [there], mode)[0]
        return TravelOption(mode, int(minutes), way_usd(mode, minutes)) if np.isfinite(minutes) else None

    def _supply_near(self, here: LatLng) -> Supply:
        """Return the places around home, or, before home is known, around `here`."""
        # In a list, which the copies of a town share that `replace` makes: nothing is asked twice.
        if not self._supply:
            self._supply.append(Supply(self.city.places, self.home or here, self.day.reach_m, self.sorts))
        return self._supply[0]


def known_usd(place: Place, *, meal: bool) -> float | None:
    """Return the known cost of one person's visit in US dollars; `None` if unknown."""
    if place.price_level is not None:
        return (MEAL_USD if meal else VISIT_USD).get(place.price_level)
    return 0.0 if FREE_SORTS.intersection(place.types) and not meal else None


def way_usd(mode: Mode | None, minutes: float) -> float:
    """Return the cost of one person's way in US dollars."""
    if mode == "driving":
        return TAXI_USD + TAXI_MINUTE_USD * minutes
    return {"cycling": BICYCLE_USD, "transit": TRANSIT_USD}.get(mode or "", 0.0)


def _is_easy(way: TravelOption, budget_usd: float, weak: bool) -> bool:
    """Return whether a way is short and cheap enough to be taken without comparison."""
    if way.mode == "driving":
        return way.usd <= TAXI_SHARE * budget_usd
    if way.mode == "transit":
        return way.on_foot <= (WEAK if weak else COMFORTABLE) and way.usd <= TAXI_SHARE * budget_usd
    return way.minutes <= (WEAK if weak else COMFORTABLE) and (way.mode == "walking" or not weak)
