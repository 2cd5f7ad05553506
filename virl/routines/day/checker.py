"""The check of a finished day against a city: it counts what cannot be, however the day was planned.

The baseline to compare with is a day that the same mind plans in one go, without asking the city anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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
"""Kind of a fault: way too long, place closed, money, hours of the day, two at once, no such place."""
KINDS: tuple[ViolationKind, ...] = ("travel", "closed", "budget", "time", "overlap", "unknown place")
"""All kinds of faults, in the order of tables."""
AT_THE_PLACE_M = 150.0
"""Metres that a visit may be from its place's listed position, as at the edge of a park; chosen."""
HALF_CENT = 0.005
"""Rounding error forgiven when costs are compared with the budget, US dollars."""
ALIKE = 85.0  # of 100: least likeness of two names of one place; chosen
AROUND_M = 50_000.0  # a sort of place that is not within this is not there at all; the widest search


@dataclass(frozen=True, slots=True)
class DayEntry:
    """One line of a day plan to be checked: a visit or a way."""

    kind: str
    """Kind of the line: `transport` for a way, anything else for a visit."""
    starts: int
    """Beginning, in minutes after midnight."""
    ends: int
    """End, in minutes after midnight."""
    place: str = ""
    """Name or type of the place; empty for staying where one is."""
    place_id: str | None = None
    """Id of the place; `None` if the plan names it only in words."""
    mode: Mode | None = None
    """Travel mode of a way; `None` for a visit."""
    cost_usd: float = 0.0
    """Cost that the plan states, US dollars."""
    at: LatLng | None = None
    """Position of the visit, used only within `AT_THE_PLACE_M` of the place's own; `None` if not given."""


@dataclass(frozen=True, slots=True)
class DayTerms:
    """The constraints on a day: its settings, the weekday, and where it starts."""

    day: Day
    """Settings with the hours, the budget and the travel modes."""
    weekday: int
    """Day of the week, 0 for Monday."""
    start: LatLng
    """Position where the day begins."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A fault of a day plan, at one of its lines."""

    kind: ViolationKind
    entry: int
    """Index of the faulty line, from 0; for the budget, of the last line."""
    text: str
    """Sentence on the fault."""


@dataclass(frozen=True, slots=True)
class Site:
    """The true position of a place that a day plan names, with its details."""

    position: LatLng
    place: Place | None = None
    """The place with its details; `None` for an address."""


def check(entries: Sequence[DayEntry], terms: DayTerms, facts: "CityFacts") -> list[Violation]:
    """Return the faults of a day plan: those of each line in order, then of the budget.

    Time is checked line by line: within the day, and none before the last one has ended. Between two visits
    there must be at least the time that the way takes, by the modes of the ways planned between them, or
    where none is planned, by the quickest mode. Each place must be open all through the visit; one whose
    hours nobody has listed may be, see `unsure_places`. The money is the sum of what each line says it costs,
    or of what place and way are known to cost where that is more.

    Args:
        entries: lines of the plan, in order.
        terms: constraints on the day.
        facts: lookup of places and ways.
    """
    found: list[Violation] = []
    here, free, spent = terms.start, terms.day.minutes[0], 0.0
    ways: list[DayEntry] = []
    for number, entry in enumerate(entries):
        found += _time_violations(number, entry, entries[number - 1].ends if number else None, terms)
        if entry.kind == "transport":
            spent += max(entry.cost_usd, way_usd(entry.mode, entry.ends - entry.starts))
            ways.append(entry)
            continue
        site = facts.site(entry, here) if entry.place or entry.place_id else Site(here)
        place = site.place if site else None
        usual = known_usd(place, meal=entry.kind == "eat") if place else None
        spent += max(entry.cost_usd, usual or 0.0)
        if site is None:
            found.append(Violation("unknown place", number, f"There is no {entry.place!r}."))
            continue
        there = _exact_position(entry, site)
        found += _travel_violations(number, entry, (here, there), free, ways, terms, facts)
        closed = [
            minute
            for minute in range(entry.starts, entry.ends)
            if place and not place.may_be_open_at((terms.weekday + minute // 1440) % 7, minute % 1440)
        ]
        if place and closed:
            found.append(Violation("closed", number, f"{place.name} is closed at {show_clock(closed[0])}."))
        here, free, ways = there, entry.ends, []
    if spent > terms.day.budget_usd + HALF_CENT:
        text = f"It costs {spent:.2f} dollars of {terms.day.budget_usd:.2f}."
        found.append(Violation("budget", len(entries) - 1, text))
    return found


def unsure_places(entries: Sequence[DayEntry], terms: DayTerms, facts: "CityFacts") -> list[str]:
    """Return the names of visited places whose opening hours nobody has listed, each once, in order.

    Args:
        entries: lines of the plan, in order.
        terms: constraints on the day, of which only the start counts.
        facts: lookup of places.
    """
    found: list[str] = []
    here = terms.start
    for entry in entries:
        is_somewhere = entry.kind != "transport" and (entry.place or entry.place_id)
        if is_somewhere and (site := facts.site(entry, here)):
            here = _exact_position(entry, site)
            if site.place and site.place.is_unsure:
                found.append(site.place.name)
    return list(dict.fromkeys(found))


def entries_of(activities: Sequence[Mapping[str, Any]]) -> list[DayEntry]:
    """Return the lines of a day from its activities as data, as `result.json` has them under `answer`."""
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
    """Return a line's own position, if within `AT_THE_PLACE_M` of its place, else the place's position."""
    near = entry.at is not None and distance(entry.at, site.position) <= AT_THE_PLACE_M
    return entry.at if entry.at is not None and near else site.position


def _time_violations(number: int, entry: DayEntry, before: int | None, terms: DayTerms) -> list[Violation]:
    """Return faults of the times of line `number`; `before` is the minute at which the line before ends."""
    found = []
    first, last = terms.day.minutes
    if entry.starts < first or entry.ends > last or entry.ends < entry.starts:
        day = f"{show_clock(first)}-{show_clock(last)}"
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
    facts: "CityFacts",
) -> list[Violation]:
    """Return a fault of line `number` if its `ways`, or the time from minute `free`, do not join `ends`."""
    here, there = ends
    if here == there:
        return []
    modes = [way.mode for way in ways if way.mode] or list(terms.day.modes)
    leaves = ways[0].starts if ways else free
    needed = min(facts.seconds(here, there, mode, terms.weekday, leaves) for mode in modes)
    # Where ways are planned, time outside of them does not count as travel.
    given = 60.0 * min(
        entry.starts - free, sum(way.ends - way.starts for way in ways) if ways else entry.starts - free
    )
    if needed <= given:
        return []
    takes = "no way leads there" if needed == float("inf") else f"the way takes {needed / 60:.1f} minutes"
    return [Violation("travel", number, f"{given / 60:.0f} minutes are planned, and {takes}.")]


@dataclass(frozen=True)
class CityFacts:
    """A lookup of a plan's places and ways in a city; a place type means the nearest such place.

    That is in the plan's favour.
    """

    city: City
    known: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of ways known already, by start, destination and mode, so that they are not asked for again."""
    _sites: dict[tuple[str, LatLng], Site | None] = field(default_factory=dict)

    def site(self, entry: DayEntry, near: LatLng) -> Site | None:
        """Return the place of a line: by id, else nearest of the type, else name, else address; or `None`."""
        if entry.place_id:
            return self._look_up_details(entry.place_id)
        key = (entry.place.casefold().strip(), near)
        if key not in self._sites:
            self._sites[key] = self._find(key[0], near)
        return self._sites[key]

    def seconds(self, here: LatLng, there: LatLng, mode: Mode, weekday: int, minute: int) -> float:
        """Return the seconds of a way begun at a minute of a weekday; infinite if no way leads there.

        Args:
            here: start of the way.
            there: destination.
            mode: travel mode.
            weekday: day of the week, 0 for Monday; counts for `transit` only.
            minute: time of departure, in minutes after midnight; counts for `transit` only.
        """
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

    def _look_up_details(self, place_id: str) -> Site | None:
        """Return the place with an id; `None` if the directory does not know the id."""
        try:
            place = self.city.places.details(place_id)
        except NotFound:
            return None
        return Site(place.position, place)

    def _find(self, name: str, near: LatLng) -> Site | None:
        """Return the place that a lower-case name means, by type, name or address; `None` for none."""
        for place in self._candidates(name, near):
            if site := self._look_up_details(place.id):
                return site
        try:
            return Site(self.city.maps.geocode(name))
        except NotFound:
            return None

    def _candidates(self, name: str, near: LatLng) -> Iterator[Place]:
        """Yield the places that a lower-case name may mean: first of that type, then of that name."""
        sort = name.replace(" ", "_")
        if sort.replace("_", "").isalpha():  # else it is no place type
            listed = self.city.places.nearby(near, AROUND_M, (sort,))
            yield from sorted(
                (place for place in listed if place.is_open), key=lambda one: distance(near, one.position)
            )
        for place in self.city.places.search(name, near) if any(map(str.isalnum, name)) else []:
            if name_ratio(place.name, name) >= ALIKE or is_shortened(place.name, name):
                yield place


def plan_ungrounded(
    mind: Mind, client: Mapping[str, str], day: Day, *, city: str, weekday: int
) -> list[DayEntry]:
    """Return the lines of a day that a mind plans in one go, without looking anything up.

    Args:
        mind: who plans.
        client: `name`, `background` and `intention` of the client.
        day: settings of the day.
        city: name of the city, about which the mind may know something.
        weekday: day of the week, 0 for Monday.

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
