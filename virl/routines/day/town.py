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
from math import isfinite
from types import MappingProxyType

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
class _SearchedCircle:
    """A circle in which places were searched, with the places found."""

    middle: LatLng
    radius: float
    """Radius in metres."""
    places: Sequence[Place]
    complete_types: frozenset[str]
    """Place types of which all places in the circle are known."""

    def holds(self, position: LatLng, radius: float) -> bool:
        """Return whether the circle of `radius` metres around a position lies within this one."""
        return distance(self.middle, position) + radius <= self.radius


@dataclass(slots=True)
class _NearbyPlaces:
    """The places of some types within reach of the client, asked of a provider as seldom as possible."""

    places: Places
    """Directory of places that is asked."""
    home: LatLng
    """Centre of the circle that is asked first."""
    reach: float
    """Greatest distance of a place from the client, metres."""
    sorts: Sequence[str]
    """Place types of interest; each place counts as one type, its `sort_of`."""
    _circles: list[_SearchedCircle] = field(default_factory=list)

    def places_around(self, here: LatLng, excluded_ids: Collection[str]) -> list[Place]:
        """Return open places within reach of a position, at least one of each type that has any."""
        circle = self._circle_around(here)
        found = self._open_places(circle.places, here, excluded_ids)
        missing = set(self.sorts) - {sort_of(place.types) for place in found}
        if unsure := sorted(missing - circle.complete_types):
            more = self._search(here, self.reach, unsure).places
            found = self._open_places([*found, *more], here, excluded_ids)
        return found

    def nearest_of_type(
        self, sort: str, here: LatLng, excluded_ids: Collection[str], count: int
    ) -> list[Place]:
        """Return at most `count` open places of a type within reach, nearest first.

        Args:
            sort: place type.
            here: position of the client.
            excluded_ids: ids of places that are left out.
            count: most places.
        """

        def nearest(places: Iterable[Place]) -> list[Place]:
            """Return the nearest of some places that are open and of the type."""
            near = self._open_places(places, here, excluded_ids)
            return [place for place in near if sort_of(place.types) == sort][:count]

        circle = self._circle_around(here)
        if sort in circle.complete_types:
            return nearest(circle.places)
        # The nearest first, in one request; the whole circle only where they are too few.
        listed = nearby_in_full(self.places, here, self.reach, (sort,), whole=_ANY_M)
        found = nearest(listed)
        if len(found) < count and complete_to(listed) < self.reach:
            found = nearest(nearby_in_full(self.places, here, self.reach, (sort,)))
        return found

    def _open_places(
        self, places: Iterable[Place], here: LatLng, excluded_ids: Collection[str]
    ) -> list[Place]:
        """Return the places within reach that have not closed for good, each once, nearest first."""
        near = {
            place.id: place
            for place in places
            if place.id not in excluded_ids
            and place.is_open
            and place.types
            and distance(here, place.position) <= self.reach
        }
        return sorted(near.values(), key=lambda place: (distance(here, place.position), place.id))

    def _circle_around(self, here: LatLng) -> _SearchedCircle:
        """Return a searched circle that covers all within reach of a position."""
        if not self._circles:
            self._circles.append(self._search(self.home, _WIDE * self.reach, self.sorts))
        circle = next((one for one in self._circles if one.holds(here, self.reach)), None)
        if circle is None:
            circle = self._search(here, self.reach, self.sorts)
            self._circles.append(circle)
        return circle

    def _search(self, middle: LatLng, radius: float, sorts: Sequence[str]) -> _SearchedCircle:
        """Return a circle with its places; types that an answer lacks are asked for again, a few times."""
        places: list[Place] = []
        left = list(sorts)
        for _ in range(_ROUNDS):
            listed = nearby_in_full(self.places, middle, radius, left, whole=_ANY_M)
            places += listed
            if complete_to(listed) >= radius:
                return _SearchedCircle(middle, radius, places, frozenset(left))
            seen = {sort_of(place.types) for place in listed}
            asked, left = left, [sort for sort in left if sort not in seen]
            # The same sorts asked again would give the same answer.
            if not left or left == asked:
                break
        return _SearchedCircle(middle, radius, places, frozenset())


@dataclass(frozen=True)
class Town:
    """A city as the planner of a day sees it: places, ways and prices on one weekday."""

    city: City
    day: Day
    weekday: int
    """Day of the week, 0 for Monday."""
    home: LatLng | None = None
    """Position where the day starts; `None` to take the one from which places are first asked for."""
    _details: dict[str, Place | None] = field(default_factory=dict)
    """Places looked up, by id; `None` if the directory no longer knows the id."""
    seconds: dict[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of each way asked for; infinite if none leads there."""
    _nearby: list[_NearbyPlaces] = field(default_factory=list)

    @cached_property
    def sorts(self) -> tuple[str, ...]:
        """The place types worth offering to a planner."""
        return tuple(sorted({*day_book().pastimes, *EATING}))

    def offers(self, here: LatLng, excluded_ids: Iterable[str]) -> list[dict[str, object]]:
        """Return `sort`, `count` and the `names` of the nearest, for each place type within reach."""
        left = self._nearby_places(here).places_around(here, set(excluded_ids))
        counts = Counter(sort for place in left if (sort := sort_of(place.types)) in self.sorts)
        return [
            {
                "sort": sort,
                "count": count,
                "names": [place.name for place in left if sort_of(place.types) == sort][:NAMES],
            }
            for sort, count in sorted(counts.items())
        ]

    def places_of_type(self, sort: str, here: LatLng, excluded_ids: Iterable[str]) -> list[Place]:
        """Return the open places of a type within reach, nearest first, at most 15.

        Args:
            sort: place type.
            here: position of the client.
            excluded_ids: ids of places that are left out.
        """
        return self._nearby_places(here).nearest_of_type(sort, here, set(excluded_ids), NEAR_ENOUGH)

    def find_named(self, name: str, here: LatLng) -> Place | None:
        """Return the place near `here` that `name` resembles or is a short form of; `None` without one."""
        found = self.city.places.search(name, here) if any(map(str.isalnum, name)) else []
        alike = [(name_ratio(place.name, name), place) for place in found[:10]]
        score, best = max(alike, key=lambda one: one[0], default=(0.0, None))
        if score >= ALIKE:
            return best
        return next((place for place in found[:10] if is_shortened(place.name, name)), None)

    def address(self, text: str) -> Spot | None:
        """Return the spot of an address or other text that the maps can locate; `None` if they cannot."""
        try:
            position = self.city.maps.geocode(text)
        except NotFound:
            return None
        return Spot(lat=float(position.lat), lng=float(position.lng), name=text)

    def details_of(self, place_id: str) -> Place | None:
        """Return a place with its opening hours, looked up once; `None` if its id is no longer known."""
        if place_id not in self._details:
            try:
                self._details[place_id] = self.city.places.details(place_id)
            except NotFound:
                self._details[place_id] = None
        return self._details[place_id]

    def ride(self, here: LatLng, there: LatLng, minute: int) -> TravelOption | None:
        """Return the journey by public transport from `here`; `None` if none is known or walking is as quick.

        Args:
            here: start.
            there: destination.
            minute: when it may begin, in minutes after midnight.
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
        """Return the minutes from `here` to each position, rounded up; infinite if no way leads there.

        Args:
            here: start of all ways.
            there: destinations.
            mode: travel mode.
        """
        if fresh := [one for one in dict.fromkeys(there) if (here, one, mode) not in self.seconds]:
            found = self.city.maps.travel_times([here], fresh, mode)[0]
            ways = ((here, one, mode) for one in fresh)
            self.seconds.update(zip(ways, map(float, found), strict=True))
        known = (self.seconds[here, one, mode] for one in there)
        return [float(whole_minutes(one)) if isfinite(one) else float("inf") for one in known]

    def way(
        self, here: LatLng, there: LatLng, *, asked: str, weak: bool, budget_usd: float, minute: int
    ) -> TravelOption | None:
        """Return the best way to a place, by mode `asked` if possible, easy if `weak`; `None` without any.

        It is as asked if that can be; else on foot if that is comfortable; else by bicycle, public transport
        or taxi if that is easy and cheap; else on foot if that can be borne; else the quickest.

        Args:
            here: start.
            there: destination.
            asked: travel mode that is preferred, or `"any"`.
            weak: whether the client is tired or in pain.
            budget_usd: US dollars left.
            minute: when the way may be begun, in minutes after midnight.
        """
        ways: dict[Mode, TravelOption] = {}
        for mode in self.day.modes:
            if mode == "transit":
                way = self.ride(here, there, minute)
            else:
                (minutes,) = self.minutes(here, [there], mode)
                way = TravelOption(mode, int(minutes), way_usd(mode, minutes)) if isfinite(minutes) else None
            if way and way.minutes <= LONGEST_WAY and way.usd <= budget_usd:
                ways[mode] = way
                # Other modes need not be looked up then: each may cost a request.
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

    def _nearby_places(self, here: LatLng) -> _NearbyPlaces:
        """Return the lookup of places, which is made once, around home or, without one, around `here`."""
        # In a list, which the copies of a town share that `replace` makes: nothing is asked twice.
        if not self._nearby:
            self._nearby.append(
                _NearbyPlaces(self.city.places, self.home or here, self.day.reach_m, self.sorts)
            )
        return self._nearby[0]


def known_usd(place: Place, *, meal: bool) -> float | None:
    """Return the known cost of one person's visit (or meal) at a place in US dollars; `None` if unknown."""
    if place.price_level is not None:
        return (MEAL_USD if meal else VISIT_USD).get(place.price_level)
    return 0.0 if FREE_SORTS.intersection(place.types) and not meal else None


def way_usd(mode: Mode | None, minutes: float) -> float:
    """Return the cost in US dollars of one person's way of some minutes; 0 for no mode or on foot."""
    if mode == "driving":
        return TAXI_USD + TAXI_MINUTE_USD * minutes
    return {"cycling": BICYCLE_USD, "transit": TRANSIT_USD}.get(mode or "", 0.0)


def _is_easy(way: TravelOption, budget_usd: float, weak: bool) -> bool:
    """Return whether a way is good without comparison: cheap, and of little effort (less for the `weak`)."""
    if way.mode == "driving":
        return way.usd <= TAXI_SHARE * budget_usd
    if way.mode == "transit":
        return way.on_foot <= (WEAK if weak else COMFORTABLE) and way.usd <= TAXI_SHARE * budget_usd
    return way.minutes <= (WEAK if weak else COMFORTABLE) and (way.mode == "walking" or not weak)
