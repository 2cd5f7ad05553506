"""The check of a finished day against a city: it counts what cannot be, however the day was planned.

The baseline to compare with is a day that the same mind plans in one go, without asking the city anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from virl.clock import parse_clock, show_clock
from virl.errors import NoRoute, NotFound
from virl.geo.globe import LatLng, distance
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.platform.city.city import City
from virl.platform.city.maps import TransitMaps
from virl.platform.city.names import is_shortened, name_ratio
from virl.platform.city.places import DAY_NAMES, Place
from virl.routines.day.replies import UngroundedDay
from virl.routines.day.settings import Day, Mode
from virl.routines.day.town import known_usd, way_usd

ViolationKind = Literal["travel", "closed", "budget", "time", "overlap", "unknown place"]
KINDS: tuple[ViolationKind, ...] = ("travel", "closed", "budget", "time", "overlap", "unknown place")
AT_THE_PLACE_M = 150.0
"""Metres that a visit may be from its place's listed position, as at the edge of a park; chosen."""
CENT = 0.005
ALIKE = 85.0  # of 100: least likeness of two names of one place; chosen
AROUND_M = 50_000.0  # a sort of place that is not within this is not there at all; the widest search


@dataclass(frozen=True, slots=True)
class DayEntry:
    """A line of a day plan to be checked: a visit or a way."""

    kind: str
    """Kind of the line: `transport` for a way, anything else for a visit."""
    starts: int
    """Beginning, in minutes after midnight."""
    ends: int
    place: str = ""
    """Name or place type; empty for staying where one is."""
    place_id: str | None = None
    mode: Mode | None = None
    """Travel mode of a way; `None` for a visit."""
    cost_usd: float = 0.0
    at: LatLng | None = None
    """Exact position, believed if it is at the place; `None` if not given."""


@dataclass(frozen=True, slots=True)
class DayTerms:
    """The constraints on a day: weekday, hours, budget and travel modes."""

    weekday: int
    """Day of the week, 0 for Monday."""
    starts: int
    ends: int
    budget_usd: float
    start: LatLng
    modes: tuple[Mode, ...] = ("walking", "cycling", "transit", "driving")
    """Travel modes that the client can use."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A fault of a day plan, at one of its lines."""

    kind: ViolationKind
    entry: int
    """Index of the faulty line, from 0; the last one for the budget."""
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """The true position and details of a place in a day plan."""

    position: LatLng
    place: Place | None = None
    """The place with its details; `None` for an address."""


class Facts(Protocol):
    """The interface by which the checker looks up places and ways."""

    def site(self, entry: DayEntry, near: LatLng) -> Site | None:
        """Return the place that a line means, seen from `near`; `None` if there is none."""
        ...

    def seconds(self, here: LatLng, there: LatLng, mode: Mode, weekday: int, minute: int) -> float:
        """Return the seconds of a way begun at a time; infinite if none leads there.

        Args:
            here: where the way begins.
            there: where it ends.
            mode: of travel.
            weekday: 0 is Monday.
            minute: after midnight.
        """
        ...


def check(entries: Sequence[DayEntry], terms: DayTerms, facts: Facts) -> list[Violation]:
    """Return the faults of a day plan, in the order of its lines.

    Time is checked line by line: within the day, and none before the last one has ended. Between two visits
    there must be at least the time that the way takes, by the modes of the ways planned between them, or
    where none is planned, by the quickest mode. Each place must be open all through the visit; one whose
    hours nobody has listed may be, see `unsure_places`. The money is the sum of what each line says it costs,
    or of what place and way are known to cost where that is more.

    Args:
        entries: of the day, in order.
        terms: start, end, budget and modes.
        facts: of the city.
    """
    found: list[Violation] = []
    here, free, spent = terms.start, terms.starts, 0.0
    ways: list[DayEntry] = []
    for number, entry in enumerate(entries):
        found += _time_violations(number, entry, entries[number - 1].ends if number else None, terms)
        site = facts.site(entry, here) if entry.place or entry.place_id else Site(here)
        spent += _cost(entry, site)
        if entry.kind == "transport":
            ways.append(entry)
        elif site is None:
            found.append(Violation("unknown place", number, f"There is no {entry.place!r}."))
        else:
            there = _exact_position(entry, site)
            found += _travel_violations(number, entry, (here, there), free, ways, terms, facts)
            found += _closed_violations(number, entry, site.place, terms)
            here, free, ways = there, entry.ends, []
    if spent > terms.budget_usd + CENT:
        text = f"It costs {spent:.2f} dollars of {terms.budget_usd:.2f}."
        found.append(Violation("budget", len(entries) - 1, text))
    return found


def unsure_places(entries: Sequence[DayEntry], terms: DayTerms, facts: Facts) -> list[str]:
    """Return the names of visited places without listed opening hours, in order.

    Args:
        entries: of the day, in order.
        terms: start, end, budget and modes.
        facts: of the city.
    """
    found: list[str] = []
    here = terms.start
    for entry in entries:
        if entry.kind == "transport" or not (entry.place or entry.place_id):
            continue
        site = facts.site(entry, here)
        if site is None:
            continue
        here = _exact_position(entry, site)
        if site.place and site.place.is_unsure:
            found.append(site.place.name)
    return list(dict.fromkeys(found))


def entries_of(activities: Sequence[Mapping[str, Any]]) -> list[DayEntry]:
    """Return the lines of a day from the activities in `result.json` under `answer`."""
    return [
        DayEntry(
            kind=str(one["kind"]),
            starts=parse_clock(one["starts"]),
            ends=parse_clock(one["ends"]),
            place=str(one.get("place") or ""),
            place_id=one.get("place_id"),
            mode=one.get("mode"),
            cost_usd=float(one.get("cost_usd") or 0.0),
            at=LatLng(float(one["lat"]), float(one["lng"])) if one.get("lat") is not None else None,
        )
        for one in activities
    ]


def _exact_position(entry: DayEntry, site: Site) -> LatLng:
    """Return the position that an entry gives if it is near its site, else that of the site."""
    near = entry.at is not None and distance(entry.at, site.position) <= AT_THE_PLACE_M
    return entry.at if entry.at is not None and near else site.position


def _time_violations(number: int, entry: DayEntry, before: int | None, terms: DayTerms) -> list[Violation]:
    """Return the faults of a line's times; `before` is the minute at which the previous line ends."""
    found = []
    if entry.starts < terms.starts or entry.ends > terms.ends or entry.ends < entry.starts:
        day = f"{show_clock(terms.starts)}-{show_clock(terms.ends)}"
        text = f"{show_clock(entry.starts)}-{show_clock(entry.ends)} is not within the day, {day}."
        found.append(Violation("time", number, text))
    if before is not None and entry.starts < before:
        text = f"It begins at {show_clock(entry.starts)}, before {show_clock(before)}."
        found.append(Violation("overlap", number, text))
    return found


def _travel_violations(
    number: int,
    entry: DayEntry,
    ends: tuple[LatLng, LatLng],
    free: int,
    ways: Sequence[DayEntry],
    terms: DayTerms,
    facts: Facts,
) -> list[Violation]:
    """Return a fault if the way between two `ends` takes longer than there is time; `free` is in minutes."""
    here, there = ends
    if here == there:
        return []
    modes = [way.mode for way in ways if way.mode] or list(terms.modes)
    leaves = ways[0].starts if ways else free
    needed = min(facts.seconds(here, there, mode, terms.weekday, leaves) for mode in modes)
    given = 60.0 * min(
        entry.starts - free, sum(way.ends - way.starts for way in ways) if ways else entry.starts - free
    )
    if needed <= given:
        return []
    takes = "no way leads there" if needed == float("inf") else f"the way takes {needed / 60:.1f} minutes"
    return [Violation("travel", number, f"{given / 60:.0f} minutes are planned, and {takes}.")]


def _closed_violations(number: int, entry: DayEntry, place: Place | None, terms: DayTerms) -> list[Violation]:
    """Return a fault if the place is closed at some minute of a line; empty if it is open throughout."""
    if place is None:
        return []
    for minute in range(entry.starts, entry.ends):
        day, clock = (terms.weekday + minute // 1440) % 7, minute % 1440
        if not place.may_be_open_at(day, clock):
            return [Violation("closed", number, f"{place.name} is closed at {show_clock(minute)}.")]
    return []


def _cost(entry: DayEntry, site: Site | None) -> float:
    """Return the cost of a line in US dollars; its place's usual price if that is higher."""
    if entry.kind == "transport":
        return max(entry.cost_usd, way_usd(entry.mode, entry.ends - entry.starts))
    known = known_usd(site.place, meal=entry.kind == "eat") if site and site.place else None
    return max(entry.cost_usd, known or 0.0)


@dataclass(frozen=True)
class CityFacts:
    """Facts looked up in a city; a place type means the nearest place of the type, in the plan's favour."""

    city: City
    known: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of ways known already, so that they are not asked for again."""
    _sites: dict[tuple[str, LatLng], Site | None] = field(default_factory=dict)

    def site(self, entry: DayEntry, near: LatLng) -> Site | None:
        """Return the place of a line: by id, else name, else nearest of the type, else address, or `None`."""
        if entry.place_id:
            try:
                return _site_of(self.city.places.details(entry.place_id))
            except NotFound:
                return None
        key = (entry.place.casefold().strip(), near)
        if key not in self._sites:
            self._sites[key] = self._find(key[0], near)
        return self._sites[key]

    def seconds(self, here: LatLng, there: LatLng, mode: Mode, weekday: int, minute: int) -> float:
        """Return the seconds of a way; infinite if none leads there."""
        if (here, there, mode) in self.known:
            return self.known[here, there, mode]
        maps = self.city.maps
        try:
            if mode != "transit":
                return float(maps.travel_times([here], [there], mode)[0, 0])
            if isinstance(maps, TransitMaps):
                return maps.journey(here, there, weekday, minute).duration
        except NoRoute:
            pass
        return float("inf")

    def _look_up_details(self, place: Place) -> Site | None:
        """Return the details of a listed place; `None` if the directory no longer knows its id."""
        try:
            return _site_of(self.city.places.details(place.id))
        except NotFound:
            return None

    def _find(self, name: str, near: LatLng) -> Site | None:
        """Return the place that a name means, by type, name or address; `None` for none."""
        sort = name.replace(" ", "_")
        for place in sorted(self._places_of_sort(sort, near), key=lambda one: distance(near, one.position)):
            if site := self._look_up_details(place):
                return site
        for place in self.city.places.search(name, near) if any(map(str.isalnum, name)) else []:
            is_meant = name_ratio(place.name, name) >= ALIKE or is_shortened(place.name, name)
            if is_meant and (site := self._look_up_details(place)):
                return site
        try:
            return Site(self.city.maps.geocode(name))
        except NotFound:
            return None

    def _places_of_sort(self, sort: str, near: LatLng) -> list[Place]:
        """Return the open places of a type around a position; empty if the word is no type."""
        if not sort.replace("_", "").isalpha():
            return []
        return [one for one in self.city.places.nearby(near, AROUND_M, (sort,)) if one.is_open]


def _site_of(place: Place) -> Site:
    """Return a known place as a site."""
    return Site(place.position, place)


def terms_of(day: Day, weekday: int, start: LatLng) -> DayTerms:
    """Return the constraints of a day from its settings.

    Args:
        day: settings of the day.
        weekday: 0 is Monday.
        start: where the day begins.
    """
    starts, ends = day.minutes
    return DayTerms(weekday, starts, ends, day.budget_usd, start, day.modes)


def plan_ungrounded(
    mind: Mind, client: Mapping[str, str], day: Day, *, city: str, weekday: int
) -> list[DayEntry]:
    """Return the lines of a day that the mind plans without looking anything up.

    Args:
        mind: who plans.
        client: name, background and intention.
        day: what is planned.
        city: its name, for who knows it.
        weekday: 0 is Monday.

    Raises:
        VirlError: as `Mind.ask`.
    """
    reply = mind.ask(
        load_prompt("day/ungrounded", UngroundedDay),
        client=dict(client),
        state=day.feelings,
        city=city,
        day=DAY_NAMES[weekday],
        starts=day.starts,
        until=day.ends,
        budget_usd=day.budget_usd,
    )
    return [
        DayEntry(
            kind=one.kind,
            starts=parse_clock(one.starts),
            ends=parse_clock(one.ends),
            place=one.place,
            mode=None if one.mode == "any" else one.mode,
            cost_usd=one.cost_usd,
        )
        for one in reply.activities
    ]
